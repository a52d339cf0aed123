"""Copies that keep to the cache.

NumPy copies an array into row-major order row by row of the copy. Where a row is read with large strides from
more cache lines than the cache can hold at a time, each line is fetched again for every cell in it: up to
eight times slower, worst where strides are powers of two, for then all lines compete for the same few
places. Copying a strip of columns after the other uses each line while it is there (R17).
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd, prod
from typing import Any

import numpy as np

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]

LINE = 64
"""Bytes of a cache line."""
WAY = 4096
"""Bytes after which addresses compete for the same place in a cache of 64 sets."""
WAYS = 8
STRIP = range(16, 65)
"""Columns of a strip, at least and at most."""
SMALL = 1 << 15
"""Bytes that stay in the cache whatever their order is."""
WORTH = 2048
"""Cells of a strip below which starting it costs more than it saves."""
RUN = 512
"""Bytes of a run of cells that is repeated at once, from which one copy is better than several."""
WIDE = 8
"""Bytes of an element up to which lines that do not compete are worth keeping."""


def contiguous(x: Array) -> Array:
    """Return a row-major copy."""
    if x.nbytes <= SMALL:
        return x.copy()
    plan = _strips(x.shape, x.strides, x.itemsize)
    if plan is None:
        return x.copy()
    shape, width = plan
    source = x.reshape(shape)
    result = np.empty(shape, x.dtype)
    for start in range(0, shape[-1], width):
        result[..., start : start + width] = source[..., start : start + width]
    return result.reshape(x.shape)


def row_major(x: Array) -> Array:
    """Return the array itself if it is row-major, else a copy that is."""
    return x if x.flags.c_contiguous else contiguous(x)


def repeated(x: Array, shape: tuple[int, ...]) -> Array:
    """Return a row-major array of this shape, with the cells of `x` broadcast.

    `repeat` copies runs of cells where an assignment copies cell by cell; over several axes it does so
    several times, which long runs do not repay, and it copies what is not row-major, aligned and writable
    first.
    """
    is_apart = not x.flags.carray
    x = x.reshape((1,) * (len(shape) - x.ndim) + x.shape)
    axes = [axis for axis, size in enumerate(shape) if x.shape[axis] != size]
    if is_apart or (len(axes) > 1 and x.itemsize * prod(shape[axes[-1] + 1 :]) >= RUN):
        result = np.empty(shape, x.dtype)
        result[...] = x
        return result
    for axis in reversed(axes):
        x = x.repeat(shape[axis], axis=axis)
    return x if axes else x.copy()


@lru_cache(maxsize=256)
def _strips(
    shape: tuple[int, ...], strides: tuple[int, ...], item: int
) -> tuple[tuple[int, ...], int] | None:
    """Return the shape with axes joined that lie together, and the columns of a strip; None for a
    plain copy.
    """
    axes = _joined(shape, strides)
    if len(axes) < 2:  # noqa: PLR2004  nothing to copy across
        return None
    length, stride = axes[-1][0], abs(axes[-1][1])
    if stride <= item or stride <= min(abs(own) for _, own in axes[:-1]):
        return None  # the last axis is the fastest of the source, too
    apart = gcd(stride, WAY)
    lines = WAYS * WAY // max(apart, LINE)
    if length <= lines or stride < LINE or (apart < LINE and item > WIDE):
        return None
    width = min(max(lines, STRIP[0]), STRIP[-1])
    if prod(size for size, _ in axes[:-1]) * width < WORTH:
        return None
    return tuple(size for size, _ in axes), width


def _joined(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return size and stride of each axis, those of size 1 left out and those that lie together joined."""
    axes = [(size, stride) for size, stride in zip(shape, strides, strict=True) if size != 1]
    for position in range(len(axes) - 1, 0, -1):
        (outer, far), (size, stride) = axes[position - 1], axes[position]
        if far == stride * size:
            axes[position - 1 : position + 1] = [(outer * size, stride)]
    return axes
