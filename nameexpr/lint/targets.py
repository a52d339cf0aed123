"""Determine which calls of a file are of nameexpr's functions, under any name.

A name counts if everything that it is bound to in its scope is the same function of nameexpr (except for
None, as in ``except ImportError: ne = None``); a name of other assignments, a parameter, or a loop variable
does not.
"""

from __future__ import annotations

import ast

from nameexpr.lint import FUNCTIONS, HOMES
from nameexpr.lint.bindings import Binding, NameScope

_DEEPEST = 16
"""The number of names that may lead to each other."""
_STARRED = HOMES.keys() - {"compile"}
"""The names of a star import, which hides no builtins, so that `compile` is not among them."""


class Targets:
    """The resolution of the calls of one file, with a cache of names."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, str] = {}

    def function_of(self, called: ast.expr, scope: NameScope) -> str | None:
        """Return which of nameexpr's functions is called; None for other calls."""
        return FUNCTIONS.get(self._path(called, scope, _DEEPEST))

    def _path(self, node: ast.expr | None, scope: NameScope | None, depth: int) -> str:
        """Return the dotted path of an expression; "" if unknown."""
        attributes = ""
        while isinstance(node, ast.Attribute | ast.NamedExpr):
            attributes = f".{node.attr}{attributes}" if isinstance(node, ast.Attribute) else attributes
            node = node.value
        if not isinstance(node, ast.Name) or scope is None or depth == 0:
            return ""
        bindings = scope.find(node.id)
        if bindings is None:
            is_ours = scope.module.stars == {"nameexpr"} and node.id in _STARRED
            return f"nameexpr.{node.id}{attributes}" if is_ours else ""
        path = self._agreed(bindings, depth)
        return path + attributes if path else ""

    def _agreed(self, bindings: list[Binding], depth: int) -> str:
        """Return the path that all bindings of a name share; "" if they differ, or are circular."""
        key = id(bindings)
        if key not in self._known:
            self._known[key] = ""
            paths = {
                binding.path or self._path(binding.value, binding.scope, depth - 1)
                for binding in bindings
                if not (isinstance(binding.value, ast.Constant) and binding.value.value is None)
            }
            self._known[key] = paths.pop() if len(paths) == 1 else ""
        return self._known[key]
