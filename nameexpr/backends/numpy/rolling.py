"""Reductions over windows along axes, in about log2(count) passes over blocks that stay in the cache.

A window of 2n elements is one of n elements combined with another; windows of as many elements as a number
has bits are combined to those of any size. Nothing is subtracted, so that infinities and nans stay in
the windows that have them, and rounding errors as small as those of a pairwise sum. Few elements far apart
are combined directly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd
from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import native
from nameexpr.compiler.ir.rolling import Move, blocks, doubles, tiles_of

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]


def rolling(
    ufunc: np.ufunc,
    x: Array,
    axes: tuple[int, ...],
    windows: Sequence[tuple[int, int, int, int]],
    shape: tuple[int, ...],
) -> Array:
    """Return a reduction of `x[offset + stride * t + apart * d]` over `d < count`, along each of some axes.

    `windows` are (offset, stride, apart, count) for each axis; `shape` is that of the result.

    >>> rolling(np.add, np.arange(6), (0,), ((0, 1, 1, 3),), (4,))
    array([ 3,  6,  9, 12])
    """
    result = out = np.empty_like(x, native(x.dtype), shape=shape, subok=False)
    if not result.size:
        return result
    moves: dict[int, Move] = {}
    for axis, window in zip(axes, windows, strict=True):
        x, out, moves[axis] = _forward(x, out, axis, window)
    for block in blocks(shape, tiles_of(shape, x.strides, moves)):
        _fold(ufunc, x[_source_of(block, moves)], out[block], moves)
    return result


def _forward(x: Array, out: Array, axis: int, window: tuple[int, int, int, int]) -> tuple[Array, Array, Move]:
    """Return an array and its result with windows that go forward, in steps that have no common divisor."""
    offset, stride, apart, count = window
    size = out.shape[axis]
    if apart < 0:
        offset, apart = offset + apart * (count - 1), -apart
    if stride < 0:
        offset, stride = offset + stride * (size - 1), -stride
        out = _along(out, axis, size - 1, -1, size)
    step = gcd(stride, apart) or 1
    x = _along(x, axis, offset, step, (stride * (size - 1) + apart * (count - 1)) // step + 1)
    return x, out, (stride // step, apart // step, count)


def _source_of(block: tuple[slice, ...], moves: Mapping[int, Move]) -> tuple[slice, ...]:
    """Return the part of the array that a block of the result is computed from."""
    cuts = list(block)
    for axis, (stride, apart, count) in moves.items():
        start, stop = stride * cuts[axis].start, stride * (cuts[axis].stop - 1) + apart * (count - 1) + 1
        cuts[axis] = slice(start, stop)
    return tuple(cuts)


def _fold(ufunc: np.ufunc, x: Array, out: Array, moves: Mapping[int, Move]) -> None:
    """Write a block of the result, one axis after the other."""
    for number, (axis, move) in enumerate(moves.items(), 1):
        shape = (*x.shape[:axis], out.shape[axis], *x.shape[axis + 1 :])
        made = out if number == len(moves) else np.empty_like(x, out.dtype, shape=shape, subok=False)
        if doubles(move[0], move[2], shape[axis]):
            _double(ufunc, x, made, axis, move)
        else:
            _combine(ufunc, x, made, axis, move)
        x = made


def _combine(ufunc: np.ufunc, x: Array, out: Array, axis: int, move: Move) -> None:
    """Write the combination of the elements of each window, one after the other."""
    (stride, apart, count), size = move, out.shape[axis]
    first = _along(x, axis, 0, stride, size)
    if count == 1:
        out[...] = first
    for number in range(1, count):
        ufunc(first, _along(x, axis, apart * number, stride, size), out=out)
        first = out


def _double(ufunc: np.ufunc, x: Array, out: Array, axis: int, move: Move) -> None:
    """Write the combinations of windows that double in size, for the bits of `count`, the lowest first."""
    (stride, apart, count), size = move, out.shape[axis]
    buffers = [np.empty_like(x, out.dtype, subok=False) for _ in range(2)]
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
