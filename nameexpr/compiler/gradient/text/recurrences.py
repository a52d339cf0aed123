"""Recurrences as statements that read their own earlier rows."""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.gradient.text import arithmetic as write
from nameexpr.compiler.gradient.text.labels import LabelNames, NotWritableError
from nameexpr.compiler.gradient.text.offsets import NEAR, offset
from nameexpr.compiler.ir.axes import flat
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Recurrence, State
from nameexpr.ops import INDEX
from nameexpr.syntax import ast


def rows_read(state: State, statement: str, names: LabelNames) -> ast.Node:
    """Return the rows of a statement that the steps of a recurrence read."""
    place: ast.Node = ast.Use(INDEX, names.term((state.label,)))
    if state.offset:
        place = write.added(place, offset(state.offset, names))
    row = names.term_of(state.axes).items
    return ast.Use(statement, ast.Term((ast.At(ast.Anonymous(), place), *row)))


def row_computed(node: Recurrence, number: int, statement: str, names: LabelNames) -> ast.Node:
    """Return the row of a statement that the current step of a recurrence has computed."""
    count = sum([count for count, _ in node.starts[number]])
    item = names.term((node.label,)).items[0]
    if count:
        index: ast.Node = ast.Use(INDEX, names.term((node.label,)))
        item = ast.At(ast.Anonymous(), write.added(index, offset(count, names)))
    return ast.Use(statement, ast.Term((item, *names.term_of(node.axes[number]).items)))


def recurrence_statements(
    graph: Graph,
    node: Recurrence,
    statements: Sequence[str],
    starts: Sequence[Sequence[ast.Node]],
    steps: Sequence[ast.Node],
    names: LabelNames,
) -> list[ast.Statement]:
    """Return the statements of a recurrence, given their names, and the syntax of starts and steps."""
    found = []
    for number, (name, first, step) in enumerate(zip(statements, starts, steps, strict=True)):
        row = names.term_of(node.axes[number]).items
        rows = _rows(graph, node, number, names)
        values = (*first, step)
        found.append(ast.Statement(name, ast.Term((rows, *row)), values[0], others=values[1:]))
    return found


def _rows(graph: Graph, node: Recurrence, number: int, names: LabelNames) -> ast.Item:
    """Return the dim of all rows: the starts, followed by a row for each step."""
    groups = []
    for count, value in node.starts[number]:
        own = [label for label in graph.labels[value] if label not in flat(node.axes[number])]
        if not own and count >= NEAR:
            raise NotWritableError("a recurrence starts with rows whose number depends on sizes")
        if own or count:
            groups.append(ast.Group(names.term(own).items if own else (ast.Literal(count),)))
    steps = names.term((node.label,)).items
    return ast.Parts((*groups, ast.Group(steps))) if groups else steps[0]
