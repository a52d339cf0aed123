"""Reductions, functions along a dim and order statistics of recorded tensors.

The methods are those of plain tensors, which check their arguments and call what is overridden here. Most
derivatives are texts: `a` is the array, `y` the result with the dims that were reduced, `n` what a mean
divides by, and `p` the order of a norm.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nameexpr.compiler.gradient.rules import ALONG, REDUCTIONS
from nameexpr.tensors.ordering import Selected
from nameexpr.tensors.reductions import ALL
from nameexpr.tensors.tape.mode import MODE
from nameexpr.tensors.tape.node import Scattered, TapeNode
from nameexpr.tensors.tape.recording import Tracked, has_gradient, promoted, refuse_out
from nameexpr.tensors.tape.texts import Vjp, factory, wide

Array = np.ndarray[Any, Any]

_NAN_MEAN = "sum[R](where(a == a, a, 0)) / sum[R](a == a)"
_SHARED = "(a == y) | (a != a) & (y != y)"
_LARGEST = "(abs(a) == y)"
RULES: dict[str, str] = {
    **REDUCTIONS,
    "amax": REDUCTIONS["max"],
    "amin": REDUCTIONS["min"],
    "nansum": "where(a == a, g, 0)",
    "nanmean": "g * (a == a) / n",
    "nanvar": f"where(a == a, g * 2 * (a - {_NAN_MEAN}) / n, 0)",
    "nanstd": f"where(a == a, g * (a - {_NAN_MEAN}) / (n * where(y == 0, 1, y)), 0)",
    # evenly among the elements that are equal to the result
    "median": f"where({_SHARED}, g, 0) / sum[R]({_SHARED})",
    "nanmedian": f"where({_SHARED}, g, 0) / sum[R]({_SHARED})",
}
NORMS: dict[float, str] = {
    0: "g * 0 * sign(a)",
    1: "g * sign(a)",
    2: REDUCTIONS["norm"],
    math.inf: f"g / sum[R]({_LARGEST}) * sign(a) * {_LARGEST}",
    -math.inf: f"g / sum[R]({_LARGEST}) * sign(a) * {_LARGEST}",
}
"""The rules of norms by their order."""
OTHER_NORM = "g * sign(a) * where(a == 0, 0, where(a == 0, 1, abs(a) / where(y == 0, 1, y)) ** (p - 1))"
"""That of other orders, computed with ratios of at most 1."""
WITHOUT_ZEROS = {"prod": "g * y / a", "cumprod": "flip[R](cumsum[R](flip[R](g * y))) / a"}
"""The rules of products of elements none of which is 0."""
REPEATING = frozenset({"cummax", "cummin"})
"""Functions that may select an element several times."""
_SMALL = 1 << 14
"""The number of elements up to which repeating a number takes less time than NumPy's view of it."""


class Reduced(Tracked):
    """What the methods of plain tensors that combine or select elements along dims call."""

    __slots__ = ()

    def _reduce(self, verb: str, dim: Any, keepdim: bool, out: Any = None, **options: Any) -> Any:
        refuse_out(verb, out)
        y: Any = super()._reduce(verb, dim, keepdim, out, **options)
        if not MODE.is_on or not has_gradient(y):
            return y
        names = self._names
        gone = (names.index(dim),) if type(dim) is str and dim in names else self._axes(dim, verb)
        return self._with_node(verb, y, back_of_reduction(verb, y._data, self._data, gone, options))

    def _with_node(self, verb: str, y: Any, vjp: Vjp) -> Any:
        return promoted(y, TapeNode(verb, (self._node,), (vjp,), y._data))

    def _middle(self, verb: str, dim: Any, keepdim: bool) -> Any:
        y = super()._middle(verb, dim, keepdim)  # type: ignore[misc]
        if dim is not ALL or not MODE.is_on or not has_gradient(y):
            return y
        every = tuple(range(self._data.ndim))
        return self._with_node(verb, y, back_of_reduction(verb, y._data, self._data, every, {}))

    def _scan(self, verb: str, dim: Any, dtype: Any, out: Any) -> Any:
        refuse_out(verb, out)
        return self._run(verb, super()._scan(verb, dim, dtype, out), dim)  # type: ignore[misc]

    def _normalised(self, verb: str, dim: Any, dtype: Any) -> Any:
        return self._run(verb, super()._normalised(verb, dim, dtype), dim)  # type: ignore[misc]

    def _run(self, verb: str, y: Any, dim: Any) -> Any:
        """Return the result of a function along a dim with its node."""
        if not MODE.is_on or not has_gradient(y):
            return y
        data, at = self._along(dim, verb)
        result, shape, row = wide(y._data), y._data.shape, data.shape
        rule = ALONG[verb] if verb != "cumprod" or not data.all() else WITHOUT_ZEROS[verb]
        make = factory(verb, rule, "ayR", is_complex=result.dtype.kind == "c")
        vjp = make(wide(data), result.reshape(row), at)
        if shape and result is y._data:
            return self._with_node(verb, y, vjp)
        return self._with_node(verb, y, lambda g: vjp(wide(g).reshape(row)).reshape(shape))

    def _quantile(self, verb: str, q: Any, dim: Any, keepdim: bool, method: Any) -> Any:
        y = super()._quantile(verb, q, dim, keepdim, method)  # type: ignore[misc]
        if not MODE.is_on or not has_gradient(y):
            return y
        a, gone, skips_nan = self._data, self._axes(dim, verb), verb == "nanquantile"
        levels = np.asarray(getattr(q, "_data", q), np.float64).reshape(-1)
        return self._with_node(
            verb, y, lambda g: back_of_quantiles(g, a, gone, levels, method, skips_nan=skips_nan)
        )

    def _select(self, verb: str, dim: Any, keepdim: bool, *options: Any) -> Any:
        y = super()._select(verb, dim, keepdim, *options)  # type: ignore[misc]
        return self._selected(verb, y, dim, keepdim=keepdim)

    def _cumulative(self, verb: str, dim: Any) -> Any:
        return self._selected(verb, super()._cumulative(verb, dim), dim)  # type: ignore[misc]

    def topk(self, k: Any, dim: Any = -1, *args: Any, **kwargs: Any) -> Any:
        """Return the largest or smallest elements along a dim, and their indices."""
        return self._selected("topk", self._bare().topk(k, dim, *args, **kwargs), dim)

    def sort(self, dim: Any = -1, *args: Any, **kwargs: Any) -> Any:
        """Return the elements in order along a dim, and their indices."""
        return self._selected("sort", self._bare().sort(dim, *args, **kwargs), dim)

    def _selected(self, verb: str, y: Any, dim: Any, *, keepdim: bool = True) -> Any:
        """Return elements with their node, and their indices: gradients go where the elements came from."""
        if not MODE.is_on or not has_gradient(y.values):
            return y
        places, shape = y.indices._data, self._data.shape
        if not shape:
            return Selected(self._with_node(verb, y.values, lambda g: g.reshape(())), y.indices)
        at = self._position(dim, verb)
        if not keepdim:
            places = np.expand_dims(places, at)
        vjp = scattered(places, at, keepdim=keepdim, is_unique=verb not in REPEATING)
        return Selected(self._with_node(verb, y.values, vjp), y.indices)


