"""Sums of products over windows, block by block: no copy of all windows is made, which would be many times
larger than what they are windows of.

`view` is what `nameexpr.backends.numpy.reading.windows` takes: offsets, strides, and the shape of the view,
with the axes of the result first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from nameexpr.backends.numpy.arrays import native
from nameexpr.backends.numpy.kernels import integer_matmul
from nameexpr.backends.numpy.reading import windows
from nameexpr.compiler.ir.rolling import (
    blocks,
    chunk_of,
    copied_cells,
    is_one_run,
    parts_of,
    row_of,
    run_of,
    weighed_tiles,
)

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]
View = tuple[tuple[int, ...], tuple[tuple[int, ...], ...], tuple[int, ...]]


def multiplied(x: Array, matrix: Array, view: View, kept: int) -> Array:
    """Return the products of windows and a matrix: the first `kept` axes of the view are those of the result,
    the others are summed.

    Windows are copied in blocks, as rows or columns of a matrix, whichever have longer runs.

    >>> multiplied(np.arange(4.0), np.ones((2, 1)), ((0,), ((1, 1),), (3, 2)), 1).ravel()
    array([1., 3., 5.])
    """
    shape, dtype = view[2], native(x.dtype)
    if 0 in shape or not matrix.size:
        return np.zeros((*shape[:kept], matrix.shape[1]), dtype)
    seen, inner = windows(x, *view), prod(shape[kept:])
    result = np.empty((*shape[:kept], matrix.shape[1]), dtype)
    is_across = _run(seen, range(kept)) > _run(seen, range(kept, seen.ndim))
    if is_across:
        seen = seen.transpose(*range(kept, seen.ndim), *range(kept))
    buffer = np.empty(copied_cells(shape, kept, x.itemsize), dtype)
    flat, done = result.reshape(-1, matrix.shape[1]), 0
    for part in parts_of(shape[:kept], *chunk_of(shape, kept, x.itemsize)):
        block = seen[(..., *part)] if is_across else seen[part]
        rows = block.size // inner
        copy = buffer[: block.size].reshape(block.shape)
        np.copyto(copy, block)
        left = copy.reshape(inner, rows).T if is_across else copy.reshape(rows, inner)
        if dtype.kind in "iu":
            flat[done : done + rows] = integer_matmul(left, matrix, dtype.name)
        else:
            np.matmul(left, matrix, out=flat[done : done + rows])
        done += rows
    return result


def _run(x: Array, axes: Iterable[int]) -> int:
    """Return how many elements along some axes are adjacent."""
    return run_of([x.shape[axis] for axis in axes], [x.strides[axis] for axis in axes], x.itemsize)


def weighed(x: Array, weights: Array, view: View, kept: int) -> Array:
    """Return sums of windows times weights, one element of the windows after the other.

    The weights have the axes of the view, those of the result with size 1 where they do not vary.

    >>> weighed(np.arange(4), np.array([[1, 10]]), ((0,), ((1, 1),), (3, 2)), 1)
    array([10, 21, 32])
    """
    shape = view[2]
    if 0 in shape:
        return np.zeros(shape[:kept], native(x.dtype))
    seen, taps = windows(x, *view), list(product(*map(range, shape[kept:])))
    if is_one_run(seen.shape, seen.strides, weights.shape, x.itemsize) and x.dtype.char in "fd":
        run = as_strided(seen, (sum(shape) - 1,), (x.itemsize,))
        return np.correlate(run, weights.ravel(), "valid")
    result = np.empty_like(_element(seen, taps[0]), native(x.dtype), subok=False)
    tiles = weighed_tiles(result.shape, seen.strides)
    rows = row_of(tiles, seen.strides[:kept], weights.shape[:kept])
    spare, row = np.empty_like(result, shape=tiles), np.empty_like(result, shape=rows)
    for block in blocks(result.shape, tiles):
        out, inside = result[block], tuple([slice(0, cut.stop - cut.start) for cut in block])
        cuts = zip(block, weights.shape[:kept], strict=True)
        own = weights[tuple([cut if size != 1 else slice(None) for cut, size in cuts])]
        _weigh(seen[block], own, taps, out, spare[inside], row[inside] if row.size > 1 else None)
    return result


def _weigh(
    part: Array, weights: Array, taps: Sequence[tuple[int, ...]], out: Array, spare: Array, row: Array | None
) -> None:
    """Write a block of sums; weights are repeated in `row` if their own runs are short."""
    for number, tap in enumerate(taps):
        factor = _element(weights, tap)
        if row is not None:
            row[...] = factor
            factor = row
        np.multiply(_element(part, tap), factor, out=spare if number else out)
        if number:
            np.add(out, spare, out=out)


def _element(x: Array, tap: tuple[int, ...]) -> Array:
    """Return one element of each window, or its weight."""
    index: tuple[Any, ...] = (..., *tap)
    found: Array = x[index]
    return found
