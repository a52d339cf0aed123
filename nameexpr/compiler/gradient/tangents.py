"""The tangents of recurrences: recurrences along with them, whose steps are the derivatives of the steps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from nameexpr.compiler.gradient.active import active_values, ancestors
from nameexpr.compiler.gradient.algebra import Algebra
from nameexpr.compiler.gradient.steps import Steps, at_once, moving_values, names_of
from nameexpr.compiler.ir.axes import Axes, flat
from nameexpr.compiler.ir.nodes import Recurrence, Rows, Scalar, State, sources_of
from nameexpr.records import record

Tangents = Mapping[int, int]
Forward = Callable[[Collection[int], Tangents, Sequence[int]], list[int | None]]
"""Returns the tangents of some values, given the values that have any, and those that are known."""


@record
class RowTangents:
    """The tangent of a recurrence: `steps` for all indices at once, `known` are the tangents of what they
    read and of starts. `basis` are the dims of the basis.
    """

    algebra: Algebra
    number: int
    node: Recurrence
    steps: Steps
    known: Tangents
    basis: Axes
    forward: Forward

    @property
    def key(self) -> str:
        """The name of the recurrence."""
        return f"~{self.number} forward {sorted(self.known.items())}"

    def dtype(self, statement: int) -> str:
        """Return the dtype of the rows of a statement."""
        return self.algebra.graph.dtypes[self.steps.rows[statement]]


def rows_forward(algebra: Algebra, number: int, known: Tangents, forward: Forward) -> Tangents:
    """Return the tangents of the rows of each statement of a recurrence."""
    node = algebra.graph.nodes[number]
    assert isinstance(node, Recurrence)
    steps = at_once(algebra, number, known)
    sources = {*node.inputs, *[value for starts in node.starts for _, value in starts]}
    known = {value: tangent for value, tangent in known.items() if value in sources}
    basis = tuple([(label,) for label in sorted(algebra.basis)])
    along = RowTangents(algebra, number, node, steps, known, basis, forward)
    moving = {
        statement
        for statement, starts in enumerate(node.starts)
        if any(value in known for _, value in starts)
    }
    while True:
        states = _states(along, sorted(moving))
        tangents = _of_steps(along, states)
        found = {statement for statement, tangent in enumerate(tangents) if tangent is not None}
        if found <= moving:
            return _rows(along, sorted(moving), tangents, states) if moving else {}
        moving |= found


def _states(along: RowTangents, moving: Sequence[int]) -> dict[int, int]:
    """Return the tangents of the rows that are read, by their identities."""
    graph, found = along.algebra.graph, {}
    for state, identity in along.steps.states.items():
        if state.number in moving:
            axes, dtype = (*along.basis, *state.axes), along.dtype(state.number)
            place = moving.index(state.number)
            read = State(f"{along.key} {moving}\n{dtype}", place, state.label, state.offset, axes)
            found[identity] = graph.add(read, (state.label, *flat(axes)), dtype)
    return found


def _of_steps(along: RowTangents, states: Tangents) -> list[int | None]:
    """Return the tangents of the steps, given those of the rows that they read."""
    graph, inputs = along.algebra.graph, along.steps.inputs
    seeds = {identity: along.known[value] for value, identity in inputs.items()} | dict(states)
    needed = set[int]().union(*[ancestors(graph, step) for step in along.steps.values])
    return along.forward(active_values(graph, needed, names_of(graph, seeds)), seeds, along.steps.values)


def _rows(
    along: RowTangents, moving: Sequence[int], tangents: Sequence[int | None], states: Tangents
) -> Tangents:
    """Return the rows of the recurrence with these steps."""
    algebra, graph, node = along.algebra, along.algebra.graph, along.node
    starts, steps, axes = [], [], []
    for statement in moving:
        zero, dtype = algebra.number(0.0), along.dtype(statement)
        given = [(count, along.known.get(value, zero)) for count, value in node.starts[statement]]
        starts.append(tuple([(count, algebra.as_array(value, dtype)) for count, value in given]))
        step = tangents[statement]
        steps.append(algebra.as_array(zero if step is None else step, dtype))
        axes.append((*along.basis, *node.axes[statement]))
    inputs = _inputs(along, steps, set(states.values()))
    key = f"{along.key} {moving}"
    inner = Recurrence(key, node.label, tuple(starts), tuple(steps), tuple(axes), inputs)
    number, found = graph.add(inner, (), ""), {}
    for place, statement in enumerate(moving):
        rows = graph.nodes[along.steps.rows[statement]]
        assert isinstance(rows, Rows)
        every = (rows.axes[0], *axes[place])
        found[statement] = graph.add(Rows(number, place, every), flat(every), along.dtype(statement))
    return found


def _inputs(along: RowTangents, steps: Sequence[int], states: Collection[int]) -> tuple[int, ...]:
    """Return what steps read that does not depend on rows."""
    graph = along.algebra.graph
    moving = moving_values(graph, steps, states) if states else set[int]()
    sources = {source for value in moving for source in sources_of(graph.nodes[value])}
    return tuple(
        sorted(value for value in {*sources, *steps} - moving if not isinstance(graph.nodes[value], Scalar))
    )
