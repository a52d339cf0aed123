"""The text side of the reference evaluator: tokens, syntax and the rules decided from the text alone.

Nothing here is shared with the package. A text becomes a `Text` by recursive descent over a list of tokens;
`reference_rules` judges it and `reference.einsum` then walks it with nested loops.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

REDUCERS = (
    "sum mean prod max min any all var std median logsumexp norm argmax argmin count_nonzero".split()  # noqa: SIM905
)

TOKEN = re.compile(
    r"(?P<space>\s+|\#[^\n]*)|(?P<arrow>->)|(?P<dots>\.\.\.)|(?P<int>[0-9]+)"
    r"|(?P<word>[^\W\d]\w*'*)(?P<pack>\.\.\.)?|(?P<mark>[=(),:])"
)


class Refused(ValueError):
    """The language rejects this text, or these operands with it.

    Parameters
    ----------
    rule
        The family of the rule: ``"syntax"``, ``"summation"``, ``"size"``, ``"name"`` and so on.
    detail
        What was wrong, for a reader of a failing test.
    """

    def __init__(self, rule: str, detail: str = "") -> None:
        super().__init__(f"{rule}: {detail}")
        self.rule = rule


@dataclass(frozen=True)
class Label:
    """``C``, ``C=3`` or ``batch=C``."""

    name: str
    size: int | None = None
    alias: str | None = None


@dataclass(frozen=True)
class Literal:
    """``1``, ``3``; also ``()``."""

    size: int


@dataclass(frozen=True)
class Blank:
    """``_``."""


@dataclass(frozen=True)
class Pack:
    """``batch...``, or ``...`` with the word ``"..."``."""

    word: str


@dataclass(frozen=True)
class Group:
    """``(C H W)`` or ``features=(C H W)``."""

    items: tuple[Item, ...]
    name: str | None = None


Item = Label | Literal | Blank | Pack | Group
Term = tuple[Item, ...]


@dataclass(frozen=True)
class Text:
    """A parsed expression: input terms, the output term if there is an arrow, the reducer after the colon."""

    inputs: tuple[Term, ...]
    output: Term | None
    reducer: str | None


def parts(items: Term) -> Iterator[Item]:
    """All items of a term in reading order, those inside groups in place of the groups."""
    for item in items:
        if isinstance(item, Group):
            yield from parts(item.items)
        else:
            yield item


def tokens(text: str) -> list[tuple[str, str]]:
    """The (kind, word) pairs of a text; the kinds are arrow, dots, int, name, blank, pack and the marks."""
    found: list[tuple[str, str]] = []
    at, end_of_word = 0, -1
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise Refused("syntax", f"{text[at]!r} at {at}")
        kind, touching = match.lastgroup or "", end_of_word == at
        if match["word"] or match["int"]:
            if touching:
                raise Refused("syntax", f"white space is missing at {at}")
            found.append(("int", match["int"]) if match["int"] else word_token(match))
            end_of_word = match.end()
        elif kind != "space":
            found.append((match[0] if kind == "mark" else kind, match[0]))
        at = match.end()
    return found


def word_token(match: re.Match[str]) -> tuple[str, str]:
    """The token of an identifier: a name, a pack, or a blank."""
    word = unicodedata.normalize("NFKC", match["word"])
    if word == "_" and not match["pack"]:
        return "blank", word
    if not word.rstrip("'").isidentifier() or word.rstrip("'") == "_":
        raise Refused("syntax", f"{word!r} is not a name")
    return ("pack" if match["pack"] else "name"), word


class Reader:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.tokens = [*tokens(text), ("end", "")]
        self.at = 0

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

    def text(self) -> Text:
        """Read a whole text."""
        inputs, output, reducer = self.terms(), None, None
        if self.kind() == "arrow":
            self.take("arrow")
            outputs = self.terms()
            if len(outputs) != 1:
                raise Refused("output", "one output term")
            output = outputs[0]
        if self.kind() == ":":
            self.take(":")
            reducer = self.take("name")
            if reducer not in REDUCERS:
                raise Refused("reducer", f"{reducer!r} is not a reducer")
        self.take("end")
        return Text(inputs, output, reducer)

    def terms(self) -> tuple[Term, ...]:
        """Read terms up to what is not a comma."""
        found = [self.items()]
        while self.kind() == ",":
            self.take(",")
            found.append(self.items())
        return tuple(found)

    def items(self) -> Term:
        """Read items as long as there are any."""
        found: list[Item] = []
        while self.kind() in ("name", "int", "blank", "dots", "pack", "("):
            found.append(self.item())
        return tuple(found)

    def item(self) -> Item:
        """Read one item."""
        kind = self.kind()
        if kind == "(":
            inside = self.group()
            return Group(inside) if inside else Literal(1)
        word = self.take("name", "int", "blank", "dots", "pack")
        if kind == "int":
            return Literal(int(word))
        if kind == "blank":
            return Blank()
        if kind in ("dots", "pack"):
            return Pack(word)
        return self.equation(word) if self.kind() == "=" else Label(word)

    def equation(self, name: str) -> Item:
        """Read what follows ``name`` from its equals sign on."""
        self.take("=")
        if self.kind() == "(":
            return Group(self.group() or (Literal(1),), name)
        kind, word = self.kind(), self.take("int", "name")
        return Label(name, size=int(word)) if kind == "int" else Label(word, alias=name)

    def group(self) -> Term:
        """Read a bracketed list of items; a factor has no name of its own."""
        self.take("(")
        inside = self.items()
        self.take(")")
        for item in inside:
            if (isinstance(item, Label) and item.alias) or (isinstance(item, Group) and item.name):
                raise Refused("group", "a factor of a group cannot have a name of its own")
        return inside


def parse(text: str) -> Text:
    """Parse an expression or an assertion."""
    return Reader(text).text()
