"""Recurrences to graphs: steps are written for all indices at once, and what reads a row becomes the body.

A use of an earlier row is a `State`, which has the label of the steps like any operand. Everything that
depends on one is computed step by step; everything else that the steps read is computed before, for all
steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from nameexpr.compiler.analysis.build.rows import Rowed
from nameexpr.compiler.analysis.build.values import StatementValue, Values
from nameexpr.compiler.analysis.recurrences import StepGroup, step_of, uses_of
from nameexpr.compiler.analysis.rules import recurrences as rules
from nameexpr.compiler.analysis.rules.recurrences import row_offset
from nameexpr.compiler.analysis.statement_sizes import read_statement
from nameexpr.compiler.ir.axes import Axes, Labels, flat, mentioned, whole_dim
from nameexpr.compiler.ir.dtypes import WEAK, WeakDtype, strong
from nameexpr.compiler.ir.nodes import (
    Arrange,
    Recurrence,
    Rows,
    Scalar,
    State,
    View,
    sources_of,
)
from nameexpr.errors import error
from nameexpr.records import field, record
from nameexpr.syntax import ast

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.operands import Views
    from nameexpr.compiler.analysis.scope import Scope

MOST_DTYPES = 6
"""How often a step is written until the dtype of its rows no longer changes."""


class Writer(Protocol):
    """What writes the values of a formula."""

    scope: Scope
    views: Views
    values: Values
    statements: dict[str, StatementValue]
    recurring: RecurrenceWriter | None

    def value(self, node: ast.Node) -> tuple[int, Labels]:
        """Return the number of a node's value, and its labels in the order of the text."""

    def read(self, node: ast.Use, value: int, axes: Axes) -> tuple[int, Axes]:
        """Return a value some dims of which are read in parts or at positions."""

    def check_left(self, statement: ast.Statement, value: int, axes: Axes) -> None:
        """Reject dims that would be dropped."""


