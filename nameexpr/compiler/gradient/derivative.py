"""The calls of a formula that are about derivatives: `grad(value, operand[term])` and `stop(value)`.

A gradient is written where it is called, so that later statements, and further gradients, use it like any
other value. All gradients of one value by several operands come from one walk. When the graph is complete,
`nameexpr.compiler.gradient.finished` rewrites it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from nameexpr.compiler.analysis.build.values import Values
from nameexpr.compiler.analysis.faults import gradients as faults
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.gradient.active import (
    UnknownGradientError,
    Wanted,
    active_values,
    ancestors,
    lost,
)
from nameexpr.compiler.gradient.algebra import Algebra
from nameexpr.compiler.gradient.asked import Asked, Computed, asked_in, axes_of, cells_of, check, wanted_of
from nameexpr.compiler.gradient.deltas import with_basis, without_basis
from nameexpr.compiler.gradient.finished import finished
from nameexpr.compiler.gradient.forward import found_forward, goes_forward
from nameexpr.compiler.gradient.inside import axes_of_rows, draft, name_in_step
from nameexpr.compiler.gradient.orders import differentiated_again
from nameexpr.compiler.gradient.pairs import in_pairs
from nameexpr.compiler.gradient.pointwise import PartialGradient
from nameexpr.compiler.gradient.products import is_inexact
from nameexpr.compiler.gradient.views import Found, fresh_axes, is_plain, seen_as, seen_through
from nameexpr.compiler.gradient.walk import Walk
from nameexpr.compiler.ir.axes import Axes, Labels, Names, expand_ellipsis, flat, gathered
from nameexpr.compiler.ir.dtypes import strong
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import (
    Arrange,
    Drop,
    Gather,
    Identity,
    Scalar,
    State,
    View,
    Window,
    windowed,
)
from nameexpr.compiler.planning.path import Optimize
from nameexpr.errors import error
from nameexpr.records import field, record
from nameexpr.syntax import ast

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.build.formula import FormulaWriter

Numbers = tuple[int, ...]
Walked = tuple[Found, dict[str, str]]
"""What a walk has found, and the labels that it uses for the elements of the value, by the value's labels."""


