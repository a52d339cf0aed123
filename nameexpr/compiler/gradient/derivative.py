"""The calls of a formula that are about derivatives: `grad(value, operand[term])` and `stop(value)`.

A gradient is written where it is called, so that later statements, and further gradients, use it like any
other value. All gradients of one value by several operands come from one walk. When the graph is complete,
`nameexpr.compiler.gradient.finished` rewrites it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import TYPE_CHECKING

from nameexpr.compiler.analysis.build.values import StatementValue, Values
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
from nameexpr.compiler.gradient.deltas import with_basis, without_basis
from nameexpr.compiler.gradient.finished import finished
from nameexpr.compiler.gradient.forward import found_forward, goes_forward
from nameexpr.compiler.gradient.orders import differentiated_again
from nameexpr.compiler.gradient.pairs import in_pairs
from nameexpr.compiler.gradient.pointwise import PartialGradient
from nameexpr.compiler.gradient.products import is_inexact, kind_of
from nameexpr.compiler.gradient.views import Found, Seen, fresh_axes, is_plain, seen_as, seen_through
from nameexpr.compiler.gradient.walk import Walk
from nameexpr.compiler.ir.axes import Axes, Labels, Names, expand_ellipsis, flat, gathered
from nameexpr.compiler.ir.dtypes import strong
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Drop, Gather, Identity, Scalar, View, Window, windowed
from nameexpr.compiler.planning.path import Optimize
from nameexpr.errors import error
from nameexpr.records import field, record
from nameexpr.syntax import ast

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.build.formula import FormulaWriter

Numbers = tuple[int, ...]
Walked = tuple[Found, dict[str, str]]
"""What a walk has found, and the labels that it uses for the elements of the value, by the value's labels."""


@record
class Asked:
    """A call of `grad`: the value, and the use by which it is differentiated as `seen`, the value of that
    use.
    """

    node: ast.Call
    value: int
    use: ast.Use
    seen: int


@record(frozen=False)
class Derivatives:
    """Writes the derivatives of one formula.

    `walks` are the gradients that were found of each value.
    """

    scope: Scope
    optimize: Optimize
    walks: dict[tuple[int, Wanted, bool], Walked] = field(default_factory=dict)

    def statement(self, values: Values, name: str | None, value: int, axes: Axes | None) -> int:
        """Return the value of a statement, apart from others if something is differentiated by it; with all
        of its dims, so that no other value is a part of it.
        """
        if name is None or not any(name == use.name for _, use in self._pairs):
            return value
        axes = expand_ellipsis(axes or (), values.graph.labels[value])
        if not is_plain(axes):
            return value
        missing = [label for label in flat(axes) if label in values.graph.sizes]
        algebra = Algebra(values, self.scope.gradients[0].name_span)
        return _identity(values, algebra.spread(value, missing), name)

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
        asked, values = Asked(node, value, use, seen), writer.values
        _check(writer, asked)
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
        use, graph = asked.use, writer.values.graph
        algebra = Algebra(writer.values, asked.node.name_span, is_again=self.is_again(asked.node))
        found, basis = self._found(writer, asked, algebra)
        algebra.basis = frozenset(basis.values())
        statement = writer.statements.get(use.name)
        if statement is not None:
            gradient = algebra.as_array(found.identities[statement.value], graph.strong(statement.value))
            gradient = _by_statement(asked, algebra, statement, gradient)
        else:
            uses: Seen = found.operands[writer.scope.operands.index(use.name)]
            gradient = _by_operand(writer, asked, algebra, uses)
        if basis:
            gradient = without_basis(writer.values, gradient, basis, algebra.span)
        return algebra.spread(gradient, graph.labels[asked.value])

    def _found(self, writer: FormulaWriter, asked: Asked, algebra: Algebra) -> Walked:
        """Return the gradients of a value by all that it is differentiated by in the formula, and the labels
        of the basis in which they are.
        """
        graph, value = writer.values.graph, asked.value
        wanted, needed = self._wanted(writer, asked), ancestors(graph, asked.value)
        alone, key = _wanted_of(writer, [asked.use]), (value, wanted, algebra.is_again)
        try:
            active = active_values(graph, needed, alone)
            if value not in active:
                raise error(
                    faults.without_gradient(writer.scope, asked.node, graph, lost(graph, needed, active))
                )
            if key not in self.walks and not self._walks_back(writer, asked):
                axes = _axes_of(writer, asked, algebra)
                if goes_forward(graph, value, active, flat(axes)):
                    return found_forward(algebra, value, active, alone, axes, len(self.walks))
            if key not in self.walks:
                self.walks[key] = self._walked(algebra, value, active_values(graph, needed, wanted), wanted)
        except UnknownGradientError as unknown:
            raise error(faults.unknown(writer.scope, asked.node, unknown.what, unknown.function)) from None
        return self.walks[key]

    def _walked(self, algebra: Algebra, value: int, active: Collection[int], wanted: Wanted) -> Walked:
        labels, number = algebra.graph.labels[value], len(self.walks)
        basis, seed = with_basis(algebra.values, labels, number, algebra.span)
        algebra.basis = frozenset(basis.values())
        return Walk(algebra, active, wanted).run([PartialGradient(value, seed)]), basis

    def _walks_back(self, writer: FormulaWriter, asked: Asked) -> bool:
        """Return whether the value is differentiated by something that has as many elements as it has, too:
        the walk back from it is then made anyway.
        """
        graph = writer.values.graph
        cells = graph.cells(graph.labels[asked.value])
        return any(_cells_of(writer, use) >= cells for use in self._uses(asked) if use.name != asked.use.name)

    def _uses(self, asked: Asked) -> Sequence[ast.Use]:
        """All uses by which the value is differentiated."""
        return [use for value, use in self._pairs if value == asked.node.arguments[0]]

    def _wanted(self, writer: FormulaWriter, asked: Asked) -> Wanted:
        return _wanted_of(writer, self._uses(asked))


