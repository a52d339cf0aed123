"""The common properties of the items of a term: a label, a name for a dim, nested items.

Passes that use these need not know the kinds of items. A new kind is a class in `nameexpr.syntax.ast`, a row
or two here, its parsing and its spelling, and its labels in `nameexpr.compiler.analysis.resolve`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeGuard, TypeVar

from nameexpr.records import replace
from nameexpr.syntax.ast import LABELLED, Alias, At, Group, Item, Label, NamedGroup, Parts

AnyItem = TypeVar("AnyItem", bound=Item)
Renamed = Alias | NamedGroup


def label_of(item: Item) -> str | None:
    """Return the label that an item has.

    >>> label_of(Alias("batch", "N")), label_of(NamedGroup("features", Group(())))
    ('N', None)
    """
    return item.name if isinstance(item, LABELLED) else None


def dim_name_of(item: Item) -> str | None:
    """Return the name that a tensor's dim must have, or that the result's dim gets; None if any name is
    allowed.

    >>> dim_name_of(Alias("batch", "N")), dim_name_of(Label("C")), dim_name_of(Group(()))
    ('batch', 'C', None)
    """
    if isinstance(item, At):
        return dim_name_of(item.base)
    return item.dim if is_renamed(item) else label_of(item)


def is_renamed(item: Item) -> TypeGuard[Renamed]:
    """Return whether the dim has a different name in the tensor than in the text: `batch=N`, `features=(h
    w)`.
    """
    return isinstance(item, Alias | NamedGroup)


def group_of(item: Item) -> Group | None:
    """Return the product that an item is, or has a name for."""
    group = item.group if isinstance(item, NamedGroup) else item
    return group if isinstance(group, Group) else None


def parts_of(item: Item) -> Parts | None:
    """Return the parts of an item, with a name or without."""
    group = item.group if isinstance(item, NamedGroup) else item
    return group if isinstance(group, Parts) else None


def parts_in(items: Iterable[Item]) -> Iterator[Parts]:
    """Yield the parts of dims, and those of factors of groups."""
    for item in items:
        parts, group = parts_of(item), group_of(item)
        if parts is not None:
            yield parts
        elif group is not None:
            yield from parts_in(group.items)


def factors_without(items: Iterable[Item], parts: Collection[Parts]) -> list[Item]:
    """Return dims, those of groups as their factors, without some that have parts."""
    found: list[Item] = []
    for item in items:
        group = group_of(item)
        found += [item] if group is None else factors_without(group.items, parts)
    return [item for item in found if parts_of(item) not in parts]


def is_read(item: Item) -> bool:
    """Return whether a dim, or a factor of it, is read in parts, or at positions."""
    group = group_of(item)
    return (
        isinstance(item, At)
        or parts_of(item) is not None
        or (group is not None and any(map(is_read, group.items)))
    )


def unnamed(item: Item) -> Item:
    """Return the part of an item that can be written to the right of `name=`: its group or label, without a
    name or a size.

    >>> unnamed(Alias("batch", "N")).name, unnamed(NamedGroup("f", Group((Label("h"),)))).items[0].name
    ('N', 'h')
    """
    if isinstance(item, At):
        return replace(item, base=unnamed(item.base))
    label = label_of(item)
    return group_of(item) or parts_of(item) or (item if label is None else Label(label))


def rewritten(items: tuple[Item, ...], rewrite: Callable[[Item], list[Item] | None]) -> tuple[Item, ...]:
    """Return items of which some are replaced by others, including those in groups; None keeps an item."""
    found: list[Item] = []
    for item in items:
        new = rewrite(item)
        found += [_with_inner(item, rewrite)] if new is None else new
    return tuple(found)


def _with_inner(item: AnyItem, rewrite: Callable[[Item], list[Item] | None]) -> AnyItem:
    """Return an item whose own items are rewritten."""
    match item:
        case Group(items):
            return replace(item, items=rewritten(items, rewrite))
        case NamedGroup(_, group):
            return replace(item, group=_with_inner(group, rewrite))
        case Parts(parts):
            return replace(item, parts=tuple([_with_inner(part, rewrite) for part in parts]))
        case At(base):
            new = rewritten((base,), rewrite)
            return replace(item, base=new[0]) if len(new) == 1 else item
        case _:
            return item