@record(frozen=False)
class Derivatives:
    """Writes the derivatives of one formula.

    `walks` are the gradients that were found of each value, `arrays` the statements that have a dim twice.
    """

    scope: Scope
    optimize: Optimize
    walks: dict[tuple[int, Wanted, bool], Walked] = field(default_factory=dict)
    arrays: dict[str, Computed] = field(default_factory=dict)

    def statement(
        self, values: Values, name: str | None, value: int, axes: Axes | None, *, in_step: bool = False
    ) -> int:
        """Return the value of a statement, or of one step of it, apart from others if something is
        differentiated by it; with all of its dims, so that no other value is a part of it.
        """
        if name is None or not any(name == use.name for _, use in self._pairs):
            return value
        axes = expand_ellipsis(axes or (), values.graph.labels[value])
        if not is_plain(axes):  # its array is distinguished
            return value
        missing = [label for label in flat(axes) if label in values.graph.sizes]
        algebra = Algebra(values, self.scope.gradients[0].name_span)
        return _identity(values, algebra.spread(value, missing), name_in_step(name) if in_step else name)

    def array(self, values: Values, name: str | None, arranged: int) -> int:
        """Return the array of a statement, apart from others if something is differentiated by it, and it has
        a dim twice: its elements are then not those of the value.
        """
        graph = values.graph
        node = graph.nodes[arranged]
        assert isinstance(node, Arrange)
        if is_plain(node.axes) or not any(name == use.name for _, use in self._pairs):
            return arranged
        algebra = Algebra(values, self.scope.gradients[0].name_span)
        axes = fresh_axes(algebra, [graph.cells(labels) for labels in node.axes])
        dtype = graph.dtypes[arranged]
        value = _identity(values, graph.add(View(-1, arranged, axes), flat(axes), dtype), name or "")
        self.arrays[name or ""] = Computed(value, axes)
        return graph.add(Arrange(value, axes), flat(axes), dtype)

    def pairs(self, values: Values, value: int) -> int:
        """Return a contraction as contractions of pairs."""
        return in_pairs(values.graph, value, self.optimize)

    def is_again(self, call: ast.Call) -> bool:
        """Return whether a gradient is differentiated again."""
        return differentiated_again(self.scope, call.arguments[0])

    def call(self, writer: FormulaWriter, node: ast.Call) -> tuple[int, Labels]:
        """Return the value of `grad(...)` or `stop(...)`, and the labels that it mentions."""
        value, mention = writer.value(node.arguments[0])
        if node.function == "stop":
            return _identity(writer.values, value, ""), mention
        use = node.arguments[1]
        assert isinstance(use, ast.Use)
        seen, order = writer.value(use)
        if writer.recurring is not None and writer.recurring.is_draft:
            return draft(writer.values.graph, value, seen), (*mention, *order)
        asked, values = asked_in(writer, node, (value, seen), self.arrays), writer.values
        check(writer, asked)
        result = self._gradient(writer, asked)
        under = {**values.under.get(value, {}), **values.under.get(seen, {})}
        if under:
            values.under[result] = under
        return result, (*mention, *order)

    def finished(
        self, graph: Graph, statements: Numbers, results: Numbers, names: tuple[Names, ...]
    ) -> tuple[Graph, Numbers, Numbers, tuple[Names, ...]]:
        """Return a complete graph, its statements and its results as they are computed fastest."""
        numbers = finished(graph, statements, results, self.optimize)
        statements, results = (tuple([numbers[one] for one in every]) for every in (statements, results))
        return graph, statements, results, names

    @property
    def _pairs(self) -> Sequence[tuple[ast.Node, ast.Use]]:
        """What is differentiated by what."""
        calls = [call.arguments for call in self.scope.gradients if call.function == "grad"]
        return [(value, use) for value, use in calls if isinstance(use, ast.Use)]

    def _gradient(self, writer: FormulaWriter, asked: Asked) -> int:
        graph = writer.values.graph
        algebra = Algebra(writer.values, asked.node.name_span, is_again=self.is_again(asked.node))
        found, basis = self._found(writer, asked, algebra)
        algebra.basis = frozenset(basis.values())
        if not _has_arrived(writer, asked, found):
            raise error(faults.without_gradient(writer.scope, asked.node, graph, ()))
        if asked.array is not None:
            gradient = _by_array(asked, algebra, asked.array, found)
        elif asked.state is not None:
            gradient = _by_rows(asked, algebra, asked.state, found)
        else:
            gradient = _by_operand(writer, asked, algebra, found)
        if basis:
            gradient = without_basis(writer.values, gradient, basis, algebra.span)
        return algebra.spread(gradient, graph.labels[asked.value])

    def _found(self, writer: FormulaWriter, asked: Asked, algebra: Algebra) -> Walked:
        """Return the gradients of a value by all that it is differentiated by in the formula, and the labels
        of the basis in which they are.
        """
        graph, value = writer.values.graph, asked.value
        wanted, needed = self._wanted(writer, asked), ancestors(graph, asked.value)
        alone, key = wanted_of(writer, asked, [asked.use]), (value, wanted, algebra.is_again)
        try:
            active = active_values(graph, needed, alone)
            if value not in active:
                raise error(
                    faults.without_gradient(writer.scope, asked.node, graph, lost(graph, needed, active))
                )
            if not asked.step and key not in self.walks and not self._walks_back(writer, asked):
                axes = axes_of(writer, asked, algebra)
                if goes_forward(graph, value, active, flat(axes)):
                    return found_forward(algebra, value, active, alone, axes, len(self.walks))
            if key not in self.walks:
                active = active_values(graph, needed, wanted)
                self.walks[key] = self._walked(algebra, asked, active, wanted)
        except UnknownGradientError as unknown:
            raise error(faults.unknown(writer.scope, asked.node, unknown.what, unknown.function)) from None
        return self.walks[key]

    def _walked(self, algebra: Algebra, asked: Asked, active: Collection[int], wanted: Wanted) -> Walked:
        labels = tuple([label for label in algebra.graph.labels[asked.value] if label != asked.step])
        basis, seed = with_basis(algebra.values, labels, len(self.walks), algebra.span)
        algebra.basis = frozenset(basis.values())
        return Walk(algebra, active, wanted).run([PartialGradient(asked.value, seed)]), basis

    def _walks_back(self, writer: FormulaWriter, asked: Asked) -> bool:
        """Return whether the value is differentiated by something that has as many elements as it has, too:
        the walk back from it is then made anyway.
        """
        graph = writer.values.graph
        cells = graph.cells(graph.labels[asked.value])
        return any(cells_of(writer, use) >= cells for use in self._uses(asked) if use.name != asked.use.name)

    def _uses(self, asked: Asked) -> Sequence[ast.Use]:
        """All uses by which the value is differentiated."""
        return [use for value, use in self._pairs if value == asked.node.arguments[0]]

    def _wanted(self, writer: FormulaWriter, asked: Asked) -> Wanted:
        return wanted_of(writer, asked, self._uses(asked))


