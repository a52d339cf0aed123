"""What generated code calls to combine elements by label: sums, maxima and the like of the rows of each bin.

Bins are numbered from 0; rows that belong to none have the number of bins.

>>> at = bins((3,), (4,), np.array([2, 0, 2, 7]))
>>> at
array([2, 0, 2, 3])
>>> combined(np.add, at, np.array([[1.0], [2.0], [3.0], [4.0]]), 3, 0).ravel()
array([2., 0., 4.])
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
BLOCK = 1 << 14
"""The number of elements that are combined at a time, so that their places stay in the cache."""
CHUNK = 1 << 10
"""The number of rows of a bin that are copied and added at a time."""
FEW = 1 << 16
"""The number of bins that 16 bits can number: these are sorted by their digits."""


def bins(sizes: tuple[int, ...], shape: tuple[int, ...], *positions: Array) -> Array:
    """Return the number of the bin of each element: the product of positions along dims of these sizes."""
    whole = [position if position.dtype.isnative else position.astype(np.int64) for position in positions]
    if len(whole) == 1:  # seen as unsigned, negative numbers are too large
        unsigned = whole[0].view(np.uint64)
        if unsigned.size and unsigned.max() < sizes[0]:
            return _whole(whole[0], shape)
        return _whole(np.minimum(unsigned, np.uint64(sizes[0])).view(np.int64), shape)
    flat, is_inside, total = np.zeros((), np.int64), np.ones((), np.bool_), 1
    for position, size in zip(whole, sizes, strict=True):
        is_inside = is_inside & (position.view(np.uint64) < size)
        flat, total = flat * size + position, total * size
    return _whole(np.where(is_inside, flat, total), shape)


def _whole(at: Array, shape: tuple[int, ...]) -> Array:
    """Return bins in one piece, repeated along the axes that they lack."""
    return np.ascontiguousarray(at) if at.shape == shape else np.broadcast_to(at, shape).copy()


def count(at: Array, size: int) -> Array:
    """Return the number of rows of each bin."""
    return np.bincount(at, minlength=size + 1)[:size]


def flags(at: Array, rows: Array | None, size: int, empty: bool) -> Array:
    """Return whether any row of a bin is true, or all of them; `empty` without rows."""
    found = np.full((size + 1, *(() if rows is None else rows.shape[1:])), empty)
    if rows is None:
        found[at] = not empty
        return found[:size]
    step = max(1, BLOCK // max(1, rows.shape[1]))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        where, columns = np.nonzero(~part if empty else part)
        found[at[start : start + step][where], columns] = not empty
    return found[:size]


def combined(ufunc: np.ufunc, at: Array, rows: Array, size: int, empty: float) -> Array:
    """Return the rows of each bin combined by a ufunc, one element after the other."""
    columns = rows.shape[1]
    found = np.full((size + 1) * columns, empty, rows.dtype)
    step = max(1, BLOCK // max(1, columns))
    inside = np.arange(columns)
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        places = at[start : start + step]
        if columns != 1:
            places = np.add.outer(places * columns, inside).reshape(-1)
        if ufunc is np.add or ufunc is np.multiply:
            ufunc.at(found, places, part.reshape(-1))
        else:
            with np.errstate(invalid="ignore"):  # of nan
                ufunc.at(found, places, part.reshape(-1))
    return found.reshape(size + 1, columns)[:size]


def by_columns(at: Array, rows: Array, size: int) -> Array:
    """Return the sum of the rows of each bin, column by column."""
    found = np.empty((size, rows.shape[1]), rows.dtype)
    for column in range(rows.shape[1]):
        found[:, column] = np.bincount(at, rows[:, column], size + 1)[:size]
    return found


def by_rows(at: Array, rows: Array, size: int) -> Array:
    """Return the sum of the rows of each bin, bin by bin, as products with ones."""
    order = np.argsort(at.astype(np.uint16) if size < FEW else at, kind="stable")
    found = np.zeros((size, rows.shape[1]), rows.dtype)
    ones = np.ones(CHUNK, rows.dtype)
    ends = np.cumsum(np.bincount(at, minlength=size + 1)).tolist()
    start = 0
    for target, end in zip(found, ends, strict=False):
        for first in range(start, end, CHUNK):
            chosen = order[first : min(end, first + CHUNK)]
            part = rows.take(chosen, 0) if rows.flags.c_contiguous else rows[chosen]
            if first == start:
                ones[: len(part)].dot(part, out=target)
            else:
                target += ones[: len(part)].dot(part)
            del part
        start = end
    return found
