"""The common properties of the items of a term: a label, a name for a dim, nested items.

Passes that use these need not know the kinds of items. A new kind is a class in `nameexpr.syntax.ast`, a row
or two here, its parsing and its spelling, and its labels in `nameexpr.compiler.analysis.resolve`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

from nameexpr.syntax.ast import LABELLED, Alias, Group, Item, Label, NamedGroup

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
    return item.dim if is_renamed(item) else label_of(item)


def is_renamed(item: Item) -> TypeGuard[Renamed]:
    """Return whether the dim has a different name in the tensor than in the text: `batch=N`, `features=(h
    w)`.
    """
    return isinstance(item, Alias | NamedGroup)


def group_of(item: Item) -> Group | None:
    """Return the group that an item is, or has a name for."""
    if isinstance(item, NamedGroup):
        return item.group
    return item if isinstance(item, Group) else None


def unnamed(item: Item) -> Item:
    """Return the part of an item that can be written to the right of `name=`: its group or label, without a
    name or a size.

    >>> unnamed(Alias("batch", "N")).name, unnamed(NamedGroup("f", Group((Label("h"),)))).items[0].name
    ('N', 'h')
    """
    label = label_of(item)
    return group_of(item) or (item if label is None else Label(label))


def rewritten(items: tuple[Item, ...], rewrite: Callable[[Item], list[Item] | None]) -> tuple[Item, ...]:
    """Return items of which some are replaced by others, including those in groups; None keeps an item."""
    found: list[Item] = []
    for item in items:
        group, new = group_of(item), rewrite(item)
        if new is not None:
            found += new
        elif group is None:
            found.append(item)
        else:
            inner = Group(rewritten(group.items, rewrite), group.span)
            found.append(NamedGroup(item.dim, inner, item.span) if isinstance(item, NamedGroup) else inner)
    return tuple(found)
