"""How an array lies in memory, as the compiler is told."""

from __future__ import annotations

from typing import Any

import numpy as np

from nameexpr.compiler.ir.layouts import Layout

PLAIN = frozenset("biuf")
"""Kinds of dtypes whose cells are aligned if they lie at multiples of their size, and whose size the
compiler knows.
"""


def layout_of(array: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """Return the strides of an array in bytes; a `Layout` where they do not tell what its cells need.

    Examples
    --------
    >>> layout_of(np.zeros((2, 3)))
    (24, 8)
    >>> layout_of(np.zeros(2, ">f8")).is_swapped
    True
    """
    dtype, strides = array.dtype, array.strides
    is_aligned = array.flags.aligned
    if is_aligned and dtype.kind in PLAIN and dtype.isnative:
        return strides
    item = dtype.itemsize
    if dtype.kind == "c" and is_aligned:  # BLAS wants both parts of a number in one piece of its size
        places = (array.__array_interface__["data"][0], *strides)
        is_aligned = not any(place % item for place in places)
    return Layout(strides, item, not dtype.isnative, not is_aligned)
