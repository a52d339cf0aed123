"""Functions for generated code that are not a single NumPy call: reducers of the language, diagonals, exact
integer products.

Reducers take an array and the axis, or axes, that they combine (an int or a tuple of the last ones), and
follow NumPy: `var` and `std` divide by n, `median` averages the middle two. Over no elements they return nan,
0 or -inf without a warning. Those that need temporary arrays process some rows of a large array at a time, so
that the temporaries stay in the cache: the variance of a gigabyte does not need another gigabyte.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import Array, native
from nameexpr.backends.numpy.reductions import Axis, count, squared_deviations, squares
from nameexpr.backends.numpy.rows import log_of_sum

c_einsum: Any
try:
    from numpy._core.multiarray import c_einsum
except ImportError:
    c_einsum = np.einsum
"""`numpy.einsum` without its Python wrapper, which takes longer than the work on small arrays."""

Reducer = Callable[[Array, Axis], Array]

EXACT = 2.0**53
CELLS = 1 << 16
"""The number of elements of the rows that are processed together: 512 kB of float64."""
ONES = 1 << 16
"""The number of elements of the longest vector of ones: 512 kB of float64."""


def by_rows(kernel: Reducer) -> Reducer:
    """Return a kernel that reduces axes other than the first in parts, if the array is large and stored by
    rows.
    """

    @wraps(kernel)
    def run(x: Array, axis: Axis) -> Array:
        if x.size <= 2 * CELLS or x.ndim in _positive(axis, x.ndim) or not _lies_by_rows(x):
            return kernel(x, axis)
        step = max(1, CELLS * len(x) // x.size)
        if step >= len(x):
            return kernel(x, axis)
        first = kernel(x[:step], axis)
        result = np.empty((len(x), *first.shape[1:]), first.dtype)
        result[:step] = first
        del first
        for start in range(step, len(x), step):
            result[start : start + step] = kernel(x[start : start + step], axis)
        return result

    return run


def _lies_by_rows(x: Array) -> bool:
    """Return whether the first axis has the longest stride of those that are longer than 1."""
    return x.strides[0] >= max(step for size, step in zip(x.shape, x.strides, strict=True) if size > 1)


def _positive(axis: Axis, ndim: int) -> set[int]:
    """Return the reduced axes, counted from the end, so that `ndim` in it means the first."""
    axes = (axis,) if isinstance(axis, int) else axis
    return {ndim - position if position >= 0 else -position for position in axes}


@by_rows
@np.errstate(invalid="ignore", divide="ignore")
def var(x: Array, axis: Axis) -> Array:
    """Return the mean squared deviation from the mean; real for complex arrays."""
    return squared_deviations(x, axis, count(x, axis))


def std(x: Array, axis: Axis) -> Array:
    """Return the square root of the variance."""
    return np.asarray(np.sqrt(var(x, axis)))


@by_rows
def median(x: Array, axis: Axis) -> Array:
    """Return the middle value, or the mean of the middle two."""
    if count(x, axis) == 0:
        return np.full(np.add.reduce(x, axis=axis).shape, np.nan, native(x.dtype))
    with np.errstate(invalid="ignore"):  # NumPy would copy an array that is not row-major twice
        return np.asarray(np.median(x.astype(native(x.dtype), "C"), axis=axis, overwrite_input=True))


@by_rows
def norm(x: Array, axis: Axis) -> Array:
    """Return the 2-norm: the square root of the sum of squared magnitudes."""
    return np.asarray(np.sqrt(np.add.reduce(squares(x), axis=axis)))


@by_rows
@np.errstate(over="ignore", under="ignore", divide="ignore")
def logsumexp(x: Array, axis: Axis) -> Array:
    """Return log(sum(exp(x))) without overflow."""
    if x.dtype.kind == "c":
        raise TypeError("logsumexp of complex numbers is not defined here")
    return log_of_sum(x, axis)


@cache
def _shared(cells: int, dtype: str) -> Array:
    result = np.ones(cells, dtype)
    result.flags.writeable = False
    return result


def ones(shape: tuple[int, ...], dtype: str) -> Array:
    """Return an array of ones, at most `ONES`, which is read-only."""
    cells = 1
    for size in shape:
        cells *= size
    return _shared(1 << max(0, cells - 1).bit_length(), dtype)[:cells].reshape(shape)


def forget_ones() -> None:
    """Drop the arrays that are not used by a function."""
    _shared.cache_clear()


def slices(ufunc: np.ufunc, x: Array, axes: tuple[int, ...]) -> Array:
    """Return a binary ufunc applied to the elements along some axes, one after the other, slice after slice.

    NumPy's reductions start again for every run of elements; this makes one call for each slice, which is
    much faster if the axes are short.
    """
    for number, axis in enumerate(axes):
        at = axis - sum([gone < axis for gone in axes[:number]]) if number else axis
        before: tuple[Any, ...] = (slice(None),) * at
        parts: list[Array] = [x[(*before, index)] for index in range(x.shape[at])]
        x = parts[0] if len(parts) == 1 else ufunc(parts[0], parts[1])
        for part in parts[2:]:
            x = ufunc(x, part, out=x) if x.ndim else ufunc(x, part)
    return x


def add_up(x: Array, dtype: str, *, is_stack: bool = False) -> Any:
    """Return the sums along the last axis as products with ones, block after block: by `dot`, or for a stack
    by `matmul`, which leaves an axis of size 1.

    This takes almost no memory, is faster than with a vector of ones that does not fit into the cache, and
    has smaller rounding errors.
    """
    block = ones((ONES, 1) if is_stack else (ONES,), dtype)
    total: Any = None
    for start in range(0, x.shape[-1], ONES):
        part = x[..., start : start + ONES]
        own = np.matmul(part, block[: part.shape[-1]]) if is_stack else part.dot(block[: part.shape[-1]])
        total = own if total is None else np.add(total, own, out=total if total.ndim else None)
    return total


def argmax(x: Array, axis: int) -> Array:
    """Return the index of the largest value."""
    return _picked(x, axis, np.argmax)


def argmin(x: Array, axis: int) -> Array:
    """Return the index of the smallest value."""
    return _picked(x, axis, np.argmin)


def _picked(x: Array, axis: int, pick: Callable[..., Any]) -> Array:
    """Return the result of argmax or argmin along the last axis, part by part if NumPy would copy everything.

    NumPy copies arrays that are not row-major, in native byte order and writable.
    """
    if x.size <= 2 * CELLS or (x.flags.carray and x.dtype.isnative):
        return np.asarray(pick(x, axis=axis))
    if x.ndim == 1:
        starts = range(0, len(x), CELLS)
        places = np.array([start + pick(x[start : start + CELLS]) for start in starts])
        return np.asarray(places[pick(x[places])])
    step = max(1, CELLS * len(x) // x.size)
    result = np.empty(x.shape[:-1], np.intp)
    for start in range(0, len(x), step):
        is_row = step == 1
        part = x[start] if is_row else x[start : start + step]
        result[start if is_row else slice(start, start + step)] = _picked(part, axis, pick)
    return result


def count_nonzero(x: Array, axis: Axis) -> Array:
    """Return how many values are not zero."""
    return np.asarray(np.count_nonzero(x, axis=axis))


def apply(reduce: Callable[[Array, int], Any], x: Array) -> Array:
    """Return `reduce(x, axis)` for the last axis, as a fresh array.

    The array that is passed to it is read-only: it may be an operand.

    Raises
    ------
    ReducerMisuse
        If it cannot be called like this, or does not return an array of `x`'s shape without its last axis.
    ReducerFault
        For any other exception that it raised.
    """
    given = x[...]
    given.flags.writeable = False
    returned = reduced_by(reduce, given)
    if np.ma.is_masked(returned):
        raise ReducerMisuse("returned a masked array, whose mask would be lost", x.shape)
    try:
        result = np.array(returned)
    except (TypeError, ValueError) as fault:
        raise ReducerMisuse(f"returned {type(returned).__name__}, which is not an array", x.shape) from fault
    check_reduced(result, x, "an array")
    return result


def reduced_by(reduce: Callable[[Any, int], Any], x: Any) -> Any:
    """Return what a caller's reducer returns for the last axis of an array of any library.

    ReducerMisuse if it cannot be called like this, ReducerFault for any other exception that it raised.
    """
    try:
        return reduce(x, x.ndim - 1)
    except Exception as fault:
        if isinstance(fault, TypeError) and fault.__traceback__ and fault.__traceback__.tb_next is None:
            raise ReducerMisuse(f"cannot be called as f(array, axis): {fault}", tuple(x.shape)) from fault
        raise ReducerFault(fault) from fault


def check_reduced(result: Any, x: Any, kind: str) -> None:
    """Raise ReducerMisuse if a result does not have an array's shape without its last axis."""
    found, shape = tuple(result.shape), tuple(x.shape)
    if found != shape[:-1]:
        raise ReducerMisuse(f"returned {kind} of shape {found} for one of shape {shape}", shape)


