"""Kernels that need arrays of their own, run on some rows of a large array at a time.

What a kernel has in between then stays in the cache, and its memory is that of the rows: the variance of a
gigabyte needs no gigabyte more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]
Axis = int | tuple[int, ...]
Kernel = Callable[[Array, Axis], Array]

CELLS = 1 << 16
"""Cells of the rows that are handled together: 512 kB of float64."""


def by_rows(kernel: Kernel) -> Kernel:
    """Return a kernel that reduces axes but the first in parts, if the array is large and lies row by row."""

    @wraps(kernel)
    def run(x: Array, axis: Axis) -> Array:
        if x.size <= 2 * CELLS or x.ndim in _positive(axis, x.ndim) or not _lies_by_rows(x):
            return kernel(x, axis)
        step = max(1, CELLS * len(x) // x.size)
        if step >= len(x):
            return kernel(x, axis)
        first = kernel(x[:step], axis)
        result = np.empty((len(x), *first.shape[1:]), first.dtype)
        result[:step] = first
        del first
        for start in range(step, len(x), step):
            result[start : start + step] = kernel(x[start : start + step], axis)
        return result

    return run


def _lies_by_rows(x: Array) -> bool:
    """Whether the first axis has the longest stride, of those that are longer than 1."""
    return x.strides[0] >= max(step for size, step in zip(x.shape, x.strides, strict=True) if size > 1)


def _positive(axis: Axis, ndim: int) -> set[int]:
    """Return the axes that go, counted from the end, so that `ndim` in it means the first."""
    axes = (axis,) if isinstance(axis, int) else axis
    return {ndim - one if one >= 0 else -one for one in axes}
