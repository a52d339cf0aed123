"""From the syntax tree to the graph: a walk over a formula that checks scopes, with one method per kind of
node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeGuard

from nameexpr.compiler.analysis.build.contractions import reduction, widened
from nameexpr.compiler.analysis.build.values import Arithmetic, StatementValue, Values
from nameexpr.compiler.analysis.faults import values as faults
from nameexpr.compiler.analysis.operands import Views
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.ir.axes import (
    DOTS,
    Axes,
    Labels,
    Names,
    Unnamed,
    expand_ellipsis,
    flat,
    in_order,
    is_under_dots,
    labels_under,
    mentioned,
    only_orders,
)
from nameexpr.compiler.ir.dtypes import WeakDtype, is_castable, strong
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Along, Arrange, View
from nameexpr.errors import Diagnostic, Mark, Span, error
from nameexpr.ops import ALONG, CONSTANTS, GRADIENTS, INDEX, NEED_ELEMENTS, SIZE
from nameexpr.records import field, record, replace
from nameexpr.syntax import ast
from nameexpr.syntax.ast import Dots, Label, Pack
from nameexpr.syntax.walk import reads_a_part

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.build.recurrences import RecurrenceWriter
    from nameexpr.compiler.analysis.build.values import Gradients


def build_formula(
    scope: Scope,
    dtypes: Mapping[str, str],
    views: Views,
    arithmetic: Arithmetic,
    outputs: Sequence[str] | None = None,
    dtype: str = "",
    gradients: Gradients | None = None,
) -> tuple[Graph, tuple[int, ...], tuple[int, ...], tuple[Names, ...]]:
    """Return the graph of a formula, the value of every statement, and the results with their names.

    The results are the last statement, or those named in `outputs`; results and operands are converted to
    `dtype`, unless it is "".
    """
    graph = Graph(views.sizes)
    values = Values(scope.tree, views, arithmetic, graph, gradients=gradients)
    writer = FormulaWriter(scope, dtypes, views, values, dtype)
    statements = [writer.statement(number) for number in range(len(scope.tree.statements))]
    numbers = {statement.name: number for number, statement in enumerate(scope.tree.statements)}
    results = [len(statements) - 1] if outputs is None else [numbers[name] for name in outputs]
    for number in results:
        writer.values.check_is_array(statements[number].value, scope.tree.statements[number].value.span)
        if dtype:
            statements[number] = writer.in_dtype(statements[number], scope.tree.statements[number])
    names: tuple[Names, ...] = ((),) * len(results)
    if any(operand.names is not None for operand in views.operands.values()):
        names = tuple(writer.names(statements[number]) for number in results)
    every = tuple(statement.value for statement in statements)
    return graph, every, tuple(statements[number].arranged for number in results), names


@record(frozen=False)
class FormulaWriter:
    """A walk over the tree; each method returns the number of a value and the labels that are mentioned."""

    scope: Scope
    dtypes: Mapping[str, str]
    views: Views
    values: Values
    dtype: str = ""
    statements: dict[str, StatementValue] = field(default_factory=dict)
    recurring: RecurrenceWriter | None = None

    def statement(self, number: int) -> StatementValue:
        """Write a statement: its value, arranged according to its term."""
        if any(number in group.numbers for group in self.scope.recurrences):
            from nameexpr.compiler.analysis.build.recurrences import rows_of

            return rows_of(self, number)
        statement, axes = self.scope.tree.statements[number], self.views.left[number]
        values, graph = self.values, self.values.graph
        if self.views.readings or self.views.has_unknown or self.scope.has_readings:
            from nameexpr.compiler.analysis.build.positions import learn_sizes

            learn_sizes(values, statement, {name: one.axes for name, one in self.statements.items()})
        joined = self.views.joined
        if axes is not None and joined and not joined.keys().isdisjoint(flat(axes)):
            value, mention = self._joined(statement, axes)
        else:
            value, mention = self.value(statement.value)
        if values.gradients is not None:
            value = values.gradients.statement(values, statement.name, value, axes)
        values.named.add(value)
        if statement.term is None or axes is None:
            order = in_order(mention, graph.labels[value])
            arranged = graph.add(
                Arrange(value, tuple([(label,) for label in order])), order, graph.dtypes[value]
            )
            written = StatementValue(value, order, mention, None, None, arranged)
        else:
            axes = expand_ellipsis(axes, graph.labels[value])
            self.check_left(statement, value, axes)
            value = values.integer(value)
            values.check_is_array(value, statement.value.span)
            order, mention = flat(axes), mentioned(statement.term, axes)
            arranged = graph.add(Arrange(value, axes), order, graph.strong(value))
            if values.gradients is not None:
                arranged = values.gradients.array(values, statement.name, arranged)
            written = StatementValue(value, order, mention, statement.term, axes, arranged)
        if statement.name is not None:
            self.statements[statement.name] = written
        return written

    def _joined(self, statement: ast.Statement, axes: Axes) -> tuple[int, Labels]:
        from nameexpr.compiler.analysis.build.joins import joined

        given = [self.value(node)[0] for node in statement.values]
        return joined(self.values, statement, given, axes), ()

    def in_dtype(self, result: StatementValue, statement: ast.Statement) -> StatementValue:
        """Return a result in the requested dtype (NE610 if that dtype cannot hold it)."""
        graph, arranged = self.values.graph, result.arranged
        dtype, node = graph.dtypes[arranged], graph.nodes[arranged]
        assert isinstance(node, Arrange)
        if dtype == self.dtype:
            return result
        if not is_castable(dtype, self.dtype):
            raise error(faults.not_in_dtype(self.scope.text, statement, dtype, self.dtype))
        value = self.values.cast(node.value, self.dtype)
        arranged = graph.add(Arrange(value, node.axes), graph.labels[arranged], self.dtype)
        return replace(result, arranged=arranged)

    def names(self, statement: StatementValue) -> Names:
        """Return the names of a statement's dims."""
        from nameexpr.compiler.analysis.build.names import names_of

        return names_of(self.values, statement.value, statement.term, statement.order)

    def check_left(self, statement: ast.Statement, value: int, axes: Axes) -> None:
        """Reject dims that would be dropped implicitly, and new dims of unknown size."""
        own = self.values.graph.labels[value]
        kept = {label for labels in axes for label in labels}
        lost = [label for label in own if label not in kept]
        unknown = sorted(label for label in kept - set(own) if label not in self.views.sizes)
        if lost:
            raise error(faults.dropped(self.scope.tree, statement, lost, unknown))
        if unknown:
            raise error(faults.no_size(self.scope.tree, unknown[0], own))

    def value(self, node: ast.Node) -> tuple[int, Labels]:
        """Return the number of a node's value, and its labels in the order of the text."""
        match node:
            case ast.Number(number):
                return self.values.graph.scalar(number), ()
            case ast.Use():
                return self._use(node)
            case ast.Unary(sign, inner):
                return self._map(f".{sign}", (inner,), node.span)
            case ast.Binary(sign, left, right):
                return self._map(f"{sign}.", (left, right), node.operator_span)
            case ast.Call(function, arguments):
                if function in GRADIENTS and self.values.gradients is not None:
                    return self.values.gradients.call(self, node)
                return self._map(function, arguments, node.name_span)
            case ast.CallAlong():
                return self._along(node)

    def _map(self, function: str, arguments: Sequence[ast.Node], span: Span) -> tuple[int, Labels]:
        pairs = [self.value(argument) for argument in arguments]
        value = self.values.map([value for value, _ in pairs], function, span)
        return value, tuple(dict.fromkeys([label for _, order in pairs for label in order]))

    def _use(self, node: ast.Use) -> tuple[int, Labels]:
        if node.name in CONSTANTS:
            return self.values.graph.scalar(CONSTANTS[node.name]), ()
        if node.name in (SIZE, INDEX):
            return self.values.size_or_index(node)
        if self.recurring is not None and node.name in self.recurring.group.names:
            return self.recurring.use(node)
        statement = self.statements.get(node.name)
        if statement is not None:
            return self.earlier(node, statement)
        term = node.term if node.term is not None else self.views.default[node.name]
        axes = self.views.axes[node.name, term]
        position, dtype = self.scope.operands.index(node.name), self.dtypes[node.name]
        value = self.values.graph.add(View(position, -1, axes), flat(axes), dtype)
        value, seen = self.read(node, value, axes)
        if self.dtype not in ("", dtype) and not isinstance(dtype, WeakDtype):
            value = self.values.cast(value, self.dtype)
        names = self.views.operands[node.name].names
        if names is not None:
            pairs = ((group[0], name) for group, name in zip(axes, names, strict=True) if group)
            self.values.under[value] = {label.number: name for label, name in pairs if is_under_dots(label)}
        return value, mentioned(term, seen)

    def read(self, node: ast.Use, value: int, axes: Axes) -> tuple[int, Axes]:
        """Return a value some dims of which are read in parts or at positions, and the axes that it has."""
        if self.views.readings.keys().isdisjoint(flat(axes)):
            return value, axes
        from nameexpr.compiler.analysis.build.positions import read

        return read(self.values, node.name, value, axes, replace(self, dtype="").value)

    def earlier(self, node: ast.Use, statement: StatementValue) -> tuple[int, Labels]:
        """Return the value of an earlier statement under the term of a use."""
        graph = self.values.graph
        term = statement.term if node.term is None else node.term
        if node.term is None or (term == statement.term and not any(map(reads_a_part, node.term.items))):
            if statement.axes is None or only_orders(statement.axes, graph.labels[statement.value]):
                return statement.value, statement.mention
            axes = tuple(
                tuple(label for label in group if not _is_literal(label) or label.size != 1)
                for group in statement.axes
            )
            every = [label for group in axes for label in group]
            if len(set(every)) < len(every) or any(map(_is_literal, every)):
                message = f"the dims of '{node.name}' are ambiguous: a name occurs twice, or is missing"
                hint = f"name its dims where it is used: {node.name}[i j]"
                raise error(Diagnostic("NE523", message, self.scope.text, (Mark(node.span),), hint=hint))
        elif (known := self.views.axes.get((node.name, term))) is not None:  # type: ignore[arg-type]
            axes = known
        else:
            from nameexpr.compiler.analysis.resolve_views import relabelled

            assert statement.axes is not None and term is not None
            shape = tuple(map(graph.cells, statement.axes))
            axes = relabelled(self.scope.text, (node.name, term), shape, self.views)
        assert term is not None
        if node.term is not None and any(one.names is not None for one in self.views.operands.values()):
            from nameexpr.compiler.analysis.build.names import check_aliases

            check_aliases(self.values, node.name, term, statement)
        value = graph.add(View(-1, statement.arranged, axes), flat(axes), graph.dtypes[statement.arranged])
        value, axes = self.read(node, value, axes)
        if any(isinstance(item, Dots) for item in term.items):
            self.values.under[value] = self.values.under.get(statement.value, {})
        return value, mentioned(term, axes) if node.term is not None else statement.mention

    def _along(self, node: ast.CallAlong) -> tuple[int, Labels]:
        values, graph, function, span = self.values, self.values.graph, node.function, node.name_span
        value, mention = self.value(node.arguments[0])
        labels = self._bracket_labels(node, value)
        if function in ALONG:
            if function in ("cumsum", "cumprod"):
                value = widened(values, value, span)
            dtypes = (strong(graph.dtypes[value]),)
            dtype = values.ask(lambda: values.arithmetic.dtype_of(function, dtypes), function, [value], span)
            along = graph.add(Along(function, value, labels), graph.labels[value], dtype)
            values.under[along] = values.under.get(value, {})
            return along, mention
        empty = next((label for label in labels if graph.sizes[label] == 0), None)
        if function in NEED_ELEMENTS and empty is not None:
            raise error(faults.no_elements(self.scope.text, node, empty))
        reduced = reduction(values, function, value, labels, span)
        has_dots = any(isinstance(item, Dots) for item in node.term.items)
        if not has_dots:
            values.under[reduced] = values.under.get(value, {})
        gone = (*labels, DOTS) if has_dots else labels
        return reduced, tuple([label for label in mention if label not in gone])

    def _bracket_labels(self, node: ast.CallAlong, value: int) -> Labels:
        """Return the labels in the brackets, each of which must be in the value (NE241)."""
        own = self.values.graph.labels[value]
        labels: list[str] = []
        for item in node.term.items:
            assert isinstance(item, Label | Dots | Pack)  # the rules ensure that
            word = item.name if isinstance(item, Label) else item.word
            if not isinstance(item, Label):
                labels += labels_under(word, own)
            elif word in own:
                labels.append(word)
            if word not in (own if isinstance(item, Label) else self.views.packs):
                raise error(faults.foreign(self.scope.tree, node, item.span, word, own))
        return tuple(labels)


def _is_literal(label: str) -> TypeGuard[Unnamed]:
    return isinstance(label, Unnamed) and label.is_literal
