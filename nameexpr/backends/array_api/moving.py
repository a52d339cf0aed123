"""Moving elements by functions of the array API standard: diagonals, parts, and elements at positions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

from nameexpr.backends.array_api.functions import like, space
from nameexpr.backends.numpy.reading import PositionError

Array = Any
Shape = tuple[int, ...]


def diagonal(x: Array, letters: Shape, result: Shape) -> Array:
    """Return the elements where axes of the same letter have the same index, by letters in this order."""
    xp = space(x)
    places = [[axis for axis, letter in enumerate(letters) if letter == wanted] for wanted in result]
    sizes = [x.shape[axes[0]] for axes in places]
    x = xp.permute_dims(x, tuple([axis for axes in places for axis in axes]))
    x = xp.reshape(x, tuple([size ** len(axes) for size, axes in zip(sizes, places, strict=True)]))
    counts = zip(sizes, places, strict=True)
    steps = [sum(size**power for power in range(len(axes))) for size, axes in counts]
    return x[(*[slice(None, None, max(1, step)) for step in steps],)] if steps else x


def embed(x: Array, shape: Shape, letters: Shape) -> Array:
    """Return zeros of a shape with `x`, broadcast, where axes of the same letter have the same index."""
    xp = space(x)
    first = [letters.index(letter) for letter in dict.fromkeys(letters)]
    x = xp.broadcast_to(x, tuple([shape[axis] for axis in first]))
    x = xp.reshape(x, tuple([size if axis in first else 1 for axis, size in enumerate(shape)]))
    for axis, letter in enumerate(letters):
        other = letters.index(letter)
        if other != axis:
            is_same = index(x, shape, axis) == index(x, shape, other)
            x = xp.where(is_same, x, like(0, x))
    return x


def index(x: Array, shape: Shape, axis: int) -> Array:
    """Return the index along an axis, with size 1 along the others."""
    xp = space(x)
    counted = xp.arange(shape[axis], device=x.device)
    return xp.reshape(counted, tuple([size if own == axis else 1 for own, size in enumerate(shape)]))


def joined(x: Array, pieces: Sequence[tuple[Shape, Shape]], values: Sequence[Array], shape: Shape) -> Array:
    """Return an array of which each value has the part from `starts` of `lengths`; what is in no part is 0.

    `x` is any array of the dtype and on the device of the result.
    """
    return _region(x, list(zip(pieces, values, strict=True)), (0,) * len(shape), shape)


def _region(x: Array, parts: list[Any], starts: Shape, stops: Shape) -> Array:
    """Return the part of a joined array from `starts` to `stops`, cut where its values begin and end."""
    xp, shape = space(x), tuple([stop - start for start, stop in zip(starts, stops, strict=True)])
    parts = [part for part in parts if _meets(part[0], starts, stops)]
    if not parts or not prod(shape):
        return xp.zeros(shape, dtype=x.dtype, device=x.device)
    for axis, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        ends = {end for (own, lengths), _ in parts for end in (own[axis], own[axis] + lengths[axis])}
        cuts = sorted({start, stop, *[end for end in ends if start < end < stop]})
        if len(cuts) > 2:  # noqa: PLR2004
            blocks = [
                _region(x, parts, _with(starts, axis, low), _with(stops, axis, high))
                for low, high in pairwise(cuts)
            ]
            return xp.concat(blocks, axis=axis)
    ((first, _), value) = parts[-1]
    cut = [slice(start - own, stop - own) for own, start, stop in zip(first, starts, stops, strict=True)]
    return value[(*cut,)] if shape else value


def _with(shape: Shape, axis: int, size: int) -> Shape:
    return (*shape[:axis], size, *shape[axis + 1 :])


def _meets(piece: tuple[Shape, Shape], starts: Shape, stops: Shape) -> bool:
    spans = zip(*piece, starts, stops, strict=True)
    return all(own < stop and start < own + length for own, length, start, stop in spans)


def window(x: Array, offsets: Shape, strides: Sequence[Shape], shape: Shape) -> Array:
    """Return the elements at `offsets[k]` plus `strides[k]` times the index, along each axis k of x."""
    xp = space(x)
    if 0 in shape:
        return xp.zeros(shape, dtype=x.dtype, device=x.device)
    places = []
    for offset, row in zip(offsets, strides, strict=True):
        steps = [step * index(x, shape, axis) for axis, step in enumerate(row) if step]
        places.append(sum(steps, xp.full((), offset, dtype=xp.int64, device=x.device)))
    return xp.broadcast_to(indexed(x, *places), shape) if shape else indexed(x, *places)


def inside(positions: Array, size: int, number: int) -> Array:
    """Return positions that are all at least 0 and below `size`."""
    xp = space(positions)
    if bool(xp.any(xp.logical_or(positions < 0, positions >= size))):
        raise PositionError(size, number)
    return positions


def taken(x: Array, places: Array, axis: int) -> Array:
    """Return an array read at positions along an axis, which get the axes of the positions."""
    xp = space(x)
    found = xp.take(x, xp.reshape(places, (-1,)), axis=axis)
    return xp.reshape(found, (*x.shape[:axis], *places.shape, *x.shape[axis + 1 :]))


def indexed(x: Array, *places: Array) -> Array:
    """Return an array read along its leading axes at positions, which are broadcast."""
    xp, count = space(x), len(places)
    if not count:
        return x
    flat = places[0]
    for size, own in zip(x.shape[1:count], places[1:], strict=True):
        flat = flat * size + own
    rows = xp.reshape(x, (prod(x.shape[:count]), *x.shape[count:]))
    return taken(rows, flat, 0)


def rows(start: Array, shape: Shape, dtype: Any) -> list[Array]:
    """Return the rows of an array that is broadcast to a shape and converted to a dtype."""
    xp = space(start)
    whole = xp.broadcast_to(xp.astype(start, dtype), shape)
    return [whole[number, ...] for number in range(shape[0])]
