"""What is known of a text before it runs: names, sizes, dtype, cost of its result, or what is wrong with it.

This is the line below the input, made anew at each key: it plans and never computes.

>>> from nameexpr.session.session import Session
>>> session = Session()
>>> _ = session.run("x = randn(N=2, C=3)")
>>> facts(session, "sum[C](x)").text
'N=2  float64  12 flops  16 B'
>>> facts(session, "sum[K](x)").span
Span(start=4, end=5)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nameexpr.carets import shortened, visible
from nameexpr.errors import NameExprError, Span
from nameexpr.pictures.words import bytes_text, flops_text
from nameexpr.session.constructors import read_pieces
from nameexpr.session.continuation import continued, is_open
from nameexpr.session.faults import LineError
from nameexpr.session.lines import (
    Command,
    Expression,
    Formula,
    Line,
    Make,
    Nothing,
    Python,
    read_line,
)
from nameexpr.session.running import Prepared, outline_of, sizes_of
from nameexpr.session.script import lines_of
from nameexpr.session.values import dims_text, shown

if TYPE_CHECKING:
    from nameexpr.session.session import Session

ABOUT_TEXTS = ("type", "plan", "code", "draw", "time", "t", "p")
LONGEST = 4000
"""Characters of a text up to which it is looked at while it is typed."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What to show below a text: `kind` is "type", "mistake", "hint" or ""; `span` is where a mistake is."""

    kind: str
    text: str
    span: Span | None = None


NOTHING = Facts("", "")


def facts(session: Session, line: str) -> Facts:
    """Return what is known of a line. Nothing is raised, and nothing is computed."""
    if len(line) > LONGEST:
        return Facts("hint", "this line is too long to be looked at while it is typed")
    line = continued(line)
    if "\n" in line and not is_open(line) and (many := len(lines_of(line))) > 1:
        return Facts("hint", f"{many} lines, of which each is run for itself")
    try:
        return _of_line(session, read_line(line), line)
    except (NameExprError, LineError) as fault:
        return _told(fault, line)
    except Exception:  # noqa: BLE001  the line below the input is never worth a session
        return NOTHING


def _told(fault: NameExprError | LineError, line: str) -> Facts:
    """Return what is wrong with a line; a line that is only unfinished is not wrong yet."""
    if is_open(line):
        return Facts("hint", "more is to come" if line.rstrip().endswith(",") else "a bracket is still open")
    if isinstance(fault, LineError):
        return Facts("mistake", _one_line(fault.message), fault.span)
    first = fault.diagnostics[0]
    return Facts("mistake", _one_line(f"{first.code} {first.message}"), _place(fault.spans, line, first.text))


def _of_line(session: Session, line: Line, text: str) -> Facts:
    match line:
        case Nothing():
            return Facts("hint", ":help lists what can be typed, Tab completes")
        case Make():
            sizes, dtype = read_pieces(line)
            kind = dtype or np.dtype(np.int64 if line.factory == "arange" else float)
            dims = dims_text(tuple(sizes), tuple(sizes.values()))
            return Facts("type", f"{dims}  {kind}  {bytes_text(_cells(sizes) * kind.itemsize)}")
        case Python():
            return Facts("hint", "Python: Enter runs it")
        case Command():
            return _of_command(session, line)
        case Expression() | Formula():
            return Facts("type", type_text(session.prepared(line, is_quick=True)))


def _of_command(session: Session, line: Command) -> Facts:
    from nameexpr.session.commands.commands import ROWS, SHORT

    name = SHORT.get(line.name.text, line.name.text)
    if name not in ROWS:
        return Facts("hint", " ".join(f":{one}" for one in ROWS if one.startswith(name)) or "no such command")
    if name in ABOUT_TEXTS and name != "draw" and line.argument.strip():
        return _within(session, line)
    return Facts("hint", f":{name} {ROWS[name].usage}".rstrip() + f"  {ROWS[name].about}")


def _within(session: Session, line: Command) -> Facts:
    """Return the facts of a command's text; the place of a mistake is that in the whole line."""
    found = facts(session, line.argument)
    if found.span is None:
        return found
    return Facts(found.kind, found.text, Span(found.span.start + line.start, found.span.end + line.start))


def type_text(ready: Prepared) -> str:
    """Return the result's names, sizes, dtype and cost on one line.

    Raises
    ------
    NameExprError
        If the operands do not fit.
    """
    if ready.compiled is None:
        return shown(sizes_of(ready))
    found = outline_of(ready)
    dtype = found.dtype or _common_dtype(ready.operands)
    dims = dims_text(found.names, found.shape)
    cost = f"{flops_text(found.flops)}  {bytes_text(found.peak_bytes)}"
    return f"{dims}  {dtype}  {cost}".replace("  0 flops", "").removesuffix("  0 B")


def _common_dtype(operands: tuple[tuple[str, Any], ...]) -> str:
    dtypes = [getattr(one, "dtype", None) or np.asarray(one).dtype for _, one in operands]
    return str(dtypes[0]) if len(set(dtypes)) == 1 else ""


def _cells(sizes: Mapping[str, int]) -> int:
    cells = 1
    for size in sizes.values():
        cells *= size
    return cells


def _one_line(text: str) -> str:
    return visible(shortened(" ".join(text.split())))


def _place(spans: tuple[Span, ...], line: str, text: str) -> Span | None:
    """Return where the mistake is, if the text that the error speaks of begins as the line does."""
    return spans[0] if spans and line.startswith(text[: spans[0].end]) else None
