"""What is differentiated by what: a call of `grad`, resolved and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import TYPE_CHECKING

from nameexpr.compiler.analysis.faults import gradients as faults
from nameexpr.compiler.gradient.active import Wanted
from nameexpr.compiler.gradient.algebra import Algebra
from nameexpr.compiler.gradient.inside import axes_of_rows, reads_rows, wanted_in_step
from nameexpr.compiler.gradient.products import is_inexact, kind_of
from nameexpr.compiler.gradient.views import fresh_axes, is_plain
from nameexpr.compiler.ir.axes import Axes
from nameexpr.compiler.ir.nodes import Identity, State
from nameexpr.errors import error
from nameexpr.records import record
from nameexpr.syntax import ast

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.build.formula import FormulaWriter


@record
class Computed:
    """What a statement has computed, as an identity: an array with these dims."""

    identity: int
    axes: Axes


@record
class Asked:
    """A call of `grad`: the value, and the use by which it is differentiated as `seen`, the value of that
    use. It is one of an array that a statement has computed, of the rows `state` that steps read, or of an
    operand. `step` is the label of the steps, if it is the derivative of a step.
    """

    node: ast.Call
    value: int
    use: ast.Use
    seen: int
    array: Computed | None = None
    state: State | None = None
    step: str = ""


def asked_in(
    writer: FormulaWriter, node: ast.Call, values: tuple[int, int], arrays: Mapping[str, Computed]
) -> Asked:
    """Return what a call asks for; `values` are the value and what it is differentiated by, `arrays` those of
    statements that have a dim twice.
    """
    use, recurring = node.arguments[1], writer.recurring
    assert isinstance(use, ast.Use)
    if recurring is not None and use.name in recurring.group.names:
        row, state = recurring.row_of(use)
        label = recurring.group.label
        array = Computed(row.step, row.along(label)) if state is None else None
        return Asked(node, values[0], use, values[1], array, state, label)
    statement = writer.statements.get(use.name)
    if statement is None or use.name in arrays:
        return Asked(node, values[0], use, values[1], arrays.get(use.name))
    axes = statement.axes or tuple([(label,) for label in statement.order])
    return Asked(node, values[0], use, values[1], Computed(statement.value, axes))


def wanted_of(writer: FormulaWriter, asked: Asked, uses: Iterable[ast.Use]) -> Wanted:
    """Return what some uses are of; for the derivative of a step, those of rows."""
    if asked.step and writer.recurring is not None:
        return wanted_in_step(writer.recurring, uses)
    names = {use.name for use in uses}
    floats = {name for name, dtype in writer.dtypes.items() if is_inexact(dtype)}
    positions = [place for place, name in enumerate(writer.scope.operands) if name in names & floats]
    return Wanted(frozenset(positions), frozenset(names & writer.statements.keys()))


def axes_of(writer: FormulaWriter, asked: Asked, algebra: Algebra) -> Axes:
    """Return dims through which each element of what a value is differentiated by is seen once."""
    name, term = asked.use.name, asked.use.term
    if asked.state is not None:
        return axes_of_rows(algebra.graph, asked.state)
    if asked.array is not None:
        return tuple([(label,) for label in algebra.graph.labels[asked.array.identity]])
    axes = writer.views.axes[name, writer.views.default[name] if term is None else term]
    return axes if is_plain(axes) else fresh_axes(algebra, writer.views.operands[name].shape)


def cells_of(writer: FormulaWriter, use: ast.Use) -> int:
    """Return the number of elements of what a value is differentiated by."""
    statement, graph = writer.statements.get(use.name), writer.values.graph
    if statement is not None:
        return graph.cells(graph.labels[statement.value])
    return prod(writer.views.operands[use.name].shape) if use.name in writer.views.operands else 0


def check(writer: FormulaWriter, asked: Asked) -> None:
    """Reject a call whose value or operand can have no gradient."""
    graph, fault, use = writer.values.graph, faults.GradientFault(writer.scope, asked.node), asked.use
    dtype = _dtype(writer, asked)
    seen = [label for label in graph.labels[asked.seen] if label != asked.step]
    clash = [label for label in graph.labels[asked.value] if label in seen]
    if not is_inexact(dtype):
        raise error(fault.not_inexact(use, dtype))
    if asked.array is not None and not isinstance(graph.nodes[asked.array.identity], Identity):
        raise error(fault.of_number(use))
    if kind_of(graph.dtypes[asked.value]) == "complex":
        raise error(fault.of_complex())
    recurring = None if asked.step else writer.recurring
    if recurring is not None and reads_rows(graph, asked.value, recurring):
        raise error(fault.within_recurrence(use, recurring.group))
    if clash:
        raise error(fault.same_dims(use, clash))


def _dtype(writer: FormulaWriter, asked: Asked) -> str:
    if asked.array is not None:
        return writer.values.graph.dtypes[asked.array.identity]
    return writer.dtypes[asked.use.name] if asked.state is None else writer.values.graph.dtypes[asked.seen]
