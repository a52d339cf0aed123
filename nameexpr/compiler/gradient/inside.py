"""Derivatives inside of the steps of a recurrence, by the rows that a step reads, or by what it has computed.

A step is a function of the rows before it, and of nothing else that changes from step to step: its derivative
by one of them holds the others constant. All values of the step have the label of the steps, so that a walk
back finds the derivatives of all steps at once, each by its own row; what depends on rows is computed step by
step, like the step itself.

    w[(1 + T) C] = start[C], w[_@T C] - 0.1 * grad(sum[C](w[_@T C] ** 4), w[_@T C])
"""

from __future__ import annotations

from collections.abc import Iterable

from nameexpr.compiler.analysis.build.recurrences import RecurrenceWriter
from nameexpr.compiler.analysis.recurrences import uses_of
from nameexpr.compiler.gradient.active import Wanted, ancestors
from nameexpr.compiler.gradient.products import is_inexact
from nameexpr.compiler.gradient.views import is_plain
from nameexpr.compiler.ir.axes import Axes, whole_dim
from nameexpr.compiler.ir.dtypes import WEAK, WeakDtype
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Filled, Identity, State
from nameexpr.syntax import ast


def name_in_step(name: str) -> str:
    """Return the name by which derivatives distinguish the value that a statement has in a step."""
    return f"{name} in its step"


def wanted_in_step(recurring: RecurrenceWriter, uses: Iterable[ast.Use]) -> Wanted:
    """Return what those of some uses read that the current statement of a recurrence has."""
    names, rows = set[str](), set[tuple[str, int, int]]()
    own = {id(use) for use in uses_of(recurring.rows[recurring.current].statement)}
    for use in uses:
        if id(use) not in own or use.name not in recurring.group.names:
            continue
        _, state = recurring.row_of(use)
        if state is None:
            names.add(name_in_step(use.name))
        else:
            rows.add((state.key, state.number, state.offset))
    return Wanted(frozenset(), frozenset(names), frozenset(rows))


def draft(graph: Graph, value: int, seen: int) -> int:
    """Return a value with the dims and the dtype that a derivative will have, once the dtypes of the rows are
    known: that of a row, or while this is a number, that of the value.
    """
    labels = tuple(dict.fromkeys([*graph.labels[value], *graph.labels[seen]]))
    dtypes = [dtype for dtype in (graph.dtypes[seen], graph.dtypes[value]) if is_inexact(dtype)]
    dtype = next((dtype for dtype in dtypes if not isinstance(dtype, WeakDtype)), WEAK[float])
    half = graph.add(Filled(0.5, labels), labels, WEAK[float])
    return graph.add(Identity(half, f"a draft in {dtype}"), labels, dtype)


def reads_rows(graph: Graph, value: int, recurring: RecurrenceWriter) -> bool:
    """Return whether a value depends on rows of a recurrence that is being written."""
    nodes = [graph.nodes[one] for one in ancestors(graph, value)]
    return any(isinstance(node, State) and node.key.startswith(f"{recurring.key}\n") for node in nodes)


def axes_of_rows(graph: Graph, state: State) -> Axes:
    """Return the dims of the rows of all steps, through which each of their elements is seen once."""
    if is_plain(state.axes):
        return ((state.label,), *state.axes)
    sizes = [graph.cells(labels) for labels in state.axes]
    row = [whole_dim("_", f"{number}.{size}") for number, size in enumerate(sizes)]
    graph.sizes.update(zip(row, sizes, strict=True))
    return ((state.label,), *[(label,) for label in row])
