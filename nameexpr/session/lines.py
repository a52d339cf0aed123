"""What a line of a session says: the language around the language. Reading a line computes nothing.

    line  : ":" WORD text                          Command
          | [NAME ["[" term "]"] "="] "!" code     Python
          | NAME "=" FACTORY "(" ... ")"           Make
          | expression ["|" NAME ("," NAME)*]      Expression, whose operands stand behind the bar
          | formula                                Formula
          | nothing, or a comment                  Nothing

A text without an arrow is a formula if it parses as one, and else, if it lists terms, shapes to be checked.

>>> read_line("N C, C -> N | x, w")
Expression(text='N C, C -> N', operands=(Word(text='x', span=Span(start=14, end=15)), Word(text='w', \
span=Span(start=17, end=18))))
>>> read_line("y[N] = sum[C](x[N C])").text
'y[N] = sum[C](x[N C])'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from nameexpr.dims import WORD, normalised
from nameexpr.errors import NameExprError, Span
from nameexpr.session.faults import LineError
from nameexpr.syntax.lexer.language import looks_like_formula
from nameexpr.syntax.parser.formula import parse_formula

FACTORIES = {
    "randn": "normally distributed numbers",
    "rand": "numbers between 0 and 1",
    "zeros": "zeros",
    "ones": "ones",
    "arange": "0, 1, 2, ... in order",
}
"""Functions that make a tensor from the sizes of its dims."""

_PYTHON = re.compile(rf"\s*(?:({WORD})\s*(?:\[([^\[\]]*)\])?\s*=\s*)?!(?!=)\s*(.*)", re.DOTALL)
_MAKE = re.compile(rf"\s*({WORD})\s*=\s*({'|'.join(FACTORIES)})\s*\(", re.DOTALL)
_COMMENT = re.compile(r"#[^\n]*")
_ARROW = re.compile(r"->|=>|[→⟶⇒⟹↦➔➜➞]")
_OF_FORMULAS = re.compile(r"[\[\]*/+<>&~%;!@]|\*\*|[)\w]\s*-\s*[(\w]|^\s*-")


class Word(NamedTuple):
    """A piece of a line, and where it stands."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Nothing:
    """A line that holds blanks or a comment."""


@dataclass(frozen=True, slots=True)
class Command:
    """`:plan x * 2`: a command and what it is given, which begins at `start`."""

    name: Word
    argument: str
    start: int


@dataclass(frozen=True, slots=True)
class Python:
    """`!x.sum()` or `z[N C] = !np.ones((2, 3))`: code, and the tensor to name its value."""

    code: str
    target: str | None = None
    term: str | None = None


@dataclass(frozen=True, slots=True)
class Make:
    """`x = randn(N=2, C=3)`: a new tensor by its name, the factory, and the pieces between the brackets."""

    target: str
    factory: str
    pieces: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression, or shapes to check; `operands` is None where the line does not name them."""

    text: str
    operands: tuple[Word, ...] | None = None


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula; the line itself is its text."""

    text: str


Text = Expression | Formula
Line = Nothing | Command | Python | Make | Text


def read_line(line: str) -> Line:
    """Return what a line says.

    Raises
    ------
    LineError
        If it begins like something and does not go on so.

    Examples
    --------
    >>> read_line("x = randn(N=2)").factory, read_line("!1 + 1").code, read_line(":plan x * 2").argument
    ('randn', '1 + 1', 'x * 2')
    """
    if not _COMMENT.sub("", line).strip():
        return Nothing()
    if line.lstrip().startswith(":"):
        return _command(line)
    if (found := _PYTHON.fullmatch(line)) and (found[1] or "x").isidentifier():
        return Python(found[3].strip(), found[1] and normalised(found[1]), found[2])
    if (found := _MAKE.match(line)) and found[1].isidentifier():
        return _make(line, found)
    return read_text(line)


def read_text(text: str) -> Text:
    """Return whether a text is an expression or a formula, and which operands stand behind it.

    Examples
    --------
    >>> type(read_text("x | y")).__name__, type(read_text("N C, C")).__name__, read_text("i -> i").operands
    ('Formula', 'Expression', None)
    """
    bare = _COMMENT.sub(lambda found: " " * len(found[0]), text)
    if not _ARROW.search(bare) and _is_formula(text, bare):
        return Formula(text)
    bar = bare.find("|")
    if bar < 0:
        return Expression(text)
    return Expression(text[:bar].rstrip(), _pieces(bare, bar + 1, len(bare)))


def _is_formula(text: str, bare: str) -> bool:
    if looks_like_formula(text) or _parses(text):
        return True
    return _OF_FORMULAS.search(bare.partition("|")[0]) is not None


@lru_cache(maxsize=16)  # a line is read several times at every key
def _parses(text: str) -> bool:
    try:
        parse_formula(text)
    except NameExprError:
        return False
    return True


def _command(line: str) -> Command:
    found = re.match(r"\s*:\s*(\S*)\s*", line)
    assert found is not None, "it begins with a colon"
    return Command(Word(found[1], Span(*found.span(1))), line[found.end() :].rstrip(), found.end())


def _make(line: str, found: re.Match[str]) -> Make:
    bare = _COMMENT.sub(lambda comment: " " * len(comment[0]), line).rstrip()
    end = bare.find(")", found.end())
    if end < 0 or bare[end + 1 :].strip():
        place = Span(found.end() - 1, found.end()) if end < 0 else Span(end + 1, len(bare))
        wrong = "this bracket is not closed" if end < 0 else f"nothing follows what {found[2]} makes"
        raise LineError(wrong, line, place, f"{found[1]} = {found[2]}(N=2, C=3)")
    return Make(normalised(found[1]), found[2], _pieces(bare, found.end(), end))


def _pieces(line: str, start: int, end: int) -> tuple[Word, ...]:
    """Return what stands between commas, blanks left out; nothing at all is no piece."""
    words = []
    for found in re.finditer(r"[^,]+", line[start:end]):
        text = found[0].strip()
        if text:
            place = start + found.start() + found[0].index(text)
            words.append(Word(text, Span(place, place + len(text))))
    return tuple(words)
