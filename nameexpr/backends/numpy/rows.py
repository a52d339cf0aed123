"""Softmax, log-softmax and log-sum-exp of rows: floats along the last axis of a block, contiguous in memory.

NumPy's `argmax` uses vector instructions within each row, and its `maximum.reduce` begins again for each: to
find the positions of the largest elements, and to read them, takes an eighth to a half of the time. Sums are
those of `add.reduce`: products with ones are faster, but their bits depend on the rows computed together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import Array, is_finite, native
from nameexpr.backends.numpy.reductions import Axis, count

_add: Callable[..., Array] = np.add.reduce
_maximum: Callable[..., Array] = np.maximum.reduce

MOST = 1 << 15
"""The number of elements of the largest block."""


def starts_of(x: Array, axes: object) -> Array | None:
    """Return where each row of one block of floats starts; None if the array is not one."""
    return _starts(x.shape, x.dtype, axes) if x.flags.c_contiguous else None


@lru_cache(maxsize=64)
def _starts(shape: tuple[int, ...], dtype: np.dtype[Any], axes: object) -> Array | None:
    size, last = prod(shape), len(shape) - 1
    is_float = dtype.char in "fd" and dtype.isnative
    if not is_float or axes not in (last, -1, (last,)) or not 1 < shape[last] <= size <= MOST:
        return None
    starts = np.arange(0, size, shape[last]).reshape((*shape[:last], 1))
    starts.flags.writeable = False
    return starts


def softmax_of_rows(x: Array, starts: Array, out: Array | None) -> Array:
    """Return exponentials over their sum, in `out` if given, which may be `x` itself."""
    shifted = np.subtract(x, largest_of_rows(x, starts), out)
    np.exp(shifted, shifted)
    return np.true_divide(shifted, _add(shifted, axis=-1, keepdims=True), shifted)


def log_softmax_of_rows(x: Array, starts: Array, out: Array | None) -> Array:
    """Return the logarithm of the softmax, in `out` if given, which may be `x` itself."""
    shifted = np.subtract(x, largest_of_rows(x, starts), out)
    sums = _add(np.exp(shifted), axis=-1, keepdims=True)
    return np.subtract(shifted, np.log(sums, sums), shifted)


def log_of_sum(x: Array, axis: Axis, *, keepdims: bool = False) -> Array:
    """Return log(sum(exp(x))) of real numbers; -inf for no elements."""
    if (starts := starts_of(x, axis)) is not None and (found := _of_rows(x, starts)) is not None:
        return found if keepdims else found[..., 0]
    if not count(x, axis):
        return np.full(np.shape(_add(x, axis=axis, keepdims=keepdims)), -np.inf, native(x.dtype))
    largest: Array = _maximum(x, axis=axis, keepdims=True)
    if not is_finite(largest):
        largest = np.where(np.isfinite(largest), largest, 0).astype(x.dtype)
    shifted = np.asarray(x - largest)
    exponentials = np.exp(shifted, out=shifted) if shifted.dtype.kind == "f" else np.exp(shifted)
    total = np.log(_add(exponentials, axis=axis, keepdims=keepdims))
    return np.asarray(total + largest.reshape(np.shape(total)))


def _of_rows(x: Array, starts: Array) -> Array | None:
    """Return log(sum(exp(row))) of rows; None if their largest elements are not all finite."""
    largest = largest_of_rows(x, starts)
    if not is_finite(largest):
        return None
    shifted: Array = np.subtract(x, largest)
    sums = _add(np.exp(shifted, shifted), axis=-1, keepdims=True)
    total: Array = np.add(np.log(sums, sums), largest, sums)
    return total


def largest_of_rows(x: Array, starts: Array) -> Array:
    """Return the largest element of each row, nan if it contains nan; rows keep an axis of length 1."""
    places: Array = x.argmax(-1, None, keepdims=True)
    places += starts
    largest: Array = x.take(places)
    return largest
