"""The names of new statements: u1, u2, ... in their order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import count

from nameexpr.records import replace
from nameexpr.syntax import ast


def numbered(
    statements: Sequence[ast.Statement], new: Collection[str], taken: Collection[str]
) -> list[ast.Statement]:
    """Return statements of which the new ones are called u1, u2, ... in their order."""
    free = (name for number in count(1) if (name := f"u{number}") not in taken)
    names = {one.name: next(free) for one in statements if one.name in new}
    return [
        replace(
            one,
            name=names.get(one.name, one.name),
            value=_renumbered(one.value, names),
            others=tuple([_renumbered(value, names) for value in one.others]),
        )
        for one in statements
    ]


def _renumbered(node: ast.Node, names: Mapping[str | None, str]) -> ast.Node:
    match node:
        case ast.Use(name, term):
            items = () if term is None else tuple([_renumbered_item(item, names) for item in term.items])
            term = term if term is None else replace(term, items=items)
            return replace(node, name=names.get(name, name), term=term)
        case ast.Unary(_, value):
            return replace(node, value=_renumbered(value, names))
        case ast.Binary(_, left, right):
            return replace(node, left=_renumbered(left, names), right=_renumbered(right, names))
        case ast.Call(_, arguments) | ast.CallAlong(_, _, arguments):
            return replace(node, arguments=tuple([_renumbered(one, names) for one in arguments]))
    return node


def _renumbered_item(item: ast.Item, names: Mapping[str | None, str]) -> ast.Item:
    return replace(item, place=_renumbered(item.place, names)) if isinstance(item, ast.At) else item
