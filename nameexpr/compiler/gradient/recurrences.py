"""The gradients of recurrences: other recurrences, which go backwards over the rows that were computed.

All rows are known by then, so the steps are written for all indices at once. A walk back through them, given
the gradients of the rows, finds what each step contributes to the rows that it read: this is the recurrence.
Once it is known, the gradients of all rows are, and a second walk finds those of everything else that the
steps read for all steps at once: the gradient of a matrix that each step multiplies by is one contraction.

    h[(1 + T)] = s, f(h[_@T], x[T], w)              the recurrence, whose rows have the gradient g
    c[t] = (g[t + 1] + c[t + 1]) * df/dh            what step t contributes to row t, from the last step on
    x: (g[t + 1] + c[t + 1]) * df/dx,   w: sum[t]((g[t + 1] + c[t + 1]) * df/dw),   s: g[0] + c[0]
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from nameexpr.compiler.gradient.active import Wanted
from nameexpr.compiler.gradient.algebra import Algebra
from nameexpr.compiler.gradient.factors import fresh, reversed_along
from nameexpr.compiler.gradient.pointwise import PartialGradient
from nameexpr.compiler.gradient.positions import put, window
from nameexpr.compiler.gradient.steps import Steps, at_once, moving_values, names_of
from nameexpr.compiler.gradient.views import seen_as
from nameexpr.compiler.ir.axes import Axes, Labels, flat
from nameexpr.compiler.ir.graph import with_sources
from nameexpr.compiler.ir.nodes import Arrange, Read, Recurrence, Rows, Scalar, State, sources_of
from nameexpr.records import record

Back = Callable[[Sequence[PartialGradient], Wanted], Mapping[int, int]]
"""Walks back from some values to identities, and returns the gradients of these."""


Leaf = tuple[int, int]
"""A statement, and the offset at which its rows are read."""
Rowed = tuple[int, str]
"""All rows of a statement of the recurrence that goes backwards, and their label."""


@record
class Adjoint:
    """The adjoint of a recurrence: `steps` for all indices at once, and the gradients of the rows that have
    one. `basis` are the labels that the gradients have in addition.
    """

    algebra: Algebra
    number: int
    node: Recurrence
    steps: Steps
    given: Mapping[int, int]
    basis: Labels
    back: Back

    def row(self, statement: int) -> Labels:
        """Return the labels of the gradient of a row."""
        return (*self.basis, *flat(self.node.axes[statement]))

    def starts(self, statement: int) -> int:
        """Return with how many rows a statement starts."""
        return sum([count for count, _ in self.node.starts[statement]])

    def whole(self, statement: int) -> str:
        """Return the label of all rows of a statement."""
        node = self.algebra.graph.nodes[self.steps.rows[statement]]
        assert isinstance(node, Rows)
        return node.axes[0][0]


def recurrence_parts(
    algebra: Algebra, number: int, given: Mapping[int, int], active: Collection[int], back: Back
) -> Iterator[PartialGradient]:
    """Yield the gradients of what a recurrence starts with and of what its steps read; `given` are those of
    its rows, by statement.
    """
    graph, node = algebra.graph, algebra.graph.nodes[number]
    assert isinstance(node, Recurrence)
    steps = at_once(algebra, number, active)
    own = {label for rows in steps.rows for label in graph.labels[rows]}
    every = dict.fromkeys([label for value in given.values() for label in graph.labels[value]])
    basis = tuple([label for label in every if label not in own])
    adjoint = Adjoint(algebra, number, node, steps, given, basis, back)
    contributions = _contributions(adjoint)
    yield from _of_starts(adjoint, contributions, active)
    size = graph.sizes[node.label]
    later = {
        leaf: window(algebra, rows, (Read(whole, size - 1, ((node.label, -1),)),))
        for leaf, (rows, whole) in contributions.items()
    }
    found = back(_seeds(adjoint, later), names_of(graph, steps.inputs.values()))
    for value, identity in steps.inputs.items():
        if identity in found:
            yield PartialGradient(value, found[identity])


def _seeds(adjoint: Adjoint, later: Mapping[Leaf, int]) -> list[PartialGradient]:
    """Return the gradients of all steps: those of their rows, and what later steps contribute to these."""
    algebra, graph, node = adjoint.algebra, adjoint.algebra.graph, adjoint.node
    found = []
    for statement, (step, axes) in enumerate(zip(adjoint.steps.values, node.axes, strict=True)):
        parts = [value for leaf, value in later.items() if leaf[0] == statement]
        if statement in adjoint.given:
            parts.append(_part(adjoint, statement, adjoint.starts(statement), ((node.label, 1),)))
        if parts:
            axes = ((node.label,), *axes)
            array = graph.add(Arrange(step, axes), flat(axes), graph.strong(step))
            found.append(PartialGradient(array, algebra.added(parts)))
    return found


def _part(adjoint: Adjoint, statement: int, first: int, strides: tuple[tuple[str, int], ...]) -> int:
    """Return the gradients of some rows of a statement, with other labels in place of that of all rows."""
    value, whole = adjoint.given[statement], adjoint.whole(statement)
    if whole not in adjoint.algebra.graph.labels[value] or whole == adjoint.node.label:
        return value
    return window(adjoint.algebra, value, (Read(whole, first, strides),))


def _contributions(adjoint: Adjoint) -> dict[Leaf, Rowed]:
    """Return what the steps contribute to the rows that they read, from the last step on."""
    node, graph, states = adjoint.node, adjoint.algebra.graph, adjoint.steps.states
    leaves = list(dict.fromkeys([(state.number, state.offset) for state in states]))
    while leaves and graph.sizes[node.label]:
        reads = {leaf: _earlier(adjoint, leaves, leaf) for leaf in leaves}
        found = adjoint.back(_seeds(adjoint, reads), names_of(graph, states.values()))
        reached = {(state.number, state.offset) for state, one in states.items() if one in found}
        if reached == set(leaves):
            steps = [_contributed(adjoint, leaf, found) for leaf in leaves]
            return _backwards(adjoint, leaves, steps, set(reads.values()))
        leaves = [leaf for leaf in leaves if leaf in reached]
    return {}


def _key(adjoint: Adjoint, leaves: Sequence[Leaf]) -> str:
    return f"~{adjoint.number} {sorted(adjoint.given.items())} {leaves}"


def _earlier(adjoint: Adjoint, leaves: Sequence[Leaf], leaf: Leaf) -> int:
    """Return the contribution to the row of a step, which the recurrence has computed before that step."""
    graph, label, row = adjoint.algebra.graph, adjoint.node.label, adjoint.row(leaf[0])
    axes = tuple([(one,) for one in row])
    dtype = graph.dtypes[adjoint.steps.rows[leaf[0]]]
    state = State(f"{_key(adjoint, leaves)}\n{dtype}", leaves.index(leaf), label, 0, axes)
    return graph.add(state, (label, *row), dtype)


def _contributed(adjoint: Adjoint, leaf: Leaf, found: Mapping[int, int]) -> int:
    """Return what a step contributes to a row that it reads, with the labels of the row."""
    algebra, label = adjoint.algebra, adjoint.node.label
    parts = []
    for state, identity in adjoint.steps.states.items():
        if (state.number, state.offset) == leaf and identity in found:
            axes, row = ((label,), *state.axes), ((label,), *adjoint.node.axes[leaf[0]])
            value = found[identity]
            parts.append(value if axes == row else seen_as(algebra, value, axes, row))
    return algebra.as_array(algebra.added(parts), algebra.graph.dtypes[adjoint.steps.rows[leaf[0]]])


def _backwards(
    adjoint: Adjoint, leaves: Sequence[Leaf], steps: Sequence[int], states: Collection[int]
) -> dict[Leaf, Rowed]:
    """Return the rows of the recurrence whose steps are given for indices that go forward; `states` are the
    rows that it reads.
    """
    algebra, graph, node = adjoint.algebra, adjoint.algebra.graph, adjoint.node
    made, inputs = _reversed(algebra, node.label, steps, states)
    starts, axes = [], []
    for leaf in leaves:
        zero = algebra.values.cast(algebra.number(0.0), graph.dtypes[adjoint.steps.rows[leaf[0]]])
        starts.append(((adjoint.starts(leaf[0]) - leaf[1], zero),))
        axes.append(tuple([(label,) for label in adjoint.row(leaf[0])]))
    key = _key(adjoint, leaves)
    inner = Recurrence(key, node.label, tuple(starts), tuple(made), tuple(axes), tuple(inputs))
    number, found = graph.add(inner, (), ""), {}
    for place, (leaf, row) in enumerate(zip(leaves, axes, strict=True)):
        size = starts[place][0][0] + graph.sizes[node.label]
        whole = fresh(algebra, f"{node.label}.back", size, *steps)
        dtype = graph.dtypes[adjoint.steps.rows[leaf[0]]]
        rows: Axes = ((whole,), *row)
        found[leaf] = graph.add(Rows(number, place, rows), flat(rows), dtype), whole
    return found


def _reversed(
    algebra: Algebra, label: str, steps: Sequence[int], states: Collection[int]
) -> tuple[list[int], list[int]]:
    """Return steps that read everything else from the last index to the first, and what they read."""
    graph, moving = algebra.graph, moving_values(algebra.graph, steps, states)
    made: dict[int, int] = {state: state for state in states}
    inputs: set[int] = set()

    def read(value: int) -> int:
        if value not in made and not isinstance(graph.nodes[value], Scalar):
            made[value] = reversed_along(algebra, value, label)
            inputs.add(made[value])
        return made.setdefault(value, value)

    for value in sorted(moving - set(states)):
        for source in sources_of(graph.nodes[value]):
            read(source)
        changed = with_sources(graph.nodes[value], made)
        made[value] = graph.add(changed, graph.labels[value], graph.dtypes[value])
    return [read(step) for step in steps], sorted(inputs)


def _of_starts(
    adjoint: Adjoint, contributions: Mapping[Leaf, Rowed], active: Collection[int]
) -> Iterator[PartialGradient]:
    """Yield the gradients of the rows that a recurrence starts with."""
    graph = adjoint.algebra.graph
    for statement, starts in enumerate(adjoint.node.starts):
        first = 0
        for count, value in starts:
            if value in active:
                every = graph.labels[value]
                own = [label for label in every if label not in flat(adjoint.node.axes[statement])]
                label = own[0] if own else fresh(adjoint.algebra, "_", count, value)
                rows = _rows(adjoint, contributions, statement, (first, label))
                gone = [one for one in (label, *flat(adjoint.node.axes[statement])) if one not in every]
                if rows:
                    total = adjoint.algebra.total([adjoint.algebra.added(rows)], gone)
                    yield PartialGradient(value, total)
            first += count


def _rows(
    adjoint: Adjoint, contributions: Mapping[Leaf, Rowed], statement: int, at: tuple[int, str]
) -> list[int]:
    """Return the parts of the gradient of some rows of a start: the number of the first one, and their
    label.
    """
    algebra, graph, (first, label) = adjoint.algebra, adjoint.algebra.graph, at
    parts = []
    if statement in adjoint.given:
        parts.append(_part(adjoint, statement, first, ((label, 1),)))
    for (own, offset), (rows, whole) in contributions.items():
        if own == statement:
            starts, size = adjoint.starts(statement), graph.sizes[adjoint.node.label]
            few = min(size, starts - offset)
            some, every = (
                fresh(algebra, f"{label}.some", few, rows),
                fresh(algebra, f"{label}.all", starts, rows),
            )
            last = graph.sizes[whole] - 1
            found = window(algebra, rows, (Read(whole, last, ((some, -1),)),))
            labels = tuple([every if one == some else one for one in graph.labels[found]])
            placed = put(algebra, found, labels, (Read(every, offset, ((some, 1),)),))
            parts.append(window(algebra, placed, (Read(every, first, ((label, 1),)),)))
    return parts
