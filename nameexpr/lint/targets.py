"""Which calls are nameexpr's, and what their arguments say as far as the file tells.

A name counts if everything that it is bound to in its scope is the same function of nameexpr (None aside, as
in ``except ImportError: ne = None``); a name of other assignments, a parameter, a loop variable does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from nameexpr.lint.diagnose import FUNCTIONS, OPEN, Call
from nameexpr.lint.scopes import Binding, Scope
from nameexpr.lint.strings import literal_parts, text_of

_DEEPEST = 16
"""How many names may lead to each other."""
_STARRED = {"einsum", "evaluate", "check", "explain"}
"""What a star import brings: it hides no builtin, so not `compile`."""


class Targets:
    """Says what is called in one file. What a name stands for is found once."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, str] = {}

    def function_of(self, called: ast.expr, scope: Scope) -> str | None:
        """Return which of nameexpr's functions is called, or None."""
        return FUNCTIONS.get(self._path(called, scope, _DEEPEST))

    def _path(self, node: ast.expr | None, scope: Scope | None, depth: int) -> str:
        """Return the dotted path of what an expression is, or "" if that cannot be told."""
        attributes = ""
        while isinstance(node, ast.Attribute | ast.NamedExpr):
            attributes = f".{node.attr}{attributes}" if isinstance(node, ast.Attribute) else attributes
            node = node.value
        if not isinstance(node, ast.Name) or scope is None or depth == 0:
            return ""
        found = scope.find(node.id)
        if found is None:
            is_ours = scope.module.stars == {"nameexpr"} and node.id in _STARRED
            return f"nameexpr.{node.id}{attributes}" if is_ours else ""
        path = self._agreed(found, depth)
        return path + attributes if path else ""

    def _agreed(self, bindings: list[Binding], depth: int) -> str:
        """Return the one path of all bindings of a name; "" if they differ, or lead back to themselves."""
        key = id(bindings)
        if key not in self._known:
            self._known[key] = ""
            told = [one for one in bindings if not _is_none(one)]
            paths = {one.path or self._path(one.value, one.scope, depth - 1) for one in told}
            self._known[key] = paths.pop() if len(paths) == 1 else ""
        return self._known[key]


def _is_none(binding: Binding) -> bool:
    return isinstance(binding.value, ast.Constant) and binding.value.value is None


def text_parts(node: ast.expr, scope: Scope) -> list[ast.Constant] | None:
    """Return the constants that make a text: written here, or in a name that is assigned once."""
    for _ in range(_DEEPEST):
        if not isinstance(node, ast.Name):
            return literal_parts(node)
        found = scope.find(node.id) or ()
        if len(found) != 1 or found[0].value is None or found[0].scope is None:
            return None
        node, scope = found[0].value, found[0].scope
    return None


def read_call(function: str, node: ast.Call, parts: Iterable[ast.Constant]) -> Call:
    """Return what a call says: its text, how many operands it gives, its keywords as far as they are
    literal.
    """
    given = node.args[1:]
    count = None if any(isinstance(one, ast.Starred) for one in given) else len(given)
    keywords = {one.arg: literal(one.value) for one in node.keywords if one.arg is not None}
    is_open = any(one.arg is None for one in node.keywords)
    return Call(function, text_of(list(parts)), count, keywords, is_open)


def literal(node: ast.expr | None) -> Any:
    """Return the value of a number, a string, None, or a list, tuple or dict of them; else `OPEN`.

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
    """Return the value of a literal that holds no others: literals are not followed into their depths."""
    return literal(node) if isinstance(node, ast.Constant | ast.UnaryOp) else OPEN
