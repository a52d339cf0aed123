"""The findings of a check: a mistake and its position; and the comments that silence it.

Such a comment, ``# nameexpr: ignore`` or ``# nameexpr: ignore[NE304, NE5]``, counts on the line where the
call, the text or the mistake begins, and on the line where the text ends. The whole line is searched, so that
a comment inside a text of several lines counts, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from nameexpr.errors import Diagnostic
from nameexpr.lint.source import Position, TextRange

FILE, SYNTAX, UNREAD = "file", "syntax", "unread"
"""Codes of findings other than errors in a text: a file that cannot be read, or is not valid Python, and a
call whose text is unknown.
"""
_COMMENT = re.compile(r"#\s*nameexpr:\s*ignore(?![\w-])(?:\s*\[([^\]]*)\])?")
_TOP = TextRange(Position(1, 1), Position(1, 1))


@dataclass(frozen=True, slots=True)
class Finding:
    """An error in a file. In a notebook `cell` counts its cells from 1, and the region is one of that cell;
    elsewhere it is 0. `related` are the other marks: their regions and notes.
    """

    path: str
    region: TextRange
    diagnostic: Diagnostic
    cell: int = 0
    related: tuple[tuple[TextRange, str], ...] = ()

    @property
    def code(self) -> str:
        """NE304 and the like, `FILE` or `SYNTAX`."""
        return self.diagnostic.code

    @property
    def rank(self) -> tuple[int, TextRange, str, str]:
        """The sort key of findings within a file."""
        return self.cell, self.region, self.code, self.diagnostic.message


class Checked(NamedTuple):
    """The result of a check: findings, the numbers of texts and files that were read, and the calls whose
    texts could not be.
    """

    findings: tuple[Finding, ...] = ()
    texts: int = 0
    files: int = 0
    unread: tuple[Finding, ...] = ()


def unreadable(path: str, reason: str) -> Checked:
    """Report a file that cannot be read."""
    return Checked((Finding(path, _TOP, Diagnostic(FILE, f"cannot be read: {reason}")),), 0, 1)


def no_python(path: str, message: str, place: Position = _TOP.start, cell: int = 0) -> Finding:
    """Report a file, or a cell, that is not valid Python."""
    return Finding(path, TextRange(place, place), Diagnostic(SYNTAX, message), cell)


def is_ignored(code: str, lines: Iterable[str]) -> bool:
    """Return whether a comment on one of these lines silences a code.

    >>> is_ignored("NE304", ["f()  # nameexpr: ignore[NE3]"]), is_ignored("NE304", ["f()  # noqa"])
    (True, False)
    """
    comments = [comment[1] for line in lines for comment in _COMMENT.finditer(line)]
    return any(codes is None or code.startswith(tuple(codes.replace(",", " ").split())) for codes in comments)
