"""Syntax errors of parts and positions in formulas: `x[t-1]`, `x[T@]`, `x[(1 + )]`."""

from __future__ import annotations

import re

from nameexpr.errors import Diagnostic, Mark, Span
from nameexpr.ops import INDEX, SIZE
from nameexpr.syntax.faults.indices import MISSING_PART, closing, written
from nameexpr.syntax.faults.recurrences import START, recurrence
from nameexpr.syntax.faults.stops import NAME, REACH, Stop, term_start

ON_THE_LEFT = (
    "to add up what goes to one element: sum[N](where(label[N] == index[K], x[N], 0)); to pad: (1 + H)"
)
"""What is written for an index on the left side."""
_VALUES = ("NAME", "INT", "FLOAT", "LPAR", "PACK", "ANONYMOUS", "DOTS")
_HEAD = re.compile(rf"(?<![\w'])({NAME})\s*\Z")


def index_fault(text: str, lines: str, position: int) -> Diagnostic | None:
    """Explain an index among dims: `x[t-1]`, `x[1:]`, `table[ids[i] D]`."""
    opened = term_start(lines[:position])
    head = _HEAD.search(lines, max(0, opened - REACH), max(0, opened))
    found = written(lines, head.start()) if head else None
    if head is None or found is None:
        return None
    hint = found.hint
    after = lines[closing(lines, opened + 1) + 1 :].lstrip()
    if after.startswith("(") or head[1] in (SIZE, INDEX):
        hint = f"dims are given by name here: {head[1]}[C]{'(...)' * after.startswith('(')}"
    if after.startswith("=") and not after.startswith("=="):
        hint = ON_THE_LEFT
    ends = lines.rfind(";", 0, position) + 1, lines.find(";", position)
    earlier = recurrence(lines[ends[0] : ends[1] if ends[1] >= 0 else len(lines)])
    if earlier:
        hint = f"{START}: {earlier}"
    message = f"'{text[slice(*found.span)]}' is not a dim"
    return Diagnostic("NE148", message, text, (Mark(found.span),), hint=hint)


def place_fault(stop: Stop) -> Diagnostic | None:
    """Explain an @ without a dim before it, or a position after it."""
    if not stop.in_square_brackets:
        return _two_values(stop)
    if stop.before.endswith("@"):
        hint = "a position is a number, a label, or has brackets: T@0, T@t, T@(t-1)"
        last = len(stop.before) - 1
        return stop.fault("NE150", "a position is missing after '@'", hint, Span(last, last + 1))
    if stop.kind != "AT":
        return None
    if re.search(r"@[^\[\]]*$", stop.before[term_start(stop.before) :].rpartition(" ")[2]):
        return stop.fault("NE150", "a dim has one position", "read the first in a statement of its own")
    return stop.fault("NE150", "a dim is missing before '@'", "write _ for a dim without a label: _@(t-1)")


def _two_values(stop: Stop) -> Diagnostic | None:
    """Explain `x[B@(h w)]`, in which the brackets are meant as a product."""
    opened = stop.open_brackets[-1:]
    before = stop.before[: opened[0]].rstrip() if opened else ""
    if not before.endswith("@") or stop.kind not in _VALUES or not re.search(r"[\w\])']$", stop.before):
        return None
    hint = "a position is one value, such as T@(2*t + d)"
    return stop.fault(
        "NE150",
        "a position has one value",
        hint,
        Span(len(before) - 1, len(before)),
        Span(opened[0], opened[0] + 1),
    )


def part_fault(stop: Stop) -> Diagnostic | None:
    """Explain `(a + )`, `( + a)` and `(a + + b)`."""
    if not stop.in_square_brackets or stop.kind not in ("PLUS", "RPAR") or stop.before[-1:] not in "(+":
        return None
    return stop.fault("NE129", "a part is missing", MISSING_PART)
