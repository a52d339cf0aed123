"""The derivatives of reductions and of functions along dims."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import NARROW, is_narrow
from nameexpr.compiler.gradient.rules import ALONG, REDUCTIONS
from nameexpr.tensors.reductions import ALL
from nameexpr.tensors.tape.exclusive import products_of_others, products_up_to
from nameexpr.tensors.tape.node import Scattered
from nameexpr.tensors.tape.texts import Vjp, factory

RULES: dict[str, Callable[..., Any]] = {}
Array = np.ndarray[Any, Any]


def rule(names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator that enters a rule under the names of methods."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        RULES.update(dict.fromkeys(names.split(), function))
        return function

    return enter


def reduced(x: Any, dim: Any, verb: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the positions of the dims of a reduction, and the shape of its result with size 1 for them."""
    gone = tuple(range(x._data.ndim)) if dim is None or dim is ALL else x._axes(dim, verb)
    return gone, tuple([1 if at in gone else size for at, size in enumerate(x._data.shape)])


def count_of(shape: tuple[int, ...], gone: tuple[int, ...]) -> int:
    """Return how many elements each result combines."""
    return math.prod([shape[at] for at in gone])


@rule("sum")
def _sum(y: Any, x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Vjp:
    shape = x._data.shape
    if dim is None:
        return lambda g: np.broadcast_to(g, shape) if g.ndim == 0 else np.broadcast_to(g.reshape(()), shape)
    kept = reduced(x, dim, "sum")[1]
    return lambda g: np.broadcast_to(g.reshape(kept), shape)


@rule("mean")
def _mean(y: Any, x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Vjp:
    gone, kept = reduced(x, dim, "mean")
    shape = x._data.shape
    n = count_of(shape, gone)
    return lambda g: np.broadcast_to((g / n if n else g).reshape(kept), shape)


def by_table(verb: str, y: Any, x: Any, dim: Any, n: float = 1) -> Vjp:
    """Return the function for a reduction by the compiler's rule: `a`, `y` and `g` with all dims."""
    gone, kept = reduced(x, dim, verb)
    of = {"amax": "max", "amin": "min"}.get(verb, verb)
    made = factory(verb, REDUCTIONS[of], "aynR", is_complex=y._data.dtype.kind == "c")
    vjp = made(wide(x._data), wide(y._data).reshape(kept), n, gone)
    return lambda g: vjp(g.reshape(kept))


def wide(array: Any) -> Any:
    """Return narrow floats in float32, in which their gradients are computed; numbers unchanged."""
    if type(array) is np.ndarray and array.itemsize == NARROW and is_narrow(array.dtype):
        return array.astype(np.float32)
    return array


for _verb in ("amax", "amin", "logsumexp"):

    def _rule(y: Any, x: Any, dim: Any = None, keepdim: bool = False, *, verb: str = _verb) -> Vjp:
        return by_table(verb, y, x, dim)

    RULES[_verb] = _rule


def spread(verb: str) -> Callable[..., Any]:
    """Return the rule of std or var."""

    def rule_of(
        y: Any,
        x: Any,
        dim: Any = None,
        unbiased: Any = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> Vjp:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if correction is None:
            correction = 1 if unbiased is None else int(unbiased)
        gone = reduced(x, dim, verb)[0]
        n = max(0.0, count_of(x._data.shape, gone) - float(correction))
        return by_table(verb, y, x, dim, n)

    return rule_of


RULES |= {verb: spread(verb) for verb in ("std", "var")}


@rule("prod")
def _prod(y: Any, x: Any, dim: Any = ALL, keepdim: bool = False, *, dtype: Any = None) -> Vjp:
    """Multiply by the product of the other elements, which is exact where some are 0."""
    gone, kept = reduced(x, dim, "prod")
    a = x._data if dtype is None else x._data.astype(y._data.dtype)
    return lambda g: g.reshape(kept) * np.conjugate(products_of_others(a, gone))


@rule("norm")
def _norm(y: Any, x: Any, p: Any = 2, dim: Any = None, keepdim: bool = False) -> Vjp:
    gone, kept = reduced(x, dim, "norm")
    a, n = wide(x._data), wide(y._data).reshape(kept)
    p = float(p)
    if p == 0:
        return lambda g: np.zeros(a.shape, a.dtype)
    if p == 1:
        return lambda g: g.reshape(kept) * np.sign(a)
    if p == 2:  # noqa: PLR2004
        return lambda g: g.reshape(kept) * a / np.where(n == 0, 1, n)
    if np.isinf(p):
        return lambda g: _largest(g.reshape(kept), a, n, gone)
    return lambda g: _power_norm(g.reshape(kept), a, n, p)


def _largest(g: Any, a: Array, n: Array, gone: tuple[int, ...]) -> Any:
    is_largest = np.abs(a) == n
    return g / np.sum(is_largest, axis=gone, keepdims=True) * np.sign(a) * is_largest


def _power_norm(g: Any, a: Array, n: Array, p: float) -> Any:
    """Return the gradient of a norm of order p, computed as ratios of at most 1; 0 where elements are 0."""
    ratio = np.abs(a) / np.where(n == 0, 1, n)
    return g * np.sign(a) * np.where(a == 0, 0, np.where(a == 0, 1, ratio) ** (p - 1))


def along(x: Any, dim: Any, verb: str) -> tuple[Array, int]:
    """Return the array and the position of a dim, as `_along`: a 0-d tensor as one of one element."""
    data, at = x._along(dim, verb)
    return data, at


@rule("softmax")
def _softmax(y: Any, x: Any, dim: Any = ..., *, dtype: Any = None) -> Vjp:
    return _along_by_table("softmax", y, x, dim)


@rule("log_softmax")
def _log_softmax(y: Any, x: Any, dim: Any = ..., *, dtype: Any = None) -> Vjp:
    return _along_by_table("log_softmax", y, x, dim)


def _along_by_table(verb: str, y: Any, x: Any, dim: Any) -> Vjp:
    data, at = along(x, dim, verb)
    shape = data.shape
    vjp = factory(verb, ALONG[verb], "yR")(wide(y._data).reshape(shape), at)
    return lambda g: vjp(wide(g.reshape(shape))).reshape(g.shape)


@rule("cumsum")
def _cumsum(y: Any, x: Any, dim: Any = ..., dtype: Any = None) -> Vjp:
    data, at = along(x, dim, "cumsum")
    shape = data.shape
    vjp = factory("cumsum", ALONG["cumsum"], "R")(at)
    return lambda g: vjp(wide(g.reshape(shape))).reshape(g.shape)


@rule("cumprod")
def _cumprod(y: Any, x: Any, dim: Any = ..., dtype: Any = None) -> Vjp:
    a, at = along(x, dim, "cumprod")
    a = wide(a if dtype is None else a.astype(y._data.dtype))
    return lambda g: np.conjugate(
        products_up_to(a, np.conjugate(wide(np.asarray(g))).reshape(a.shape), at)
    ).reshape(g.shape)


@rule("diff")
def _diff(y: Any, x: Any, n: Any = 1, dim: Any = -1) -> Vjp:
    if isinstance(n, str):
        n, dim = 1, n
    at, times = x._position(dim, "diff"), int(n)

    def vjp(g: Any) -> Any:
        for _ in range(times):
            ends = np.zeros_like(np.take(g, [0], at)) if g.shape[at] else _one_slice(g, at)
            g = -np.diff(np.concatenate([ends, g, ends], at), axis=at)
        return g

    shape = x._data.shape
    return (lambda g: np.zeros(shape, g.dtype)) if times >= shape[at] and times else vjp


def _one_slice(g: Array, at: int) -> Array:
    return np.zeros([1 if axis == at else size for axis, size in enumerate(g.shape)], g.dtype)


@rule("flip")
def _flip(y: Any, x: Any, *dims: Any) -> Vjp:
    axes = x._axes(dims[0] if len(dims) == 1 else dims, "flip")
    return lambda g: np.flip(g, axes)


@rule("roll")
def _roll(y: Any, x: Any, shifts: Any, dims: Any = None) -> Vjp:
    back = tuple(-shift for shift in shifts) if isinstance(shifts, list | tuple) else -shifts
    if dims is None:
        total = sum(back) if isinstance(back, tuple) else back
        return lambda g: np.roll(g, total)
    axes = x._axes(dims, "roll")
    back = back * len(axes) if isinstance(back, tuple) and len(back) == 1 else back
    return lambda g: np.roll(g, back, axes)


def selected(y: Any, x: Any, dim: Any, *, keepdim: bool, verb: str) -> tuple[Vjp, None]:
    """Return the function for values that were chosen along a dim: gradients go where they came from."""
    data, at = along(x, dim, verb)
    shape, own = data.shape, x._data.shape
    places = y.indices._data
    if x._data.ndim == 0:
        return (lambda g: g.reshape(own)), None
    places = places if keepdim else np.expand_dims(places, at)
    return scattered(places, at, shape, keepdim), None


def scattered(places: Array, at: int, shape: tuple[int, ...], keepdim: bool = True) -> Vjp:
    """Return the function that adds gradients at positions along an axis, which may repeat."""
    index = tuple(np.ogrid[tuple(slice(0, size) for size in places.shape)])
    key = (*index[:at], places, *index[at + 1 :])
    return lambda g: Scattered(key, g if keepdim else np.expand_dims(g, at), is_unique=False)


@rule("median nanmedian")
def _median(y: Any, x: Any, dim: Any = ALL, keepdim: bool = False) -> Any:
    if dim is not ALL:
        return selected(y, x, dim, keepdim=keepdim, verb="median")
    a, m = x._data, y._data
    return lambda g: _shared(g, a, m)


def _shared(g: Any, a: Array, m: Array) -> Any:
    """Return a gradient shared evenly among the elements that are equal to the result; nan counts, too."""
    here = (a == m) | (np.isnan(a) & np.isnan(m))
    return np.where(here, g / np.count_nonzero(here), 0)


@rule("max min")
def _extreme(y: Any, x: Any, dim: Any = ALL, keepdim: bool = False) -> Any:
    if dim is ALL:
        a, m = x._data, y._data
        return lambda g: _shared(g, a, m)
    return selected(y, x, dim, keepdim=keepdim, verb="max")


@rule("mode")
def _mode(y: Any, x: Any, dim: Any = -1, keepdim: bool = False) -> Any:
    return selected(y, x, dim, keepdim=keepdim, verb="mode")


@rule("kthvalue")
def _kthvalue(y: Any, x: Any, k: int, dim: Any = -1, keepdim: bool = False) -> Any:
    return selected(y, x, dim, keepdim=keepdim, verb="kthvalue")


@rule("topk")
def _topk(y: Any, x: Any, k: int, dim: Any = -1, largest: bool = True, sorted: bool = True) -> Any:
    return selected(y, x, dim, keepdim=True, verb="topk")


@rule("sort")
def _sort(y: Any, x: Any, dim: Any = -1, descending: bool = False, *, stable: bool = False) -> Any:
    return selected(y, x, dim, keepdim=True, verb="sort")


@rule("cummax cummin")
def _cumulative(y: Any, x: Any, dim: Any = ...) -> Any:
    return selected(y, x, dim, keepdim=True, verb="cummax")


@rule("nansum")
def _nansum(y: Any, x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Vjp:
    kept, found = reduced(x, dim, "nansum")[1], ~np.isnan(x._data)
    return lambda g: g.reshape(kept) * found


@rule("nanmean")
def _nanmean(y: Any, x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Vjp:
    gone, kept = reduced(x, dim, "nanmean")
    found = ~np.isnan(x._data)
    return lambda g: g.reshape(kept) * found / found.sum(axis=gone, keepdims=True)
