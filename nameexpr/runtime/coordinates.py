"""Coordinates of operands, which results keep for the dims that they have in common.

A coordinate belongs to the name of a dim. If a text renames a label, merges or splits it, or moves elements
along it, the positions of the result are not those of the operand: the coordinate is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nameexpr.backends.numpy.foreign import Coordinate, Foreign, read
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.syntax.ast import (
    LABELLED,
    STRETCHED,
    Alias,
    At,
    CallAlong,
    Expression,
    Group,
    Item,
    NamedGroup,
    Parts,
    Statement,
    Term,
    Use,
)
from nameexpr.syntax.items import label_of
from nameexpr.syntax.walk import atoms, atoms_of, labels_in, nodes_of
from nameexpr.tensors import NamedTensor, wrap
from nameexpr.tensors.coordinates import agreed, without
from nameexpr.tensors.labelled import attach

MOVING = frozenset({"sort", "argsort", "flip"})
"""Functions that change the positions along their dims."""


def understood(value: Any) -> Any:
    """Return an array of another library as a tensor, with its coordinates; any other object unchanged."""
    found = None if isinstance(value, NamedTensor) else read(value)
    if not isinstance(found, Foreign) or not any(found.names):
        return value
    return attach(wrap(found.array, found.names), found.coordinates(found.names))


def coordinates_of(
    tree: Expression | Scope, operands: Sequence[Any], bound: tuple[Coordinate, ...] = ()
) -> tuple[Coordinate, ...]:
    """Return the coordinates that the result of a text has for these operands, if it has the dims.

    `bound` are those of operands that are already bound (NE580 if labels differ).
    """
    every = [bound, *[operand._coordinates for operand in operands if isinstance(operand, NamedTensor)]]
    if not any(every):
        return ()
    verb = "evaluate" if isinstance(tree, Scope) else "einsum"
    return tuple(without(agreed(every, verb), moved_labels(tree)))


def moved_labels(tree: Expression | Scope) -> set[str]:
    """Return the labels and names of dims whose positions in the result may not be those of an operand."""
    if isinstance(tree, Expression):
        return _renamed((*tree.inputs, *(tree.outputs or ())))
    statements = tree.tree.statements
    used = list(nodes_of(statements))
    terms = [
        one.term for one in (*statements, *used) if isinstance(one, Statement | Use | CallAlong) and one.term
    ]
    along = [node.term for node in used if isinstance(node, CallAlong) and node.function in MOVING]
    return _renamed(terms) | _names(item for term in along for item in term.items) | _relabelled(statements)


def _renamed(terms: Iterable[Term]) -> set[str]:
    items = [_read(item) for term in terms for item in term.items]
    moved = [item for item in items if isinstance(item, Alias | Group | NamedGroup | Parts | At)]
    return _names(moved) | labels_in(Term(tuple(moved)))


def _read(item: Item) -> Item:
    """Return an item, or for a dim that is read at positions a group: its elements are elsewhere.

    The dim of a base that has no name may have that of a label in its position: all of these are moved.
    """
    return Group((item.base,)) if isinstance(item, At) and isinstance(item.base, LABELLED) else item


def _relabelled(statements: Iterable[Statement]) -> set[str]:
    """Return the labels of uses under which earlier statements have other labels, as in `c[M] - c[N]`."""
    terms = {one.name: one.term for one in statements if one.term}
    used = [node for node in nodes_of(statements) if isinstance(node, Use) and node.term]
    moved: set[str] = set()
    for use in used:
        own = terms.get(use.name)
        if own is not None and use.term is not None and own != use.term:
            moved |= labels_in(*_differing(own, use.term))
    return moved


def _differing(own: Term, read: Term) -> list[Term]:
    """Return the dims of a use whose label is not the same on the left of the statement; all of them if dims
    cannot be paired.
    """
    if len(own.items) != len(read.items) or atoms_of(STRETCHED, (own, read)):
        return [read]
    pairs = zip(own.items, read.items, strict=True)
    return [
        Term((item,)) for left, item in pairs if label_of(left) is None or label_of(left) != label_of(item)
    ]


def _names(items: Iterable[Any]) -> set[str]:
    every = [each for item in items for each in (item, *atoms((item,)))]
    return {
        name for each in every for name in (getattr(each, "dim", None), getattr(each, "name", None)) if name
    }


def carried(result: Any, coordinates: Sequence[Coordinate]) -> Any:
    """Return a result, or each of several, with the coordinates of its dims."""
    if isinstance(result, tuple):
        return tuple(attach(each, coordinates) for each in result)
    return attach(result, coordinates)