def _cells_of(writer: FormulaWriter, use: ast.Use) -> int:
    """Return the number of elements of what a value is differentiated by."""
    statement, graph = writer.statements.get(use.name), writer.values.graph
    if statement is not None:
        return graph.cells(graph.labels[statement.value])
    return prod(writer.views.operands[use.name].shape) if use.name in writer.views.operands else 0


def _axes_of(writer: FormulaWriter, asked: Asked, algebra: Algebra) -> Axes:
    """Return dims through which each element of what a value is differentiated by is seen once."""
    name, term = asked.use.name, asked.use.term
    statement = writer.statements.get(name)
    if statement is not None:
        return tuple([(label,) for label in algebra.graph.labels[statement.value]])
    axes = writer.views.axes[name, writer.views.default[name] if term is None else term]
    return axes if is_plain(axes) else fresh_axes(algebra, writer.views.operands[name].shape)


def _by_statement(asked: Asked, algebra: Algebra, statement: StatementValue, gradient: int) -> int:
    """Return the gradient of a statement as a use of the statement sees it."""
    graph = algebra.graph
    gradient = algebra.spread(gradient, graph.labels[statement.value])
    axes = statement.axes or tuple([(label,) for label in statement.order])
    if asked.seen == statement.value:
        return gradient
    return _under(algebra, asked.seen, gradient, axes)


def _under(algebra: Algebra, seen: int, gradient: int, axes: Axes) -> int:
    """Return the gradient of an array with some dims as a use of that array sees it."""
    graph, node = algebra.graph, algebra.graph.nodes[seen]
    dtype = graph.strong(gradient)
    match node:
        case View():
            return seen_as(algebra, gradient, axes, node.axes)
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


def _by_operand(writer: FormulaWriter, asked: Asked, algebra: Algebra, uses: Seen) -> int:
    """Return the gradient of an operand as a use of the operand sees it; `uses` are those of all uses."""
    name, term = asked.use.name, asked.use.term
    axes = writer.views.axes[name, writer.views.default[name] if term is None else term]
    shape, dtype = writer.views.operands[name].shape, strong(writer.dtypes[name])
    return writer.read(asked.use, seen_through(algebra, uses, axes, shape, dtype), axes)[0]


def _wanted_of(writer: FormulaWriter, uses: Sequence[ast.Use]) -> Wanted:
    names = {use.name for use in uses}
    floats = {name for name, dtype in writer.dtypes.items() if is_inexact(dtype)}
    positions = [place for place, name in enumerate(writer.scope.operands) if name in names & floats]
    return Wanted(frozenset(positions), frozenset(names & writer.statements.keys()))


def _identity(values: Values, value: int, name: str) -> int:
    """Return a value that derivatives distinguish from others; a value that has none unchanged."""
    graph = values.graph
    if isinstance(graph.nodes[value], Scalar) or not is_inexact(graph.dtypes[value]):
        return value
    made = graph.add(Identity(value, name), graph.labels[value], graph.dtypes[value])
    if value in values.under:
        values.under[made] = values.under[value]
    return made


def _check(writer: FormulaWriter, asked: Asked) -> None:
    """Reject a call whose value or operand can have no gradient."""
    graph, fault = writer.values.graph, faults.GradientFault(writer.scope, asked.node)
    use, statement = asked.use, writer.statements.get(asked.use.name)
    dtype = writer.dtypes[use.name] if statement is None else graph.dtypes[statement.value]
    clash = [label for label in graph.labels[asked.value] if label in graph.labels[asked.seen]]
    if not is_inexact(dtype):
        raise error(fault.not_inexact(use, dtype))
    if statement is not None and not isinstance(graph.nodes[statement.value], Identity):
        raise error(fault.not_differentiable(use, graph.nodes[statement.value]))
    if kind_of(graph.dtypes[asked.value]) == "complex":
        raise error(fault.of_complex())
    if writer.recurring is not None:
        raise error(fault.within_recurrence())
    if clash:
        raise error(fault.same_dims(use, clash))