def _has_arrived(writer: FormulaWriter, asked: Asked, found: Found) -> bool:
    """Return whether a walk has found a gradient: a step may compute what no later row depends on."""
    if asked.array is not None:
        return asked.array.identity in found.identities
    if asked.state is not None:
        return (asked.state.number, asked.state.offset) in found.rows
    return writer.scope.operands.index(asked.use.name) in found.operands


def _by_array(asked: Asked, algebra: Algebra, array: Computed, found: Found) -> int:
    """Return the gradient of a statement as a use of the statement sees it."""
    graph, value = algebra.graph, array.identity
    gradient = algebra.as_array(found.identities[value], graph.strong(value))
    gradient = algebra.spread(gradient, graph.labels[value])
    return gradient if asked.seen == value else _under(algebra, asked.seen, gradient, array.axes)


def _by_rows(asked: Asked, algebra: Algebra, state: State, found: Found) -> int:
    """Return the gradient of the rows that steps read as a use of these rows sees it."""
    graph, axes = algebra.graph, axes_of_rows(algebra.graph, state)
    uses, shape = found.rows[state.number, state.offset], tuple(map(graph.cells, axes))
    gradient = seen_through(algebra, uses, axes, shape, graph.strong(asked.seen))
    return _under(algebra, asked.seen, gradient, axes)


def _under(algebra: Algebra, seen: int, gradient: int, axes: Axes) -> int:
    """Return the gradient of an array with some dims as a use of that array sees it."""
    graph, node = algebra.graph, algebra.graph.nodes[seen]
    dtype = graph.strong(gradient)
    match node:
        case View():
            return seen_as(algebra, gradient, axes, node.axes)
        case State():
            return seen_as(algebra, gradient, axes, ((node.label,), *node.axes))
        case Window(value, reads):
            inner = _under(algebra, value, gradient, axes)
            return graph.add(Window(inner, reads), windowed(graph.labels[inner], reads), dtype)
        case Gather(value, positions):
            inner = _under(algebra, value, gradient, axes)
            places = {position.label: graph.labels[position.value] for position in positions}
            return graph.add(Gather(inner, positions), gathered(graph.labels[inner], places), dtype)
        case Drop(value, labels):
            inner = _under(algebra, value, gradient, axes)
            kept = [label for label in graph.labels[inner] if label not in labels]
            return graph.add(Drop(inner, labels), kept, dtype)
    raise AssertionError(node)


def _by_operand(writer: FormulaWriter, asked: Asked, algebra: Algebra, found: Found) -> int:
    """Return the gradient of an operand as a use of the operand sees it."""
    name, term = asked.use.name, asked.use.term
    axes = writer.views.axes[name, writer.views.default[name] if term is None else term]
    shape, dtype = writer.views.operands[name].shape, strong(writer.dtypes[name])
    uses = found.operands[writer.scope.operands.index(name)]
    return writer.read(asked.use, seen_through(algebra, uses, axes, shape, dtype), axes)[0]


def _identity(values: Values, value: int, name: str) -> int:
    """Return a value that derivatives distinguish from others; a value that has none unchanged."""
    graph = values.graph
    if isinstance(graph.nodes[value], Scalar) or not is_inexact(graph.dtypes[value]):
        return value
    made = graph.add(Identity(value, name), graph.labels[value], graph.dtypes[value])
    if value in values.under:
        values.under[made] = values.under[value]
    return made
