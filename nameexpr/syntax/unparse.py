"""Syntax tree to text: the canonical spelling, with `parse(unparse(tree)) == tree`.

>>> from nameexpr.syntax import parse, unparse
>>> unparse(parse("N  (C  H=2),C->N   H:sum"))
'N (C H=2), C -> N H : sum'
"""

from __future__ import annotations

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
    Term,
)


def unparse(tree: Expression) -> str:
    """Return the expression in its canonical spelling: one space between items, none inside brackets."""
    parts = [_terms(tree.inputs)]
    if tree.outputs is not None:
        parts += ["->", _terms(tree.outputs)]
    if tree.reducer is not None:
        parts += [":", tree.reducer.name]
    return " ".join(part for part in parts if part)


def _terms(terms: tuple[Term, ...]) -> str:
    return ", ".join(map(unparse_term, terms)).strip()


def unparse_term(term: Term) -> str:
    """Return one term in its canonical spelling."""
    return " ".join(map(unparse_item, term.items))


def unparse_item(item: Item) -> str:
    """Return one item in its canonical spelling."""
    match item:
        case Label(name):
            return name
        case Sized(name, size):
            return f"{name}={size}"
        case Alias(dim, name):
            return f"{dim}={name}"
        case Literal(size):
            return str(size)
        case Anonymous():
            return "_"
        case Dots():
            return "..."
        case Pack(name):
            return f"{name}..."
        case Group(items):
            return f"({' '.join(map(unparse_item, items))})"
        case NamedGroup(dim, group):
            return f"{dim}={unparse_item(group)}"
