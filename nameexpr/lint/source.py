r"""Positions in a source file, and the mapping of a character of a literal text to its position in the
source.

Lines and columns count from 1, columns in characters; a tab is one, as in most editors' status lines, in
SARIF and at GitHub. Python counts the columns of its syntax trees in bytes of UTF-8. A literal text is
followed through quotes, prefixes, escapes and the pieces of a concatenation.

>>> source = Source("x = 'é'; y")
>>> source.place(source.offset(1, 10))
Position(line=1, column=10)
>>> written = "'a' \"\\x62 c\""
>>> node = ast.parse(written, mode="eval").body
>>> written_at([node], Source(written), 1, 2)
(5, 9)
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import NamedTuple

_OPENING = re.compile(r"([A-Za-z]{0,2})('''|\"\"\"|'|\")")
_BETWEEN = re.compile(r"(?:[ \t\f\n]|\\\n|#[^\n]*)*")
_ESCAPE = re.compile(
    r"\\(?:([0-7]{1,3})|[\n\\'\"abfnrtv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]+\})"
)
Unit = tuple[int, int, str]
"""The start and end of a piece of source in the file, and the characters of the text that it produces."""


class Position(NamedTuple):
    """A line and a column, both from 1."""

    line: int
    column: int


class TextRange(NamedTuple):
    """A half-open range: `end` is the position after the last character."""

    start: Position
    end: Position


class Source:
    """A source text with the newlines that Python recognises, and the offsets of its lines."""

    __slots__ = ("lines", "starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.lines = self.text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def offset(self, line: int, column: int) -> int:
        """Convert a line from 1 and a column in bytes from 0, as in `ast`, to an offset."""
        written = self.lines[line - 1]
        if not written.isascii():
            column = len(written.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace"))
        return self.starts[line - 1] + column

    def place(self, offset: int) -> Position:
        """Convert an offset to a position."""
        line = bisect_right(self.starts, offset, hi=len(self.lines))
        return Position(line, offset - self.starts[line - 1] + 1)

    def region(self, start: int, end: int) -> TextRange:
        """Convert two offsets to a range."""
        return TextRange(self.place(start), self.place(end))


def literal_parts(node: ast.expr) -> list[ast.Constant] | None:
    """Return the string constants of a literal text; None for other expressions.

    ``"a" "b"`` is one constant for Python, ``"a" + "b"`` two.
    """
    parts, stack = [], [node]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add):
            stack += [part.right, part.left]
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            parts.append(part)
        else:
            return None
    return parts


def text_of(parts: Sequence[ast.Constant]) -> str:
    """Return the text of joined string constants."""
    return "".join(str(part.value) for part in parts)


def extent(node: ast.expr | ast.keyword, source: Source) -> tuple[int, int]:
    """Return the start and end offsets of a node."""
    start = source.offset(node.lineno, node.col_offset)
    if node.end_lineno is None or node.end_col_offset is None:
        return start, start
    return start, source.offset(node.end_lineno, node.end_col_offset)


def written_at(parts: Sequence[ast.Constant], source: Source, start: int, end: int) -> tuple[int, int]:
    """Map the characters from `start` to `end` of a literal text to offsets in the file.

    An empty range is the position of the next character. If the text cannot be followed, the result is the
    whole literal.
    """
    units = list(chain.from_iterable(_units(source.text, *extent(part, source)) for part in parts))
    if "".join(written for _, _, written in units) != text_of(parts):
        return extent(parts[0], source)[0], extent(parts[-1], source)[1]
    places = [(first, last) for first, last, written in units for _ in written]
    closing = units[-1][1] if units else extent(parts[-1], source)[1]
    first = places[start][0] if start < len(places) else closing
    return first, places[end - 1][1] if end > start else first


def read_at(parts: Sequence[ast.Constant], source: Source, offset: int) -> int | None:
    r"""Map an offset in the file to the character of a literal text that is written there, or would be if one
    were inserted; None outside of its quotes, or if the text cannot be followed.

    >>> written = "'a' \"\\x62 c\""
    >>> node = ast.parse(written, mode="eval").body
    >>> [read_at([node], Source(written), offset) for offset in (1, 3, 5, 9, 11)]
    [0, None, 1, 2, 4]
    """
    units = list(chain.from_iterable(_units(source.text, *extent(part, source)) for part in parts))
    if "".join(written for _, _, written in units) != text_of(parts):
        return None
    before = accumulate((len(written) for _, _, written in units), initial=0)
    for (start, end, _), place in zip(units, before, strict=False):
        if start <= offset < max(end, start + 1):
            return place
    return None


def _units(text: str, start: int, end: int) -> Iterator[Unit]:
    """Yield the units of one constant; the end of each piece is a unit that produces nothing."""
    while start < end:
        opening = _OPENING.match(text, start, end)
        if opening is None:
            return
        is_raw, quote, place = "r" in opening[1].lower(), opening[2], opening.end()
        while place < end and not text.startswith(quote, place):
            escape = None if is_raw else _ESCAPE.match(text, place)
            if escape is None:
                # In a raw string a backslash keeps the next character from closing it.
                behind = place + (2 if is_raw and text[place] == "\\" else 1)
                yield from ((at, at + 1, text[at]) for at in range(place, behind))
                place = behind
            else:
                octal = escape[1]
                written = chr(int(octal, 8)) if octal else escape[0].encode().decode("unicode_escape")
                yield place, escape.end(), written
                place = escape.end()
        yield place, place, ""
        between = _BETWEEN.match(text, place + len(quote), end)
        start = between.end() if between else end


class SourceError(Exception):
    """A source that Python cannot parse: its message, and the position."""


def parse_python(source: Source) -> ast.Module:
    """Parse a source (SourceError if that fails)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes and the like
            return ast.parse(source.text)
    except SyntaxError as fault:
        line = min(max(fault.lineno or 1, 1), len(source.lines))
        column = min(max(fault.offset or 1, 1), len(source.lines[line - 1]) + 1)
        raise SourceError(fault.msg, Position(line, column)) from None
    except ValueError as fault:  # a lone surrogate, which some codecs produce
        raise SourceError(f"{fault}", Position(1, 1)) from None
    except (RecursionError, MemoryError):
        raise SourceError("too deeply nested to be parsed", Position(1, 1)) from None
