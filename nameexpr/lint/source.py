"""A file's text with its places: lines and columns count from 1, columns in characters.

Python counts the columns of its syntax trees in bytes of UTF-8; a tab is one character here, as in most
editors' status lines, in SARIF and at GitHub.

>>> source = Source("x = 'é'; y")
>>> source.place(source.offset(1, 10))
Place(line=1, column=10)
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple


class Place(NamedTuple):
    """A line and a column, both from 1."""

    line: int
    column: int


class Region(NamedTuple):
    """Half-open: `end` is the place behind the last character."""

    start: Place
    end: Place


class Source:
    """Text whose newlines are those that Python sees, and where its lines begin."""

    __slots__ = ("lines", "starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.lines = self.text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def offset(self, line: int, column: int) -> int:
        """Return the index of the character at a line from 1 and a column in bytes from 0, as `ast` has
        them.
        """
        written = self.lines[line - 1]
        if not written.isascii():
            column = len(written.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace"))
        return self.starts[line - 1] + column

    def place(self, offset: int) -> Place:
        """Return the place of a character."""
        line = bisect_right(self.starts, offset, hi=len(self.lines))
        return Place(line, offset - self.starts[line - 1] + 1)

    def region(self, start: int, end: int) -> Region:
        """Return the region from one character to another."""
        return Region(self.place(start), self.place(end))
