"""The position where parsing stops, and first guesses at what was meant: shared by both languages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from nameexpr.dims import WORD
from nameexpr.errors import Diagnostic, Mark, Span

NAME = rf"{WORD}'*"
REACH = 64
"""The distance from a stop within which guesses are matched."""


class Guess(NamedTuple):
    """A common mistake: the pattern that matches it, and its message.

    In message and hint {0} is the matched text, {1} the same without its stars.
    """

    pattern: re.Pattern[str]
    code: str
    message: str
    hint: str


def guesses(*rows: tuple[str, str, str, str]) -> tuple[Guess, ...]:
    """Return a table of guesses, which are tried in order."""
    return tuple(Guess(re.compile(pattern), *rest) for pattern, *rest in rows)


def first_guess(table: Iterable[Guess], text: str, position: int) -> Diagnostic | None:
    """Return the diagnostic of the first guess whose pattern matches around a position."""
    for guess in table:
        match = around(guess.pattern, text, position)
        if match:
            words = match[0], match[0].strip("*")
            mark = Mark(Span(*match.span()))
            hint = guess.hint.format(*words)
            return Diagnostic(guess.code, guess.message.format(*words), text, (mark,), hint=hint)
    return None


def around(pattern: re.Pattern[str], text: str, position: int) -> re.Match[str] | None:
    """Return the match of a pattern that covers a position."""
    matches = pattern.finditer(text, max(0, position - REACH), position + REACH)
    return next((match for match in matches if match.start() <= position < match.end()), None)


class Stop(NamedTuple):
    """A misplaced token: its kind ("end" after the last) and span, the text before it, without comments and
    spaces at the end, and the text from it on.
    """

    text: str
    kind: str
    span: Span
    before: str
    rest: str

    @property
    def word(self) -> str:
        """The token as it is written."""
        return self.text[self.span.start : self.span.end]

    @property
    def open_brackets(self) -> list[int]:
        """The positions of the brackets that are open here."""
        return open_brackets(self.before)

    @property
    def in_square_brackets(self) -> bool:
        """Whether this is among dims: a square bracket is open here, and in it no position."""
        return term_start(self.before) >= 0

    def fault(self, code: str, message: str, hint: str, *others: Span) -> Diagnostic:
        """Return the diagnostic that marks this token, and others."""
        spans = sorted({*others, self.span}, key=lambda span: span.start)
        return Diagnostic(code, message, self.text, tuple(map(Mark, spans)), hint=hint)

    def at(self, span: Span, code: str, message: str, hint: str) -> Diagnostic:
        """Return the diagnostic that marks something other than this token."""
        return Diagnostic(code, message, self.text, (Mark(span),), hint=hint)


def open_brackets(before: str) -> list[int]:
    """Return the positions of the brackets that are open at the end of a text, the innermost last."""
    stack: list[int] = []
    for bracket in re.finditer(r"[()\[\]]", before):
        if bracket[0] in "([":
            stack.append(bracket.start())
        elif stack:
            stack.pop()
    return stack


def term_start(before: str) -> int:
    """Return the position of the square bracket in which the end of a text is an item, -1 if it is in a
    value.

    >>> term_start("x[N (h "), term_start("x[N H@(h +")
    (1, -1)
    """
    for position in reversed(open_brackets(before)):
        if before[position] == "[":
            return position
        if before[:position].rstrip().endswith("@"):
            return -1
    return -1
