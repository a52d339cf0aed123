"""Kernels of the reductions: `kernel(x, axis=, keepdims=, ...)`, with the distinct axes as a tuple.

Without axes (a 0-d array) the result is the value itself. Over no elements they return nan, 0, 1, -inf or an
error as NumPy does, but without a warning. Sums and products of integers and bools are int64 (uint64 stays);
float16 and bfloat16 are computed in float32 (`nameexpr.backends.numpy.arrays`). The functions that formulas
share with them, in other dtypes and with their own warnings, come first. The kernels that ignore nan come
last.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from nameexpr.backends.numpy.arrays import (
    NARROW,
    Array,
    as_float,
    default_float,
    in_float32,
    in_float64,
    is_inexact,
    is_narrow,
    native,
)
from nameexpr.ops import REDUCTIONS

if TYPE_CHECKING:
    import numpy.typing as npt

Axes = tuple[int, ...]
Axis = int | Axes


def _reduce(name: str) -> Any:
    return getattr(np, REDUCTIONS[name].combine).reduce


_add, _maximum, _minimum = map(_reduce, ("sum", "max", "min"))
_PLAIN = frozenset(map(np.dtype, (np.float32, np.float64)))


def count(x: Array, axis: Axis) -> int:
    """Return how many elements are combined into one."""
    total = 1
    for position in (axis,) if isinstance(axis, int) else axis:
        total *= x.shape[position]
    return total


def squares(x: Array) -> Array:
    """Return the squared magnitudes, real for complex arrays."""
    return np.asarray(np.real(x) ** 2 + np.imag(x) ** 2 if np.iscomplexobj(x) else x * x)


def squared_deviations(x: Array, axis: Axis, divisor: float, *, keepdims: bool = False) -> Array:
    """Return the sum of squared deviations from the mean over a divisor."""
    centred = np.asarray(x - _add(x, axis=axis, keepdims=True) / count(x, axis))
    squared = np.multiply(centred, centred, out=centred) if centred.dtype.kind == "f" else squares(centred)
    total = np.asarray(_add(squared, axis=axis, keepdims=keepdims))  # a Python scalar for objects
    over = np.asarray(divisor, total.dtype)
    return np.divide(total, over, out=total) if total.dtype.kind in "fc" else np.asarray(total / over)


def _accumulating(name: str) -> Callable[..., Any]:
    """Return the kernel of a sum or product: of any dtype, or in a given one."""
    reduce = _reduce(name)

    def kernel(x: Array, *, axis: Axes, keepdims: bool = False, dtype: npt.DTypeLike | None = None) -> Any:
        if dtype is None and x.dtype in _PLAIN:
            return reduce(x, axis=axis, keepdims=keepdims)
        if dtype is None and x.dtype.kind in "iub":
            dtype = np.uint64 if native(x.dtype) == np.uint64 else np.int64
        wanted = np.dtype(dtype or x.dtype)
        if is_narrow(wanted):
            return np.asarray(reduce(x, axis=axis, keepdims=keepdims, dtype=np.float32)).astype(wanted.type)
        return reduce(x, axis=axis, keepdims=keepdims, dtype=dtype)

    return kernel


def _repeating(name: str, *, in_wide: bool = False) -> Callable[..., Any]:
    """Return the kernel that repeats a ufunc, of narrow floats in float32 if bfloat16's nan would warn."""
    reduce = _reduce(name)

    def kernel(x: Array, *, axis: Axes, keepdims: bool = False) -> Any:
        return reduce(x, axis=axis, keepdims=keepdims)

    def wide(x: Array, *, axis: Axes, keepdims: bool = False) -> Any:
        if x.itemsize == NARROW and is_narrow(x.dtype):
            return in_float32(reduce, x, axis=axis, keepdims=keepdims)
        return reduce(x, axis=axis, keepdims=keepdims)

    return wide if in_wide else kernel


sum, prod = map(_accumulating, ("sum", "prod"))
amax, amin = (_repeating(name, in_wide=True) for name in ("max", "min"))
all, any = map(_repeating, ("all", "any"))


def running(
    combine: np.ufunc, x: Array, axis: int, dtype: npt.DTypeLike | None = None, out: Array | None = None
) -> Any:
    """Return the cumulative sums or products along an axis, in the dtype of x or a given one."""
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
    """Return the mean over the axes, nan for no elements; of integers and bools in the default
    float dtype.
    """
    if dtype is None and x.dtype.kind in "iub":
        return in_float64(mean, x, axis=axis, keepdims=keepdims)
    if dtype is None and not is_inexact(x.dtype):
        raise TypeError(f"the mean of {x.dtype} is not a {x.dtype}")
    if dtype is None and x.dtype in _PLAIN and x.size:
        return _add(x, axis=axis, keepdims=keepdims) / count(x, axis)
    with np.errstate(all="ignore"):
        total = _add(x, axis=axis, keepdims=keepdims, dtype=_wide(x, dtype))
        return np.asarray(total / count(x, axis)).astype(dtype or native(x.dtype), copy=False)


def _wide(x: Array, dtype: npt.DTypeLike | None) -> npt.DTypeLike | None:
    """Return the dtype to add or multiply in, None for that of x."""
    return np.float32 if is_narrow(np.dtype(dtype or x.dtype)) else dtype


