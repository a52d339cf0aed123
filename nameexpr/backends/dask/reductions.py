"""Reductions of Dask arrays for NamedTensors, by the operator's name: trees over the chunks.

Their dtypes are those of NumPy's tensors: float16 and bfloat16 are computed in float32, and integers where
floats are needed in the default float dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import dask.array as da
import numpy as np

from nameexpr.backends.dask.pointwise import UNARY, blockwise, where
from nameexpr.backends.numpy.arrays import default_float, is_inexact, is_narrow

Kernel = Callable[..., Any]


def _kernel(function: Kernel, *, is_wide: bool = True) -> Kernel:
    """Return a reduction that also takes no axes; `is_wide` if it adds up, which narrow floats do not."""

    def kernel(x: Any, *, axis: Any, keepdims: bool = False, **options: Any) -> Any:
        if not axis:
            x, axis, keepdims = x[None], (0,), False
        wanted = np.dtype(options.get("dtype") or x.dtype)
        if is_wide and is_narrow(wanted):
            options = {word: value for word, value in options.items() if word != "dtype"}
            return function(x.astype(np.float32), axis=axis, keepdims=keepdims, **options).astype(wanted)
        return function(x, axis=axis, keepdims=keepdims, **options)

    return kernel


def _accumulating(function: Kernel) -> Kernel:
    def kernel(x: Any, *, axis: Any, keepdims: bool, dtype: Any = None) -> Any:
        if dtype is None and x.dtype.kind in "iub":
            dtype = np.uint64 if x.dtype == np.uint64 else np.int64
        return function(x, axis=axis, keepdims=keepdims, dtype=dtype or x.dtype)

    return kernel


_sum, _prod = map(_accumulating, (da.sum, da.prod))


def _count(x: Any, axis: Any) -> int:
    return prod([x.shape[at] for at in axis])


def _mean(x: Any, *, axis: Any, keepdims: bool, dtype: Any = None) -> Any:
    if dtype is None and x.dtype.kind in "iub":
        return _mean(x.astype(np.float64), axis=axis, keepdims=keepdims).astype(default_float())
    if dtype is None and not is_inexact(x.dtype):
        raise TypeError(f"the mean of {x.dtype} is not a {x.dtype}")
    total = _sum(x, axis=axis, keepdims=keepdims, dtype=dtype)
    return _over(total, _count(x, axis))


def _over(total: Any, count: Any) -> Any:
    """Return a quotient in the dtype of the total, nan for nothing over 0, without a warning."""
    return blockwise(_quotient, total, count, name="divide")


@np.errstate(all="ignore")
def _quotient(total: Any, count: Any) -> Any:
    return np.asarray(np.true_divide(total, count)).astype(total.dtype, copy=False)


def _squares(x: Any) -> Any:
    return da.real(x) ** 2 + da.imag(x) ** 2 if x.dtype.kind == "c" else x * x


def _var(x: Any, *, axis: Any, keepdims: bool, correction: float = 1) -> Any:
    if x.dtype.kind in "iub":
        wide = _var(x.astype(np.float64), axis=axis, keepdims=keepdims, correction=correction)
        return wide.astype(default_float())
    if not is_inexact(x.dtype):
        raise TypeError(f"the variance of {x.dtype} is not a {x.dtype}")
    squared = _squares(x - _mean(x, axis=axis, keepdims=True))
    return _over(_sum(squared, axis=axis, keepdims=keepdims), max(0.0, _count(x, axis) - correction))


def _root(function: Kernel) -> Kernel:
    def kernel(x: Any, **options: Any) -> Any:
        return UNARY["sqrt"](function(x, **options))

    return kernel


def _floats(x: Any) -> Any:
    return x.astype(default_float()) if x.dtype.kind in "iub" else x


def _largest(x: Any, axis: Any) -> Any:
    """Return the largest elements, 0 where that is infinite or nan, as subtracting them would give nan."""
    largest = da.max(x, axis=axis, keepdims=True)
    return where(da.isfinite(largest), largest, x.dtype.type(0))


def _logsumexp(x: Any, *, axis: Any, keepdims: bool) -> Any:
    if x.dtype.kind == "c":
        raise TypeError("the logarithm of a sum of complex exponentials has no largest term")
    x = _floats(x)
    if 0 in x.shape:
        return UNARY["log"](_sum(x, axis=axis, keepdims=keepdims))
    largest = _largest(x, axis)
    total = _sum(UNARY["exp"](x - largest), axis=axis, keepdims=keepdims)
    return UNARY["log"](total) + (largest if keepdims else da.squeeze(largest, axis))


def _norm(x: Any, *, axis: Any, keepdims: bool, order: float = 2) -> Any:
    magnitudes = UNARY["abs"](_floats(x))
    if order in (np.inf, -np.inf):
        return (da.max if order > 0 else da.min)(magnitudes, axis=axis, keepdims=keepdims)
    if order == 0:
        return _sum(magnitudes != 0, axis=axis, keepdims=keepdims).astype(magnitudes.dtype)
    if order == 2:  # noqa: PLR2004
        return UNARY["sqrt"](_sum(magnitudes * magnitudes, axis=axis, keepdims=keepdims))
    return _sum(magnitudes ** float(order), axis=axis, keepdims=keepdims) ** (1.0 / order)


def _extreme(function: Kernel) -> Kernel:
    def kernel(x: Any, *, axis: Any, keepdims: bool) -> Any:
        if not _count(x, axis):
            raise ValueError("zero-size array to reduction operation which has no identity")
        if 0 in x.shape:  # Dask would ask NumPy for the largest of no elements
            return da.sum(x, axis=axis, keepdims=keepdims).astype(x.dtype)
        return function(x, axis=axis, keepdims=keepdims)

    return kernel


def _known(x: Any, *, axis: Any, keepdims: bool = False) -> Any:
    """Return how many elements are not nan."""
    return da.sum(~da.isnan(x), axis=axis, keepdims=keepdims, dtype=np.int64)


def _without_nan(x: Any) -> Any:
    return x if x.dtype.kind in "iub" else where(da.isnan(x), x.dtype.type(0), x)


def _nansum(x: Any, *, axis: Any, keepdims: bool, dtype: Any = None) -> Any:
    return _sum(_without_nan(x), axis=axis, keepdims=keepdims, dtype=dtype)


def _nanmean(x: Any, *, axis: Any, keepdims: bool, dtype: Any = None) -> Any:
    if x.dtype.kind in "iub":
        return _mean(x, axis=axis, keepdims=keepdims, dtype=dtype)
    total = _nansum(x, axis=axis, keepdims=keepdims, dtype=dtype)
    return _over(total, _known(x, axis=axis, keepdims=keepdims))


def _nanvar(x: Any, *, axis: Any, keepdims: bool, correction: float = 1) -> Any:
    if x.dtype.kind in "iub":
        return _var(x, axis=axis, keepdims=keepdims, correction=correction)
    squared = _squares(_without_nan(x - _nanmean(x, axis=axis, keepdims=True)))
    known = _known(x, axis=axis, keepdims=keepdims)
    over = where(known == 0, np.nan, da.maximum(known - correction, 0.0))
    return _over(_sum(squared, axis=axis, keepdims=keepdims), over)


def _count_nonzero(x: Any, *, axis: Any, keepdims: bool) -> Any:
    return da.sum(x != 0, axis=axis, keepdims=keepdims, dtype=np.int64)


REDUCTIONS: Mapping[str, Kernel] = {
    "all": _kernel(da.all, is_wide=False),
    "amax": _kernel(_extreme(da.max), is_wide=False),
    "amin": _kernel(_extreme(da.min), is_wide=False),
    "any": _kernel(da.any, is_wide=False),
    "count_nonzero": _kernel(_count_nonzero, is_wide=False),
    "logsumexp": _kernel(_logsumexp),
    "mean": _kernel(_mean),
    "nanmean": _kernel(_nanmean),
    "nanstd": _kernel(_root(_nanvar)),
    "nansum": _kernel(_nansum),
    "nanvar": _kernel(_nanvar),
    "norm": _kernel(_norm),
    "prod": _kernel(_prod),
    "std": _kernel(_root(_var)),
    "sum": _kernel(_sum),
    "var": _kernel(_var),
}
"""The reductions by the operator's name."""


def _softmax(x: Any, axis: int) -> Any:
    exponentials = UNARY["exp"](x - _peak(x, axis))
    return exponentials / _sum(exponentials, axis=(axis,), keepdims=True)


def _log_softmax(x: Any, axis: int) -> Any:
    shifted = x - _peak(x, axis)
    return shifted - UNARY["log"](_sum(UNARY["exp"](shifted), axis=(axis,), keepdims=True))


def _peak(x: Any, axis: int) -> Any:
    return da.max(x, axis=axis, keepdims=True)


def _normalised(function: Kernel) -> Kernel:
    def kernel(x: Any, axis: int, dtype: Any = None) -> Any:
        x = x if dtype is None else x.astype(dtype)
        if x.dtype.kind != "f" and not is_narrow(x.dtype):
            raise TypeError("only floats are normalised")
        if 0 in x.shape:
            return x
        wide = x.astype(np.float32) if is_narrow(x.dtype) else x
        return function(wide, axis).astype(x.dtype)

    return kernel


NORMALISED = {"softmax": _normalised(_softmax), "log_softmax": _normalised(_log_softmax)}
