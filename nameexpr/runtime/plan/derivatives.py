"""Which values of a formula are parts of its derivatives: those that no statement without `grad` needs.

>>> from nameexpr.compiler.pipeline import read_formula
>>> plain_statements(read_formula("y = sum[C](x[C] ** 2); g = grad(y, x[C]); z = 2 * g"))
[0]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.compilation import Compilation
from nameexpr.compiler.ir.program import Program
from nameexpr.syntax.ast import Call, Use
from nameexpr.syntax.walk import nodes_of


def plain_statements(scope: Scope) -> list[int]:
    """Return the positions of the statements that do not depend on a derivative."""
    derived: set[str | None] = set()
    plain = []
    for position, statement in enumerate(scope.tree.statements):
        nodes = list(nodes_of([statement]))
        if any(isinstance(node, Call) and node.function == "grad" for node in nodes) or any(
            isinstance(node, Use) and node.name in derived for node in nodes
        ):
            derived.add(statement.name)
        else:
            plain.append(position)
    return plain


def forward_values(compiled: Compilation[Any], sources: Callable[[int], Sequence[int]]) -> set[int] | None:
    """Return the values of a graph that are not parts of derivatives; None for a text without derivatives."""
    scope = compiled.tree
    if not isinstance(scope, Scope) or not any(call.function == "grad" for call in scope.gradients):
        return None
    forward = _reached([compiled.statements[position] for position in plain_statements(scope)], sources)
    arranged = {output for output in compiled.outputs if sources(output)}
    return forward | {output for output in arranged if forward.issuperset(sources(output))}


def forward_steps(
    compiled: Compilation[Any],
    program: Program,
    sources: Callable[[int], Sequence[int]],
    forward: set[int] | None,
) -> set[int] | None:
    """Return the values of a program that are needed for results other than derivatives; None if there are
    none, or no derivatives.
    """
    if forward is None:
        return None
    results = zip(program.outputs, compiled.outputs, strict=True)
    plain = [value for value, output in results if output in forward]
    return _reached(plain, sources) if plain else None


def _reached(values: Iterable[int], sources: Callable[[int], Sequence[int]]) -> set[int]:
    """Return some values and all that they depend on."""
    reached, stack = set(), list(values)
    while stack:
        value = stack.pop()
        if value not in reached:
            reached.add(value)
            stack += sources(value)
    return reached
