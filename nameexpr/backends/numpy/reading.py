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
