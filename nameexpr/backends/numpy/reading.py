"""Functions for generated code that read dims at positions.

>>> windows(np.arange(6), (1,), ((2, 1),), (2, 3))
array([[1, 2, 3],
       [3, 4, 5]])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

Array = np.ndarray[Any, np.dtype[Any]]


class PositionError(Exception):
    """Positions, of this number in the graph, that leave a dim of this size."""


def inside(positions: Array, size: int, number: int) -> Array:
    """Return positions, as integers of 64 bits, that are all at least 0 and below `size`.

    >>> inside(np.array([2, 0]), 3, 1)
    array([2, 0])
    """
    if not positions.dtype.isnative:
        positions = positions.astype(np.int64)
    # Seen as unsigned, negative numbers are the largest: one pass finds those on both sides.
    unsigned = positions.view(np.uint64)
    # `argmax` takes half as long as `max` on small arrays, and a copy of those that are not in one piece.
    if (
        positions.size
        and (unsigned.item(unsigned.argmax()) if unsigned.flags.c_contiguous else unsigned.max()) >= size
    ):
        raise PositionError(size, number)
    return positions


def windows(
    x: Array, offsets: tuple[int, ...], strides: tuple[tuple[int, ...], ...], shape: tuple[int, ...]
) -> Array:
    """Return a view in which axis k of x is read at `offsets[k]` plus `strides[k]` times the index.

    >>> windows(np.arange(3), (2,), ((-1,),), (3,))  # reversed
    array([2, 1, 0])
    """
    if 0 in shape:
        return np.empty(shape, x.dtype)
    corner = x[tuple([slice(offset, None) for offset in offsets])]
    steps = [0] * len(shape)
    for step, row in zip(x.strides, strides, strict=True):
        for axis, stride in enumerate(row):
            steps[axis] += step * stride
    return as_strided(corner, shape, steps)
