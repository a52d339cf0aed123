"""Which derivatives of a formula are differentiated again: their rules must be exact at all orders."""

from __future__ import annotations

from nameexpr.compiler.analysis.scope import Scope
from nameexpr.syntax import ast, walk

Calls = dict[int, ast.Call]
"""Calls of `grad`, by identity."""


def differentiated_again(scope: Scope, value: ast.Node) -> bool:
    """Return whether a gradient of a value is a part of a value of which another one is taken."""
    calls: Calls = {id(call): call for call in scope.gradients if call.function == "grad"}
    if len(calls) < 2:  # noqa: PLR2004  a gradient and another one
        return False
    inside = _in_statements(scope, calls)
    return any(
        one.arguments[0] == value
        for call in calls.values()
        for one in _within(call.arguments[0], calls, inside).values()
    )


def _in_statements(scope: Scope, calls: Calls) -> dict[str, Calls]:
    """Return the calls that each statement contains, also by way of earlier statements."""
    inside: dict[str, Calls] = {}
    for _ in range(1 + bool(scope.recurrences)):  # the statements of a recurrence read each other
        for statement in scope.tree.statements:
            for value in statement.values:
                if statement.name is not None:
                    inside.setdefault(statement.name, {}).update(_within(value, calls, inside))
    return inside


def _within(value: ast.Node, calls: Calls, inside: dict[str, Calls]) -> Calls:
    found: Calls = {}
    for node in walk.nodes(value):
        if isinstance(node, ast.Use):
            found |= inside.get(node.name, {})
        elif id(node) in calls:
            found[id(node)] = calls[id(node)]
    return found
