"""What generated code needs and NumPy has no single call for: reducers of the language, diagonals, exact
integer products.

Reducers take an array and the axis, or axes, that they combine (an int or a tuple of the last ones), and
follow NumPy: `var` and `std` divide by n, `median` averages the middle two. Over no elements they give nan, 0
or -inf in silence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nameexpr.backends.numpy.compatible import c_einsum
from nameexpr.backends.numpy.floats import native
from nameexpr.backends.numpy.ones import BLOCK, ones
from nameexpr.backends.numpy.rows import CELLS, by_rows

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]
Axis = int | tuple[int, ...]

EXACT = 2.0**53


def _count(x: Array, axis: Axis) -> int:
    axes = (axis,) if isinstance(axis, int) else axis
    total = 1
    for one in axes:
        total *= x.shape[one]
    return total


def _squares(x: Array) -> Array:
    """Return the squared magnitudes, real for complex arrays."""
    return np.asarray(np.real(x) ** 2 + np.imag(x) ** 2 if np.iscomplexobj(x) else x * x)


@by_rows
def var(x: Array, axis: Axis) -> Array:
    """Return the mean squared deviation from the mean; real for complex arrays."""
    count = _count(x, axis)
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = np.asarray(x - np.add.reduce(x, axis=axis, keepdims=True) / count)
        if centred.dtype.kind == "f":
            return np.asarray(np.add.reduce(np.multiply(centred, centred, out=centred), axis=axis) / count)
        return np.asarray(np.add.reduce(_squares(centred), axis=axis) / count)


def std(x: Array, axis: Axis) -> Array:
    """Return the square root of the variance."""
    return np.asarray(np.sqrt(var(x, axis)))


@by_rows
def median(x: Array, axis: Axis) -> Array:
    """Return the middle value, or the mean of the middle two."""
    if _count(x, axis) == 0:
        return np.full(np.add.reduce(x, axis=axis).shape, np.nan, native(x.dtype))
    with np.errstate(invalid="ignore"):  # of an array that is not row-major NumPy would make two copies
        return np.asarray(np.median(x.astype(native(x.dtype), "C"), axis=axis, overwrite_input=True))


@by_rows
def norm(x: Array, axis: Axis) -> Array:
    """Return the 2-norm: the square root of the sum of squared magnitudes."""
    return np.asarray(np.sqrt(np.add.reduce(_squares(x), axis=axis)))


@by_rows
def logsumexp(x: Array, axis: Axis) -> Array:
    """Return log(sum(exp(x))) without overflow."""
    if np.iscomplexobj(x):
        raise TypeError("logsumexp of complex numbers is not defined here")
    if _count(x, axis) == 0:
        return np.full(np.add.reduce(x, axis=axis).shape, -np.inf, native(x.dtype))
    largest = np.maximum.reduce(x, axis=axis, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0).astype(x.dtype)
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        shifted = np.asarray(x - largest)
        exponentials = np.exp(shifted, out=shifted) if shifted.dtype.kind == "f" else np.exp(shifted)
        total = np.log(np.add.reduce(exponentials, axis=axis))
    return np.asarray(total + largest.reshape(total.shape))


def slices(ufunc: np.ufunc, x: Array, axes: tuple[int, ...]) -> Array:
    """Return what a binary ufunc makes of the cells along some axes, slice after slice, the last axis first.

    NumPy's own reductions start anew for every run of cells; this does one call for each slice, which is
    quicker by far where the axes are short.
    """
    for axis in reversed(axes):
        before: tuple[Any, ...] = (slice(None),) * axis
        parts: list[Array] = [x[(*before, index)] for index in range(x.shape[axis])]
        x = parts[0] if len(parts) == 1 else ufunc(parts[0], parts[1])
        for part in parts[2:]:
            x = ufunc(x, part, out=x) if x.ndim else ufunc(x, part)
    return x


def add_up(x: Array, dtype: str, *, is_stack: bool = False) -> Any:
    """Return the sums along the last axis as products with ones, block after block: by `dot`, or of a stack
    by `matmul`, which leaves an axis of size 1.

    That takes no memory to speak of, is quicker than a vector that does not fit in the cache, and has smaller
    rounding errors.
    """
    block = ones((BLOCK, 1) if is_stack else (BLOCK,), dtype)
    total: Any = None
    for start in range(0, x.shape[-1], BLOCK):
        part = x[..., start : start + BLOCK]
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
    """Return what argmax or argmin gives along the last axis, part by part where NumPy would copy all.

    It copies what is not row-major, in native byte order and writable.
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

    The array that it is given cannot be written to: it may be an operand.

    Raises
    ------
    ReducerMisuse
        If it cannot be called like this, or returns no array of `x`'s shape without its last axis.
    ReducerFault
        With what else it raised.
    """
    given = x[...]
    given.flags.writeable = False
    try:
        returned = reduce(given, x.ndim - 1)
    except Exception as fault:
        if isinstance(fault, TypeError) and fault.__traceback__ and fault.__traceback__.tb_next is None:
            raise ReducerMisuse(f"cannot be called as f(array, axis): {fault}", x.shape) from fault
        raise ReducerFault(fault) from fault
    if np.ma.is_masked(returned):
        raise ReducerMisuse("returned a masked array, whose mask would be lost", x.shape)
    try:
        result = np.array(returned)
    except (TypeError, ValueError) as fault:
        raise ReducerMisuse(f"returned {type(returned).__name__}, which is no array", x.shape) from fault
    if result.shape != x.shape[:-1]:
        raise ReducerMisuse(f"returned an array of shape {result.shape} for one of shape {x.shape}", x.shape)
    return result


class ReducerFault(Exception):  # noqa: N818  a parcel, not an error: the caller's own error is what is raised
    """What a caller's reducer raised, on its way through the code that explains NumPy's errors."""

    def __init__(self, original: Exception) -> None:
        super().__init__(original)
        self.original = original


class ReducerMisuse(Exception):  # noqa: N818  data for an error of ours: (what is wrong, shape of the array given)
    """A caller's reducer is not one: (what is wrong with it, shape of the array that it was given)."""