def scattered(places: Array, at: int, *, keepdim: bool = True, is_unique: bool = False) -> Vjp:
    """Return the function that adds gradients at positions along an axis."""
    after = places.ndim - 1
    key = tuple(
        [
            places if axis == at else np.arange(size).reshape((size, *(1,) * (after - axis)))
            for axis, size in enumerate(places.shape)
        ]
    )
    return lambda g: Scattered(key, g if keepdim else np.expand_dims(g, at), is_unique=is_unique)


def back_of_reduction(verb: str, y: Array, a: Array, gone: tuple[int, ...], options: Any) -> Vjp:
    """Return the function for a reduction over some axes."""
    shape = a.shape
    kept = tuple([1 if at in gone else size for at, size in enumerate(shape)])
    if verb == "sum":
        return lambda g: repeated(g.reshape(kept), shape)
    n = math.prod([shape[at] for at in gone])
    if verb == "mean":
        return lambda g: repeated((g / (n or 1)).reshape(kept), shape)
    p, rule = None, RULES.get(verb, "")
    if verb == "norm":
        p = float(options["order"])
        rule = NORMS.get(p, OTHER_NORM)
    if verb == "prod" and a.all():
        rule = WITHOUT_ZEROS[verb]
    count = np.count_nonzero(a == a, axis=gone, keepdims=True) if verb.startswith("nan") else n  # noqa: PLR0124  not nan
    divisor = np.maximum(count - options.get("correction", 0), 0)
    a = a.astype(y.dtype) if options.get("dtype") is not None else a
    made = factory(verb, rule, "aynpR", is_complex=y.dtype.kind == "c")
    vjp = made(wide(a), wide(y).reshape(kept), divisor, p, gone)
    return lambda g: vjp(g.reshape(kept))


def repeated(g: Array, shape: tuple[int, ...]) -> Array:
    """Return a gradient repeated along dims of size 1, in elements of its own if they are few."""
    if math.prod(shape) > _SMALL:
        return np.broadcast_to(g, shape)
    whole = np.empty(shape, g.dtype)
    whole[...] = g
    return whole


def back_of_quantiles(
    g: Any, a: Array, gone: tuple[int, ...], levels: Array, method: str, *, skips_nan: bool
) -> Array:
    """Return the gradient of quantiles, each of which is between two elements of a sorted row."""
    rest = [at for at in range(a.ndim) if at not in gone]
    moved = a.transpose([*rest, *gone])
    rows = moved.reshape(math.prod([a.shape[at] for at in rest]), -1)
    gradients = np.asarray(g).reshape(levels.size, len(rows)).T
    order, counts = np.argsort(rows, axis=-1), np.count_nonzero(rows == rows, axis=-1)  # noqa: PLR0124  not nan
    whole = np.zeros_like(rows)
    for count in np.unique(counts).tolist():
        these = np.flatnonzero(counts == count)[:, None]
        if not count or (count < rows.shape[1] and not skips_nan):
            whole[these] = 0 if skips_nan else np.nan
            continue
        at: Any = np.quantile(np.arange(float(count)), levels, method=method)  # type: ignore[call-overload]
        low = np.floor(at).astype(int)
        for places, part in ((low, 1 - at + low), (np.minimum(low + 1, count - 1), at - low)):
            np.add.at(whole, (these, order[these, places]), gradients[these[:, 0]] * part)
    return whole.reshape(moved.shape).transpose(np.argsort([*rest, *gone]))
