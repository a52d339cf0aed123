"""What was found: a mistake, where it stands, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from nameexpr.errors import Diagnostic
from nameexpr.lint.source import Place, Region

FILE, SYNTAX = "file", "syntax"
"""Codes of findings that are no mistakes of a text: a file that cannot be read, or is no valid Python."""
_TOP = Region(Place(1, 1), Place(1, 1))


@dataclass(frozen=True, slots=True)
class Finding:
    """A mistake in a file. In a notebook `cell` counts its cells from 1, and the region is one of that cell;
    elsewhere it is 0.
    """

    path: str
    region: Region
    diagnostic: Diagnostic
    cell: int = 0

    @property
    def code(self) -> str:
        """NE304 and the like, `FILE` or `SYNTAX`."""
        return self.diagnostic.code


class Checked(NamedTuple):
    """What checking gave: findings, and how many texts in how many files were read."""

    findings: tuple[Finding, ...] = ()
    texts: int = 0
    files: int = 0


def unreadable(path: str, reason: str) -> Checked:
    """Return the finding for a file that cannot be read."""
    return Checked((Finding(path, _TOP, Diagnostic(FILE, f"cannot be read: {reason}")),), 0, 1)


def no_python(path: str, message: str, place: Place = _TOP.start, cell: int = 0) -> Finding:
    """Return the finding for a file, or a cell, that is no valid Python."""
    return Finding(path, Region(place, place), Diagnostic(SYNTAX, message), cell)
