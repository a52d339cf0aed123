"""Syntax with other labels: `sum[j](x[i j])` is `sum[j](x[k j])` with k in place of i.

Labels that a reduction binds make way for new ones: with j in place of i it is `sum[i](x[j i])`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.compiler.analysis.readings import labels_of
from nameexpr.compiler.ir.axes import Names
from nameexpr.ops import ALONG, CONSTANTS
from nameexpr.records import replace
from nameexpr.syntax import ast, walk
from nameexpr.syntax.items import rewritten

Labels = Mapping[str, str]
Statements = Mapping[str, Sequence[str]]
Dims = Mapping[str, Names]


class NotRenamedError(Exception):
    """Syntax whose labels cannot be exchanged without another statement."""


def renamed(syntax: ast.Node, names: Labels, statements: Statements, dims: Dims) -> ast.Node:
    """Return a value with other labels; `statements` are the labels of statements, which names without
    brackets have, and `dims` the names of the dims of tensors.
    """
    match syntax:
        case ast.Number():
            return syntax
        case ast.Use(name, None):
            own = statements.get(name, ())
            if names.keys().isdisjoint(own):
                return syntax
            return ast.Use(name, ast.Term(tuple([ast.Label(names.get(label, label)) for label in own])))
        case ast.Use(name, ast.Term() as term):
            term = _term(term, names)
            return replace(syntax, term=term if name not in dims else under_names(term, dims[name]))
        case ast.Unary(_, value):
            return replace(syntax, value=renamed(value, names, statements, dims))
        case ast.Binary(_, left, right):
            sides = [renamed(one, names, statements, dims) for one in (left, right)]
            return replace(syntax, left=sides[0], right=sides[1])
        case ast.Call(_, arguments):
            return replace(
                syntax, arguments=tuple([renamed(one, names, statements, dims) for one in arguments])
            )
        case ast.CallAlong(_, term, (value,)):
            inside = _inside(syntax, names)
            return replace(
                syntax, term=_term(term, inside), arguments=(renamed(value, inside, statements, dims),)
            )
    raise NotRenamedError


def under_names(term: ast.Term, names: Names) -> ast.Term:
    """Return a term of a tensor whose dims have names: where a label is another one, `name=label`."""
    items = [
        ast.Alias(name, item.name) if isinstance(item, ast.Label) and name not in {None, item.name} else item
        for name, item in zip(names, term.items, strict=True)
    ]
    return replace(term, items=tuple(items))


def bracketed(syntax: ast.Node, statements: Statements) -> ast.Node:
    """Return a value in which every name has its labels in brackets."""
    match syntax:
        case ast.Use(name, None) if name not in CONSTANTS:
            return ast.Use(name, ast.Term(tuple(map(ast.Label, statements.get(name, ())))))
        case ast.Unary(_, value):
            return replace(syntax, value=bracketed(value, statements))
        case ast.Binary(_, left, right):
            sides = [bracketed(one, statements) for one in (left, right)]
            return replace(syntax, left=sides[0], right=sides[1])
        case ast.Call(_, arguments) | ast.CallAlong(_, _, arguments):
            return replace(syntax, arguments=tuple([bracketed(one, statements) for one in arguments]))
    return syntax


def _inside(call: ast.CallAlong, names: Labels) -> Labels:
    """Return the labels to exchange inside a function along dims."""
    if call.function in ALONG:  # which keeps its dims
        return names
    bound = walk.labels_in(call.term)
    inside = {label: new for label, new in names.items() if label not in bound}
    for label in sorted(bound.intersection(inside.values())):
        free = [one for one, new in inside.items() if new == label]
        if len(free) > 1 or free[0] in inside.values():
            raise NotRenamedError
        inside[label] = free[0]
    return inside


def _term(term: ast.Term, names: Labels) -> ast.Term:
    inside = {label for place in walk.places(term) for label in labels_of(place)}
    if not inside.isdisjoint({*names, *names.values()}):
        raise NotRenamedError
    return replace(term, items=rewritten(term.items, lambda item: _item(item, names)))


def _item(item: ast.Item, names: Labels) -> list[ast.Item] | None:
    match item:
        case ast.Label(name) | ast.Sized(name) | ast.Alias(_, name) if name in names:
            return [replace(item, name=names[name])]
    return None
