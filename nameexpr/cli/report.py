"""What a command has to say, as text for people and as data for programs.

>>> print(of_sizes(Sizes({"C": 3, "out": 5}, {"batch": (2, 4)})).text)
C         3
out       5
batch...  (2, 4)
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nameexpr.api.check import Sizes
from nameexpr.api.plan import Plan
from nameexpr.carets import aligned_columns, visible
from nameexpr.compiler.typed import Names
from nameexpr.errors import Diagnostic, NameExprError

WHOLE = 200
"""Elements that are shown before the middle of an array is left out."""

SMALL = 1000
"""Elements that go into JSON."""

SHOWN_DIMS = 4
EDGES = {1: 3, 2: 3, 3: 2}


@dataclass(frozen=True, slots=True)
class Report:
    """One result, in both forms."""

    text: str
    data: Mapping[str, Any]


def of_array(array: npt.NDArray[Any], names: Names) -> Report:
    """Return shape, names and dtype of an array with a preview; as data, its elements if they are few."""
    head = [["shape", str(array.shape)], ["names", str(names)], ["dtype", str(array.dtype)]]
    elements = _plain(array.tolist()) if array.size <= SMALL else None
    data = _described(array, names) | {"data": elements, "output": None}
    return Report("\n".join([*aligned_columns(head), preview(array)]), data)


def of_file(array: npt.NDArray[Any], names: Names, output: str) -> Report:
    """Return a report of an array that was written to a file."""
    return Report("", _described(array, names) | {"data": None, "output": output})


def of_sizes(sizes: Sizes) -> Report:
    """Return a report of the sizes that a check found."""
    rows = [[f"{label} ", str(size)] for label, size in sizes.items()]
    rows += [[f"{name.removesuffix('...')}... ", str(shape)] for name, shape in sizes.packs.items()]
    text = "\n".join(aligned_columns(rows)) if rows else "the shapes fit"
    return Report(text, {"sizes": dict(sizes), "packs": sizes.packs})


def of_plan(plan: Plan) -> Report:
    """Return the table of a plan; as data, its steps and totals."""
    data = {
        "text": plan.text,
        "steps": [asdict(step) for step in plan.steps],
        "flops": plan.flops,
        "naive_flops": plan.naive_flops,
        "speedup": plan.speedup,
        "peak_bytes": plan.peak_bytes,
        "operand_bytes": plan.operand_bytes,
        "shape": plan.result_shape,
        "dtype": plan.dtype or None,
    }
    return Report(str(plan), data)


def of_code(code: str) -> Report:
    """Return source to paste."""
    return Report(code.rstrip("\n"), {"code": code})


def _described(array: npt.NDArray[Any], names: Names) -> dict[str, Any]:
    return {"shape": array.shape, "names": names, "dtype": str(array.dtype)}


def preview(array: npt.NDArray[Any]) -> str:
    """Return a few lines of an array: its edges if it is large, one corner of it if it has many dims."""
    if array.size <= WHOLE:
        return visible(np.array2string(array, threshold=WHOLE))
    extra = max(0, array.ndim - SHOWN_DIMS)
    corner = array[(0,) * extra]
    head = f"the first of many, [{'0, ' * extra}...]:\n" if extra else ""
    edge = 1
    for ndim, items in EDGES.items():
        if corner.ndim <= ndim:
            edge = items
            break
    return head + visible(np.array2string(corner, threshold=WHOLE if not extra else 0, edgeitems=edge))


def error_data(fault: NameExprError) -> dict[str, Any]:
    """Return an error as data: its first mistake, and under `more` those that were found with it."""
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
    """Return data as JSON on one line, in ASCII."""
    return json.dumps(data, allow_nan=False, default=str)


def _plain(value: Any) -> Any:
    """Return nested lists in what JSON has: nan and inf as strings, complex numbers as pairs."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, complex):
        return [_plain(value.real), _plain(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, int | float | str | bool) or value is None else str(value)
