"""The invariant of graphs, derived independently: for tests, and when NAMEEXPR_VERIFY=1 is set."""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.ir.axes import Labels, flat, gathered, is_under_dots
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.liveness import check_program
from nameexpr.compiler.ir.nodes import (
    CAST,
    Along,
    Arrange,
    Drop,
    Filled,
    Gather,
    Identity,
    Index,
    Join,
    Map,
    Place,
    Read,
    ReadAt,
    Recurrence,
    Reduction,
    Rows,
    Scalar,
    State,
    View,
    Window,
    sources_of,
    windowed,
)
from nameexpr.compiler.ir.program import Program
from nameexpr.ops import FUNCTIONS, REDUCTIONS


def check_compiled(
    program: Program, shapes: Sequence[tuple[int, ...]], graph: Graph, outputs: Sequence[int]
) -> None:
    """Check a program and its graph, and that the results have the shapes of the graph."""
    check_program(program)
    check_graph(graph, outputs)
    for result, output in zip(program.outputs, outputs, strict=True):
        node = graph.nodes[output]
        assert isinstance(node, Arrange)
        wanted = tuple(map(graph.cells, node.axes))
        assert shapes[result] == wanted, f"{shapes[result]} is not {wanted}"


def check_graph(graph: Graph, outputs: Sequence[int]) -> None:
    """Derive the labels of every value from its node, and compare; AssertionError if the compiler made an
    error.
    """
    assert len(graph.nodes) == len(graph.labels) == len(graph.dtypes), "a value lacks its labels or its dtype"
    for number, node in enumerate(graph.nodes):
        assert all(0 <= source < number for source in sources_of(node)), f"{node} reads what is not there yet"
        labels = graph.labels[number]
        assert len(set(labels)) == len(labels), f"{node} has a label twice: {labels}"
        assert all(label in graph.sizes for label in labels), f"{node} has a label without a size: {labels}"
        derived = _labels_of(graph, node)
        assert derived is None or derived == labels, f"{node} has the labels {labels}, not {derived}"
    assert all(isinstance(graph.nodes[output], Arrange) for output in outputs), "an output is not an array"


def _labels_of(graph: Graph, node: object) -> Labels | None:  # noqa: PLR0912  a case for each kind
    """Return the labels that follow from a node; None if any labels are allowed."""
    match node:
        case View(position, value, axes):
            assert (position < 0) != (value < 0), "a view is of an operand or of a value"
            if value >= 0:
                seen = graph.nodes[value]
                assert isinstance(seen, Arrange), "what is viewed by its positions must be arranged"
                shapes = [[graph.cells(labels) for labels in dims] for dims in (seen.axes, axes)]
                assert shapes[0] == shapes[1], f"an array of shape {shapes[0]} is viewed as {shapes[1]}"
            return flat(axes)
        case Scalar() | Recurrence():
            return ()
        case State(_, _, label, _, axes):
            return (label, *flat(axes))
        case Rows(_, _, axes):
            return flat(axes)
        case Index(label):
            return (label,)
        case Filled(_, labels):
            return labels
        case Map(function, arguments):
            return _labels_of_map(graph, function, arguments)
        case Reduction(reducer, factors, labels):
            every = _union(graph, factors)
            assert reducer is None or reducer in REDUCTIONS or reducer.endswith("="), f"what is {reducer}?"
            assert set(labels) <= set(every), f"{labels} are reduced, and not there: {every}"
            return tuple([label for label in every if label not in labels])
        case Along(_, value, labels):
            assert set(labels) <= set(graph.labels[value]), f"{labels} are not there: {graph.labels[value]}"
            return graph.labels[value]
        case Identity(value):
            return graph.labels[value]
        case Drop(value, labels):
            assert all(graph.sizes[label] == 1 for label in labels), f"{labels} are dropped, and hold more"
            return tuple([label for label in graph.labels[value] if label not in labels])
        case Window(value) | Gather(value):
            return _labels_of_read(graph, node, graph.labels[value])
        case Place():
            return _labels_of_place(graph, node)
        case Join():
            return _labels_of_join(graph, node)
        case Arrange(value, axes):
            lost = set(graph.labels[value]) - set(flat(axes))
            assert not lost, f"an arrangement drops {lost}"
            return flat(axes)
    raise AssertionError(f"{node} is not a node")


def _labels_of_read(graph: Graph, node: Window | Gather, own: Labels) -> Labels:
    if isinstance(node, Window):
        return _labels_of_window(graph, own, node.reads)
    return _labels_of_gather(graph, own, node.positions)


def _labels_of_window(graph: Graph, own: Labels, reads: Sequence[Read]) -> Labels:
    for read in reads:
        ends = [stride * (graph.sizes[label] - 1) for label, stride in read.strides]
        low, high = (read.offset + sum([pick(end, 0) for end in ends]) for pick in (min, max))
        is_empty = not all(graph.sizes[label] for label, _ in read.strides)
        assert read.label in own, f"{read.label} is read, and not there: {own}"
        assert is_empty or 0 <= low <= high < graph.sizes[read.label], f"{read} leaves the dim"
    return windowed(own, reads)


def _labels_of_gather(graph: Graph, own: Labels, positions: Sequence[ReadAt]) -> Labels:
    for position in positions:
        assert position.label in own, f"{position.label} is read, and not there: {own}"
        assert "int" in graph.dtypes[position.value], f"{position} holds no integers"
    return gathered(own, {position.label: graph.labels[position.value] for position in positions})


def _labels_of_place(graph: Graph, node: Place) -> Labels | None:
    for label, place in node.places:
        assert "int" in graph.dtypes[place], f"{node} has positions that are no integers"
        assert label not in graph.labels[node.value], f"{label} is in the value of {node}"
    return None  # in any order


def _labels_of_join(graph: Graph, node: Join) -> Labels:
    for value, parts in zip(node.values, node.places, strict=True):
        inside = {part.label: part.labels for part in parts}
        own = [new for label in node.labels for new in inside.get(label, (label,))]
        assert len(set(own)) == len(own), f"{own} has a label twice"
        assert set(graph.labels[value]) <= set(own), f"{graph.labels[value]} are not in a part with {own}"
        for part in parts:
            end = part.offset + graph.cells(part.labels)
            assert 0 <= part.offset <= end <= graph.sizes[part.label], f"{part} leaves the dim"
    return node.labels


def _labels_of_map(graph: Graph, function: str, arguments: Sequence[int]) -> Labels:
    arity = 1 if function == CAST else FUNCTIONS[function].arity
    assert len(arguments) == arity, f"{function} takes {arity} values, not {len(arguments)}"
    labels = _union(graph, arguments)
    under = [label.number for label in labels if is_under_dots(label)]
    assert len(set(under)) == len(under), f"dims under '...' of {function} do not fit: {labels}"
    return labels


def _union(graph: Graph, values: Sequence[int]) -> Labels:
    return tuple(dict.fromkeys([label for value in values for label in graph.labels[value]]))
