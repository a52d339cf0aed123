"""Reductions over windows along an axis, in about log2(count) passes over blocks that stay in the cache.

A window of 2n elements is one of n elements combined with another; windows of as many elements as a number
has bits are combined to those of any size. Nothing is subtracted, so that infinities and nans stay in
the windows that have them, and rounding errors as small as those of a pairwise sum. Few elements far apart
are combined directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import native
from nameexpr.compiler.ir.rolling import blocks, doubles, tiles_of

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]


def rolling(ufunc: np.ufunc, x: Array, axis: int, window: Sequence[int], size: int) -> Array:
    """Return a reduction of `x[offset + stride * t + apart * d]` over `d < count`, for each `t < size`.

    `window` is (offset, stride, apart, count), along an axis.

    >>> rolling(np.add, np.arange(6), 0, (0, 1, 1, 3), 4)
    array([ 3,  6,  9, 12])
    """
    result = np.empty_like(
        x, native(x.dtype), shape=(*x.shape[:axis], size, *x.shape[axis + 1 :]), subok=False
    )
    if not result.size:
        return result
    offset, stride, apart, count = window
    if apart < 0:
        offset, apart = offset + apart * (count - 1), -apart
    if stride < 0:
        offset, stride = offset + stride * (size - 1), -stride
        _fill(ufunc, x, _along(result, axis, size - 1, -1, size), axis, (offset, stride, apart, count))
    else:
        _fill(ufunc, x, result, axis, (offset, stride, apart, count))
    return result


def _fill(ufunc: np.ufunc, x: Array, result: Array, axis: int, window: tuple[int, int, int, int]) -> None:
    offset, stride, apart, count = window
    step, size = gcd(stride, apart) or 1, result.shape[axis]
    grid = _along(x, axis, offset, step, (stride * (size - 1) + apart * (count - 1)) // step + 1)
    stride, apart = stride // step, apart // step
    tiles = tiles_of(result.shape, x.strides, axis, stride, apart * (count - 1))
    is_doubled, buffers = doubles(stride, count, size), []
    if is_doubled:
        longest = stride * (tiles[axis] - 1) + apart * (count - 1) + 1
        shape = (*tiles[:axis], longest, *tiles[axis + 1 :])
        buffers = [np.empty_like(x, native(x.dtype), shape=shape, subok=False) for _ in range(2)]
    for block in blocks(result.shape, tiles):
        out, first = result[block], block[axis].start
        length = stride * (out.shape[axis] - 1) + apart * (count - 1) + 1
        part = grid[(*block[:axis], slice(stride * first, stride * first + length), *block[axis + 1 :])]
        if is_doubled:
            cut = tuple([slice(0, other) for other in part.shape])
            _double(ufunc, part, out, axis, (stride, apart, count), [buffer[cut] for buffer in buffers])
        else:
            _combine(ufunc, part, out, axis, (stride, apart, count))


def _combine(ufunc: np.ufunc, x: Array, out: Array, axis: int, window: tuple[int, int, int]) -> None:
    """Write the combination of the elements of each window, one after the other."""
    (stride, apart, count), size = window, out.shape[axis]
    first = _along(x, axis, 0, stride, size)
    if count == 1:
        out[...] = first
    for number in range(1, count):
        ufunc(first, _along(x, axis, apart * number, stride, size), out=out)
        first = out


def _double(
    ufunc: np.ufunc, x: Array, out: Array, axis: int, window: tuple[int, int, int], buffers: Sequence[Array]
) -> None:
    """Write the combinations of windows that double in size, for the bits of `count`, the lowest first."""
    (stride, apart, count), size = window, out.shape[axis]
    done, width, made, turn = 0, 1, None, 0
    while True:
        if count & 1:
            piece = _along(x, axis, apart * done, stride, size)
            if made is None and width > 1:
                out[...] = piece
            elif made is not None:
                ufunc(made, piece, out=out)
            made = piece if made is None and width == 1 else out
            done += width
        count >>= 1
        if not count:
            return
        length = x.shape[axis] - apart * width
        into = _along(buffers[turn], axis, 0, 1, length)
        x = ufunc(_along(x, axis, 0, 1, length), _along(x, axis, apart * width, 1, length), out=into)
        width, turn = 2 * width, 1 - turn


def _along(x: Array, axis: int, start: int, step: int, size: int) -> Array:
    """Return `size` elements of an axis."""
    stop = start + step * size
    cut = slice(start, stop if stop >= 0 else None, step)
    return x[(*(slice(None),) * axis, cut)]
