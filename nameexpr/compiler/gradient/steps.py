"""The steps of a recurrence for all indices at once, computed from its rows instead of from each other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from nameexpr.compiler.gradient.active import Wanted
from nameexpr.compiler.gradient.algebra import Algebra
from nameexpr.compiler.gradient.products import is_inexact
from nameexpr.compiler.ir.axes import flat
from nameexpr.compiler.ir.graph import Graph, with_sources
from nameexpr.compiler.ir.nodes import (
    Arrange,
    Identity,
    Map,
    Read,
    Recurrence,
    Rows,
    State,
    View,
    Window,
    sources_of,
    windowed,
)
from nameexpr.records import record, replace


@record
class Steps:
    """The steps of a recurrence as values with its label.

    `values` are the steps, and `rows` all rows of each statement. `states` are the identities of the rows
    that are read, `inputs` those of what else the steps read, by number.
    """

    values: tuple[int, ...]
    rows: tuple[int, ...]
    states: Mapping[State, int]
    inputs: Mapping[int, int]


def at_once(algebra: Algebra, number: int, wanted: Collection[int]) -> Steps:
    """Return the steps of a recurrence with identities for the rows and the wanted inputs that they read."""
    graph, node = algebra.graph, algebra.graph.nodes[number]
    assert isinstance(node, Recurrence)
    rows, states, inputs = _rows_of(graph, number), dict[State, int](), dict[int, int]()
    made: dict[int, int] = {}
    for value in node.inputs:
        made[value] = value
        if value in wanted:
            made[value] = inputs[value] = _identity(graph, value, number)
    results = _results(graph, node)
    for value in sorted(body_of(graph, node)):
        inner = graph.nodes[value]
        if isinstance(inner, State):
            made[value] = _read(graph, rows[inner.number], inner)
            if is_inexact(graph.dtypes[value]):
                made[value] = states[inner] = _identity(graph, made[value], number)
            continue
        made[value] = graph.add(with_sources(inner, made), graph.labels[value], graph.dtypes[value])
        if value in results:
            first = sum([count for count, _ in node.starts[results[value]]])
            _store(algebra, made[value], _window(graph, rows[results[value]], node.label, first))
        elif isinstance(inner, View | Arrange) and made[inner.value] in algebra.stored:
            source = algebra.stored[made[inner.value]]
            _store(
                algebra,
                made[value],
                graph.add(replace(inner, value=source), graph.labels[value], graph.dtypes[value]),
            )
    return Steps(tuple([made[step] for step in node.steps]), tuple(rows), states, inputs)


def _results(graph: Graph, node: Recurrence) -> dict[int, int]:
    """Return the values that are the rows of statements."""
    found = {}
    for statement, step in enumerate(node.steps):
        found[step] = statement
        match graph.nodes[step]:
            case Map("cast", (inner,), dtype) if graph.dtypes[inner] == dtype:
                found[inner] = statement
    return found


def _store(algebra: Algebra, value: int, equal: int) -> None:
    """Use another value in place of one, if it has the same labels."""
    if set(algebra.graph.labels[value]) == set(algebra.graph.labels[equal]):
        algebra.stored[value] = equal


def names_of(graph: Graph, identities: Iterable[int]) -> Wanted:
    """Return some identities as what a walk looks for."""
    nodes = [graph.nodes[identity] for identity in identities]
    return Wanted(frozenset(), frozenset([node.name for node in nodes if isinstance(node, Identity)]))


def moving_values(graph: Graph, steps: Sequence[int], states: Collection[int]) -> set[int]:
    """Return the values between some rows and the steps that are computed from them."""
    needed, stack, first = set[int](), list(steps), min(states)
    while stack:
        value = stack.pop()
        if value not in needed and value >= first:
            needed.add(value)
            stack += sources_of(graph.nodes[value])
    moving = set(states)
    for value in sorted(needed):
        if not moving.isdisjoint(sources_of(graph.nodes[value])):
            moving.add(value)
    return moving


def body_of(graph: Graph, node: Recurrence) -> set[int]:
    """Return the values of a step that depend on rows, and the numbers that they use."""
    found: set[int] = set()
    stack = list(node.steps)
    while stack:
        value = stack.pop()
        if value not in found and value not in node.inputs:
            found.add(value)
            stack += sources_of(graph.nodes[value])
    return found


def _rows_of(graph: Graph, number: int) -> list[int]:
    """Return all rows of each statement of a recurrence."""
    found = {}
    for value in range(number + 1, len(graph.nodes)):
        node = graph.nodes[value]
        if isinstance(node, Rows) and node.recurrence == number:
            found[node.number] = value
    return [found[statement] for statement in sorted(found)]


def _identity(graph: Graph, value: int, number: int) -> int:
    """Return a value as one recurrence reads it: what another one reads may depend on it."""
    name = f"{value} in {number}"
    return graph.add(Identity(value, name), graph.labels[value], graph.dtypes[value])


def _read(graph: Graph, rows: int, state: State) -> int:
    """Return the rows that a state reads in all steps."""
    node, dtype = graph.nodes[rows], graph.dtypes[rows]
    assert isinstance(node, Rows)
    array = graph.add(Arrange(rows, node.axes), flat(node.axes), dtype)
    axes = (node.axes[0], *state.axes)
    value = graph.add(View(-1, array, axes), flat(axes), dtype)
    return _window(graph, value, state.label, state.offset)


def _window(graph: Graph, rows: int, label: str, first: int) -> int:
    """Return rows from one on, as many as there are steps."""
    whole = graph.labels[rows][0]
    if whole == label:
        return rows
    reads = (Read(whole, first, ((label, 1),)),)
    return graph.add(Window(rows, reads), windowed(graph.labels[rows], reads), graph.dtypes[rows])