def diagonal(x: Array, letters: tuple[int, ...]) -> Array:
    """Return a writable view of the cells where axes of the same letter have the same index."""
    distinct = tuple(dict.fromkeys(letters))
    places = [[axis for axis, letter in enumerate(letters) if letter == one] for one in distinct]
    shape = tuple(x.shape[axes[0]] for axes in places)
    strides = tuple(sum(x.strides[axis] for axis in axes) for axes in places)
    return np.lib.stride_tricks.as_strided(x, shape, strides)


def as_real(x: Array) -> Array:
    """Return a view of complex numbers with a last axis of their real and imaginary parts."""
    return x[..., None].view(x.real.dtype)


def as_complex(x: Array) -> Array:
    """Return a view of pairs of numbers, one after the other along the last axis, as complex numbers."""
    return np.asarray(x.view(np.result_type(x.dtype, np.complex64))[..., 0])


def embed(x: Array, shape: tuple[int, ...], letters: tuple[int, ...]) -> Array:
    """Return zeros of a shape with `x`, broadcast, where axes of the same letter have the same index."""
    result = np.zeros(shape, x.dtype)
    diagonal(result, letters)[...] = x
    return result


def _magnitude(x: Array) -> float:
    return max(abs(float(x.max())), abs(float(x.min()))) if x.size else 0.0


def integer_matmul(a: Array, b: Array, dtype: str = "int64") -> Array:
    """Return the matrix product of integers in 64 bits, exactly (modulo 2**64, as NumPy has it).

    Where no sum can leave the whole numbers that float64 holds, it goes through BLAS, which is some twenty
    times faster; one pass over the values tells (docs/performance.md). Else the C loop over rows of both is
    four times faster than `numpy.matmul`, which has no code for integers.
    """
    if _magnitude(a) * _magnitude(b) * a.shape[-1] < EXACT:
        return np.asarray(np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(dtype))
    rows, columns = a.astype(dtype), np.ascontiguousarray(b.swapaxes(-1, -2), dtype)
    return np.asarray(c_einsum("...ij,...kj->...ik", rows, columns))
