"""Rows combined by label with functions of the array API standard, which has none that add up by index.

Rows are sorted by their bins, and each is combined with those that lie 1, 2, 4, ... before it in the same
bin; the last row of a bin is then all of it. Rounding errors are those of a pairwise sum.
"""

from __future__ import annotations

from typing import Any

from nameexpr.backends.array_api.functions import like, space

Array = Any
Shape = tuple[int, ...]
COMBINE = {
    "sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum",
    "any": "logical_or", "all": "logical_and",
}  # fmt: skip
"""The functions of the standard that combine two rows."""


def bins(sizes: Shape, shape: Shape, *positions: Array) -> Array:
    """Return the number of the bin of each element: the product of positions along dims of these sizes.

    Elements outside have the number of bins.
    """
    xp = space(positions[0])
    flat, is_inside, total = positions[0] * 0, positions[0] == positions[0], 1
    for position, size in zip(positions, sizes, strict=True):
        is_inside = xp.logical_and(is_inside, xp.logical_and(position >= 0, position < size))
        flat, total = flat * size + position, total * size
    return xp.broadcast_to(xp.where(is_inside, flat, like(total, flat)), shape)


def count(at: Array, size: int) -> Array:
    """Return the number of rows of each bin."""
    first, last = _ends(space(at).sort(at), size)
    return last - first


def combined(method: str, at: Array, rows: Array, size: int, empty: float) -> Array:
    """Return the rows of each bin combined, `empty` for a bin without rows."""
    xp, number = space(rows), rows.shape[0]
    if not number or not rows.shape[1]:
        return xp.full((size, rows.shape[1]), empty, dtype=rows.dtype, device=rows.device)
    order = xp.argsort(at, stable=True)
    at, rows = xp.take(at, order), xp.take(rows, order, axis=0)
    combine, step = getattr(xp, COMBINE[method]), 1
    while step < number:
        is_same = xp.reshape(at[step:] == at[:-step], (-1, 1))
        both = combine(rows[step:, :], rows[:-step, :])
        rows = xp.concat([rows[:step, :], xp.where(is_same, both, rows[step:, :])], axis=0)
        step *= 2
    first, last = _ends(at, size)
    found = xp.take(rows, xp.maximum(last - 1, like(0, last)), axis=0)
    has_rows = xp.reshape(last > first, (-1, 1))
    return xp.where(has_rows, found, like(empty, found))


def flags(method: str, at: Array, size: int, empty: bool) -> Array:
    """Return whether a bin has rows, or has none if it is true without."""
    has_rows = count(at, size) > 0
    return space(at).logical_not(has_rows) if empty else has_rows


def _ends(at: Array, size: int) -> tuple[Array, Array]:
    """Return where the rows of each bin begin and end, among rows in the order of their bins."""
    xp = space(at)
    numbers = xp.arange(size, dtype=at.dtype, device=at.device)
    return xp.searchsorted(at, numbers, side="left"), xp.searchsorted(at, numbers, side="right")
