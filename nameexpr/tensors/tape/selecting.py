"""The derivatives of indexing, and of choosing elements by masks and indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from nameexpr.tensors.tape.node import Scattered
from nameexpr.tensors.tape.pointwise import zero
from nameexpr.tensors.tape.recording import array_of
from nameexpr.tensors.tape.reductions import scattered
from nameexpr.tensors.tape.texts import Vjp

_BASIC = frozenset({int, slice, type(None), type(...)})


def indexed(x: Any, key: Any) -> tuple[Vjp, bool]:
    """Return the function for `x[key]`, an index without errors, and whether the result is a view.

    Only arrays of integers can name an element twice.
    """
    basic = key if type(key) is tuple else (key,)
    if _BASIC.issuperset(map(type, basic)):
        return lambda g: Scattered(basic, g), True
    places, items = x._key(key)
    is_view = not any(item.kind == "array" for item in items)
    is_unique = not any(
        item.kind == "array" and not is_mask(place) for place, item in zip(places, items, strict=True)
    )
    places = tuple(np.array(place) if isinstance(place, np.ndarray) else place for place in places)
    return lambda g: Scattered(places, g, is_unique=is_unique), is_view


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


def where(y: Any, condition: Any, x: Any, other: Any) -> list[tuple[Any, Vjp]]:
    """Return the functions for both choices."""
    mask = np.array(getattr(condition, "_data", condition))
    return [(x, lambda g: np.where(mask, g, 0)), (other, lambda g: np.where(mask, 0, g))]


def where_method(y: Any, x: Any, condition: Any, other: Any) -> list[tuple[Any, Vjp]]:
    """Return those of the method, whose tensor comes first."""
    return where(y, condition, x, other)


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


def drawn(y: Any, x: Any, *args: Any, **kwargs: Any) -> Vjp:
    """Return the function for random numbers, which do not follow their parameters smoothly."""
    return zero


def joined(y: Any, tensors: Any, dim: Any = 0) -> list[tuple[Any, Vjp]]:
    """Return the function for each tensor of `cat`: its part of the gradient."""
    at = next(each for each in tensors if hasattr(each, "_position"))._position(dim, "cat")
    pairs, start = [], 0
    for each in tensors:
        end = start + np.shape(getattr(each, "_data", each))[at]
        pairs.append((each, _slice((*(slice(None),) * at, slice(start, end)))))
        start = end
    return pairs


def stacked(y: Any, tensors: Any, dim: int = 0, *, name: Any = None) -> list[tuple[Any, Vjp]]:
    """Return the function for each tensor of `stack`."""
    at = dim % y._data.ndim
    return [(each, _slice((*(slice(None),) * at, number))) for number, each in enumerate(tensors)]


def _slice(places: Any) -> Vjp:
    return lambda g: g[places]
