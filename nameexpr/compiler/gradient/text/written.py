"""A formula with its derivatives written out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from nameexpr.compiler.analysis.build.formula import FormulaWriter
from nameexpr.compiler.analysis.build.values import Arithmetic, StatementValue, Values
from nameexpr.compiler.analysis.operands import Views
from nameexpr.compiler.analysis.recurrences import StepGroup
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.gradient.derivative import Derivatives
from nameexpr.compiler.gradient.text.labels import LabelNames, NotWritableError, fresh
from nameexpr.compiler.gradient.text.numbering import numbered
from nameexpr.compiler.gradient.text.orders import ordered
from nameexpr.compiler.gradient.text.reading import ReadingWriter
from nameexpr.compiler.gradient.text.sized import KnownSizes
from nameexpr.compiler.ir.axes import Axes, Labels
from nameexpr.compiler.ir.dtypes import WEAK
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import SizeOf, View
from nameexpr.syntax import ast, walk


class TextGraph(Graph):
    """A graph that is written as text: sizes stay sizes, and products stay as they are."""

    __slots__ = ()
    is_for_text = True

    def count(self, labels: Labels) -> int:
        """Return the value that is the number of elements that labels span."""
        return self.add(SizeOf(labels), (), WEAK[int])


class WholeDerivatives(Derivatives):
    """Writes derivatives without taking contractions apart into pairs."""

    __slots__ = ()

    def is_again(self, call: ast.Call) -> bool:
        """Return True: a text can be differentiated."""
        return True

    def pairs(self, values: Values, value: int) -> int:
        """Return a contraction as it is."""
        return value


class TextWriter(FormulaWriter):
    """A walk over a formula that is written again; `reads` are the uses whose dims are read in parts or at
    positions.
    """

    __slots__ = ("reads",)
    reads: dict[int, ast.Use]

    def read(self, node: ast.Use, value: int, axes: Axes) -> tuple[int, Axes]:
        """Return a value some dims of which are read, and remember how the text has it."""
        found, seen = super().read(node, value, axes)
        if found != value and self._is_written(node, value):
            self.reads.setdefault(found, node)
        return found, seen

    def _is_written(self, node: ast.Use, value: int) -> bool:
        """Return whether a value is what a name of the text is, and not the gradient by it."""
        match self.values.graph.nodes[value]:
            case View(position, -1):
                return self.scope.operands[position] == node.name
            case View(_, source):
                known = self.statements.get(node.name)
                return known is not None and known.arranged == source
        return False


def written_out(
    scope: Scope, dtypes: Mapping[str, str], views: Views, arithmetic: Arithmetic, sizes: Collection[str] = ()
) -> ast.Formula:
    """Return a formula whose values are those of `scope`, without calls of `grad`; the sizes of the labels
    `sizes` are given with the operands.

    Raises `NotWritableError` if the language has no text for a value.
    """
    graph = TextGraph(views.sizes)
    values = Values(scope.tree, views, arithmetic, graph, gradients=WholeDerivatives(scope, None))
    writer = TextWriter(scope, dtypes, views, values)
    writer.reads = {}
    found = [writer.statement(number) for number in range(len(scope.tree.statements))]
    sized = {one.name: one.size for one in walk.atoms_of(ast.Sized, walk.terms_in(scope.tree))}
    dims = {name: one.names for name, one in views.operands.items() if one.names is not None}
    names = LabelNames(walk.labels_in(*walk.terms_in(scope.tree)), graph.sizes, bool(dims), sized)
    taken = {*scope.uses, *[one.name for one in scope.tree.statements if one.name]}
    statements = ReadingWriter(graph, names, _operands(scope, views), writer.reads, dims)
    _write(scope, views, statements, found)
    uses = [ast.Use(name, term) for name, term in views.axes if name in scope.uses]
    own = {node for node in walk.nodes_of(scope.tree.statements) if isinstance(node, ast.Use)}
    determined = KnownSizes(names.sizes_by_name(), {*sizes, *sized}, uses, statements.fresh, own)
    orders = {
        one.name or "": names.term(value.order)
        for one, value in zip(scope.tree.statements, found, strict=True)
        if one.term is None
    }
    every = determined.determined(ordered(statements.statements, orders, fresh("value", taken)))
    return ast.Formula(tuple(numbered(every, statements.new, taken)))


def _write(scope: Scope, views: Views, statements: ReadingWriter, found: Sequence[StatementValue]) -> None:
    """Write all statements of a formula: recurrences, and dims of parts, as they are, if they have no
    derivatives.
    """
    stepwise = {number: group for group in scope.recurrences for number in group.numbers}
    joined = {number for number in range(len(found)) if _is_joined(views, number)}
    again = {number for group in scope.recurrences if _derives(scope, group) for number in group.numbers}
    kept = {number for number in stepwise.keys() | joined if number not in again}
    statements.count([statements.base(one.value) for number, one in enumerate(found) if number not in kept])
    for number, (statement, value) in enumerate(zip(scope.tree.statements, found, strict=True)):
        if number in again:
            if number == stepwise[number].numbers[0]:
                own = [(scope.tree.statements[one], found[one]) for one in stepwise[number].numbers]
                statements.write_steps(own)
        elif number in kept:
            if any(_is_derivative(node) for node in walk.nodes_of([statement])):
                raise NotWritableError(f"'{statement.name}' has a derivative in its parts")
            statements.keep(statement, value)
        else:
            statements.write(statement, value)


def _derives(scope: Scope, group: StepGroup) -> bool:
    """Return whether the steps of a recurrence have derivatives."""
    return any(map(_is_derivative, walk.nodes_of([scope.tree.statements[one] for one in group.numbers])))


def _is_derivative(node: ast.Node) -> bool:
    return isinstance(node, ast.Call) and node.function == "grad"


def _is_joined(views: Views, number: int) -> bool:
    axes = views.left[number]
    return axes is not None and any(label in views.joined for labels in axes for label in labels)


def _operands(scope: Scope, views: Views) -> dict[tuple[int, Axes], ast.Use]:
    """Return the uses of operands by position and labels; with no labels the name alone."""
    found: dict[tuple[int, Axes], ast.Use] = {}
    for (name, term), axes in views.axes.items():
        if name in scope.uses:
            position = scope.operands.index(name)
            found.setdefault((position, ()), ast.Use(name, None))
            if axes:
                found.setdefault((position, axes), ast.Use(name, term))
    return found
