"""Shapes to show a text with when no operand has been seen: every free label gets the same small size."""

from __future__ import annotations

from collections.abc import Mapping

from nameexpr.syntax.ast import (
    Alias,
    Anonymous,
    Dots,
    Expression,
    Group,
    Item,
    Label,
    Literal,
    NamedGroup,
    Pack,
    Sized,
    atoms,
)

ASSUMED_SIZE = 8
ASSUMED_DIMS = 2
"""Dims that a pack or an ellipsis is taken to have."""


def assumed_shapes(tree: Expression, sizes: Mapping[str, int]) -> list[tuple[int, ...]]:
    """Return one shape per input term, consistent with the sizes that the text and the keywords give."""
    known = dict(sizes)
    for term in tree.terms:
        known |= {atom.name: atom.size for atom in atoms(term.items) if isinstance(atom, Sized)}
    return [tuple(size for item in term.items for size in _sizes(item, known)) for term in tree.inputs]


def _sizes(item: Item, known: Mapping[str, int]) -> tuple[int, ...]:
    match item:
        case Label(name) | Sized(name) | Alias(_, name):
            return (known.get(name, ASSUMED_SIZE),)
        case Literal(size):
            return (size,)
        case Anonymous():
            return (ASSUMED_SIZE,)
        case Dots() | Pack():
            return (ASSUMED_SIZE,) * ASSUMED_DIMS
        case Group(items) | NamedGroup(_, Group(items)):
            total = 1
            for inner in items:
                for size in _sizes(inner, known):
                    total *= size
            return (total,)
