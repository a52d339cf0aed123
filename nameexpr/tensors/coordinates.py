"""Coordinates: the labels of positions along dims, kept from xarray and pandas and back.

A coordinate is inert: nothing is computed from it. It follows its elements, survives as long as its dims do,
by their names, and is sliced by indexing. Operands with different labels of a dim are not combined (NE580):
to pair their elements by position would be wrong, and to drop those without a partner would lose data
silently. Other coordinates that differ are dropped, as in xarray.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from nameexpr.backends.numpy.foreign import Coordinate
from nameexpr.dims import Names
from nameexpr.errors import Diagnostic, error

Coordinates = tuple[Coordinate, ...]


def fitting(coordinates: Iterable[Coordinate], names: Names, shape: tuple[int, ...]) -> Coordinates:
    """Return the first coordinate of each name whose dims all exist, with the same sizes."""
    sizes = dict(zip(names, shape, strict=True))
    kept: dict[Any, Coordinate] = {}
    for each in coordinates:
        is_free = each.name not in sizes or is_label(each)
        if is_free and all(map(_equals, map(sizes.get, each.dims), each.values.shape)):
            kept.setdefault(each.name, each)
    return tuple(kept.values())


def _equals(left: int | None, right: int) -> bool:
    return left == right


def is_label(coordinate: Coordinate) -> bool:
    """Return whether a coordinate labels the positions of its dim."""
    return coordinate.dims == (coordinate.name,)


def agreed(every: Iterable[Iterable[Coordinate]], verb: str) -> list[Coordinate]:
    """Return the coordinates of several tensors; those that differ are dropped (NE580 for labels)."""
    found: list[Coordinate] = []
    first: dict[Any, Coordinate] = {}
    for coordinates in every:
        for each in coordinates:
            old = first.setdefault(each.name, each)
            if old is each or _is_same(old, each):
                found.append(each)
            elif is_label(old) and is_label(each):
                if len(old.values) == len(each.values):
                    raise _disagreement(old, each, verb)
                found.append(each)
            else:
                found = [other for other in found if other.name != each.name]
    return found


def _is_same(left: Coordinate, right: Coordinate) -> bool:
    a, b = left.values, right.values
    if a is b or left.dims != right.dims or a.shape != b.shape:
        return left.dims == right.dims and a is b
    if hasattr(a, "equals"):
        return bool(a.equals(b))
    is_bare = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
    return is_bare and bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fcmM"))


def _disagreement(left: Coordinate, right: Coordinate, verb: str) -> Exception:
    pairs = zip(left.values, right.values, strict=True)
    at, a, b = next((at, a, b) for at, (a, b) in enumerate(pairs) if a != b)
    message = f"{verb.strip('_')}: {left.name!r} has different coordinates in two operands"
    message += f": at position {at}, {a!s:.40} and {b!s:.40}"
    hint = f"xarray.align(a, b) selects those that both have; x.drop_coords({left.name!r}) pairs by position"
    return error(Diagnostic("NE580", message, hint=hint))


def taken(coordinates: Iterable[Coordinate], dim: str, index: Any) -> list[Coordinate]:
    """Return coordinates at an index of a dim: an integer removes it, a slice or an array keeps it."""
    return [_taken(each, dim, index) if dim in each.dims else each for each in coordinates]


def _taken(coordinate: Coordinate, dim: str, index: Any) -> Coordinate:
    axis = coordinate.dims.index(dim)
    values, dims = coordinate.values, coordinate.dims
    if isinstance(index, int):
        values, dims = np.asarray(values), dims[:axis] + dims[axis + 1 :]
        return coordinate._replace(dims=dims, values=np.asarray(values[(slice(None),) * axis + (index,)]))
    return coordinate._replace(values=values[(slice(None),) * axis + (index,)] if axis else values[index])


def without(coordinates: Iterable[Coordinate], dims: Iterable[Any]) -> list[Coordinate]:
    """Return the coordinates that have none of these dims."""
    gone = set(dims)
    return [each for each in coordinates if gone.isdisjoint(each.dims)]


def renamed(coordinates: Iterable[Coordinate], old: Names, new: Names) -> list[Coordinate]:
    """Return the coordinates of renamed dims; those of a dim that has lost its name are dropped."""
    by_old = dict(zip(old, new, strict=True))
    moved = [
        each._replace(
            name=by_old[each.name] if is_label(each) else each.name,
            dims=tuple(by_old[dim] for dim in each.dims),
        )
        for each in coordinates
    ]
    return without(moved, [None])


def in_a_row(every: list[Coordinates], dim: str) -> list[Coordinate]:
    """Return the coordinates along a dim of tensors that are joined along it, if all have them."""
    result = []
    for each in every[0]:
        same = [other for coordinates in every for other in coordinates if other[:2] == each[:2]]
        if dim in each.dims and len(same) == len(every):
            values = [other.values for other in same]
            is_index = hasattr(each.values, "append")
            both = (
                each.values.append(values[1:]) if is_index else np.concatenate(values, each.dims.index(dim))
            )
            result.append(each._replace(values=both))
    return result
