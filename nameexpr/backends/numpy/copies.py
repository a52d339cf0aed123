"""Copies that make good use of the cache.

NumPy copies an array into row-major order row by row of the copy. If a row is read with large strides from
more cache lines than the cache can hold at a time, each line is fetched again for every element in it: up to
eight times slower, worst if strides are powers of two, because all lines then compete for the same few sets.
Copying one strip of columns after the other uses each line while it is cached (R17). If a cache holds only a
few lines at such a stride, a block of the source is first copied as it is, with rows that do not compete.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd, prod
from typing import Any, NamedTuple

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
BUFFER, SHARE = 1 << 18, 16
"""The most bytes of a buffer, which fits into the second cache, and the share of the copy that it may be, so
that a plan need not count it as memory.
"""
BLOCK, LARGE = 1 << 13, 1 << 22
"""The number of elements of a block from which its two copies pay off, and the bytes of an array from which
they also do if lines compete half as much.
"""


class _Way(NamedTuple):
    """How to copy: the shape with contiguous axes joined, and the number of columns of a strip; through a
    buffer also the number of its rows, and the axis along which the source is contiguous.
    """

    shape: tuple[int, ...]
    width: int
    rows: int = 0
    near: int = 0


def contiguous(x: Array) -> Array:
    """Return a row-major copy."""
    if x.nbytes <= SMALL:
        return x.copy()
    way = _way(x.shape, x.strides, x.itemsize)
    if way is None:
        return x.copy()
    source, result = x.reshape(way.shape), np.empty(way.shape, x.dtype)
    if way.rows:
        _through_buffer(np.moveaxis(source, way.near, -2), np.moveaxis(result, way.near, -2), way)
    else:
        for start in range(0, way.shape[-1], way.width):
            result[..., start : start + way.width] = source[..., start : start + way.width]
    return result.reshape(x.shape)


def _through_buffer(source: Array, result: Array, way: _Way) -> None:
    """Copy matrices that are contiguous along columns, block by block."""
    item, (length, columns) = source.itemsize, source.shape[-2:]
    lines = -(-way.rows * item // LINE) | 1  # an odd number: such rows start in different sets
    buffer = np.empty((way.width, lines * LINE // item), source.dtype).T
    for place in np.ndindex(source.shape[:-2]):
        read, written = source[place], result[place]
        for row in range(0, length, way.rows):
            for start in range(0, columns, way.width):
                here = slice(row, row + way.rows), slice(start, start + way.width)
                block = read[here]
                kept = buffer[: block.shape[0], : block.shape[1]]
                kept[...] = block
                written[here] = kept


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
def _way(shape: tuple[int, ...], strides: tuple[int, ...], item: int) -> _Way | None:
    """Return how to copy an array that does not stay in the cache; None for a plain copy."""
    axes = _joined(shape, strides)
    if len(axes) < 2:  # noqa: PLR2004  nothing to copy across
        return None
    (length, stride), (step, near) = axes[-1], min((abs(own), at) for at, (_, own) in enumerate(axes[:-1]))
    stride = abs(stride)
    if stride <= max(item, step):
        return None  # the last axis is also the fastest of the source
    apart = gcd(stride, WAY)
    lines = WAYS * WAY // max(apart, LINE)
    if length <= lines or stride < LINE or (apart < LINE and item > WIDE):
        return None
    joined = tuple([size for size, _ in axes])
    size = prod(joined) * item
    if lines <= WAYS * (1 + (size > LARGE)) and step == item <= WIDE:
        width = min(length, STRIP[-1])
        rows = min(joined[near], min(BUFFER, size // SHARE) // (width * item))
        if rows * width >= BLOCK:
            return _Way(joined, width, rows, near)
    width = min(max(lines, STRIP[0]), STRIP[-1])
    return _Way(joined, width) if prod(joined[:-1]) * width >= WORTH else None


def _joined(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return size and stride of each axis, without those of size 1 and with contiguous ones joined."""
    axes = [(size, stride) for size, stride in zip(shape, strides, strict=True) if size != 1]
    for position in range(len(axes) - 1, 0, -1):
        (outer, far), (size, stride) = axes[position - 1], axes[position]
        if far == stride * size:
            axes[position - 1 : position + 1] = [(outer * size, stride)]
    return axes
