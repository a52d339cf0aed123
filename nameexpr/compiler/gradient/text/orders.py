"""The order of dims: that of a statement without a term is the order in which its text mentions them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.ops import ALONG, SIZE
from nameexpr.records import replace
from nameexpr.syntax import ast, walk
from nameexpr.syntax.items import label_of

Orders = Mapping[str, ast.Term]
"""The dims of statements by their names."""


def ordered(statements: Sequence[ast.Statement], orders: Orders, name: str) -> list[ast.Statement]:
    """Return statements with terms where those in `orders` have their dims in another order without, or are
    used with other labels; `name` is for a last statement that has none.
    """
    uses = [node for node in walk.nodes_of(statements) if isinstance(node, ast.Use)]
    relabelled = {use.name for use in uses if use.term is not None}
    found: list[ast.Statement] = []
    known: dict[str, Sequence[str]] = {}
    for one in statements:
        own, mention = orders.get(one.name or ""), _mention(one.value, known)
        if one.term is None and own is not None:
            labels = [label_of(item) for item in own.items]
            if labels != list(mention) or (own.items and one.name in relabelled):
                one = replace(one, name=one.name or name, term=own)
        known[one.name or ""] = mention if one.term is None else _labels(one.term)
        found.append(one)
    return found


def _mention(node: ast.Node, known: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the labels of a value in the order of its text."""
    if isinstance(node, ast.Use):
        if node.name == SIZE:
            return []
        return list(known.get(node.name, ())) if node.term is None else _labels(node.term)
    if isinstance(node, ast.CallAlong) and node.function not in ALONG:
        bound = walk.labels_in(node.term)
        return [label for label in _mention(node.arguments[0], known) if label not in bound]
    return list(dict.fromkeys([label for child in walk.children(node) for label in _mention(child, known)]))


def _labels(term: ast.Term) -> list[str]:
    """Return the labels of the dims that a value has under a term."""
    found: list[str] = []
    for item in term.items:
        if isinstance(item, ast.At):
            found += _mention(item.place, {})
        else:
            found += [atom.name for atom in walk.atoms((item,)) if isinstance(atom, ast.LABELLED)]
    return list(dict.fromkeys(found))
