"""The text side of the formula reference: tokens, and Python's precedence by recursive descent.

A formula becomes a list of `Statement`s whose bodies are small trees. Terms in brackets are read by the
reader of `reference_text`, so that a term means the same in both kinds of text.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from oracle.reference.text import REDUCERS, Label, Pack, Reader, Refused, Term, end_of_brackets

CONSTANTS = ("inf", "nan", "pi")
SINGLE = "softmax log_softmax cumsum cumprod sort flip argsort cummax cummin"
ALONG = (*REDUCERS, *SINGLE.split())
ARITIES = {
    1: (
        "abs sqrt exp expm1 exp2 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh "
        "asinh acosh atanh floor ceil round trunc sign square reciprocal isnan isinf isfinite logical_not "
        "int real imag conj relu sigmoid silu gelu softplus erf erfc"
    ),
    2: (
        "maximum minimum atan2 hypot logaddexp copysign remainder floor_divide pow "
        "logical_and logical_or logical_xor"
    ),
    3: "where clip",
}
ARITY = {name: count for count, names in ARITIES.items() for name in names.split()}
LEVELS = (("|",), ("&",), ("+", "-"), ("*", "/", "//", "%"))  # from the loosest
COMPARISONS = ("==", "!=", "<=", ">=", "<", ">")

TOKEN = re.compile(
    r"(?P<space>[^\S\n]+|\#[^\n]*)|(?P<newline>\n)"
    r"|(?P<number>(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d]\w*'*)|(?P<mark>\*\*|//|==|!=|<=|>=|[-+*/%<>=&|~();,])"
    r"|(?P<term>\[)"
)


@dataclass(frozen=True)
class Number:
    """A number, or one of `inf`, `nan` and `pi`."""

    value: int | float


@dataclass(frozen=True)
class Use:
    """``x[i j]`` or ``x``: an operand or an earlier statement."""

    name: str
    term: Term | None


@dataclass(frozen=True)
class Call:
    """A pointwise function, or an operator by its sign; ``u-``, ``u+`` and ``~`` have one argument."""

    name: str
    args: tuple[Tree, ...]


@dataclass(frozen=True)
class Along:
    """``sum[C](body)``: labels and packs in brackets."""

    name: str
    dims: tuple[Label | Pack, ...]
    body: Tree


@dataclass(frozen=True)
class Size:
    """``size[D]``."""

    label: str


@dataclass(frozen=True)
class Index:
    """``index[D]``."""

    label: str


Tree = Number | Use | Call | Along | Size | Index


@dataclass(frozen=True)
class Statement:
    """``name[term] = body``, or with several values, one for each block of the term."""

    name: str
    term: Term | None
    body: Tree
    others: tuple[Tree, ...] = ()

    @property
    def values(self) -> tuple[Tree, ...]:
        """All values."""
        return (self.body, *self.others)


def tokens(text: str, depth: int = 0) -> list[tuple[str, str]]:
    """The (kind, word) pairs of a text; newlines inside parentheses are gone."""
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise Refused("syntax", f"{text[at]!r} at {at}")
        kind, word = str(match.lastgroup), match[0]
        end = end_of_brackets(text, at) if kind == "term" else match.end()
        word = text[at:end]
        if kind == "name" and found and found[-1][0] == "number" and not text[at - 1].isspace():
            raise Refused("syntax", f"white space is missing at {at}")
        depth += (word == "(") - (word == ")")
        if kind == "mark":
            found.append((word, word))
        elif kind == "name":
            found.append((kind, unicodedata.normalize("NFKC", word)))
        elif kind != "space" and not (kind == "newline" and (depth > 0 or found[-1:] == [(",", ",")])):
            found.append((kind, word))
        at = end
    return found


class TermReader(Reader):
    """Reads the dims of a use, in which positions are values."""

    def place(self, text: str) -> Tree:
        """Read a position, in which a bare name is a label."""
        reader = FormulaReader(text, in_place=True)
        place = reader.comparison()
        reader.take("end")
        return place


def parse_term(text: str) -> Term:
    """Read what stands between brackets."""
    reader = TermReader(text[1:-1])
    items = reader.items()
    reader.take("end")
    return items


class FormulaReader:
    """Recursive descent over the tokens of one formula."""

    def __init__(self, text: str, *, in_place: bool = False) -> None:
        self.tokens = [*tokens(text, depth=int(in_place)), ("end", "")]
        self.at, self.in_place = 0, in_place

    def kind(self, ahead: int = 0) -> str:
        """The kind of the token that is next, or of one further on."""
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)][0]

    def take(self, *kinds: str) -> str:
        """Consume one token of one of these kinds and return its word."""
        kind, word = self.tokens[self.at]
        if kind not in kinds:
            raise Refused("syntax", f"{word or 'end'!r} where one of {kinds} should be")
        self.at += 1
        return word

    def formula(self) -> list[Statement]:
        """Read all statements."""
        found: list[Statement] = []
        self.skip_newlines()
        while self.kind() != "end":
            found.append(self.statement())
            if self.kind() != "end":
                self.take(";", "newline")
                self.skip_newlines()
        if not found:
            raise Refused("syntax", "no statement")
        return found

    def skip_newlines(self) -> None:
        """Blank lines are nothing."""
        while self.kind() == "newline":
            self.take("newline")

    def statement(self) -> Statement:
        """Read one statement."""
        name = self.take("name")
        if name in CONSTANTS:
            raise Refused("name", f"{name} is a constant")
        term = parse_term(self.take("term")) if self.kind() == "term" else None
        self.take("=")
        values = [self.comparison()]
        while self.kind() == ",":
            self.take(",")
            values.append(self.comparison())
        return Statement(name, term, values[0], tuple(values[1:]))

    def comparison(self) -> Tree:
        """Read an expression, the loosest operators of which are the comparisons."""
        left = self.binary(0)
        if self.kind() in COMPARISONS:
            sign = self.take(*COMPARISONS)
            left = Call(sign, (left, self.binary(0)))
            if self.kind() in COMPARISONS:
                raise Refused("syntax", "chained comparisons")
        return left

    def binary(self, level: int) -> Tree:
        """Read operators of one level, left to right."""
        if level == len(LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.kind() in LEVELS[level]:
            sign = self.take(*LEVELS[level])
            left = Call(sign, (left, self.binary(level + 1)))
        return left

    def unary(self) -> Tree:
        """Read signs, which bind less than the power on their right."""
        if self.kind() in ("-", "+", "~"):
            sign = self.take("-", "+", "~")
            return Call(sign if sign == "~" else f"u{sign}", (self.unary(),))
        base = self.atom()
        if self.kind() == "**":
            self.take("**")
            return Call("**", (base, self.unary()))
        return base

    def atom(self) -> Tree:
        """Read a number, a name with what follows it, or parentheses."""
        if self.kind() == "(":
            self.take("(")
            inside = self.comparison()
            self.take(")")
            return inside
        if self.kind() == "number":
            word = self.take("number")
            return Number(int(word) if word.isdigit() else float(word))
        name = self.take("name")
        if self.in_place and self.kind() not in ("term", "("):
            return Index(name)
        if name in CONSTANTS:
            return Number({"inf": float("inf"), "nan": float("nan"), "pi": 3.141592653589793}[name])
        if self.kind() == "term":
            return self.bracketed(name, parse_term(self.take("term")))
        return self.call(name) if self.kind() == "(" else Use(name, None)

    def bracketed(self, name: str, term: Term) -> Tree:
        """Read what follows ``name[term]``."""
        if self.kind() == "(":
            return self.along(name, term)
        if name not in ("size", "index"):
            return Use(name, term)
        if len(term) != 1 or term[0] != Label(getattr(term[0], "name", "")):
            raise Refused("syntax", f"{name} takes one label")
        return Size(term[0].name) if name == "size" else Index(term[0].name)

    def along(self, name: str, term: Term) -> Along:
        """Read the body of a function along dims."""
        if name not in ALONG:
            raise Refused("function", f"{name} is not a function along dims")
        dims = tuple(
            item for item in term if isinstance(item, Pack) or item == Label(getattr(item, "name", ""))
        )
        packs = any(isinstance(item, Pack) for item in dims)
        single = name in SINGLE.split()[2:]
        if dims != term or not dims or len(set(dims)) < len(dims) or (single and (packs or len(dims) > 1)):
            raise Refused("dims", f"{term} in the brackets of {name}")
        self.take("(")
        body = self.comparison()
        self.take(")")
        return Along(name, dims, body)

    def call(self, name: str) -> Call:
        """Read the arguments of a pointwise function."""
        self.take("(")
        args = [self.comparison()]
        while self.kind() == ",":
            self.take(",")
            args.append(self.comparison())
        self.take(")")
        if ARITY.get(name) != len(args):
            raise Refused("function", f"{name} of {len(args)} arguments")
        return Call(name, tuple(args))


def parse(text: str) -> list[Statement]:
    """Parse a formula."""
    return FormulaReader(text).formula()
