"""Sizes that positions in statements determine, once the shapes of earlier statements are known."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from nameexpr.compiler.analysis.operands import Operand, Views
from nameexpr.compiler.analysis.readings import placed
from nameexpr.compiler.analysis.resolve import resolve
from nameexpr.compiler.analysis.resolve_views import local_dots, uses_of
from nameexpr.compiler.analysis.sizes import solve
from nameexpr.syntax import ast, walk
from nameexpr.syntax.items import is_read


def read_statement(
    tree: ast.Formula,
    statement: ast.Statement,
    shapes: Mapping[str, tuple[int, ...]],
    views: Views,
    rows: Collection[str] = (),
) -> None:
    """Learn the sizes that positions in a statement determine; `shapes` are those of earlier statements, and
    `rows` those that are computed in the same recurrence.

    Positions of operands in other statements determine them too.
    """
    read = [name for name, term in uses_of([statement]) if name in rows or any(map(is_read, term.items))]
    own = tuple(
        dict.fromkeys(pair for pair in uses_of([statement]) if pair[0] in shapes or pair[0] in views.operands)
    )
    unknown = walk.labels_in(*[term for name, term in own if name in views.operands]) - views.sizes.keys()
    undetermined = unknown or placed(views.readings) - views.sizes.keys()
    if not any(name in shapes for name in read) and not undetermined:
        return
    pairs = tuple(
        dict.fromkeys([*own, *_undetermined(tree, walk.labels_in(*[term for _, term in own]), views)])
    )
    known = views.sizes
    expression = ast.Expression(tuple([term for _, term in pairs]), None, None, tree.text)
    operands = [
        Operand(shapes[name] if name in shapes else views.operands[name].shape, None, name)
        for name, _ in pairs
    ]
    resolved = resolve(expression, operands)
    inside = walk.labels_in(*expression.inputs) | placed(resolved.readings)
    hints = {label: size for label, size in known.items() if label in inside}
    resolved, sizes = solve(expression, operands, local_dots(resolved, operands), hints)
    views.readings.update(resolved.readings)
    views.axes.update(zip(pairs, resolved.operands, strict=True))
    known.update(sizes)


def _undetermined(tree: ast.Formula, labels: set[str], views: Views) -> Iterator[tuple[str, ast.Term]]:
    """Yield the uses of operands with positions in which only these labels have no size yet."""
    for pair in uses_of(tree.statements):
        axes = views.axes.get(pair, ())
        readings = [views.readings[label] for one in axes for label in one if label in views.readings]
        unknown = [set(reading.labels) - views.sizes.keys() for reading in readings]
        if any(missing and missing <= labels for missing in unknown):
            yield pair
