"""PyTorch's reductions: `kernel(x, axis=, keepdims=, ...)`, with the distinct axes as a tuple.

Their dtypes are PyTorch's: there is no mean of integers. Variances of too few elements are nan, and
without PyTorch's warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import torch
from torch import Tensor

Axes = tuple[int, ...]


def _sum(x: Tensor, *, axis: Axes, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """Return the sum, of integers and bools in int64."""
    return torch.sum(x, axis, keepdims, dtype=dtype)


def _prod(x: Tensor, *, axis: Axes, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """Return the product, of integers and bools in int64: axis after axis, as PyTorch has it."""
    if not axis:
        return torch.prod(x, dtype=dtype)
    for at in sorted(axis, reverse=True):
        x = torch.prod(x, at, keepdims, dtype=dtype)
    return x


def _mean(x: Tensor, *, axis: Axes, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """Return the mean of floats, or in the given dtype."""
    return torch.mean(x, axis, keepdims, dtype=dtype)


def _spread(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def kernel(x: Tensor, *, axis: Axes, keepdims: bool = False, correction: float = 1) -> Tensor:
        count = x.shape[axis[0]] if len(axis) == 1 else prod([x.shape[at] for at in axis])
        if count > correction:
            return function(x, axis, correction=correction, keepdim=keepdims)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return function(x, axis, correction=correction, keepdim=keepdims)

    return kernel


def _logsumexp(x: Tensor, *, axis: Axes, keepdims: bool = False) -> Tensor:
    """Return log(sum(exp(x))) without overflow."""
    return torch.logsumexp(x, axis, keepdims)


def _truth(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def kernel(x: Tensor, *, axis: Axes, keepdims: bool = False) -> Tensor:
        return function(x, axis, keepdims) if x.ndim else function(x)

    return kernel


def _amax(x: Tensor, *, axis: Axes, keepdims: bool = False) -> Tensor:
    """Return the largest element; nan if there is one."""
    return torch.amax(x, axis, keepdims)


def _amin(x: Tensor, *, axis: Axes, keepdims: bool = False) -> Tensor:
    """Return the smallest element; nan if there is one."""
    return torch.amin(x, axis, keepdims)


def _norm(x: Tensor, *, axis: Axes, keepdims: bool = False, order: float = 2) -> Tensor:
    """Return the vector norm of an order over the axes."""
    return torch.linalg.vector_norm(x, order, axis, keepdims)  # type: ignore[no-any-return]


def _count_nonzero(x: Tensor, *, axis: Axes, keepdims: bool = False) -> Tensor:
    """Return how many elements are not 0, as int64."""
    return torch.sum(x != 0, axis, keepdims)


def _nansum(x: Tensor, *, axis: Axes, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """Return the sum of the elements that are not nan."""
    return torch.nansum(x, axis, keepdims, dtype=dtype)


def _nanmean(x: Tensor, *, axis: Axes, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """Return the mean of the elements that are not nan."""
    return torch.nanmean(x, axis, keepdims, dtype=dtype)


def _nanvar(x: Tensor, *, axis: Axes, keepdims: bool = False, correction: float = 1) -> Tensor:
    """Return the variance of the elements that are not nan; nan if there are none."""
    known = ~torch.isnan(x)
    counted = torch.sum(known, axis, keepdims)
    deviations = torch.where(known, x - torch.nanmean(x, axis, keepdim=True), 0.0)
    total = torch.sum((deviations * deviations.conj()).real, axis, keepdims)
    divisor = torch.clamp(counted - correction, min=0)
    return torch.where(counted == 0, torch.nan, total / divisor).to(total.dtype)


def _nanstd(x: Tensor, *, axis: Axes, keepdims: bool = False, correction: float = 1) -> Tensor:
    """Return the standard deviation of the elements that are not nan."""
    return torch.sqrt(_nanvar(x, axis=axis, keepdims=keepdims, correction=correction))


REDUCTIONS: Mapping[str, Callable[..., Tensor]] = {
    "all": _truth(torch.all),
    "amax": _amax,
    "amin": _amin,
    "any": _truth(torch.any),
    "count_nonzero": _count_nonzero,
    "logsumexp": _logsumexp,
    "mean": _mean,
    "nanmean": _nanmean,
    "nanstd": _nanstd,
    "nansum": _nansum,
    "nanvar": _nanvar,
    "norm": _norm,
    "prod": _prod,
    "std": _spread(torch.std),
    "sum": _sum,
    "var": _spread(torch.var),
}
"""The reductions by the operator's name."""
QUANTILES = ("linear", "lower", "higher", "midpoint", "nearest")
"""PyTorch's methods to find a quantile between two elements."""


def quantile(
    x: Tensor, *, axis: Axes, keepdims: bool = False, q: Tensor, method: str, skips_nan: bool = False
) -> Tensor:
    """Return quantiles over the axes, for several `q` along leading axes."""
    kept = [at for at in range(x.ndim) if at not in axis]
    flat = x.permute(*kept, *axis).reshape(*[x.shape[at] for at in kept], -1)
    function = torch.nanquantile if skips_nan else torch.quantile
    found = function(flat, q.to(x.dtype).reshape(-1), dim=-1, interpolation=method)
    shape = [1 if at in axis else x.shape[at] for at in range(x.ndim) if keepdims or at not in axis]
    return found.reshape(*q.shape, *shape)
