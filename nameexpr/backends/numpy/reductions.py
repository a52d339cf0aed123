"""Kernels of the reductions: `kernel(x, axis=, keepdims=, ...)`, the axes as a tuple, none of them twice.

No axes (a 0-d array) leave the value itself. Over no elements they give nan, 0, 1, -inf or an error as NumPy
does, but no warning. Sums and products of integers and bools are int64 (uint64 stays); float16 and bfloat16
go by way of float32 (`nameexpr.backends.numpy.floats`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nameexpr.backends.numpy.floats import NARROW, as_float, in_float32, is_inexact, is_narrow, native
from nameexpr.backends.numpy.kernels import Array

if TYPE_CHECKING:
    import numpy.typing as npt

Axes = tuple[int, ...]

# NumPy's overloads of `reduce` tell apart literal values of keepdims, which is a variable here.
_add: Any = np.add.reduce
_multiply: Any = np.multiply.reduce
_maximum: Any = np.maximum.reduce
_minimum: Any = np.minimum.reduce
_logical_and: Any = np.logical_and.reduce
_logical_or: Any = np.logical_or.reduce


def sum(x: Array, *, axis: Axes, keepdims: bool = False, dtype: npt.DTypeLike | None = None) -> Any:
    """Return the sum over the axes."""
    if dtype is None and x.dtype in _PLAIN:
        return _add(x, axis=axis, keepdims=keepdims)
    return _accumulated(_add, x, axis, keepdims, dtype)


def prod(x: Array, *, axis: Axes, keepdims: bool = False, dtype: npt.DTypeLike | None = None) -> Any:
    """Return the product over the axes."""
    if dtype is None and x.dtype in _PLAIN:
        return _multiply(x, axis=axis, keepdims=keepdims)
    return _accumulated(_multiply, x, axis, keepdims, dtype)


def _accumulated(combine: Any, x: Array, axis: Axes, keepdims: bool, dtype: npt.DTypeLike | None) -> Any:
    """Return a sum or product of any dtype, or in the one that is given."""
    if dtype is None and x.dtype.kind in "iub":
        dtype = np.uint64 if native(x.dtype) == np.uint64 else np.int64
    wanted = np.dtype(dtype or x.dtype)
    if is_narrow(wanted):
        return np.asarray(combine(x, axis=axis, keepdims=keepdims, dtype=np.float32)).astype(wanted.type)
    return combine(x, axis=axis, keepdims=keepdims, dtype=dtype)


def running(
    combine: np.ufunc, x: Array, axis: int, dtype: npt.DTypeLike | None = None, out: Array | None = None
) -> Any:
    """Return the sums or products up to each element along an axis, in the dtype of x or a given one."""
    if dtype is None and x.itemsize != NARROW:
        return combine.accumulate(x, axis=axis, out=out)
    wanted = np.dtype(dtype or x.dtype)
    if not is_narrow(wanted):
        return combine.accumulate(x, axis=axis, dtype=dtype, out=out)
    wide = x.astype(np.float32, casting="same_kind")
    combine.accumulate(wide, axis=axis, out=wide)
    if out is None:
        return wide.astype(wanted.type)
    out[...] = wide
    return out


def mean(x: Array, *, axis: Axes, keepdims: bool = False, dtype: npt.DTypeLike | None = None) -> Any:
    """Return the mean over the axes, nan of no elements; of floats only, unless a dtype is given."""
    if dtype is None and not is_inexact(x.dtype):
        raise TypeError(f"the mean of {x.dtype} is no {x.dtype}")
    if dtype is None and x.dtype in _PLAIN and x.size:
        return _add(x, axis=axis, keepdims=keepdims) / count(x, axis)
    with np.errstate(all="ignore"):
        total = _add(x, axis=axis, keepdims=keepdims, dtype=_wide(x, dtype))
        return np.asarray(total / count(x, axis)).astype(dtype or native(x.dtype), copy=False)


def _wide(x: Array, dtype: npt.DTypeLike | None) -> npt.DTypeLike | None:
    """Return the dtype to add or multiply in, None for that of x."""
    return np.float32 if is_narrow(np.dtype(dtype or x.dtype)) else dtype


_PLAIN = frozenset(map(np.dtype, (np.float32, np.float64)))


def count(x: Array, axis: Axes) -> int:
    """Return how many elements are combined into one."""
    total = 1
    for one in axis:
        total *= x.shape[one]
    return total


@np.errstate(all="ignore")
def var(x: Array, *, axis: Axes, keepdims: bool = False, correction: float = 1) -> Any:
    """Return the sum of squared deviations over `n - correction`, at least 0: of floats."""
    if not is_inexact(x.dtype):
        raise TypeError(f"the variance of {x.dtype} is no {x.dtype}")
    if x.itemsize == NARROW and is_narrow(x.dtype):
        return in_float32(var, x, axis=axis, keepdims=keepdims, correction=correction)
    centred = x - mean(x, axis=axis, keepdims=True)
    squares = np.real(centred) ** 2 + np.imag(centred) ** 2 if x.dtype.kind == "c" else centred * centred
    total = _add(squares, axis=axis, keepdims=keepdims)
    divisor = max(0.0, count(x, axis) - correction)
    return np.asarray(total / np.asarray(divisor, total.dtype)).astype(squares.dtype, copy=False)


@np.errstate(all="ignore")
def std(x: Array, *, axis: Axes, keepdims: bool = False, correction: float = 1) -> Any:
    """Return the square root of the variance."""
    if x.itemsize == NARROW and is_narrow(x.dtype):
        return in_float32(std, x, axis=axis, keepdims=keepdims, correction=correction)
    return np.sqrt(var(x, axis=axis, keepdims=keepdims, correction=correction))


@np.errstate(all="ignore")
def logsumexp(x: Array, *, axis: Axes, keepdims: bool = False) -> Any:
    """Return log(sum(exp(x))) without overflow; -inf of no elements."""
    if x.dtype.kind == "c":
        raise TypeError("the logarithm of a sum of complex exponentials has no largest term")
    x = as_float(x)
    if x.itemsize == NARROW and is_narrow(x.dtype):
        return in_float32(logsumexp, x, axis=axis, keepdims=keepdims)
    if not count(x, axis):
        return np.log(_add(np.exp(x), axis=axis, keepdims=keepdims))
    largest = _maximum(x, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(largest), largest, x.dtype.type(0))
    total = np.log(_add(np.exp(x - shift), axis=axis, keepdims=keepdims))
    return total + (shift if keepdims else shift.reshape(np.shape(total)))


def norm(x: Array, *, axis: Axes, keepdims: bool = False, order: float = 2) -> Any:
    """Return the vector norm of an order over the axes: 2, 1, any positive number, 0, inf and -inf."""
    x = as_float(x)
    if x.itemsize == NARROW and is_narrow(x.dtype):
        return in_float32(norm, x, axis=axis, keepdims=keepdims, order=order)
    magnitudes = x if order == 2 and x.dtype.kind == "f" else np.absolute(x)  # noqa: PLR2004
    if order in (np.inf, -np.inf):
        largest_or_smallest = _maximum if order > 0 else _minimum
        return largest_or_smallest(magnitudes, axis=axis, keepdims=keepdims)
    if order == 0:
        return _add(magnitudes != 0, axis=axis, keepdims=keepdims, dtype=magnitudes.dtype)
    if order == 2:  # noqa: PLR2004
        return np.sqrt(_add(magnitudes * magnitudes, axis=axis, keepdims=keepdims))
    with np.errstate(all="ignore"):
        total = _add(magnitudes ** float(order), axis=axis, keepdims=keepdims)
        return total ** (1.0 / order)


def all(x: Array, *, axis: Axes, keepdims: bool = False) -> Any:
    """Return whether all elements are true."""
    return _logical_and(x, axis=axis, keepdims=keepdims)


def any(x: Array, *, axis: Axes, keepdims: bool = False) -> Any:
    """Return whether some element is true."""
    return _logical_or(x, axis=axis, keepdims=keepdims)


def amax(x: Array, *, axis: Axes, keepdims: bool = False) -> Any:
    """Return the largest element; nan where there is one."""
    if x.itemsize == NARROW and is_narrow(x.dtype):  # bfloat16's nan would warn
        return in_float32(amax, x, axis=axis, keepdims=keepdims)
    return _maximum(x, axis=axis, keepdims=keepdims)


def amin(x: Array, *, axis: Axes, keepdims: bool = False) -> Any:
    """Return the smallest element; nan where there is one."""
    if x.itemsize == NARROW and is_narrow(x.dtype):
        return in_float32(amin, x, axis=axis, keepdims=keepdims)
    return _minimum(x, axis=axis, keepdims=keepdims)


def count_nonzero(x: Array, *, axis: Axes, keepdims: bool = False) -> Any:
    """Return how many elements are not 0, as int64."""
    return _add(x != 0, axis=axis, keepdims=keepdims, dtype=np.int64)
