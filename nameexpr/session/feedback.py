"""Feedback on a line while it is typed: the status below it, completions, and the plan on F2.

The status shows names, sizes, dtype and cost of the result, or the error in the line. It is computed on every
key press, by planning only.

>>> session = Session({})
>>> _ = session.run("x = randn(N=2, C=3)")
>>> status(session, "sum[C](x)").text
'N=2  float64  12 flops  16 B  0.65 us'
>>> status(session, "sum[K](x)").span
Span(start=4, end=5)
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import NamedTuple

import numpy as np

from nameexpr.carets import shortened, visible
from nameexpr.errors import NameExprError, Span
from nameexpr.pictures.words import bytes_text
from nameexpr.session import lines
from nameexpr.session.complete import Completion, Known, complete
from nameexpr.session.complete.texts import word_before
from nameexpr.session.constructors import read_pieces
from nameexpr.session.continuation import continued, is_open, lines_of
from nameexpr.session.explaining import KINDS
from nameexpr.session.helping import (
    functions_beginning,
    help_words,
    python_signature,
    signature_at,
    signature_of,
)
from nameexpr.session.lines import ALIASES, COMMANDS
from nameexpr.session.running import expected_seconds, type_text
from nameexpr.session.session import SLOW, Session
from nameexpr.session.settings import SETTINGS
from nameexpr.session.values import dims_text
from nameexpr.terminal.faults import LineError

SHORTEST = 2
"""The length of a name from which the functions that it may become are shown."""
LONGEST = 4000
"""The length of the longest text that is examined while it is typed."""


class Status(NamedTuple):
    """The line below the input: `kind` is "type", "mistake", "hint" or ""; `span` is that of a mistake."""

    kind: str
    text: str
    span: Span | None = None


def status(session: Session, line: str) -> Status:
    """Return the status of a line whose end is being typed. Nothing is raised, and nothing is run."""
    if len(line) > LONGEST:
        return Status("hint", "this line is too long to be looked at while it is typed")
    line = continued(line)
    if "\n" in line and not is_open(line) and (many := len(lines_of(line))) > 1:
        return Status("hint", f"{many} lines, of which each is run for itself")
    try:
        return _line_status(session, session.read(line))
    except (NameExprError, LineError) as fault:
        return _mistake(session, fault, line)
    except Exception:  # noqa: BLE001  the line below the input is never worth a session
        return Status("", "")


def _line_status(session: Session, line: lines.Line) -> Status:
    match line:
        case lines.EmptyLine():
            return Status("hint", "help lists what can be typed, Tab completes")
        case lines.FactoryLine():
            sizes, dtype = read_pieces(line)
            kind = dtype or np.dtype(np.int64 if line.factory == "arange" else float)
            shape = tuple(sizes.values())
            return Status(
                "type", f"{dims_text(tuple(sizes), shape)}  {kind}  {bytes_text(prod(shape) * kind.itemsize)}"
            )
        case lines.PythonLine():
            return Status("hint", python_signature(line.code, session.tensors) or "Python: Enter runs it")
        case lines.CommandLine():
            return _command_status(session, line)
        case lines.ExpressionLine() | lines.FormulaLine():
            ready = session.prepared(line, is_quick=True)
            is_slow = expected_seconds(ready) > SLOW
            return Status("type", type_text(ready) + "  Enter asks before it runs" * is_slow)


def _command_status(session: Session, line: lines.CommandLine) -> Status:
    """Return the status of the command's text, or else the usage of the command."""
    command = ALIASES.get(line.name)
    if command is None:
        likely = " ".join(f":{name}" for name in COMMANDS if name.startswith(line.name))
        return Status("hint", likely or "no such command")
    if command.takes == "word" and (found_signature := signature_of(line.argument.strip())):
        return Status("hint", found_signature)
    start = lines.split_text(command.takes, line.argument)[1]
    if command.takes not in lines.TAKE_TEXTS or not line.argument[start:].strip():
        return Status("hint", f"{command.call}  {command.about}")
    found = status(session, line.argument[start:])
    if found.span is None:
        return found
    start += line.start
    return found._replace(span=Span(found.span.start + start, found.span.end + start))


def _mistake(session: Session, fault: NameExprError | LineError, line: str) -> Status:
    """Return the status of an invalid line; an unfinished one is not wrong yet."""
    if signature := signature_at(line) or _begun_signature(session, line):
        return Status("hint", signature)
    if is_open(line):
        return Status("hint", "more is to come" if line.rstrip().endswith(",") else "a bracket is still open")
    if isinstance(fault, LineError):
        return Status("mistake", _one_line(fault.message), fault.span)
    first = fault.diagnostics[0]
    span = fault.spans[0] if fault.spans else None
    if span is not None and not line.startswith(first.text[: span.end]):
        span = None  # the error refers to another text
    return Status("mistake", _one_line(f"{first.code} {first.message}"), span)


def _begun_signature(session: Session, line: str) -> str:
    """Return the signature of the function whose name ends a line, or the calls of all functions that it may
    become.
    """
    word = word_before(line)
    if not word or word in session.tensors or len(word) < SHORTEST:
        return ""
    names = functions_beginning(word)
    if word in names or len(names) == 1:
        return signature_of(word if word in names else names[0])
    return "  ".join(signature_of(name).partition("  ")[0] for name in names)


def _one_line(text: str) -> str:
    return visible(shortened(" ".join(text.split())))


def completions(session: Session, text: str, cursor: int) -> tuple[Completion, ...]:
    """Return the possible continuations at the cursor.

    >>> [choice.text for choice in completions(Session({}), ":pl", 3)]
    [':plan']
    """
    known = Known(
        {name: (tensor.names, tensor.shape) for name, tensor in session.tensors.items()},
        {f":{name}": command.about for name, command in COMMANDS.items()},
        {name: setting.choices for name, setting in SETTINGS.items()},
        {name: kind.title for name, kind in KINDS.items()} | _codes(),
        help_words(session),
    )
    return complete(text, cursor, known)


@cache
def _codes() -> dict[str, str]:
    from nameexpr.terminal.pages import codes, summary

    return {code: summary(code) for code in codes()}


def plan_and_code(session: Session, text: str) -> str:
    """Return plan and code of a text, with or without a command before it, or its error, for F2.

    >>> from nameexpr.session.commands import new_session
    >>> session = new_session()
    >>> _ = session.run("x = ones(N=2)")
    >>> print(plan_and_code(session, "x * 2").splitlines()[0])
    x * 2
    """
    line = text.strip()
    if line.startswith(":"):
        head, _, line = line.partition(" ")
        row = ALIASES.get(head[1:])
        line = line[lines.split_text(row.takes if row else "", line)[1] :]
    if not line and session.last_text is None:
        return "nothing is typed yet; F2 shows the plan of what is"
    plan, code = session.look(f":plan {line}"), session.look(f":code {line}")
    return plan.text if plan.is_fault else f"{plan.text}\n\n{code.text}"
