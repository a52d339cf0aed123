"""Determine which of several assignments of a name reach a use in the same scope: those that run before it,
unless another one certainly overwrites them.

Branches and loops are followed as far as syntax allows: an assignment in a branch may have run or not; if
every branch assigns, earlier values are gone; in a loop later assignments reach earlier uses.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from nameexpr.lint.bindings import Binding, NameScope

_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | ast.Module
_LOOPS = ast.For | ast.AsyncFor | ast.While
_RAISING = frozenset({"raises", "assertRaises", "assertRaisesRegex", "assert_raises", "assert_raises_regex"})
"""Functions of pytest, unittest and NumPy that test whether something raises an error."""
Parents = Mapping[ast.AST, ast.AST]


def reaching(bindings: Sequence[Binding], use: ast.Name, scope: NameScope, parents: Parents) -> list[Binding]:
    """Return the bindings that a use of their name can see; none if it is in another scope."""
    while scope.kind == "comprehension" and scope.bindings.get(use.id) is not bindings and scope.parent:
        scope = scope.parent
    if scope.bindings.get(use.id) is not bindings:
        return []
    around = _around(use, parents)
    placed = [binding for binding in bindings if isinstance(binding.node, ast.stmt | ast.expr | ast.arg)]
    if len(placed) != len(bindings):
        return []
    before = [one for one in placed if _place(one.node) < _place(use) and not _is_inside(one.node, around)]
    loops = [node for node in around if isinstance(node, _LOOPS)]
    found = [
        one
        for one in placed
        if one not in before and any(loop in _around(one.node, parents) for loop in loops)
    ]
    for binding in sorted(before, key=lambda one: _place(one.node), reverse=True):
        branches = _branches(binding, around, parents)
        found.append(binding)
        if not branches:
            break
        if _assigns_everywhere(branches[-1], [one.node for one in before]):
            inside = [one for one in before if branches[-1] in _around(one.node, parents)]
            return [*found, *(one for one in inside if one not in found)]
    return found


def is_repeated(node: ast.AST, parents: Parents) -> bool:
    """Return whether a statement is in a loop."""
    return any(isinstance(around, _LOOPS) for around in _around(node, parents))


def is_expected_to_fail(node: ast.AST | None, parents: Parents) -> bool:
    """Return whether a node is in a test that something raises an error."""
    while node is not None:
        calls = [item.context_expr for item in node.items] if isinstance(node, ast.With) else [node]
        for call in calls:
            if isinstance(call, ast.Call):
                name = getattr(call.func, "attr", None) or getattr(call.func, "id", None)
                if name in _RAISING:
                    return True
        node = parents.get(node)
    return False


def _is_inside(node: ast.AST | None, around: Sequence[ast.AST]) -> bool:
    """Return whether the use is inside the assigned value; in a loop, inside its iterable."""
    if isinstance(node, ast.For | ast.AsyncFor):
        return node.iter in around
    return node in around


def _place(node: ast.AST | None) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _around(node: ast.AST | None, parents: Parents) -> list[ast.AST]:
    """Return the nodes around a node within its scope, the innermost first; the node is the first."""
    found = []
    while node is not None and not isinstance(node, _SCOPES):
        found.append(node)
        node = parents.get(node)
    return found


def _branches(binding: Binding, around: Sequence[ast.AST], parents: Parents) -> list[ast.AST]:
    """Return the statements around an assignment that are not around the use, the innermost first."""
    outside = [node for node in _around(binding.node, parents) if isinstance(node, ast.stmt)]
    own = 1 if outside and not isinstance(binding.node, ast.arg) else 0
    return [node for node in outside[own:] if node not in around]


def _assigns_everywhere(node: ast.AST, assignments: Sequence[ast.AST | None]) -> bool:
    """Return whether this is an `if` of which all branches assign."""
    return isinstance(node, ast.If) and all(
        any(one in assignments or _assigns_everywhere(one, assignments) for one in branch)
        for branch in (node.body, node.orelse)
    )