@record(frozen=False)
class RecurrenceWriter:
    """Writes the statements of one recurrence; with `is_draft`, the dtypes of its rows are not known yet, and
    derivatives in its steps are not written.
    """

    writer: Writer
    group: StepGroup
    rows: list[Rowed] = field(default_factory=list)
    current: int = 0
    is_draft: bool = False

    @property
    def key(self) -> str:
        """The name of this recurrence in the graph."""
        return " ".join(self.group.names)

    def write(self) -> list[tuple[int, Axes]]:
        """Return the value of each statement of the group, with its axes."""
        self._measure()
        for number in self.group.numbers:
            self.rows[len(self.rows) :] = [self._rowed(number)]
        self._write_steps()
        graph = self.writer.values.graph
        node = self._recurrence()
        recurrence = graph.add(node, (), "")
        found = []
        for number, row in enumerate(self.rows):
            every = ((row.axes[row.dim][0],), *row.row)
            value = graph.add(Rows(recurrence, number, every), flat(every), row.dtype)
            found.append((value, row.axes))
        return found

    def _measure(self) -> None:
        """Learn the sizes of the rows, and of what is read of them."""
        writer, views = self.writer, self.writer.views
        sizes = views.sizes
        cells = writer.values.graph.cells
        earlier = {name: one.axes for name, one in writer.statements.items() if one.axes is not None}
        shapes = {name: tuple(map(cells, axes)) for name, axes in earlier.items()}
        if self.group.label not in sizes:  # then a statement before may have the dim of the steps
            for number in self.group.numbers:
                read_statement(writer.scope.tree, writer.scope.tree.statements[number], shapes, views, shapes)
        for number in self.group.numbers:
            statement, axes = writer.scope.tree.statements[number], views.left[number]
            assert axes is not None and statement.name is not None
            for labels in axes:
                for label in labels:
                    parts = views.joined[label].parts if label in views.joined else ((label,),)
                    unknown = [one for part in parts for one in part if one not in sizes]
                    if unknown:
                        raise error(rules.no_size(writer.scope.tree, statement, unknown[0]))
                    sizes[label] = sum(writer.values.graph.cells(part) for part in parts)
            shapes[statement.name] = tuple(map(writer.values.graph.cells, axes))
        for number in self.group.numbers:
            statement = writer.scope.tree.statements[number]
            self._check_rows(statement)
            read_statement(writer.scope.tree, statement, shapes, views, self.group.names)

    def _check_rows(self, statement: ast.Statement) -> None:
        """Reject what reads rows that no step has computed yet, where the start has labels (NE242)."""
        writer, label = self.writer, self.group.label
        own = self.group.names.index(statement.name or "")
        for use in uses_of(statement):
            at = self.group.names.index(use.name) if use.name in self.group.names else len(self.group.names)
            step = step_of(writer.scope.tree.statements[self.group.numbers[at]]) if at <= own else None
            offset = None if step is None else row_offset(use, step.dim, label)
            axes = writer.views.left[self.group.numbers[at]] if step is not None else None
            if offset is not None and step is not None and axes is not None:
                start = writer.views.sizes[axes[step.dim][0]] - writer.views.sizes[label]
                if offset >= start + (at < own):
                    raise error(rules.not_computed(writer.scope.text, use, label, offset, start))

    def _rowed(self, number: int) -> Rowed:
        """Return a statement with its starts written."""
        writer, views = self.writer, self.writer.views
        statement, axes = writer.scope.tree.statements[number], views.left[number]
        assert axes is not None
        step = step_of(statement)
        if step is None:
            return Rowed(statement, axes, axes.index((self.group.label,)), 0, (), "bool")
        graph, parts = writer.values.graph, views.joined[axes[step.dim][0]].parts[:-1]
        given = statement.values[:-1]
        starts = [writer.value(value)[0] for value in given] or [graph.scalar(0) for _ in parts]
        rest = axes[: step.dim] + axes[step.dim + 1 :]
        for value, part, node in zip(starts, parts, given or [statement.value] * len(starts), strict=True):
            lost = [label for label in graph.labels[value] if label not in (*flat(rest), *part)]
            if lost:
                raise error(rules.start_has(writer.scope.text, node, lost[0]))
        pairs = zip(parts, starts, strict=True)
        counted = tuple([(graph.cells(part), self._as_rows(value, part)) for part, value in pairs])
        return Rowed(statement, axes, step.dim, sum(count for count, _ in counted), counted, "bool")

    def _as_rows(self, value: int, part: Labels) -> int:
        """Return a start with one label for its rows, which are a product of labels."""
        graph = self.writer.values.graph
        if len(part) == 1 or set(part).isdisjoint(graph.labels[value]):
            return value
        kept = tuple([(label,) for label in graph.labels[value] if label not in part])
        rows, dtype = whole_dim("_", " ".join(part)), graph.strong(value)
        graph.sizes[rows] = graph.cells(part)
        array = graph.add(Arrange(value, (part, *kept)), flat((part, *kept)), dtype)
        return graph.add(View(-1, array, ((rows,), *kept)), flat(((rows,), *kept)), dtype)

    def _write_steps(self) -> None:
        """Write the steps until their dtypes are those of the rows that they read."""
        graph = self.writer.values.graph
        for row in self.rows:  # a number has no dtype of its own: the step determines it
            row.dtype = (
                self._joined([graph.dtypes[value] for _, value in row.starts]) if row.starts else "bool"
            )
        self.is_draft = self.writer.values.gradients is not None
        for _ in range(MOST_DTYPES + self.is_draft):
            before = [row.dtype for row in self.rows]
            for number, row in enumerate(self.rows):
                self.current = number
                self._write_step(row)
                own = [row.dtype, graph.dtypes[row.step], *[graph.dtypes[value] for _, value in row.starts]]
                row.dtype = strong(self._joined(own))
            if [row.dtype for row in self.rows] == before:
                if not self.is_draft:
                    return
                self.is_draft = False
        raise error(rules.no_dtype(self.writer.scope.text, self.rows[0].statement))

    def _joined(self, dtypes: Sequence[str]) -> str:
        """Return the dtype that holds starts and steps; numbers alone have a weak one."""
        kinds = [dtype for dtype in dtypes if isinstance(dtype, WeakDtype)]
        if len(kinds) == len(dtypes):
            return max(kinds, key=list(WEAK.values()).index)
        return self.writer.values.arithmetic.promoted(tuple(dtypes))

    def _write_step(self, row: Rowed) -> None:
        writer, graph, label = self.writer, self.writer.values.graph, self.group.label
        node = row.statement.values[-1]
        value, _ = writer.value(node)
        axes = row.along(label)
        writer.check_left(row.statement, value, axes)
        if writer.values.gradients is not None and not self.is_draft:
            gradients, name = writer.values.gradients, row.statement.name
            value = gradients.statement(writer.values, name, value, axes, in_step=True)
        row.step = writer.values.integer(value)
        writer.values.check_is_array(row.step, node.span)
        row.arranged = graph.add(Arrange(row.step, axes), flat(axes), graph.strong(row.step))

    def row_of(self, node: ast.Use) -> tuple[Rowed, State | None]:
        """Return the statement that a use reads, and the row; None for the row of the current step."""
        number, label = self.group.names.index(node.name), self.group.label
        row = self.rows[number]
        offset = row_offset(node, row.dim, label)
        if number < self.current and (not row.offset or offset == row.offset):
            return row, None
        assert offset is not None
        assert node.term is not None
        axes = self.writer.views.axes[node.name, node.term]
        rest = axes[: row.dim] + axes[row.dim + 1 :]
        # the key has the dtype of the rows: with another one it is another value
        return row, State(f"{self.key}\n{row.dtype}", number, label, offset, rest)

    def use(self, node: ast.Use) -> tuple[int, Labels]:
        """Return the rows that a use reads, and the labels in the order of its term."""
        writer, graph, label = self.writer, self.writer.values.graph, self.group.label
        assert node.term is not None
        row, state = self.row_of(node)
        axes = writer.views.axes[node.name, node.term]
        if row.offset:
            axes = (*axes[: row.dim], (label,), *axes[row.dim + 1 :])
        if state is None:
            value = graph.add(View(-1, row.arranged, axes), flat(axes), graph.dtypes[row.arranged])
        else:
            value = graph.add(state, (label, *flat(state.axes)), row.dtype)
        value, seen = writer.read(node, value, axes)
        return value, mentioned(node.term, seen)

    def _recurrence(self) -> Recurrence:
        """Return the node of the recurrence, whose steps depend on rows, and on nothing else step by step."""
        graph, label = self.writer.values.graph, self.group.label
        moving: set[int] = set()
        for number, node in enumerate(graph.nodes):
            if isinstance(node, State):
                if node.key.startswith(self.key + "\n"):
                    moving.add(number)
            elif not moving.isdisjoint(sources_of(node)):
                moving.add(number)
        needed, inputs, stack = set(), dict[int, None](), [row.step for row in self.rows]
        while stack:
            number = stack.pop()
            node = graph.nodes[number]
            if number in needed or isinstance(node, Scalar):
                continue
            needed.add(number)
            if number not in moving:
                inputs[number] = None
            elif not isinstance(node, State):
                stack += sources_of(node)
        starts = tuple([self._cast_starts(row) for row in self.rows])
        steps = tuple([self._in_dtype(row, row.step, row.statement.values[-1]) for row in self.rows])
        axes = tuple([row.row for row in self.rows])
        return Recurrence(self.key, label, starts, steps, axes, tuple(sorted(inputs)))

    def _cast_starts(self, row: Rowed) -> tuple[tuple[int, int], ...]:
        nodes = row.statement.values[:-1] or row.statement.values * len(row.starts)
        pairs = zip(row.starts, nodes, strict=True)
        return tuple([(count, self._in_dtype(row, value, node)) for (count, value), node in pairs])

    def _in_dtype(self, row: Rowed, value: int, node: ast.Node) -> int:
        """Return a start or a step in the dtype of the rows, which must hold it (NE526)."""
        values = self.writer.values
        return values.cast(values.held(value, row.dtype, node.span), row.dtype)


def rows_of(writer: Writer, number: int) -> StatementValue:
    """Return a statement of a recurrence; all of its statements are written with the first."""
    group = next(group for group in writer.scope.recurrences if number in group.numbers)
    if group.names[0] not in writer.statements:
        writer.recurring = RecurrenceWriter(writer, group)
        for own, (value, axes) in zip(group.numbers, writer.recurring.write(), strict=True):
            statement, graph = writer.scope.tree.statements[own], writer.values.graph
            if writer.values.gradients is not None:
                value = writer.values.gradients.statement(writer.values, statement.name, value, axes)
            arranged = graph.add(Arrange(value, axes), flat(axes), graph.dtypes[value])
            if writer.values.gradients is not None:
                arranged = writer.values.gradients.array(writer.values, statement.name, arranged)
            assert statement.term is not None and statement.name is not None
            order, mention = flat(axes), mentioned(statement.term, axes)
            made = StatementValue(value, order, mention, statement.term, axes, arranged)
            writer.statements[statement.name] = made
        writer.recurring = None
    return writer.statements[group.names[group.numbers.index(number)]]
