"""Arrays as a command reports them: shape, names, dtype, a preview for people, elements for programs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nameexpr.carets import aligned_columns, visible
from nameexpr.compiler.ir.axes import Names
from nameexpr.terminal.report import Report

if TYPE_CHECKING:
    import numpy.typing as npt

WHOLE = 200
"""Elements that are shown before the middle of an array is left out."""

SMALL = 1000
"""Elements that go into JSON."""

SHOWN_DIMS = 4
EDGES = {1: 3, 2: 3, 3: 2}


def of_array(array: npt.NDArray[Any], names: Names) -> Report:
    """Return shape, names and dtype of an array with a preview; as data, its elements if they are few."""
    head = [["shape", str(array.shape)], ["names", str(names)], ["dtype", str(array.dtype)]]
    elements = _plain(array.tolist()) if array.size <= SMALL else None
    data = _described(array, names) | {"data": elements, "output": None}
    return Report("\n".join([*aligned_columns(head), preview(array)]), data)


def of_file(array: npt.NDArray[Any], names: Names, output: str) -> Report:
    """Return a report of an array that was written to a file."""
    return Report("", _described(array, names) | {"data": None, "output": output})


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


def _plain(value: Any) -> Any:
    """Return nested lists in what JSON has: nan and inf as strings, complex numbers as pairs."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, complex):
        return [_plain(value.real), _plain(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, int | float | str | bool) or value is None else str(value)
