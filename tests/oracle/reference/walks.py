"""The nodes of the trees of formulas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oracle.reference.affine import is_at
from oracle.reference.rules import inner_items
from oracle.reference.statements import Along, Call, Statement, Tree, Use


def walk(tree: Tree) -> Iterator[Tree]:
    """All nodes of a tree and of its positions, in the order of the text."""
    yield tree
    children = tree.args if isinstance(tree, Call) else (tree.body,) if isinstance(tree, Along) else ()
    if isinstance(tree, Use):
        children = tuple(item.place for item in inner_items(tree.term or ()) if is_at(item))
    for child in children:
        yield from walk(child)


def nodes_of(statements: Sequence[Statement]) -> Iterator[Tree]:
    """All nodes of some statements."""
    for statement in statements:
        for value in statement.values:
            yield from walk(value)
