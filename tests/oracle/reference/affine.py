"""Positions that are sums of integers and of integers times labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

from oracle.reference.statements import Call, Index, Number, Size, Tree
from oracle.reference.text import Affine, At, Item


def is_at(item: Item) -> TypeGuard[At]:
    """Whether an item has a position."""
    return isinstance(item, At)


def affine(tree: Tree, sizes: Mapping[str, int]) -> Affine | None:
    """A position that is a sum of integers and of integers times labels; None if it is another one."""
    if isinstance(tree, Number):
        return Affine(tree.value, ()) if isinstance(tree.value, int) else None
    if isinstance(tree, Index):
        return Affine(0, ((1, tree.label),))
    if isinstance(tree, Size):
        return Affine(sizes[tree.label], ()) if tree.label in sizes else None
    sides = [affine(arg, sizes) for arg in tree.args] if isinstance(tree, Call) else []
    if None in sides or not isinstance(tree, Call) or tree.name not in ("u-", "u+", "+", "-", "*"):
        return None
    left, right = sides[0] or Affine(0, ()), sides[-1] or Affine(0, ())
    if tree.name in ("u-", "u+"):
        return times(left, -1 if tree.name == "u-" else 1)
    if tree.name == "*":
        if left.strides and right.strides:
            return None
        return times(left, right.number) if left.strides else times(right, left.number)
    right = times(right, -1) if tree.name == "-" else right
    return Affine(left.number + right.number, (*left.strides, *right.strides))


def times(place: Affine, by: int) -> Affine:
    """A position multiplied by an integer."""
    return Affine(place.number * by, tuple((slope * by, label) for slope, label in place.strides))
