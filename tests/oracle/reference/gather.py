"""Reading and joining in the formula reference: which cell of a dim an item means, for each index.

Every dim of a use gives an array of indices with labels, and the value of the use is what stands there. On
the left the same indices tell where the cells of a value go.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from oracle.reference.cells import offset_of
from oracle.reference.place import Placed, name_of, place
from oracle.reference.rounding import doubled, unit
from oracle.reference.rules import inner_items, labels_of, live_part
from oracle.reference.scope import DOTS, Scope, expand
from oracle.reference.sizes import factors, size_of
from oracle.reference.text import At, Group, Item, Label, Literal, Pack, Parts, Refused, Term
from oracle.reference.values import Value, from_array, inexact, laid_out, union

Indices = Callable[[str], Value]
Placing = Callable[[At, int], Value]
Chosen = Mapping[int, int]


def cells(
    item: Item,
    indices: Indices,
    sizes: Mapping[str, int],
    whole: int,
    chosen: Chosen | None = None,
    placed: Placing | None = None,
) -> Value:
    """Where along a dim an item is, for each index of its labels.

    Parameters
    ----------
    item
        A label, a number, a group or parts.
    indices
        The indices of a label.
    sizes
        The size of each label.
    whole
        The size of the dim.
    chosen
        Which part is meant, by the identity of the item: on the left. In a use the live part is.
    placed
        The positions of an item that has some, in a dim of a size.
    """
    if isinstance(item, At) and placed is not None:
        return placed(item, whole)
    if isinstance(item, Label):
        return indices(item.name)
    if isinstance(item, Parts):
        part = chosen[id(item)] if chosen else live_part(item)
        inside = cells(Group(item.parts[part]), indices, sizes, -1, chosen)
        offset = offset_of(item, part, sizes, whole)
        return Value(inside.array + offset, inside.labels, inside.dtype, inside.error)
    if isinstance(item, Literal) and chosen is not None:
        return from_array(np.arange(item.size), (f"number:{id(item)}",))
    found = from_array(np.zeros((), "int64"), ())
    group = item if isinstance(item, Group) else Group(())
    for part, size in zip(group.items, factors(group, sizes, whole), strict=True):
        inside = cells(part, indices, sizes, size, chosen, placed)
        labels = union([found, inside])
        array = laid_out(found, labels).array * size + laid_out(inside, labels).array
        error = laid_out(found, labels).error + laid_out(inside, labels).error
        found = Value(array, labels, array.dtype, error)
    return found


def position(value: Value, whole: int, is_data: bool) -> Value:
    """The value of a position, if all are integers inside."""
    dtype = value.dtype if value.number is None else np.asarray(value.number).dtype
    if dtype.kind not in "iu":
        raise Refused("NE528", f"positions of {dtype}")
    if value.array.size and (value.array.min() < 0 or value.array.max() >= whole):
        raise Refused("NE805" if is_data else "NE317", f"{value.array} of {whole}")
    return Value(value.array.astype("int64"), value.labels, np.dtype("int64"), value.error)


def gather(value: Value, indices: Sequence[Value]) -> Value:
    """The cells of a value at indices along each of its axes."""
    labels = union(indices)
    places = [laid_out(index, labels) for index in indices]
    shape = np.broadcast_shapes(*(index.array.shape for index in places), (1,) * len(labels))
    where = tuple(np.broadcast_to(index.array, shape) for index in places)
    error = value.error[where]
    for index in places:
        error = np.where(index.error > 0, np.inf, error)
    return Value(value.array[where], labels, value.dtype, np.asarray(error))


def join(scope: Scope, values: Sequence[Value], term: Term, dots: Mapping[str, str | None]) -> Placed:
    """The values of a statement in the dims of its left side, one for each block, row by row."""
    concatenated = [item for item in inner_items(term) if isinstance(item, Parts)]
    if not concatenated:
        if len(values) > 1:
            raise Refused("NE222", f"{len(values)} values and no parts")
        return place(scope, values[0], term, dots)
    blocks = list(itertools.product(*(range(len(item.parts)) for item in concatenated)))
    choices = [{id(item): at for item, at in zip(concatenated, block, strict=True)} for block in blocks]
    filled = [choice for choice in choices if not is_padding(concatenated, choice)]
    if len(values) not in (len(choices), len(filled)):
        raise Refused("NE222", f"{len(blocks)} blocks, {len(filled)} of labels, {len(values)} values")
    filled = choices if len(values) == len(choices) else filled
    return filled_in(scope, values, filled, term, dots)


def is_padding(concatenated: Sequence[Parts], choice: Chosen) -> bool:
    """Whether a block is one of a part of numbers."""
    return any(not labels_of(item.parts[choice[id(item)]]) for item in concatenated)


def filled_in(
    scope: Scope,
    values: Sequence[Value],
    choices: Sequence[Chosen],
    term: Term,
    dots: Mapping[str, str | None],
) -> Placed:
    """Zeros, and each value where its block is."""
    units = [f"{item.word}:*" for item in term if isinstance(item, Pack)]
    packs = {unit: expand(scope, [unit], joint_dots(values)) for unit in units}
    items: list[Item] = []
    for item in term:
        own = packs[f"{item.word}:*"] if isinstance(item, Pack) else []
        items += map(Label, own) if isinstance(item, Pack) else [item]
    sizes = {**scope.sizes, **dots_of(values)}
    for label in labels_of(tuple(items)):
        if label not in sizes:
            scope.size(label)
    shape = [size_of(item, sizes) for item in items]
    dtype = np.result_type(*(value.dtype if value.number is None else value.number for value in values))
    array = np.zeros(shape, (complex if dtype.kind == "c" else float) if inexact(dtype) else dtype)
    error = np.zeros(shape)
    for value, choice in zip(values, choices, strict=True):
        where = [
            cells(item, ranges(sizes), sizes, whole, choice) for item, whole in zip(items, shape, strict=True)
        ]
        labels = union(where)
        if other := set(value.labels) - set(labels):
            raise Refused("NE223", f"{other} are not in the block")
        at = np.broadcast_arrays(*(laid_out(one, labels).array for one in where))
        array[tuple(at)], error[tuple(at)] = converted(laid_out(value, labels), dtype, at[0].shape)
    names = tuple(name_of(scope, item, (label_of(item),), dots) for item in items)
    axes = tuple(f"axis:{at}" for at in range(len(items)))
    return Placed(Value(array, axes, dtype, error), ((),) * len(items), names)


def write(pair: tuple[Any, Any], where: Sequence[Value], value: Value, dtype: np.dtype[Any]) -> None:
    """Put the cells of a value into an array, and their errors into another."""
    labels = union(where)
    if other := set(value.labels) - set(labels):
        raise Refused("NE223", f"{other} are not in the block")
    at = np.broadcast_arrays(*(laid_out(one, labels).array for one in where))
    pair[0][tuple(at)], pair[1][tuple(at)] = converted(laid_out(value, labels), dtype, at[0].shape)


def joint_dots(values: Sequence[Value]) -> list[str]:
    """The labels of ``...`` in any of the values."""
    return list(dots_of(values))


def dots_of(values: Sequence[Value]) -> dict[str, int]:
    """The sizes of the dims of ``...``, broadcast."""
    found: dict[str, int] = {}
    for value in values:
        for label, size in zip(value.labels, value.array.shape, strict=True):
            if label.startswith(f"{DOTS}:"):
                found[label] = size if found.get(label, 1) == 1 else found[label]
    return found


def ranges(sizes: Mapping[str, int]) -> Indices:
    """The indices of each label."""
    return lambda label: from_array(np.arange(sizes[label]), (label,))


def label_of(item: Item) -> str:
    """The label of a dim that has one of its own."""
    return item.name if isinstance(item, Label) else ""


def converted(value: Value, dtype: np.dtype[Any], shape: Sequence[int]) -> tuple[Any, Any]:
    """The cells of a value in the dtype of the result, and how far they may be off."""
    array, error = np.broadcast_to(value.array, shape), np.broadcast_to(value.error, shape)
    if not inexact(dtype):
        info = np.iinfo(dtype) if dtype.kind in "iu" else None
        if value.number is not None and info and not info.min <= value.number <= info.max:
            raise Refused("dtype", f"{value.number} as {dtype}")
        return array.astype(dtype), error
    held = doubled(array)
    kept = doubled(held.astype(dtype))
    return held, np.where((held == kept) | np.isnan(held), error, error + unit(held, dtype))
