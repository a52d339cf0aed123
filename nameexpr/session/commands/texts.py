"""The commands about a text, by default the last one: `:type :plan :code :draw :time`; and `:explain`."""

from __future__ import annotations

import re
from collections.abc import Callable
from statistics import median
from timeit import Timer
from typing import TYPE_CHECKING

from nameexpr.backends.numpy.costs.text import duration
from nameexpr.session.facts import type_text
from nameexpr.session.faults import LineError
from nameexpr.session.lines import Command, Expression, Formula, read_text
from nameexpr.session.replies import Answer
from nameexpr.session.running import Prepared, plan_of, value_of

if TYPE_CHECKING:
    from nameexpr.session.session import Session

KINDS = ("network", "tree", "memory")
_CODE = re.compile(r"NE\d{3}|\d{3}|ne\d{3}")
_FILE = re.compile(r"(?:\"([^\"]+)\"|(\S+))\s*", re.DOTALL)
PICTURES = (".svg", ".dot", ".mmd")
REPEATS = 7
SECONDS = 0.05
"""Time that one of the repeats of `:time` takes, or one call if that takes longer."""


def text_of(session: Session, argument: str, command: str) -> Expression | Formula:
    """Return the text that a command is about (LineError if there is none)."""
    if argument.strip():
        return read_text(argument)
    if session.last_text is None:
        raise LineError(
            f":{command} is about a text, and there was none yet", hint=f":{command} N C -> C N | x"
        )
    return session.last_text


def _ready(session: Session, argument: str, command: str) -> Prepared:
    text = text_of(session, argument, command)
    ready = session.prepared(text)
    session.last_text = text
    return ready


def type_of(session: Session, command: Command, line: str) -> Answer:
    """Answer what the result would be."""
    return Answer(type_text(_ready(session, command.argument, "type")))


def plan(session: Session, command: Command, line: str) -> Answer:
    """Answer the table of steps."""
    return Answer(str(plan_of(_ready(session, command.argument, "plan"))))


def code(session: Session, command: Command, line: str) -> Answer:
    """Answer the NumPy that would run."""
    return Answer(plan_of(_ready(session, command.argument, "code")).code.rstrip("\n"))


def time(session: Session, command: Command, line: str) -> Answer:
    """Answer how long it takes: the median of some repeats."""
    ready = _ready(session, command.argument, "time")
    plan_of(ready)  # refuses what only checks shapes

    def call() -> object:
        return value_of(ready)

    once = min(Timer(call).repeat(2, 1))
    number = max(1, min(100_000, int(SECONDS / max(once, 1e-7))))
    times = [total / number for total in Timer(call).repeat(REPEATS if once < 1 else 1, number)]
    return Answer(
        f"{duration(median(times))} (median of {len(times)} repeats of {number:,}, "
        f"from {duration(min(times))} to {duration(max(times))})"
    )


def draw(session: Session, command: Command, line: str) -> Answer:
    """Answer a contraction tree as text, or write a picture to a file."""
    kind, path, argument = _drawn(command.argument)
    ready = _ready(session, argument, "draw")
    found = plan_of(ready)
    if path is None:
        from nameexpr.session.trees import drawn

        if kind not in ("", "tree"):
            raise LineError(f"a {kind} goes to a file", hint=f":draw {kind} picture.svg")
        return Answer(drawn(found.drawing.data.tree, [name for name, _ in ready.operands]))
    writers: dict[str, Callable[..., str]] = {".svg": found.draw, ".dot": found.dot, ".mmd": found.mermaid}
    from nameexpr.session.commands.files import write_text

    text = writers[path[path.rindex(".") :].casefold()](kind or "network")
    return Answer(f"written to {write_text(path, text)}")


def _drawn(argument: str) -> tuple[str, str | None, str]:
    """Return which picture, the file, and the text: all of them may be missing."""
    kind, path = "", None
    word = _FILE.match(argument)
    if word and word[0].strip() in KINDS:
        kind, argument = word[0].strip(), argument[word.end() :]
        word = _FILE.match(argument)
    if word and (word[1] or word[2]).casefold().endswith(PICTURES):
        path, argument = word[1] or word[2], argument[word.end() :]
    return kind, path, argument


def explain(session: Session, command: Command, line: str) -> Answer:
    """Answer the page about an error code."""
    from nameexpr.terminal.pages import page

    wanted = command.argument.strip() or session.last_fault
    if not wanted:
        raise LineError("there was no error yet", hint=":explain NE304")
    try:
        return Answer(page(wanted).rstrip("\n"))
    except LookupError as fault:
        raise LineError(str(fault.args[0]), hint=":explain NE304") from None
