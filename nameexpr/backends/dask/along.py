"""What is found along axes of Dask arrays: order statistics, scans and quantiles, by NumPy's functions.

Axes that are ordered are put into one chunk, and the other ones are cut into smaller ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import dask.array as da
import numpy as np

from nameexpr.backends.dask.places import take_along, whole
from nameexpr.backends.numpy import ordering, reductions
from nameexpr.backends.numpy.arrays import default_float, is_narrow

Ranked = tuple[Any, Any]


def _along(function: Callable[..., Any], x: Any, axis: int, size: int | None, **options: Any) -> Any:
    """Return positions along an axis, which then has another size, or is removed for None."""
    kept = tuple([at for at in range(x.ndim) if at != axis or size is not None])
    return da.blockwise(
        function,
        kept,
        whole(x, (axis,)),
        tuple(range(x.ndim)),
        adjust_chunks=None if size is None else {axis: size},
        concatenate=True,
        token=f"nameexpr-{options.get('verb', 'sort')}",
        dtype=np.dtype(np.int64),
        meta=np.empty((0,) * len(kept), np.int64),
        axis=axis,
        **options,
    )


def _places(x: Any, *, axis: int, verb: str, options: tuple[Any, ...]) -> Any:
    return np.asarray(ordering.of_any(ordering.ALONG[verb], x, axis, *options)[1])


def _best(x: Any, *, axis: int, options: tuple[Any, ...]) -> Any:
    k, *how = options
    return np.asarray(ordering.of_any(ordering.topk, x, k, axis, *how)[1])


def _order(x: Any, *, axis: int, is_descending: bool) -> Any:
    data = ordering.sortable(x) if x.dtype.kind == "V" else x
    order = np.argsort(np.flip(data, axis) if is_descending else data, axis=axis, kind="stable")
    return np.flip(data.shape[axis] - 1 - order, axis) if is_descending else order


def _picked(verb: str, x: Any, axis: int, *options: Any) -> Ranked:
    places = _along(_places, x, axis, None, verb=verb, options=options)
    gap = (slice(None),) * axis
    return take_along(x, places[(*gap, None)], axis)[(*gap, 0)], places


def _running(verb: str, x: Any, axis: int) -> Ranked:
    places = _along(_places, x, axis, x.shape[axis], verb=verb, options=())
    return take_along(x, places, axis), places


ALONG: Mapping[str, Callable[..., Ranked]] = {
    **{verb: partial(_picked, verb) for verb in ("kthvalue", "max", "median", "min", "mode", "nanmedian")},
    **{verb: partial(_running, verb) for verb in ("cummax", "cummin")},
}
PLACES: Mapping[str, Callable[..., Any]] = {"argmax": da.argmax, "argmin": da.argmin}


def _of_all(verb: str) -> Callable[[Any], Any]:
    def kernel(x: Any) -> Any:
        return ALONG[verb](x.reshape(-1), 0)[0] if x.size else da.full((), np.nan, dtype=x.dtype)

    return kernel


OF_ALL: Mapping[str, Callable[[Any], Any]] = {verb: _of_all(verb) for verb in ("median", "nanmedian")}


def sort(x: Any, axis: int, descending: bool, stable: bool) -> Ranked:
    """Return the values in order along the axis, and their indices; equal ones keep their order."""
    order = _along(_order, x, axis, x.shape[axis], is_descending=descending)
    return take_along(x, order, axis), order


def topk(x: Any, k: int, axis: int, largest: bool, ordered: bool) -> Ranked:
    """Return the k largest or smallest values along the axis, the best first."""
    places = _along(_best, x, axis, k, options=(k, largest, ordered))
    return take_along(x, places, axis), places


def _scan(function: Callable[..., Any], x: Any, axis: int, dtype: Any = None) -> Any:
    wanted = np.dtype(dtype or x.dtype)
    if is_narrow(wanted):
        return function(x.astype(np.float32), axis=axis).astype(wanted)
    return function(x, axis=axis, dtype=dtype)


SCANS = {"cumsum": partial(_scan, da.cumsum), "cumprod": partial(_scan, da.cumprod)}
QUANTILES = ("linear", "lower", "higher", "midpoint", "nearest")


def quantile(
    x: Any, *, axis: Any, keepdims: bool = False, q: Any, method: str, skips_nan: bool = False
) -> Any:
    """Return quantiles over the axes, for several `q` along leading axes."""
    if not axis:
        x, axis, keepdims = x[None], (0,), False
    if x.dtype.kind not in "iubf" and not is_narrow(x.dtype):
        raise TypeError(f"the quantile of {x.dtype} is not defined")
    dtype = default_float() if x.dtype.kind in "iub" else x.dtype
    letters, levels = tuple(range(x.ndim)), tuple(range(x.ndim, x.ndim + q.ndim))
    kept = tuple([at for at in letters if at not in axis])
    found = da.blockwise(
        _quantiles,
        levels + kept,
        whole(x, tuple(axis)),
        letters,
        q.rechunk(-1),
        levels,
        concatenate=True,
        token="nameexpr-quantile",
        dtype=dtype,
        meta=np.empty((0,) * len(levels + kept), dtype),
        axis=tuple(axis),
        how={"method": method, "skips_nan": skips_nan},
        dtype_of_block=dtype,
    )
    shown = [None if at in axis else slice(None) for at in letters]
    return found[(*[slice(None)] * q.ndim, *shown)] if keepdims else found


def _quantiles(x: Any, q: Any, *, axis: tuple[int, ...], how: dict[str, Any], dtype_of_block: Any) -> Any:
    return reductions.quantile(x, axis=axis, q=q, **how).astype(dtype_of_block, copy=False)
