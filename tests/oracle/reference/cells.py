"""Which cell of a dim an item reads, for each index of its labels."""

from __future__ import annotations

from collections.abc import Mapping

from oracle.reference.rules import live_part
from oracle.reference.sizes import factors, is_open, position_at, size_of
from oracle.reference.text import At, Blank, Group, Item, Label, Literal, Parts, Refused


def cell_of(item: Item, index: Mapping[str, int], sizes: Mapping[str, int], whole: int) -> int:
    """The index along a dim of `whole` cells.

    Parameters
    ----------
    item
        What the term says of the dim; positions are those of expressions.
    index
        The index of each label.
    sizes
        The size of each label.
    whole
        The size of the dim.
    """
    if isinstance(item, Label):
        return index[item.name]
    if isinstance(item, Literal):
        if item.size != 1:
            raise Refused("literal", "a number in a live part")
        return 0
    if isinstance(item, At):
        at, size = position_at(item.place, index), size_of(item, sizes) if whole < 0 else whole
        if not 0 <= at < size:
            raise Refused("NE317", f"{at} of {size}")
        return at
    assert isinstance(item, Group | Parts)
    if isinstance(item, Group):
        at = 0
        for part, size in zip(item.items, factors(item, sizes, whole), strict=True):
            at = at * size + cell_of(part, index, sizes, size)
        return at
    live = live_part(item)
    return offset_of(item, live, sizes, whole) + cell_of(Group(item.parts[live]), index, sizes, -1)


def offset_of(item: Parts, live: int, sizes: Mapping[str, int], whole: int) -> int:
    """How many cells are before a part; a ``_`` among them is what the others leave."""
    sizes_of = [size_of(Group(part), sizes) for part in item.parts]
    rest = [at for at, part in enumerate(item.parts) if part == (Blank(),)]
    if is_open(item):
        sizes_of[rest[0]] = whole - sum(sizes_of)
    return sum(sizes_of[:live])
