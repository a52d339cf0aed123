"""Forward mode: from what a value is differentiated by to the value, for values with more elements than that.

A tangent is the derivative of a value by each element of an operand. It has some of the labels of its value,
and those of the basis, the elements of the operand. Rules are the same as in reverse mode: the derivative of
a pointwise function is a factor for each element, and what is reduced has the sum of its elements' parts.
Only real values have tangents here: complex ones are differentiated in reverse.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from nameexpr.compiler.analysis.build.placing import read_at
from nameexpr.compiler.gradient.active import Wanted
from nameexpr.compiler.gradient.algebra import Algebra
from nameexpr.compiler.gradient.by_label import tangent_of_place
from nameexpr.compiler.gradient.deltas import renamed, turned, with_basis
from nameexpr.compiler.gradient.factors import fresh, of_running_product, others
from nameexpr.compiler.gradient.pointwise import WHERE, branch_of, factors_of, product_of
from nameexpr.compiler.gradient.positions import origins_of, window
from nameexpr.compiler.gradient.products import kind_of
from nameexpr.compiler.gradient.rules import ALONG, ALONG_FORWARD, EXACT_ONCE, REDUCTIONS, SORTED
from nameexpr.compiler.gradient.views import Found, seen_as
from nameexpr.compiler.ir.axes import Axes, Labels, flat, gathered
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import (
    Along,
    Arrange,
    Drop,
    Gather,
    Identity,
    Join,
    Map,
    Node,
    Place,
    Recurrence,
    Reduction,
    Rows,
    View,
    Window,
    sources_of,
)
from nameexpr.records import field, record, replace

Tangents = dict[int, int]
"""The tangents of values."""


def goes_forward(graph: Graph, value: int, active: Collection[int], labels: Labels) -> bool:
    """Return whether the derivatives of a value by what has these labels are found in forward mode: there are
    more of its elements, all are real, and a walk back would have to keep all pairs of its elements apart.
    """
    if graph.is_for_text:  # which is for any sizes
        return False
    is_real = all(kind_of(graph.dtypes[one]) in {"float", ""} for one in active)
    is_longer = graph.cells(graph.labels[value]) > graph.cells(labels)
    return is_real and is_longer and any(_mixes(graph, one, graph.labels[value]) for one in active)


def _mixes(graph: Graph, number: int, labels: Labels) -> bool:
    """Return whether a delta of some labels does not stay outside of the gradient of a value."""
    match graph.nodes[number]:
        case Map() | View(_, -1) | Identity() | Drop():
            return False
        case Reduction("sum" | "mean", _, summed):
            return not set(labels).isdisjoint(summed)
    return True


def found_forward(
    algebra: Algebra, value: int, active: Collection[int], wanted: Wanted, axes: Axes, number: int
) -> tuple[Found, dict[str, str]]:
    """Return the gradient of a value by one operand or statement, which is seen through `axes`, as a walk in
    reverse mode finds it: with labels for the elements of the value, by its labels.
    """
    graph, values, span = algebra.graph, algebra.values, algebra.span
    inner, seed = with_basis(values, flat(axes), ~number, span)
    algebra.basis = frozenset(inner.values())
    sources = [one for one in active if wanted.holds(graph.nodes[one])]
    tangents = {one: _seed(algebra, one, axes, seed) for one in sources}
    tangent = Push(algebra, active, tangents).run([value])[0]
    basis, _ = with_basis(values, graph.labels[value], number, span)
    gradient = turned(values, algebra.number(0.0) if tangent is None else tangent, inner, basis, span)
    found = Found()
    for one in sources:
        match graph.nodes[one]:
            case View(position):
                found.operands[position] = [(gradient, axes)]
            case Identity():
                found.identities[one] = gradient
    return found, basis


def _seed(algebra: Algebra, source: int, axes: Axes, seed: int) -> int:
    """Return the derivative of a use of an operand by its elements, which are seen through `axes`."""
    node = algebra.graph.nodes[source]
    if isinstance(node, View) and node.axes != axes:
        seed = seen_as(algebra, seed, axes, node.axes)
    return algebra.in_dtype(seed, algebra.graph.dtypes[source])


@record
class Push:
    """A walk from operands to values; `tangents` are those that are known, `rows` those of recurrences by
    statement.
    """

    algebra: Algebra
    active: Collection[int]
    tangents: Tangents
    rows: dict[int, Mapping[int, int]] = field(default_factory=dict)

    def run(self, values: Sequence[int]) -> list[int | None]:
        """Return the tangents of some values, None for those that do not depend on the operands."""
        graph = self.algebra.graph
        for number in sorted(self.active):
            if number not in self.tangents and number <= max(values, default=-1):
                tangent = self._of(number, graph.nodes[number])
                if tangent is not None:
                    self.tangents[number] = self.algebra.in_dtype(tangent, graph.dtypes[number])
        return [self.tangents.get(value) for value in values]

    def _of(self, number: int, node: Node) -> int | None:
        """Return the tangent of a value, given those of its sources."""
        match node:
            case Map():
                return self._of_map(number, node)
            case Reduction():
                return self._of_reduction(number, node)
            case Rows(recurrence, statement):
                return self._rows(recurrence).get(statement)
            case Join():
                return self._of_join(node)
            case Recurrence():
                return None
        source = self.tangents.get(next(iter(sources_of(node)), -1))
        return None if source is None else self._of_one(number, node, source)

    def _of_one(self, number: int, node: Node, source: int) -> int | None:
        """Return the tangent of a value with one source that has a tangent."""
        algebra, graph = self.algebra, self.algebra.graph
        own = graph.labels[source]
        match node:
            case Along():
                return self._of_along(number, node, source)
            case Identity(_, name) if not name:
                return None
            case View(_, array, axes):
                arranged = graph.nodes[array]
                assert isinstance(arranged, Arrange)
                return source if arranged.axes == axes else seen_as(algebra, source, arranged.axes, axes)
            case Window(_, reads):
                return window(algebra, source, tuple([read for read in reads if read.label in own]))
            case Gather(_, positions):
                positions = tuple([position for position in positions if position.label in own])
                places = {position.label: graph.labels[position.value] for position in positions}
                read = Gather(source, positions)
                return graph.add(read, gathered(own, places), graph.dtypes[source]) if positions else source
            case Place():
                return tangent_of_place(algebra, number, node, source)
            case Drop(_, labels):
                here = tuple([label for label in labels if label in own])
                kept = [label for label in own if label not in here]
                return graph.add(Drop(source, here), kept, graph.dtypes[source]) if here else source
        return source

    def _of_map(self, number: int, node: Map) -> int | None:
        algebra, parts = self.algebra, []
        (seen,), read = algebra.seen([number]), replace(node, arguments=algebra.seen(node.arguments))
        for place, argument in enumerate(node.arguments):
            tangent = self.tangents.get(argument)
            if tangent is None or (node.function == WHERE and not place):
                continue
            factors = factors_of(algebra, seen, read, place, tangent)
            if factors is not None:
                value = product_of(algebra, factors)
                if node.function == WHERE:
                    taken = branch_of(algebra, read.arguments[0], place, None)
                    value = algebra.map(WHERE, taken, value, algebra.number(0.0))
                parts.append(value)
        return algebra.added(parts) if parts else None

    def _of_reduction(self, number: int, node: Reduction) -> int | None:
        algebra, read, parts = self.algebra, self.algebra.seen(node.factors), []
        dtype = node.compute or algebra.graph.dtypes[number]
        if node.reducer not in {"sum", "mean"}:
            tangent = self.tangents.get(node.factors[0])
            return None if tangent is None else self._of_reduced(number, node, tangent)
        for place, factor in enumerate(node.factors):
            tangent = self.tangents.get(factor)
            if tangent is not None:
                rest = [one for other, one in enumerate(read) if other != place]
                parts.append(algebra.total([tangent, *rest], node.labels, dtype))
        if not parts:
            return None
        value, count = algebra.added(parts), algebra.graph.cells(node.labels)
        return algebra.map("/.", value, algebra.number(count)) if node.reducer == "mean" else value

    def _of_reduced(self, number: int, node: Reduction, tangent: int) -> int | None:
        algebra, value = self.algebra, self.algebra.seen(node.factors)[0]
        if node.reducer in EXACT_ONCE and algebra.is_again:
            return algebra.total([tangent, others(algebra, value, node.labels)], node.labels)
        count = algebra.number(algebra.graph.cells(node.labels))
        given = {"y": algebra.seen([number])[0], "a": value, "n": count, "g": tangent}
        rule = REDUCTIONS[str(node.reducer)]
        if node.reducer == "median" and algebra.graph.cells(node.labels) == 0:
            return algebra.number(0.0)
        return algebra.total([algebra.rule(rule, given, node.labels)], node.labels) if rule else None

    def _of_along(self, number: int, node: Along, tangent: int) -> int | None:
        algebra, (seen, value) = self.algebra, self.algebra.seen([number, node.value])
        if node.function in SORTED:
            (label,) = node.labels
            other = fresh(algebra, f"{label}.along", algebra.graph.sizes[label], value, tangent)
            order = origins_of(algebra, node.function, seen, replace(node, value=value))
            return read_at(algebra.graph, renamed(algebra.graph, tangent, {label: other}), other, order)
        if node.function in EXACT_ONCE and algebra.is_again:
            return of_running_product(algebra, value, tangent, node.labels[0], is_forward=True)
        rule = ALONG_FORWARD.get(node.function, ALONG[node.function])
        return algebra.rule(rule, {"y": seen, "a": value, "g": tangent}, node.labels) if rule else None

    def _of_join(self, node: Join) -> int | None:
        graph, parts = self.algebra.graph, []
        for value, places in zip(node.values, node.places, strict=True):
            tangent = self.tangents.get(value)
            if tangent is not None:
                parts.append((tangent, places))
        every = dict.fromkeys([label for tangent, _ in parts for label in graph.labels[tangent]])
        labels = (*[label for label in every if label in self.algebra.basis], *node.labels)
        values = tuple([self.algebra.as_array(tangent, node.dtype) for tangent, _ in parts])
        join = Join(values, tuple([places for _, places in parts]), labels, node.dtype)
        return graph.add(join, labels, node.dtype) if parts else None

    def _rows(self, number: int) -> Mapping[int, int]:
        """Return the tangents of the rows of each statement of a recurrence."""
        from nameexpr.compiler.gradient.tangents import rows_forward

        def forward(
            active: Collection[int], known: Mapping[int, int], values: Sequence[int]
        ) -> list[int | None]:
            return Push(self.algebra, active, dict(known)).run(values)

        if number not in self.rows:
            self.rows[number] = rows_forward(self.algebra, number, self.tangents, forward)
        return self.rows[number]
