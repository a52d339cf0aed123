"""JAX's reductions for NamedTensors, and what is picked or run along an axis, by the operator's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp

Ranked = tuple[Any, Any]


def _spread(function: Callable[..., Any]) -> Callable[..., Any]:
    def kernel(x: Any, *, axis: Any, keepdims: bool = False, correction: float = 1) -> Any:
        return function(x, axis, ddof=correction, keepdims=keepdims)

    return kernel


def _norm(x: Any, *, axis: Any, keepdims: bool = False, order: float = 2) -> Any:
    return jnp.linalg.vector_norm(x, ord=order, axis=axis, keepdims=keepdims) if axis else jnp.abs(x)  # type: ignore[arg-type]


REDUCTIONS: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(jnp, name) for name in ("sum", "prod", "mean", "all", "any", "count_nonzero")},
    **{name: getattr(jnp, name) for name in ("nansum", "nanmean")},
    "amax": jnp.max,
    "amin": jnp.min,
    "logsumexp": jax.nn.logsumexp,
    "nanstd": _spread(jnp.nanstd),
    "nanvar": _spread(jnp.nanvar),
    "norm": _norm,
    "std": _spread(jnp.std),
    "var": _spread(jnp.var),
}
"""The reductions by the operator's name."""


def _picked(x: Any, axis: int, places: Any) -> Ranked:
    places = jnp.expand_dims(places, axis)
    return jnp.squeeze(jnp.take_along_axis(x, places, axis), axis), jnp.squeeze(places, axis)


def _middle(x: Any, axis: int, *, skips_nan: bool) -> Ranked:
    """Return the lower of the middle two; nan if there is one, unless it is skipped."""
    order = jnp.argsort(x, axis)
    known = jnp.sum(~jnp.isnan(x), axis, keepdims=True)
    wanted = jnp.maximum((known if skips_nan else x.shape[axis]) - 1, 0) // 2
    wanted = jnp.broadcast_to(wanted, known.shape)
    if not skips_nan:
        wanted = jnp.where(known < x.shape[axis], x.shape[axis] - 1, wanted)  # nan is last in order
    return _picked(x, axis, jnp.squeeze(jnp.take_along_axis(order, wanted, axis), axis))


def _kth(x: Any, axis: int, k: int) -> Ranked:
    return _picked(x, axis, jax.lax.index_in_dim(jnp.argsort(x, axis), k - 1, axis, keepdims=False))


def _cumulative(function: Callable[..., Any]) -> Callable[..., Ranked]:
    def kernel(x: Any, axis: int) -> Ranked:
        values = jax.lax.associative_scan(function, x, axis=axis)
        shape = [-1 if at == axis else 1 for at in range(x.ndim)]
        positions = jnp.broadcast_to(jnp.arange(x.shape[axis]).reshape(shape), x.shape)
        leads = (x == values) | (jnp.isnan(x) & jnp.isnan(values))
        return values, jax.lax.cummax(jnp.where(leads, positions, 0), axis)

    return kernel


ALONG: Mapping[str, Callable[..., Ranked]] = {
    "cummax": _cumulative(jnp.maximum),
    "cummin": _cumulative(jnp.minimum),
    "kthvalue": _kth,
    "max": lambda x, axis: _picked(x, axis, jnp.argmax(x, axis)),
    "median": lambda x, axis: _middle(x, axis, skips_nan=False),
    "min": lambda x, axis: _picked(x, axis, jnp.argmin(x, axis)),
    "nanmedian": lambda x, axis: _middle(x, axis, skips_nan=True),
}
PLACES: Mapping[str, Callable[..., Any]] = {"argmax": jnp.argmax, "argmin": jnp.argmin}


def _of_all(verb: str) -> Callable[[Any], Any]:
    def kernel(x: Any) -> Any:
        return ALONG[verb](x.reshape(-1), 0)[0] if x.size else jnp.full((), jnp.nan, x.dtype)

    return kernel


OF_ALL: Mapping[str, Callable[[Any], Any]] = {verb: _of_all(verb) for verb in ("median", "nanmedian")}


def sort(x: Any, axis: int, descending: bool, stable: bool) -> Ranked:
    """Return the values in order along the axis, and their indices; equal ones keep their order."""
    if descending:
        order = jnp.argsort(jnp.flip(x, axis), axis, stable=True)
        order = jnp.flip(x.shape[axis] - 1 - order, axis)
    else:
        order = jnp.argsort(x, axis, stable=True)
    return jnp.take_along_axis(x, order, axis), order


def topk(x: Any, k: int, axis: int, largest: bool, ordered: bool) -> Ranked:
    """Return the k largest or smallest values along the axis, the best first."""
    values, order = sort(x, axis, descending=largest, stable=True)
    return tuple(jax.lax.slice_in_dim(each, 0, k, axis=axis) for each in (values, order))  # type: ignore[return-value]


def _normalised(function: Callable[..., Any]) -> Callable[..., Any]:
    def kernel(x: Any, axis: int, dtype: Any = None) -> Any:
        x = x if dtype is None else x.astype(dtype)
        if not jnp.issubdtype(x.dtype, jnp.floating):
            raise TypeError("only floats are normalised")
        return function(x, axis)

    return kernel


NORMALISED = {"softmax": _normalised(jax.nn.softmax), "log_softmax": _normalised(jax.nn.log_softmax)}
SCANS = {"cumsum": jnp.cumsum, "cumprod": jnp.cumprod}
QUANTILES = ("linear", "lower", "higher", "midpoint", "nearest")


def quantile(
    x: Any, *, axis: Any, keepdims: bool = False, q: Any, method: str, skips_nan: bool = False
) -> Any:
    """Return quantiles over the axes, for several `q` along leading axes."""
    function = jnp.nanquantile if skips_nan else jnp.quantile
    found = function(x, q.reshape(-1), axis, method=method, keepdims=keepdims)
    return found.reshape((*q.shape, *found.shape[1:]))
