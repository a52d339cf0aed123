"""Walks over syntax trees: the items of terms, the nodes of values, the terms of formulas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeGuard

from nameexpr.errors import Diagnostic, Mark, error
from nameexpr.syntax.ast import (
    ATOMS,
    LABELLED,
    Anonymous,
    AnyAtom,
    At,
    Atom,
    Binary,
    Call,
    CallAlong,
    Expression,
    Formula,
    Group,
    Item,
    Label,
    Literal,
    NamedGroup,
    Node,
    Parts,
    Statement,
    Term,
    Unary,
    Use,
)
from nameexpr.syntax.items import group_of, parts_in, parts_of


def items_in(item: Item) -> tuple[Item, ...] | None:
    """Return the items inside an item: those of a group, parts as groups, the dim of a position."""
    match item:
        case Group(items) | NamedGroup(_, Group(items)):
            return items
        case Parts(parts) | NamedGroup(_, Parts(parts)):
            return parts
        case At(base):
            return (base,)
    return None


def atoms(items: tuple[Item, ...]) -> Iterator[Atom]:
    """Yield the items that contain no others, left to right, including those in groups; for a position its
    dim.
    """
    for item in items:
        inside = None if isinstance(item, ATOMS) else items_in(item)
        if inside is None:
            yield item  # type: ignore[misc]  # what holds no others is an atom
        else:
            yield from atoms(inside)


def atoms_of(kind: type[AnyAtom] | tuple[type[AnyAtom], ...], terms: Iterable[Term]) -> list[AnyAtom]:
    """Return the items of a kind in terms, including those in groups."""
    return [atom for term in terms for atom in atoms(term.items) if isinstance(atom, kind)]


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct children of a node; for a use, those of its positions."""
    if isinstance(node, Use):
        return () if node.term is None else places(node.term)
    if isinstance(node, Binary):
        return (node.left, node.right)
    if isinstance(node, Unary):
        return (node.value,)
    return node.arguments if isinstance(node, Call | CallAlong) else ()


def places(term: Term) -> tuple[Node, ...]:
    """Return the places of a term's positions, from left to right."""
    return tuple([item.place for item in positions(term.items)])


def positions(items: tuple[Item, ...]) -> Iterator[At]:
    """Yield the positions among items, including those in groups."""
    for item in items:
        if isinstance(item, At):
            yield item
        elif not isinstance(item, ATOMS):
            yield from positions(items_in(item) or ())


def is_bare_label(node: Node) -> TypeGuard[Use]:
    """Return whether a node is the index along a label, which a position writes as the bare name."""
    return isinstance(node, Use) and node.name == "index" and node.term is not None and _is_label(node.term)


def _is_label(term: Term) -> bool:
    return len(term.items) == 1 and isinstance(term.items[0], Label)


def nodes(tree: Node) -> Iterator[Node]:
    """Yield all nodes of an expression, from left to right, parents before their children."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def nodes_of(statements: Iterable[Statement]) -> Iterator[Node]:
    """Yield all nodes of all values of statements, from left to right."""
    for statement in statements:
        for value in statement.values:
            yield from nodes(value)


def terms_in(tree: Formula) -> Iterator[Term]:
    """Yield every term of a formula: on the left, of uses, in brackets."""
    for statement in tree.statements:
        if statement.term is not None:
            yield statement.term
        for node in nodes_of((statement,)):
            if isinstance(node, Use | CallAlong) and node.term is not None:
                yield node.term


def labels_in(*terms: Term) -> set[str]:
    """Return every label in terms, and in their positions."""
    found = {atom.name for atom in atoms_of(LABELLED, terms)}
    for place in [place for term in terms for place in places(term)]:
        inside = [node.term for node in nodes(place) if isinstance(node, Use) and node.term is not None]
        found |= labels_in(*inside)
    return found


def is_live(part: Group) -> bool:
    """Return whether the value has a part, that is, whether it has a label: `1` and `_` are skipped."""
    return any(not isinstance(atom, Literal | Anonymous) for atom in atoms(part.items))


def reads_a_part(item: Item) -> bool:
    """Whether a dim is read at positions or in one of its parts, and not all of it."""
    return isinstance(item, At) or any(sum(map(is_live, one.parts)) == 1 for one in parts_in((item,)))


def has_several_parts(tree: Expression) -> bool:
    """Whether an input has several parts with labels, each of which goes into a result of its own."""
    every = [parts for term in tree.inputs for parts in parts_in(term.items)]
    return any(sum(map(is_live, parts.parts)) > 1 for parts in every)


def value_atoms(items: tuple[Item, ...]) -> Iterator[Atom]:
    """Yield the atoms of the dims that a value has: for parts those that are live, for positions
    the labels.
    """
    for item in items:
        parts, group = parts_of(item), group_of(item)
        if isinstance(item, At):
            yield from labels_in_place(item.place)
        elif group is not None:
            yield from value_atoms(group.items)
        elif parts is None:
            yield from atoms((item,))
        else:
            yield from atoms(tuple([part for part in parts.parts if is_live(part)]))


def labels_in_place(place: Node) -> Iterator[Atom]:
    """Yield the labels over which a position varies, as they are written."""
    for node in nodes(place):
        if isinstance(node, Use) and node.term is not None and node.name != "size":
            yield from atoms(tuple([item for item in node.term.items if not isinstance(item, At)]))


def value_atoms_of(kind: type[AnyAtom] | tuple[type[AnyAtom], ...], terms: Iterable[Term]) -> list[AnyAtom]:
    """Return the atoms of a kind among the dims that values have."""
    return [atom for term in terms for atom in value_atoms(term.items) if isinstance(atom, kind)]


def check_depth(tree: Formula, deepest: int) -> None:
    """Raise NE708 if values are nested deeper than every later pass supports."""
    for value in [value for statement in tree.statements for value in statement.values]:
        depth = {id(value): 1}
        stack: list[Node] = [value]
        while stack:
            node = stack.pop()
            for child in children(node):
                depth[id(child)] = depth[id(node)] + 1
                stack.append(child)
            if depth[id(node)] > deepest:
                message = f"values nest deeper than {deepest}"
                hint = "give a part of it a name, in a statement of its own"
                raise error(Diagnostic("NE708", message, tree.text, (Mark(node.span),), hint=hint))
