"""The loop: a reader's lines into a session, and what it says to a writer, until the input ends.

At a terminal Ctrl-C stops what runs, and the session goes on; at a prompt the reader drops the line being
typed. Only the end of the input, Ctrl-D, or `:quit` ends a session.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from nameexpr.session.replies import Answer


class Runner(Protocol):
    """What lines are run by: a session."""

    def run(self, line: str) -> Answer:
        """Return what there is to say to a line."""
        ...


INTERRUPTED = Answer("interrupted", is_fault=True)


class Reader(Protocol):
    """Where lines come from. `stays` says that Ctrl-C stops a line and not the session, as at a terminal."""

    stays: bool

    def read(self) -> str | None:
        """Return the next line, whole; None at the end."""
        ...


def loop(session: Runner, reader: Reader, write: Callable[[Answer], None]) -> int:
    """Answer every line, and return how many of them were wrong.

    Parameters
    ----------
    session : Session
        What answers them.
    reader : Reader
        Where they come from.
    write : callable
        What is done with each answer, one that says nothing among them.

    Examples
    --------
    >>> from nameexpr.session.session import Session
    >>> lines = iter(["x = zeros(N=1)", "x +", ":quit"])
    >>> class Lines:
    ...     stays = False
    ...     def read(self):
    ...         return next(lines)
    >>> loop(Session(), Lines(), lambda answer: print(answer.text.split(" ")[0] or "-"))
    x:
    ParseError[NE144]:
    -
    1
    """
    wrong = 0
    while True:
        try:
            answer = _round(session, reader, write)
        except KeyboardInterrupt:
            if not reader.stays:
                raise
            answer = INTERRUPTED
            write(answer)
        wrong += answer.is_fault
        if answer.leaves:
            return wrong


def _round(session: Runner, reader: Reader, write: Callable[[Answer], None]) -> Answer:
    line = reader.read()
    if line is None:
        return Answer("", leaves=True)
    answer = replace(session.run(line), line=line)
    write(answer)
    return answer
