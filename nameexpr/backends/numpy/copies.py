"""Copies that make good use of the cache.

NumPy copies an array into row-major order row by row of the copy. If a row is read with large strides from
more cache lines than the cache can hold at a time, each line is fetched again for every element in it: up to
eight times slower, worst if strides are powers of two, because all lines then compete for the same few sets.
Copying one strip of columns after the other uses each line while it is cached (R17).
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
"""The distance in bytes at which addresses compete for the same set in a cache of 64 sets."""
WAYS = 8
STRIP = range(16, 65)
"""The smallest and largest number of columns of a strip."""
SMALL = 1 << 15
"""The number of bytes that stay in the cache in any order."""
WORTH = 2048
"""The number of elements of a strip below which its overhead exceeds its benefit."""
RUN = 512
"""The number of bytes of a repeated run of elements from which one copy is better than several."""
WIDE = 8
"""The number of bytes of an element up to which keeping lines that do not compete pays off."""


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
    """Return the array itself if it is row-major, else a row-major copy."""
    return x if x.flags.c_contiguous else contiguous(x)


def repeated(x: Array, shape: tuple[int, ...]) -> Array:
    """Return a row-major array of this shape, with the elements of `x` broadcast.

    `repeat` copies runs of elements where an assignment copies element by element; over several axes it does
    so several times, which does not pay off for long runs, and it first copies arrays that are not row-major,
    aligned and writable.
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
    """Return the shape with contiguous axes joined, and the number of columns of a strip; None for a plain
    copy.
    """
    axes = _joined(shape, strides)
    if len(axes) < 2:  # noqa: PLR2004  nothing to copy across
        return None
    length, stride = axes[-1][0], abs(axes[-1][1])
    if stride <= item or stride <= min(abs(own) for _, own in axes[:-1]):
        return None  # the last axis is also the fastest of the source
    apart = gcd(stride, WAY)
    lines = WAYS * WAY // max(apart, LINE)
    if length <= lines or stride < LINE or (apart < LINE and item > WIDE):
        return None
    width = min(max(lines, STRIP[0]), STRIP[-1])
    if prod(size for size, _ in axes[:-1]) * width < WORTH:
        return None
    return tuple(size for size, _ in axes), width


def _joined(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return size and stride of each axis, without those of size 1 and with contiguous ones joined."""
    axes = [(size, stride) for size, stride in zip(shape, strides, strict=True) if size != 1]
    for position in range(len(axes) - 1, 0, -1):
        (outer, far), (size, stride) = axes[position - 1], axes[position]
        if far == stride * size:
            axes[position - 1 : position + 1] = [(outer * size, stride)]
    return axes