class ReducerFault(Exception):  # noqa: N818  a parcel, not an error: the caller's own error is what is raised
    """An exception of a caller's reducer, which passes through the code that explains NumPy's errors."""

    def __init__(self, original: Exception) -> None:
        super().__init__(original)
        self.original = original


class ReducerMisuse(Exception):  # noqa: N818  data for an error of ours: (what is wrong, shape of the array given)
    """An invalid reducer of the caller: (what is wrong with it, the shape of the array that it was given)."""


def diagonal(x: Array, letters: tuple[int, ...]) -> Array:
    """Return a writable view of the elements where axes of the same letter have the same index."""
    distinct = tuple(dict.fromkeys(letters))
    places = [[axis for axis, letter in enumerate(letters) if letter == wanted] for wanted in distinct]
    shape = tuple(x.shape[axes[0]] for axes in places)
    strides = tuple(sum(x.strides[axis] for axis in axes) for axes in places)
    return np.lib.stride_tricks.as_strided(x, shape, strides)


def as_real(x: Array) -> Array:
    """Return a view of complex numbers with a last axis of their real and imaginary parts."""
    return x[..., None].view(x.real.dtype)


def as_complex(x: Array) -> Array:
    """Return a view of pairs of numbers, contiguous along the last axis, as complex numbers."""
    return np.asarray(x.view(np.result_type(x.dtype, np.complex64))[..., 0])


def embed(x: Array, shape: tuple[int, ...], letters: tuple[int, ...]) -> Array:
    """Return zeros of a shape with `x`, broadcast, where axes of the same letter have the same index."""
    result = np.zeros(shape, x.dtype)
    diagonal(result, letters)[...] = x
    return result


def _magnitude(x: Array) -> float:
    return max(abs(float(x.max())), abs(float(x.min()))) if x.size else 0.0


def integer_matmul(a: Array, b: Array, dtype: str = "int64") -> Array:
    """Return the matrix product of integers in 64 bits, exactly (modulo 2**64, as in NumPy).

    If no sum can exceed the range in which float64 is exact, it is computed by BLAS, which is about twenty
    times faster; one pass over the values determines this (docs/performance.md). Otherwise the C loop over
    rows of both is four times faster than `numpy.matmul`, which has no special code for integers.
    """
    if _magnitude(a) * _magnitude(b) * a.shape[-1] < EXACT:
        return np.asarray(np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(dtype))
    rows, columns = a.astype(dtype), np.ascontiguousarray(b.swapaxes(-1, -2), dtype)
    return np.asarray(c_einsum("...ij,...kj->...ik", rows, columns))
