"""Recurrences to programs: the body of a step is the part of the graph that reads rows, without the label of
the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from nameexpr.compiler.ir.axes import Axes, Labels, flat, product_label
from nameexpr.compiler.ir.dtypes import WeakDtype
from nameexpr.compiler.ir.graph import Graph, use_counts, with_sources
from nameexpr.compiler.ir.nodes import (
    Arrange,
    Join,
    Map,
    Node,
    Recurrence,
    Rows,
    Scalar,
    State,
    View,
    sources_of,
)
from nameexpr.compiler.ir.program import Instruction, Program, StepLoop
from nameexpr.compiler.ir.strides import row_major_strides
from nameexpr.compiler.lowering.builder import Builder, Operands, Value
from nameexpr.records import field, record, replace


class ValueLowering(Protocol):
    """What lowers the values of a graph."""

    @property
    def graph(self) -> Graph:
        """The graph."""

    @property
    def build(self) -> Builder:
        """Collects the instructions."""

    @property
    def plan(self) -> Callable[..., Any]:
        """Plans contractions."""

    def value(self, number: int) -> Value:
        """Return a value, created on first use."""

    def source(self, number: int) -> Value:
        """Return a value as an array."""


@record(frozen=False)
class BodyGraph:
    """The graph of one step: values of the whole graph without the label of the steps.

    `inputs` are the labels of what the body reads, by value; `reads` the rows, as numbers of arrays and steps
    ahead, in the order of the operands.
    """

    whole: Graph
    label: str
    inputs: dict[int, Labels]
    graph: Graph
    made: dict[int, int] = field(default_factory=dict)
    reads: dict[tuple[int, int], int] = field(default_factory=dict)

    def without(self, axes: Axes) -> Axes:
        """Return dims without that of the steps."""
        return tuple([labels for labels in axes if labels != (self.label,)])

    def add_all(self, outputs: Sequence[int]) -> list[int]:
        """Add what some values need, in the order of their numbers, and return them."""
        needed: set[int] = set()
        stack = list(outputs)
        while stack:
            number = stack.pop()
            if number not in needed:
                needed.add(number)
                stack += () if number in self.inputs else sources_of(self.whole.nodes[number])
        for position, (number, labels) in enumerate(self.inputs.items()):
            axes = self.without(tuple([(label,) for label in labels]))
            dtype = self.whole.strong(number)
            self.made[number] = self.graph.add(View(position, -1, axes), flat(axes), dtype)
        for number in sorted(needed - self.inputs.keys()):
            self.made[number] = self._added(number)
        return [self.made[number] for number in outputs]

    def _added(self, number: int) -> int:
        whole, node = self.whole, self.whole.nodes[number]
        labels, dtype = whole.labels[number], whole.dtypes[number]
        kept = tuple([label for label in labels if label != self.label])
        if isinstance(node, State):
            key = node.number, node.offset
            position = self.reads.setdefault(key, len(self.inputs) + len(self.reads))
            return self.graph.add(View(position, -1, node.axes), kept, dtype)
        if isinstance(node, Scalar):
            return self.graph.add(node, (), dtype)
        made = self.graph.add(self._renumbered(node), kept, dtype)
        if number in whole.spans:
            self.graph.spans.setdefault(made, whole.spans[number])
        return made

    def _renumbered(self, node: Node) -> Node:
        """Return a node of the values of the body, without the label of the steps."""
        node = with_sources(node, self.made)
        if isinstance(node, View | Arrange):
            return replace(node, axes=self.without(node.axes))
        if isinstance(node, Join):
            return replace(node, labels=tuple([label for label in node.labels if label != self.label]))
        return node


def lower_recurrence(
    lowering: ValueLowering,
    number: int,
    node: Recurrence | Rows,
    lower: Callable[..., tuple[Program, Any]],
    lower_view: Callable[[Builder, Value, Axes], Value],
) -> Value:
    """Return the arrays of all rows, or one of them; `lower` and `lower_view` are those of the module that
    lowers all other nodes.
    """
    if isinstance(node, Recurrence):
        return _all_rows(lowering, node, lower)
    build, arrays = lowering.build, lowering.value(node.recurrence)
    shape = tuple(map(build.size, node.axes))
    made = Instruction("item", (arrays.number,), shape, axes=(node.number,))
    labels = [product_label(labels, " ") for labels in node.axes]
    array = build.emit(made, labels, lowering.graph.dtypes[number], row_major_strides(shape))
    return lower_view(build, array, node.axes)


def _all_rows(lowering: ValueLowering, node: Recurrence, lower: Callable[..., tuple[Program, Any]]) -> Value:
    """Return the arrays of all rows, of which `item` gives each."""
    graph, build, label = lowering.graph, lowering.build, node.label
    inputs, cut = [], []
    for source in node.inputs:
        value = lowering.value(source)
        own = value.labels
        if label in own:
            value = build.transpose(value, (label, *[other for other in own if other != label]))
        inputs.append(value)
        cut.append(label in own)
    known = {source: value.labels for source, value in zip(node.inputs, inputs, strict=True)}
    sizes = {name: size for name, size in graph.sizes.items() if name != label}
    body = BodyGraph(graph, label, known, Graph(sizes))
    steps = body.add_all(node.steps)
    outputs = [
        body.graph.add(Arrange(step, axes), flat(axes), graph.strong(whole))
        for step, axes, whole in zip(steps, node.axes, node.steps, strict=True)
    ]
    starts, rows = _starts(lowering, node)
    program = _body(lowering, body, outputs, inputs, node, lower)
    reads = tuple(body.reads)
    shapes = tuple([tuple(map(build.size, axes)) for axes in node.axes])
    loop = StepLoop(program, shapes, graph.sizes[label], rows, tuple(cut), reads, label)
    sources = (*starts, *[value.number for value in inputs])
    made = Instruction("recurrence", sources, recurrence=loop)
    rows_of_first = [product_label(labels, " ") for labels in node.axes[0]]
    return build.emit(made, (label, *rows_of_first), graph.strong(node.steps[0]))


def _starts(lowering: ValueLowering, node: Recurrence) -> tuple[list[int], tuple[tuple[int, ...], ...]]:
    """Return the starts, each with an axis for every dim of a row, and how many rows each is."""
    build, numbers = lowering.build, []
    for starts, axes in zip(node.starts, node.axes, strict=True):
        row = flat(axes)
        for _, source in starts:
            value = lowering.source(source)
            own = [label for label in value.labels if label not in row]
            order = (*own, *row)
            value = build.expand(value, order)
            shape = [1 if label not in value.labels else build.sizes[label] for label in row]
            merged, place = [], 0
            for labels in axes:
                inside = shape[place : place + len(labels)]
                place += len(labels)
                merged.append((labels, inside))
            if any(len(labels) != 1 for labels, _ in merged):
                value = _whole_rows(lowering, value, own, axes)
            numbers.append(value.number)
    return numbers, tuple([tuple([count for count, _ in starts]) for starts in node.starts])


def _whole_rows(lowering: ValueLowering, value: Value, own: Sequence[str], axes: Axes) -> Value:
    """Return rows whose dims are products of labels: what a start lacks is repeated first."""
    build, row = lowering.build, flat(axes)
    order = (*own, *row)
    if any(build.sizes[label] != 1 for label in order if label not in value.labels):
        source = build.expand(value, order)
        repeat = Instruction("repeat", (source.number,), build.shape(order))
        value = build.emit(repeat, order, value.dtype)
    shape = (*build.shape(own), *[build.size(labels) for labels in axes])
    return build.reshape(value, shape, [*own, *[" ".join(labels) for labels in axes]])


def _body(
    lowering: ValueLowering,
    body: BodyGraph,
    outputs: Sequence[int],
    inputs: Sequence[Value],
    node: Recurrence,
    lower: Callable[..., tuple[Program, Any]],
) -> Program:
    """Return the program of one step."""
    graph = body.graph
    shapes, dtypes = [], []
    for value in inputs:
        shapes.append(tuple([graph.sizes[label] for label in value.labels if label != node.label]))
        dtypes.append(value.dtype.strong if isinstance(value.dtype, WeakDtype) else value.dtype)
    for array, _ in body.reads:
        shapes.append(tuple([graph.cells(labels) for labels in node.axes[array]]))
        dtypes.append(lowering.graph.strong(node.steps[array]))
    operands = Operands(tuple(shapes), tuple(dtypes), (None,) * len(shapes))
    uses = use_counts(graph, outputs)
    fusing = None
    if any(isinstance(graph.nodes[value], Map) for value in uses):
        from nameexpr.compiler.lowering.fusion import FusionPlan

        fusing = FusionPlan(graph, uses, lowering.build.target)
    how = lowering.plan, lowering.build.target, fusing
    program, _ = lower(graph, outputs, operands, *how, needed=uses)
    return replace(program, notes=tuple([replace(note, step=None) for note in program.notes]))
