"""Reading dims in parts and at positions: windows where positions are affine, gathers where they are data.

`x[N H@(2*h + dh)]` is a window, that is, a view. `table[vocab@ids[B T] D]` is a gather, whose positions are a
value of the graph like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nameexpr.compiler.analysis.build.intervals import extremes_of, interval
from nameexpr.compiler.analysis.build.values import Values
from nameexpr.compiler.analysis.faults.positions import leaves, not_integers
from nameexpr.compiler.analysis.readings import Reading, read_of
from nameexpr.compiler.ir.axes import Axes, Labels, gathered, in_order
from nameexpr.compiler.ir.dtypes import KIND_OF, WEAK
from nameexpr.compiler.ir.nodes import Gather, Read, ReadAt, Scalar, Window, number_of, windowed
from nameexpr.errors import error
from nameexpr.records import replace
from nameexpr.syntax import ast

Written = Callable[[ast.Node], tuple[int, Labels]]
"""Adds the value of a position to the graph, and returns it with its labels in the order of the text."""
INTEGERS = frozenset({"int", "uint"})


def read(values: Values, name: str, value: int, axes: Axes, written: Written) -> tuple[int, Axes]:
    """Return a value of which some dims are read in parts or at positions, and the axes that it has; `name`
    is what the text calls it.
    """
    readings, graph = values.views.readings, values.graph
    found = [readings[label] for labels in axes for label in labels if label in readings]
    reads: list[Read] = []
    positions: list[ReadAt] = []
    instead: dict[str, Labels] = {}
    for reading in found:
        one, labels = _read(values, name, reading, written)
        instead[reading.label] = labels
        if isinstance(one, Read):
            reads.append(one)
        else:
            positions.append(one)
    if reads:
        labels = windowed(graph.labels[value], reads)
        value = graph.add(Window(value, tuple(reads)), labels, graph.dtypes[value])
    if positions:
        value = _gather(values, value, positions)
    visible = [[new for label in labels for new in instead.get(label, (label,))] for labels in axes]
    return value, tuple(map(tuple, visible))


def _read(values: Values, name: str, reading: Reading, written: Written) -> tuple[Read | ReadAt, Labels]:
    """Return how a dim is read, and the labels that the value has in its place."""
    read = read_of(reading, values.graph.sizes)
    if read is not None:
        return read, reading.labels
    assert reading.place is not None
    number, order = written(reading.place)
    number = values.integer(number)
    return _checked(values, name, reading, number), in_order(order, values.graph.labels[number])


def _checked(values: Values, name: str, reading: Reading, number: int) -> Read | ReadAt:
    """Return a position that has been checked, as far as sizes tell (NE528, NE317)."""
    graph, text = values.graph, values.tree.text
    dtype, node = graph.dtypes[number], graph.nodes[number]
    if KIND_OF.get(dtype) not in INTEGERS and dtype != WEAK[int]:
        raise error(not_integers(text, reading, dtype))
    size = graph.sizes[reading.label]
    ends = extremes_of(graph, number)
    if ends is not None and not 0 <= ends[0] <= ends[1] < size:
        raise error(leaves(text, name, reading, ends, size))
    if isinstance(node, Scalar):
        return Read(reading.label, int(number_of(node).real), ())
    within = interval(graph, number)
    return ReadAt(reading.label, number, within is not None and 0 <= within[0] <= within[1] < size)


def _gather(values: Values, value: int, positions: list[ReadAt]) -> int:
    """Return a gather; dims under `...` of the value and of the positions broadcast."""
    graph, span = values.graph, values.tree.statements[-1].span
    every = values.broadcast([value, *[position.value for position in positions]], span)
    value, places = every[0], every[1:]
    pairs = list(zip(positions, places, strict=True))
    read = tuple([replace(position, value=place) for position, place in pairs])
    labels = gathered(graph.labels[value], {position.label: graph.labels[place] for position, place in pairs})
    return graph.add(Gather(value, read), labels, graph.dtypes[value])


def learn_sizes(values: Values, statement: ast.Statement, earlier: Mapping[str, Axes | None]) -> None:
    """Learn the sizes that positions in a statement determine, now that earlier statements have shapes."""
    from nameexpr.compiler.analysis.statement_sizes import read_statement

    cells = values.graph.cells
    shapes = {name: tuple(map(cells, axes)) for name, axes in earlier.items() if axes is not None}
    read_statement(values.tree, statement, shapes, values.views)
