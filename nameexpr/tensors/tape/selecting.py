"""The derivatives of indexing, and of choosing elements by masks and indices."""

from __future__ import annotations

from itertools import compress
from typing import Any

import numpy as np

from nameexpr.tensors.joining import joined_along
from nameexpr.tensors.masks import choose
from nameexpr.tensors.tape.mode import MODE
from nameexpr.tensors.tape.node import Scattered
from nameexpr.tensors.tape.pointwise import zero
from nameexpr.tensors.tape.recording import (
    Tracked,
    array_of,
    attached,
    bare,
    has_gradient,
    joint,
    node_of,
    refuse_out,
)
from nameexpr.tensors.tape.reductions import scattered
from nameexpr.tensors.tape.texts import Vjp


class Chosen(Tracked):
    """What indexing, `where` and joins of plain tensors call."""

    __slots__ = ()

    def _quick(self, key: Any) -> Any:
        y = super()._quick(key)  # type: ignore[misc]
        if y is None or not MODE.is_on:
            return y
        places = (*key, ...) if type(key) is tuple else (key, ...)
        return attached(y, "x[...]", self._node, lambda g: Scattered(places, g), is_view=True)

    def _part_at(self, key: Any, call: Any = None) -> Any:
        return super()._part_at(bare(key), call)  # type: ignore[misc]

    def _taken_at(self, places: Any, items: Any) -> Any:
        """Only arrays of integers can name an element twice."""
        y = super()._taken_at(places, items)  # type: ignore[misc]
        if not MODE.is_on or not has_gradient(y):
            return y
        is_array = [item.kind == "array" for item in items]
        is_unique = all(map(is_mask, compress(places, is_array)))
        places = tuple(np.array(place) if isinstance(place, np.ndarray) else place for place in places)
        vjp = lambda g: Scattered(places, g, is_unique=is_unique)  # noqa: E731
        return attached(y, "x[...]", self._node, vjp, is_view=not any(is_array))

    def _chosen(self, condition: Any, x: Any, y: Any) -> Any:
        return chosen(condition, x, y)

    def _joined(self, parts: list[Any], at: int, names: Any, verb: str, out: Any) -> Any:
        refuse_out(verb, out)
        y = joined_along([each._bare() for each in parts], at, names, verb, out)
        if not MODE.is_on or not has_gradient(y):
            return y
        before, ends = (slice(None),) * at, [0]
        pairs = []
        for number, each in enumerate(parts):
            ends.append(ends[-1] + (each._data.shape[at] if verb == "cat" else 0))
            where = number if verb == "stack" else slice(*ends[-2:])
            pairs.append((each._node, _taking((*before, where))))
        return joint(verb, y, pairs)


def chosen(condition: Any, x: Any, y: Any) -> Any:
    """Return the elements of x where a condition is true, and those of y elsewhere."""
    both = choose(bare(condition), bare(x), bare(y))
    if not MODE.is_on or not has_gradient(both):
        return both
    mask = np.array(getattr(condition, "_data", condition))
    vjps = (lambda g: np.where(mask, g, 0)), (lambda g: np.where(mask, 0, g))
    return joint("where", both, zip(map(node_of, (x, y)), vjps, strict=True))


def is_mask(place: Any) -> bool:
    """Return whether a part of an index is an array of bools."""
    return getattr(place, "dtype", None) == np.bool_


def index_select(y: Any, x: Any, dim: Any, index: Any) -> Vjp:
    """Return the function for elements at indices along a dim."""
    at = x._position(dim, "index_select")
    places = np.atleast_1d(x._indices(index, at, x._data, "index_select"))
    key = (*(slice(None),) * at, np.array(places))
    return lambda g: Scattered(key, g, is_unique=False)


def gather(y: Any, x: Any, dim: Any, index: Any) -> Vjp:
    """Return the function for the elements that a tensor of indices points at."""
    at = x._position(dim, "gather")
    return scattered(np.array(x._as_core(index, "gather")._data), at)


def masked_select(y: Any, x: Any, mask: Any) -> Vjp:
    """Return the function for the elements where a mask is true."""
    where = x._as_mask(mask, "masked_select")._data
    shape = np.broadcast_shapes(x._data.shape, where.shape)
    where = np.array(np.broadcast_to(where, shape))

    def vjp(g: Any) -> Any:
        whole = np.zeros(shape, g.dtype)
        whole[where] = g
        return whole

    return vjp


def masked_fill(y: Any, x: Any, mask: Any, value: Any) -> list[tuple[Any, Vjp]]:
    """Return the functions for the tensor, and for the value where the mask is true."""
    where = np.array(x._as_mask(mask, "masked_fill")._data)
    return [(x, lambda g: np.where(where, 0, g)), (value, lambda g: np.where(where, g, 0))]


def index_fill(y: Any, x: Any, dim: Any, index: Any, value: Any) -> list[tuple[Any, Vjp]]:
    """Return the functions for the tensor, and for the value at some indices along a dim."""
    data, at = x._along(dim, "index_fill")
    where = np.zeros(data.shape, np.bool_)
    where[(*(slice(None),) * at, x._indices(index, at, data, "index_fill"))] = True
    where = where.reshape(x._data.shape)
    return [(x, lambda g: np.where(where, 0, g)), (value, lambda g: np.where(where, g, 0))]


def clamp(y: Any, x: Any, min: Any = None, max: Any = None) -> list[tuple[Any, Vjp]]:
    """Return the functions for the tensor and both bounds, by the rules of `clip`."""
    a = x._data
    low = np.asarray(-np.inf if min is None else array_of(min))
    high = np.asarray(np.inf if max is None else array_of(max))
    return [
        (x, lambda g: np.where((a >= low) & (a <= high), g, 0)),
        (min, lambda g: np.where((low < high) & (a < low), g, 0)),
        (max, lambda g: np.where((a > high) | (low > high), g, 0)),
    ]


def constant(y: Any, x: Any, *args: Any, **kwargs: Any) -> Vjp:
    """Return the function for results that do not follow the elements smoothly."""
    return zero


def _taking(places: Any) -> Vjp:
    return lambda g: g[places]


INDICES: dict[str, Any] = {
    "index_select": index_select,
    "gather": gather,
    "masked_select": masked_select,
    "bernoulli": constant,
    "round": constant,
}
"""The rules of methods of one operand that may have a gradient."""
FILLS: dict[str, Any] = {
    "masked_fill": masked_fill,
    "index_fill": index_fill,
    "clamp": clamp,
    "clip": clamp,
}
"""Those of methods whose other operands may have one, too."""
