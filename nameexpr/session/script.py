r"""Scripts and transcripts: lines from a file into a session, and the session as text that can be diffed.

A transcript is a script again: where a file begins with the prompt, what stands behind prompts is its lines.

>>> from nameexpr.session.session import Session
>>> said = [one.text for one in transcript(Session(), lines_of("x = arange(N=3)\nx + 1\n"))]
>>> print("\n".join(said))
> x = arange(N=3)
x: N=3  int64
> x + 1
tensor([1, 2, 3], names=('N',), shape=(3,))
>>> lines_of("\n".join(said))
['x = arange(N=3)', 'x + 1']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from nameexpr.carets import visible
from nameexpr.session.continuation import is_open
from nameexpr.session.faults import LineError
from nameexpr.session.replies import Answer
from nameexpr.terminal.faults import quoted, reason

if TYPE_CHECKING:
    from nameexpr.session.session import Session

PROMPT = "> "
MORE = ". "
LARGEST = 1 << 22
"""Bytes that a script may have."""


def read_script(path: str) -> list[str]:
    """Return the lines of a script, those that go on joined.

    Raises
    ------
    LineError
        If the file cannot be read.
    """
    try:
        with open(path, "rb") as stream:
            data = stream.read(LARGEST + 1)
    except (OSError, ValueError) as fault:
        raise LineError(f"cannot read {quoted(path)}: {reason(fault)}") from None
    if len(data) > LARGEST:
        raise LineError(f"cannot read {quoted(path)}: it is no script, it has more than {LARGEST:,} bytes")
    return lines_of(data.decode("utf-8-sig", "replace"))


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a script or of a transcript, those that go on joined.

    >>> lines_of("y[N] = sum[C](\n  x)\n:names")
    ['y[N] = sum[C](\n  x)', ':names']
    """
    lines = text.splitlines()
    if next((line for line in lines if line.strip()), "").startswith(PROMPT.rstrip() + " "):
        return list(_entered(lines))
    return list(joined(lines))


def _entered(lines: Iterable[str]) -> Iterator[str]:
    """Return what stands behind the prompts of a transcript."""
    entered: list[str] = []
    for line in lines:
        if line.startswith(PROMPT) or line == PROMPT.rstrip():
            if entered:
                yield "\n".join(entered)
            entered = [line.removeprefix(PROMPT.rstrip()).removeprefix(" ")]
        elif entered and (line.startswith(MORE) or line == MORE.rstrip()) and is_open("\n".join(entered)):
            entered.append(line.removeprefix(MORE.rstrip()).removeprefix(" "))
    if entered:
        yield "\n".join(entered)


def joined(lines: Iterable[str]) -> Iterator[str]:
    """Return lines of which each says something whole."""
    waiting: list[str] = []
    for line in lines:
        waiting.append(line)
        if not is_open("\n".join(waiting)):
            yield "\n".join(waiting)
            waiting = []
    if waiting:
        yield "\n".join(waiting)


def transcript(session: Session, lines: Iterable[str]) -> Iterator[Answer]:
    """Return each line behind its prompt, then run it and return what the session says to it."""
    for line in lines:
        entered = visible(line).split("\n")
        yield Answer("\n".join([PROMPT + entered[0], *(MORE + one for one in entered[1:])]).rstrip())
        answer = session.run(line)
        if answer.text:
            yield answer
        if answer.leaves:
            return
