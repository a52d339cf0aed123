"""The arguments of a call as far as they are literal: the values of keywords, and the operands to bind."""

from __future__ import annotations

import ast
from typing import Any

from nameexpr.lint import OPEN


def keywords_of(*nodes: ast.Call) -> tuple[dict[str, Any], bool]:
    """Return the keywords of calls as far as they are literal, and whether ``**`` adds more."""
    given = [keyword for node in nodes for keyword in node.keywords]
    keywords = {keyword.arg: literal(keyword.value) for keyword in given if keyword.arg is not None}
    return keywords, any(keyword.arg is None for keyword in given)


def bound_by(node: ast.Call) -> tuple[str | int, ...] | None:
    """Return the names or positions of the operands in a call of `bind`, None if they are not literal.

    >>> bound_by(ast.parse("f.bind(x=x, operands={'b': b})", mode="eval").body)
    ('x', 'b')
    """
    keywords, is_open = keywords_of(node)
    mappings = [*node.args, *(one.value for one in node.keywords if one.arg == "operands")]
    names: list[Any] = [name for name in keywords if name != "operands"]
    for mapping in mappings:
        if not isinstance(mapping, ast.Dict):
            return None
        names += [_scalar(key) for key in mapping.keys]
    return None if is_open or not all(isinstance(name, str | int) for name in names) else tuple(names)


def literal(node: ast.expr | None) -> Any:
    """Evaluate a literal number, string, None, or a list, tuple or dict of them; else `OPEN`.

    >>> literal(ast.parse("{'x': array, 'y': -2}", mode="eval").body)["y"]
    -2
    """
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            values = tuple(_scalar(item) for item in items)
            return OPEN if OPEN in values else values
        case ast.Dict(keys=keys, values=items):
            names = [_scalar(key) for key in keys]
            is_told = all(isinstance(name, str) for name in names)
            return dict(zip(names, map(_scalar, items), strict=True)) if is_told else OPEN
    return OPEN


def _scalar(node: ast.expr | None) -> Any:
    """Evaluate a literal without nested ones."""
    return literal(node) if isinstance(node, ast.Constant | ast.UnaryOp) else OPEN
