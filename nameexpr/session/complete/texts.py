"""Completion of expressions and formulas.

Lark's interactive parser reads the text before the word at the cursor, with the stored tables and without
building a tree, and determines which tokens may follow. Only then are names looked up: in an expression dims
for the inputs, labels of the inputs for the result, reducers, and after the bar the tensors that fit the
terms; in a formula the dims of the operand inside its brackets, else operands and functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import islice
from typing import Any, NamedTuple

from nameexpr.dims import WORD
from nameexpr.ops import ALONG, CALLS, CONSTANTS, INDEX, REDUCTIONS, SIZE
from nameexpr.session.complete.choices import Choice, Known, NamesAndShape, dims, is_readable, tensors
from nameexpr.session.lines import without_comments
from nameexpr.syntax.faults.stops import open_brackets
from nameexpr.syntax.grammar import load_parser
from nameexpr.syntax.lexer.tokens import Kind, tokens
from nameexpr.syntax.parser.formula import with_semicolons

NAME = rf"{WORD}'*"
ALONG_DIMS = {**REDUCTIONS, **ALONG}
ONE_DIM = frozenset({SIZE, INDEX})
HEAD = 256
"""The number of characters before a bracket in which the name in front of it is searched."""
_REVERSED_WORD = re.compile(r"(?:[A-Za-z0-9_']|[^\x00-\x7F\s])*")
_STATEMENT = re.compile(rf"(?:^|;)\s*({NAME})\s*(?:\[([^\[\]]*)\]\s*)?=(?!=)")
_HEAD = re.compile(rf"({NAME})\s*$")


@lru_cache(maxsize=256)
def accepted(before: str, kind: Kind = "expression") -> frozenset[str]:
    """Return the tokens that may follow a text, none if it is invalid.

    >>> sorted(accepted("N C -> N : ")), "RSQB" in accepted("x[N", "formula"), accepted("N C)")
    (['NAME'], True, frozenset())
    """
    from lark.exceptions import UnexpectedInput

    try:
        parser: Any = _parser(kind).parse_interactive(before)
        parser.exhaust_lexer()
        return frozenset(parser.accepts())
    except UnexpectedInput:
        return frozenset()


_parser = cache(load_parser)


def word_before(text: str) -> str | None:
    """Return the word at the end of a text: "" if there is none, None if it is not a name.

    >>> word_before("x[N") , word_before("x["), word_before("3C")
    ('N', '', None)
    """
    reversed_word = _REVERSED_WORD.match(text[::-1])
    start = len(text) - (reversed_word.end() if reversed_word else 0)
    word, sign = text[start:], text[start - 1 : start]
    if not word:
        return None if sign == "." else ""
    return word if re.fullmatch(NAME, word) and sign != "." else None


class TermPosition(NamedTuple):
    """A position in a term that is being written.

    `items` are those outside groups, by their names in the tensor (None for one without a name); `used` are
    all names so far; `is_counted` is false after `...` or a pack, where the number of dims is open.
    `in_place` is true after `@`, where a dim is read.
    """

    items: tuple[str | None, ...]
    used: frozenset[str]
    is_counted: bool
    in_group: bool
    after_equal: bool
    in_place: bool


def position_in(term: str) -> TermPosition:
    """Return the position at the end of an unfinished term.

    >>> position_in("N (h w) batch=K C@i[N] ").items, position_in("H@(h + ").in_place
    (('N', None, 'batch', 'C'), True)
    """
    items: list[str | None] = []
    used: set[str] = set()
    groups = inside = 0  # open brackets of groups, and of a position
    sign, is_counted = "", True
    for kind, text in islice(_words(f"[{term}", "formula"), 1, None):
        before, sign = sign, text if text in ("=", "@") else ""
        if inside or text == "[" or (text == "(" and before == "@"):
            inside += (text in ("(", "[")) - (text in (")", "]"))
            continue
        if sign or before == "@":
            continue
        name = text if kind in ("name", "anonymous", "function", "error") else None
        if groups == 0 and not before and text != ")":
            items.append(name)
        used.update([name] if name else [])
        is_counted = is_counted and kind not in ("pack", "dots")
        groups += (text == "(") - (text == ")")
    in_place = inside > 0 or sign == "@"
    return TermPosition(tuple(items), frozenset(used), is_counted, groups > 0, sign == "=", in_place)


def _words(text: str, kind: Kind) -> Iterator[tuple[str, str]]:
    return ((token, text[slice(*span)]) for token, span in tokens(text, kind) if token != "space")


def _labels(text: str, kind: Kind) -> list[str]:
    """Return the labels of a text, each once; in `batch=N` only N is a label, in `H@h` only h."""
    words = [*_words(text, kind), ("", ""), ("", "")]
    following = zip(words, words[1:], words[2:], strict=False)
    return list(
        dict.fromkeys(
            name
            for (token, name), (_, sign), (after, _) in following
            if token == "name" and sign != "@"
            if not (sign == "=" and after in ("name", "anonymous", "pack"))
        )
    )


def _described(labels: Iterable[str], about: dict[str, Choice]) -> list[Choice]:
    return [about.get(label, Choice(label, "dim of this text")) for label in labels]


def expression_choices(before: str, after: str, word: str, known: Known) -> list[Choice]:
    """Return the choices between two parts of an expression; `word` is the word typed so far."""
    before, after = without_comments(before), without_comments(after)
    text, bar, written = before.partition("|")
    if bar:
        return _behind_bar(text, written, known)
    if "NAME" not in accepted(before):
        return []
    inputs, arrow, output = before.partition("->")
    if before.rstrip().endswith(":"):
        return [Choice(name, "reducer") for name in REDUCTIONS]
    if arrow:
        used = position_in(output).used
        labels = [label for label in _labels(inputs, "expression") if label not in used]
        return _described(labels, dims(known))
    return _in_input(inputs, after.partition("|")[0], word, known)


def _in_input(inputs: str, after: str, word: str, known: Known) -> list[Choice]:
    """Return the dims for an input term, or the items after a term that has all names of a tensor."""
    position = position_in(inputs.rpartition(",")[2])
    about = dims(known)
    written = _labels(f"{inputs} {after.partition(':')[0]}", "expression")
    if position.in_place:
        return _described(written, about)
    here = () if position.in_group or position.after_equal else tuple(known.tensors.values())
    count = len(position.items)
    begun = [names for names, _ in here if names[:count] == position.items and len(names) > count]
    following = [names[count] for names in begun if is_readable(names[count])]
    is_complete = position.is_counted and any(position.items == names for names, _ in here if names)
    if is_complete and not following and not word and "->" not in after:
        space = "" if inputs[-1:].isspace() else " "
        return [Choice(f"{space}-> ", "then the result"), Choice(", ", "then another input")]
    names = dict.fromkeys([*filter(None, following), *about, *written])
    return _described((name for name in names if name not in position.used), about)


def _behind_bar(text: str, written: str, known: Known) -> list[Choice]:
    """Return the tensors for the last operand, those whose names match its term first."""
    terms = text.partition("->")[0].split(",")
    index = written.count(",")
    if "$END" not in accepted(text) or written.rpartition(",")[2].strip():
        return []
    if index >= len(terms):  # sizes, of labels that the operands do not determine
        given = {item for term in terms for item in position_in(term).items}
        given |= {piece.partition("=")[0].strip() for piece in written.split(",")}
        labels = _labels(text.partition(":")[0], "expression")
        return [Choice(f"{label}=", "size") for label in labels if label not in given]
    items = position_in(terms[index]).items

    def misfit(choice: Choice) -> int:
        names = known.tensors[choice.text][0]
        alike = [a in (None, b) or b is None for a, b in zip(names, items, strict=False)]
        return (names != items) + (not all(alike) or len(names) != len(items))

    return sorted(tensors(known), key=misfit)


def formula_choices(before: str, after: str, known: Known) -> list[Choice]:
    """Return the choices between two parts of a formula."""
    marked = with_semicolons(before + "x")[:-1]  # a line break counts once something follows it
    done, _, statement = marked.rpartition(";")
    allowed = accepted(marked, "formula")
    if not allowed and not accepted(before):  # offer choices even if an earlier statement is wrong
        allowed = accepted(statement, "formula")
    square = [bracket for bracket in open_brackets(statement) if statement[bracket] == "["]
    choices: list[Choice] = []
    if "NAME" in allowed and square:
        head = _HEAD.search(statement, max(0, square[-1] - HEAD), square[-1])
        term = statement[square[-1] + 1 :]
        if position_in(term).in_place:
            choices = _in_place(term, marked + after, known)
        else:
            choices = _in_brackets(head[1] if head else "", term, marked, marked + after, known)
    elif "NAME" in allowed:
        operands = [choice for choice in tensors(known) if choice.text != "_" or "ANONYMOUS" in allowed]
        names = dict.fromkeys(found[1] for found in _STATEMENT.finditer(marked) if _is_defined(found, done))
        earlier = [Choice(name, "statement") for name in reversed(names) if name not in known.tensors]
        choices = [*operands, *earlier, *(() if _is_differentiated_by(statement) else functions())]
    closing = (Choice(sign, "close") for sign, token in (("]", "RSQB"), (")", "RPAR")) if token in allowed)
    return choices or list(closing)[:1]


def _is_differentiated_by(statement: str) -> bool:
    """Return whether the second argument of `grad` comes next: an operand, or an earlier statement."""
    brackets = open_brackets(statement)
    head = _HEAD.search(statement, max(0, brackets[-1] - HEAD), brackets[-1]) if brackets else None
    return head is not None and head[1] == "grad" and statement.rstrip().endswith(",")


@cache
def functions() -> tuple[Choice, ...]:
    """Return the functions of formulas, each with the bracket that it opens, and the constants."""
    return (
        *(Choice(f"{name}[", row.doc) for name, row in ALONG_DIMS.items()),
        *(Choice(f"{name}(", row.doc) for name, row in CALLS.items()),
        Choice(f"{SIZE}[", "size of a dim"),
        Choice(f"{INDEX}[", "0, 1, ... along a dim"),
        *(Choice(name, "number") for name in CONSTANTS),
    )


def _is_defined(found: re.Match[str], done: str) -> bool:
    """Return whether a statement has a value here: a recurrence has its earlier cells in its own value."""
    return found.start() < len(done) or "+" in (found[2] or "")


def _in_place(term: str, text: str, known: Known) -> list[Choice]:
    """Return what a position may be written with: labels, operands with their dims, and functions in
    brackets.
    """
    labels = _described(_labels(text, "formula"), dims(known))
    operands = [choice._replace(text=f"{choice.text}[") for choice in tensors(known)]
    return [*labels, *operands, *(functions() if "(" in term.rpartition("@")[2] else ())]


def _in_brackets(head: str, term: str, done: str, text: str, known: Known) -> list[Choice]:
    """Return the dims that may come next in the square brackets after `head`.

    For a tensor these are the dims that its term lacks, the one at this position first; if the tensor's dim
    has no name, any label is allowed: those in the brackets of the text, then the session's.
    """
    position = position_in(term)
    if head in ONE_DIM and position.items:
        return []
    about = dims(known, head)
    anywhere = [*_described(_labels(text, "formula"), about), *about.values()]
    anywhere = [choice for choice in anywhere if choice.text not in position.used]
    tensor = known.tensors.get(head) or _statement_dims(head, done)
    if tensor is None or position.after_equal or position.in_group:
        return anywhere
    names, shape = tensor
    count = len(position.items) if position.is_counted else 0
    if position.is_counted and count >= len(names):
        return []
    own = [name for name in names if name is not None and is_readable(name) and name not in position.used]
    if position.is_counted:
        own.sort(key=lambda name: name != names[count])
    choices = [about.get(name, Choice(name, f"dim of {head}")) for name in own]
    if None not in names[count:]:
        return choices
    if position.is_counted and names[count] is None:
        anywhere.sort(key=lambda choice: choice.size != shape[count])
        return [*anywhere, *choices]
    return [*choices, *anywhere]


def _statement_dims(name: str, done: str) -> NamesAndShape | None:
    """Return the dims of an earlier statement, as its left side names them."""
    for statement in _STATEMENT.finditer(done):
        if statement[1] == name and statement[2]:
            items = position_in(statement[2]).items
            return items, (0,) * len(items)
    return None