def _var(x: Array, *, axis: Axes, keepdims: bool = False, correction: float = 1) -> Any:
    """Return the sum of squared deviations over `n - correction`, at least 0; of integers like `mean`."""
    if x.dtype.kind in "iub":
        return in_float64(var, x, axis=axis, keepdims=keepdims, correction=correction)
    if not is_inexact(x.dtype):
        raise TypeError(f"the variance of {x.dtype} is not a {x.dtype}")
    if x.itemsize == NARROW and is_narrow(x.dtype):
        return in_float32(var, x, axis=axis, keepdims=keepdims, correction=correction)
    divisor = max(0.0, count(x, axis) - correction)
    return squared_deviations(x, axis, divisor, keepdims=keepdims)


var = np.errstate(all="ignore")(_var)


@np.errstate(all="ignore")
def std(x: Array, *, axis: Axes, keepdims: bool = False, correction: float = 1) -> Any:
    """Return the square root of the variance."""
    if x.dtype.kind in "iub":
        return in_float64(std, x, axis=axis, keepdims=keepdims, correction=correction)
    if x.itemsize == NARROW and is_narrow(x.dtype):
        return in_float32(std, x, axis=axis, keepdims=keepdims, correction=correction)
    return np.sqrt(_var(x, axis=axis, keepdims=keepdims, correction=correction))


@np.errstate(all="ignore")
def logsumexp(x: Array, *, axis: Axes, keepdims: bool = False) -> Any:
    """Return log(sum(exp(x))) without overflow; -inf for no elements."""
    if x.dtype.kind == "c":
        raise TypeError("the logarithm of a sum of complex exponentials has no largest term")
    x = as_float(x)
    if x.itemsize == NARROW and is_narrow(x.dtype):
        return in_float32(logsumexp, x, axis=axis, keepdims=keepdims)
    return _rows().log_of_sum(x, axis, keepdims=keepdims)


@cache
def _rows() -> Any:
    return import_module("nameexpr.backends.numpy.rows")


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


def count_nonzero(x: Array, *, axis: Axes, keepdims: bool = False) -> Any:
    """Return how many elements are not 0, as int64."""
    return _add(x != 0, axis=axis, keepdims=keepdims, dtype=np.int64)


def nansum(x: Array, *, axis: Axes, keepdims: bool = False, dtype: Any = None) -> Any:
    """Return the sum of the values that are not nan."""
    return sum(_filled(x), axis=axis, keepdims=keepdims, dtype=dtype)


def nanmean(x: Array, *, axis: Axes, keepdims: bool = False, dtype: Any = None) -> Any:
    """Return the mean of the values that are not nan; nan if there are none."""
    if x.dtype.kind in "iub":
        return mean(x, axis=axis, keepdims=keepdims, dtype=dtype)
    if is_narrow(x.dtype):
        return in_float32(nanmean, x, axis=axis, keepdims=keepdims, dtype=dtype)
    with np.errstate(all="ignore"):
        total = _add(_filled(x), axis=axis, keepdims=keepdims, dtype=dtype)
        found = np.asarray(total / _count(x, axis, keepdims=keepdims))
    return found.astype(dtype or native(x.dtype), copy=False)


@np.errstate(all="ignore")
def nanvar(x: Array, *, axis: Axes, keepdims: bool = False, correction: float = 1) -> Any:
    """Return the sum of squared deviations of the values that are not nan over `n - correction`, at
    least 0.
    """
    if x.dtype.kind in "iub":
        return var(x, axis=axis, keepdims=keepdims, correction=correction)
    if is_narrow(x.dtype):
        return in_float32(nanvar, x, axis=axis, keepdims=keepdims, correction=correction)
    deviations = _filled(np.asarray(x - nanmean(x, axis=axis, keepdims=True)))
    total = np.asarray(_add(squares(deviations), axis=axis, keepdims=keepdims))
    divisor = np.maximum(_count(x, axis, keepdims=keepdims) - correction, 0)
    is_empty = _count(x, axis, keepdims=keepdims) == 0
    return np.where(is_empty, np.nan, total / divisor).astype(total.dtype)


def nanstd(x: Array, *, axis: Axes, keepdims: bool = False, correction: float = 1) -> Any:
    """Return the square root of the variance of the values that are not nan."""
    if is_narrow(x.dtype):
        return in_float32(nanstd, x, axis=axis, keepdims=keepdims, correction=correction)
    return np.sqrt(nanvar(x, axis=axis, keepdims=keepdims, correction=correction))


def _filled(x: Array) -> Array:
    """Return an array with nan replaced by 0."""
    return x if x.dtype.kind in "iub" else np.where(np.isnan(x), np.zeros((), x.dtype), x)


def _count(x: Array, axis: Axes, *, keepdims: bool) -> Any:
    return _add(~np.isnan(x), axis=axis, keepdims=keepdims, dtype=np.int64)


def quantile(
    x: Array, *, axis: Axes, keepdims: bool = False, q: Array, method: str, skips_nan: bool = False
) -> Any:
    """Return quantiles over the axes, for several `q` along leading axes: of floats in their dtype."""
    if x.dtype.kind not in "iubf" and not is_narrow(x.dtype):
        raise TypeError(f"the quantile of {x.dtype} is not defined")
    if x.dtype.kind != "f" or x.dtype.itemsize == np.dtype(np.float16).itemsize:
        wide = x.astype(np.float32 if is_narrow(x.dtype) else np.float64)
        dtype: Any = x.dtype.type if is_narrow(x.dtype) else default_float()
        found = quantile(wide, axis=axis, keepdims=keepdims, q=q, method=method, skips_nan=skips_nan)
        return np.asarray(found).astype(dtype)
    function: Any = np.nanquantile if skips_nan else np.quantile
    options: dict[str, Any] = {"axis": axis, "keepdims": keepdims} if x.ndim else {}
    return np.asarray(function(x, q, method=method, **options)).astype(native(x.dtype), copy=False)
