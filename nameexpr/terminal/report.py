"""Reports of commands, as text for people and as data for programs. No NumPy is loaded.

>>> from nameexpr.runtime.check import Sizes
>>> print(of_sizes(Sizes({"C": 3, "out": 5}, {"batch": (2, 4)})).text)
C         3
out       5
batch...  (2, 4)
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from nameexpr.carets import aligned_columns
from nameexpr.errors import Diagnostic, NameExprError
from nameexpr.terminal import screen

if TYPE_CHECKING:
    from nameexpr.runtime.check import Sizes
    from nameexpr.runtime.plan.plan import Plan


class Report(NamedTuple):
    """A result in both forms."""

    text: str
    data: Mapping[str, Any]


def tell(report: Report, options: Namespace) -> None:
    """Print a report as the options ask for: as text, or as one line of JSON."""
    screen.say(dumped(report.data) if options.json else report.text)


def of_sizes(sizes: Sizes) -> Report:
    """Report the sizes that a check found."""
    rows = [[f"{label} ", str(size)] for label, size in sizes.items()]
    rows += [[f"{name.removesuffix('...')}... ", str(shape)] for name, shape in sizes.packs.items()]
    text = "\n".join(aligned_columns(rows)) if rows else "the shapes fit"
    return Report(text, {"sizes": dict(sizes), "packs": sizes.packs})


def of_plan(plan: Plan) -> Report:
    """Report a plan as a table; as data, its steps and totals."""
    from dataclasses import asdict

    data = {
        "text": plan.text,
        "steps": [asdict(step) for step in plan.steps],
        "flops": plan.flops,
        "naive_flops": plan.naive_flops,
        "seconds": plan.seconds,
        "speedup": plan.speedup,
        "peak_bytes": plan.peak_bytes,
        "operand_bytes": plan.operand_bytes,
        "shape": plan.result_shape,
        "dtype": plan.dtype or None,
    }
    return Report(str(plan), data)


def error_data(fault: NameExprError) -> dict[str, Any]:
    """Convert an error to data: its first mistake, the others under `more`."""
    first, *others = (_diagnostic_data(diagnostic, fault) for diagnostic in fault.diagnostics)
    return {"error": first | {"more": others}}


def _diagnostic_data(diagnostic: Diagnostic, fault: NameExprError) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "class": type(fault).__name__,
        "message": diagnostic.message,
        "text": diagnostic.text,
        "spans": [{"start": m.span.start, "end": m.span.end, "note": m.note} for m in diagnostic.marks],
        "operands": [operand._asdict() for operand in diagnostic.operands],
        "hint": diagnostic.hint,
    }


def dumped(data: Mapping[str, Any]) -> str:
    """Serialise data as JSON on one line, in ASCII."""
    import json

    return json.dumps(data, allow_nan=False, default=str)
