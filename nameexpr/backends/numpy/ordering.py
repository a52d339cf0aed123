"""Values picked by their rank along one axis, each with its index: `(values, indices)`.

The axis, which is not empty, is removed from both unless stated otherwise. Indices are int64, of the first
position of the value unless stated otherwise, and `values` is always `x` at `indices`. In NumPy's order nan
comes last, as the largest. If the position of one value is requested, values alone are sorted or partitioned
and then looked up: NumPy does this several times faster than it sorts indices.

NumPy sorts bfloat16 with nan at any position: `of_any` ranks it in float32, which holds each of its values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import is_bfloat16, is_float

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]
Ranked = tuple[Array, Array]


def sortable(x: Array) -> Array:
    """Return bfloat16 in float32, and any other array unchanged."""
    return x.astype(np.float32) if is_bfloat16(x.dtype) else x


def of_any(kernel: Callable[..., Ranked], x: Array, *arguments: Any) -> Ranked:
    """Return the result of a kernel for the array, also for bfloat16."""
    values, places = kernel(sortable(x), *arguments)
    return values.astype(x.dtype, copy=False), places


def median(x: Array, axis: int) -> Ranked:
    """Return the lower median, of rank (n - 1) // 2, or nan if there is one.

    Examples
    --------
    >>> median(np.array([3, 1, 2, 4]), 0)
    (array(2), array(2))
    """
    value = _ranked(x, (x.shape[axis] - 1) // 2, axis)
    if x.dtype.kind == "f":
        value = np.where(np.isnan(x).any(axis, keepdims=True), x.dtype.type(np.nan), value)
    return _picked(x, _first(x, value, axis), axis)


def nanmedian(x: Array, axis: int) -> Ranked:
    """Return the lower median of the values that are not nan, or nan if there are none."""
    if x.dtype.kind != "f":
        return median(x, axis)
    known = np.count_nonzero(~np.isnan(x), axis=axis, keepdims=True)
    # Without any value the rank is -1: the last one, which is also nan.
    value = np.take_along_axis(np.sort(x, axis), (known - 1) // 2, axis)
    return _picked(x, _first(x, value, axis), axis)


def kthvalue(x: Array, k: int, axis: int) -> Ranked:
    """Return the k-th smallest value, counted from 1."""
    return _picked(x, _first(x, _ranked(x, k - 1, axis), axis), axis)


def mode(x: Array, axis: int) -> Ranked:
    """Return the most frequent value, the smallest of several, at its last position.

    As in PyTorch, nan equals nothing, so that it is the mode only if there is no other value.
    """
    size = x.shape[axis]
    ordered = np.moveaxis(np.sort(x, axis), axis, -1)
    position = np.arange(size)
    start = np.zeros(ordered.shape, position.dtype)
    np.multiply(position[1:], ordered[..., 1:] != ordered[..., :-1], out=start[..., 1:])
    np.maximum.accumulate(start, axis=-1, out=start)
    end = np.moveaxis((position - start).argmax(axis=-1, keepdims=True), -1, axis)
    value = np.take_along_axis(np.moveaxis(ordered, -1, axis), end, axis)
    return _picked(x, size - 1 - _first(np.flip(x, axis), value, axis), axis)


def topk(x: Array, k: int, axis: int, largest: bool, ordered: bool) -> Ranked:
    """Return the k largest or smallest values along the axis, which is kept; from the best on if `ordered`.

    Which of equal values are returned, and in which order, is unspecified.

    Examples
    --------
    >>> topk(np.array([3, 1, 4, 1]), 2, 0, largest=True, ordered=True)
    (array([4, 3]), array([2, 0]))
    """
    size = x.shape[axis]
    begin, edge = (size - k, size - k) if largest else (0, k - 1)
    places = np.argpartition(x, edge, axis) if 0 < k < size else np.argsort(x, axis)
    places = places.take(np.arange(begin, begin + k), axis)
    values = np.take_along_axis(x, places, axis)
    if ordered:
        order = np.argsort(values, axis)
        order = np.flip(order, axis) if largest else order
        values, places = (np.take_along_axis(array, order, axis) for array in (values, places))
    return values, places.astype(np.int64, copy=False)


def largest(x: Array, axis: int) -> Ranked:
    """Return the largest value, or nan if there is one, at its first position."""
    return np.asarray(np.maximum.reduce(x, axis)), np.asarray(x.argmax(axis))


def smallest(x: Array, axis: int) -> Ranked:
    """Return the smallest value, or nan if there is one, at its first position."""
    return np.asarray(np.minimum.reduce(x, axis)), np.asarray(x.argmin(axis))


def cumulative_largest(x: Array, axis: int) -> Ranked:
    """Return the largest value so far, at its last position so far, along the axis, which is kept.

    From the first nan on it is nan.

    Examples
    --------
    >>> cumulative_largest(np.array([1, 3, 3, 2]), 0)
    (array([1, 3, 3, 3]), array([0, 1, 2, 2]))
    """
    return _cumulative(np.maximum, x, axis)


def cumulative_smallest(x: Array, axis: int) -> Ranked:
    """Return the smallest value so far, at its last position so far, like `cumulative_largest`."""
    return _cumulative(np.minimum, x, axis)


def full_median(x: Array) -> Array:
    """Return the lower median of all elements as a 0-d array, nan if there is one.

    The median of no elements is nan, which only a floating dtype can hold.
    """
    flat = sortable(x).reshape(-1)
    if flat.size == 0 or (flat.dtype.kind == "f" and np.isnan(flat).any()):
        return np.asarray(np.nan, x.dtype)
    return _ranked(flat, (flat.size - 1) // 2, 0).squeeze(0).astype(x.dtype, copy=False)


def full_nanmedian(x: Array) -> Array:
    """Return the lower median of all elements that are not nan as a 0-d array; nan if there are none."""
    return full_median(x[~np.isnan(x)] if is_float(x.dtype) else x)


def _ranked(x: Array, rank: int, axis: int) -> Array:
    """Return the value of a rank from 0, the axis kept with size 1."""
    return np.partition(x, rank, axis).take(np.array([rank]), axis)


def _first(x: Array, value: Array, axis: int) -> Array:
    """Return the first position of each value, the axis kept with size 1; nan finds nan."""
    places: Array = np.asarray(x == value).argmax(axis=axis, keepdims=True)
    if x.dtype.kind == "f":
        missing = np.isnan(value)
        if missing.any():
            return np.where(missing, np.isnan(x).argmax(axis=axis, keepdims=True), places)
    return places


def _picked(x: Array, places: Array, axis: int) -> Ranked:
    """Return the values at the positions and the positions, without the axis."""
    values = np.take_along_axis(x, places, axis)
    return values.squeeze(axis), places.astype(np.int64, copy=False).squeeze(axis)


def _cumulative(better: np.ufunc, x: Array, axis: int) -> Ranked:
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    position = np.arange(x.shape[axis], dtype=np.int64).reshape(shape)
    leads = np.asarray(better.accumulate(x, axis=axis) == x)
    if x.dtype.kind == "f":
        leads |= np.isnan(x)
    places: Array = np.maximum.accumulate(np.where(leads, position, 0), axis=axis)
    return np.take_along_axis(x, places, axis), places


ALONG: dict[str, Callable[..., Ranked]] = {
    "argmax": largest,
    "argmin": smallest,
    "cummax": cumulative_largest,
    "cummin": cumulative_smallest,
    "kthvalue": lambda x, axis, k: kthvalue(x, k, axis),
    "max": largest,
    "median": median,
    "min": smallest,
    "mode": mode,
    "nanmedian": nanmedian,
}
"""The kernels of operators along a dim: `kernel(x, axis, ...)`."""
OF_ALL = {"median": full_median, "nanmedian": full_nanmedian}
