"""The left side of a statement in the formula reference: a value put into the dims of a term."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oracle.reference.scope import Scope, expand
from oracle.reference.text import Group, Item, Label, Literal, Pack, Parts, Term
from oracle.reference.values import Value, laid_out

Dim = tuple[str | int, ...]


@dataclass(frozen=True)
class Placed:
    """A result: its value with one axis for each dim, what the dims are made of, and their names."""

    value: Value
    dims: tuple[Dim, ...]
    names: tuple[str | None, ...]

    @property
    def array(self) -> np.ndarray[Any, Any]:
        """The cells, floats in double precision."""
        return self.value.array


def place(
    scope: Scope, value: Value, term: Term | Sequence[tuple[str]], dots: Mapping[str, str | None]
) -> Placed:
    """Put a value into the dims of a term, or of labels alone.

    Parameters
    ----------
    scope
        Sizes and packs.
    value
        What the right side gave.
    term
        The term on the left, or a list of dims of one label each.
    dots
        The names of the dims of ``...``.
    """
    items = [(item, found) for item in term for found in made_of(scope, item, value)]
    dims = tuple(found for _, found in items)
    names = tuple(name_of(scope, item, found, dots) for item, found in items)
    flat: list[str] = []
    sizes = dict(zip(value.labels, value.array.shape, strict=True))
    for found in dims:
        for at in found:
            label = f"literal:{len(flat)}" if isinstance(at, int) else at
            flat.append(label)
            sizes.setdefault(label, at if isinstance(at, int) else scope.sizes.get(label, -1))
            if sizes[label] == -1:
                scope.size(label)
    free = list(dict.fromkeys(flat))
    shape = [
        int(np.prod([at if isinstance(at, int) else sizes[at] for at in found], dtype=int)) for found in dims
    ]
    spread = laid_out(value, free)
    arrays = [embed(array, free, flat, sizes).reshape(shape) for array in (spread.array, spread.error)]
    axes = tuple(f"axis:{at}" for at in range(len(dims)))
    return Placed(Value(arrays[0], axes, value.dtype, arrays[1], value.number), dims, names)


def made_of(scope: Scope, item: Item | tuple[str], value: Value) -> list[Dim]:
    """The dims that an item makes, each as its factors."""
    if isinstance(item, tuple):
        return [item]
    if isinstance(item, Pack):
        return [(label,) for label in expand(scope, [f"{item.word}:*"], value.labels)]
    if isinstance(item, Group):
        return [tuple(at for part in item.items for dim in made_of(scope, part, value) for at in dim)]
    if isinstance(item, Literal):
        return [(item.size,)]
    return [(item.name,)] if isinstance(item, Label) else []


def name_of(scope: Scope, item: Item | tuple[str], dim: Dim, dots: Mapping[str, str | None]) -> str | None:
    """The name of a dim of the result."""
    if isinstance(item, Group | Parts):
        return item.name
    if isinstance(item, Label) and item.alias:
        return item.alias
    if isinstance(item, Literal):
        return None
    label = str(dim[0])
    word, colon, at = label.partition(":")
    if not colon:
        return label
    return dots.get(label) if word == "..." else scope.pack_names[word][int(at)]


def embed(
    array: np.ndarray[Any, Any], free: Sequence[str], flat: Sequence[str], sizes: Mapping[str, int]
) -> np.ndarray[Any, Any]:
    """The array with an axis for each label of `flat`: zeros where two axes of one label differ."""
    result = np.zeros([sizes[label] for label in flat], array.dtype)
    if not flat:
        return array.reshape(())
    grids = np.meshgrid(*(np.arange(sizes[label]) for label in free), indexing="ij", sparse=True)
    result[tuple(grids[free.index(label)] for label in flat)] = array
    return result
