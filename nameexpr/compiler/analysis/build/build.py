"""Syntax tree to graph: every value gets its labels and its dtype; scopes are checked on the way.

Numbers, and what is computed from numbers alone, stay weak: they take the dtype of the arrays that they meet,
as in NumPy. What they are is found here, once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from nameexpr.compiler.analysis.build.brackets import bound_labels, check_elements
from nameexpr.compiler.analysis.build.broadcast import broadcast, unify_under
from nameexpr.compiler.analysis.build.numbers import (
    POWERS,
    check_is_array,
    folded,
    held,
    integer,
    integers,
    may_be_fraction,
)
from nameexpr.compiler.analysis.faults import build as faults
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.result_names import result_names
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.analysis.views import Views, relabelled
from nameexpr.compiler.ir.axes import Axes, Names
from nameexpr.compiler.ir.dots import (
    Under,
    in_order,
    is_dots,
    mentioned,
    own_dots,
    position_of,
    without,
)
from nameexpr.compiler.ir.graph import STRONG, WEAK, Along, Arrange, Graph, Index, Labels, Map, Scalar, View
from nameexpr.compiler.passes.contractions import reduction, widened
from nameexpr.errors import Diagnostic, Mark, Span, did_you_mean, error
from nameexpr.ops import ALONG, CONSTANTS, FUNCTIONS, INDEX, SIZE
from nameexpr.syntax.ast import (
    Binary,
    Call,
    CallAlong,
    Dots,
    Label,
    Node,
    Number,
    Statement,
    Term,
    Unary,
    Use,
)

T = TypeVar("T")


class Arithmetic(Protocol):
    """What the compiler must be told of the arrays' library: it knows no dtypes but by name."""

    def dtype_of(self, kernel: str, dtypes: Sequence[str]) -> str:
        """Return the dtype that a pointwise function gives for these; TypeError if there is none."""

    def fold(self, kernel: str, numbers: Sequence[int | float | complex]) -> int | float | complex:
        """Return what a pointwise function gives for numbers, as a number."""

    def reduced(self, reducer: str, dtypes: Sequence[str]) -> str:
        """Return the dtype of a product of arrays of these dtypes after a reduction; TypeError if none."""

    def promoted(self, dtypes: Sequence[str]) -> str:
        """Return the dtype of a product of arrays of these dtypes."""


@dataclass(frozen=True, slots=True)
class Bound:
    """An earlier statement: its value, its labels in order, and its term with the axes that this has."""

    value: int
    order: Labels
    mention: Labels
    term: Term | None
    axes: Axes | None
    arranged: int


def build_formula(
    scope: Scope,
    operands: Mapping[str, Operand],
    dtypes: Mapping[str, str],
    views: Views,
    arithmetic: Arithmetic,
    graph: Graph,
    outputs: Sequence[str] | None = None,
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[Names, ...]]:
    """Write a formula into a graph; return the value of every statement, and the results with their names.

    The last statement is the result, unless `outputs` names others.
    """
    build = Builder(scope, operands, dtypes, views, arithmetic, graph)
    bounds = []
    for statement, axes in zip(scope.tree.statements, views.left, strict=True):
        bounds.append(build.statement(statement, axes))
        if statement.name is not None:
            build.statements[statement.name] = bounds[-1]
    numbers = {statement.name: number for number, statement in enumerate(scope.tree.statements)}
    results = [len(bounds) - 1] if outputs is None else [numbers[name] for name in outputs]
    for number in results:
        check_is_array(build, bounds[number].value, scope.tree.statements[number].value.span)
    names: tuple[Names, ...] = ((),) * len(results)
    if any(operand.names is not None for operand in operands.values()):
        names = tuple(build.names(bounds[number]) for number in results)
    values = tuple(bound.value for bound in bounds)
    return values, tuple(bounds[number].arranged for number in results), names


@dataclass
class Builder:
    """Walks the tree; one method per kind of node, each returns a value's number and the labels mentioned.

    `named` are the values of statements, `unsure` those numbers that are integers for most operands only.
    """

    scope: Scope
    operands: Mapping[str, Operand]
    dtypes: Mapping[str, str]
    views: Views
    arithmetic: Arithmetic
    graph: Graph
    statements: dict[str, Bound] = field(default_factory=dict)
    named: set[int] = field(default_factory=set)
    unsure: set[int] = field(default_factory=set)
    under: dict[int, Under] = field(default_factory=dict)
    parts_again: int = 0

    @property
    def text(self) -> str:
        """The formula."""
        return self.scope.tree.text

    def statement(self, statement: Statement, axes: Axes | None) -> Bound:
        """Return a statement's value, arranged as its term says."""
        value, mention = self.value(statement.value)
        self.named.add(value)
        if statement.term is None or axes is None:
            order = in_order(mention, self.graph.labels[value])
            arranged = self.graph.add(
                Arrange(value, tuple((label,) for label in order)), order, self.graph.dtypes[value]
            )
            return Bound(value, order, mention, None, None, arranged)
        axes = own_dots(axes, self.graph.labels[value])
        self._check_left(statement, value, axes)
        flat = tuple(dict.fromkeys(label for labels in axes for label in labels))
        value = integer(self, value)
        check_is_array(self, value, statement.value.span)
        arranged = self.graph.add(Arrange(value, axes), flat, self.graph.strong(value))
        return Bound(value, flat, mentioned(statement.term, axes), statement.term, axes, arranged)

    def names(self, bound: Bound) -> Names:
        """Return the names of a statement's dims."""
        under = self.under.get(bound.value, {})
        return result_names(bound.term, bound.order, bound.axes or (), self.views.under, under, self.text)

    def _check_left(self, statement: Statement, value: int, axes: Axes) -> None:
        """Refuse dims that would be dropped in silence, and new ones whose size nobody knows."""
        own = self.graph.labels[value]
        flat = {label for labels in axes for label in labels}
        lost = [label for label in own if label not in flat]
        unknown = sorted(label for label in flat - set(own) if label not in self.views.sizes)
        if lost:
            raise error(faults.dropped(self.scope.tree, statement, lost, unknown))
        if unknown:
            raise error(faults.no_size(self.scope.tree, unknown[0], own))

    def value(self, node: Node) -> tuple[int, Labels]:
        """Return the number of a node's value, and its labels in the order of the text."""
        match node:
            case Number(number):
                return self._number(number), ()
            case Use():
                return self._use(node)
            case Unary(sign, inner):
                return self._map(f".{sign}", (inner,), node.span)
            case Binary(sign, left, right):
                return self._map(f"{sign}.", (left, right), node.operator_span)
            case Call(function, arguments):
                return self._map(function, arguments, node.name_span)
            case CallAlong():
                return self._along(node)

    def _number(self, number: int | float | complex) -> int:
        value = self.graph.scalar(number)
        self.graph.dtypes[value] = WEAK + type(number).__name__
        return value

    def _use(self, node: Use) -> tuple[int, Labels]:
        if node.name in CONSTANTS:
            return self._number(CONSTANTS[node.name]), ()
        if node.name in (SIZE, INDEX):
            return self._size_or_index(node)
        bound = self.statements.get(node.name)
        if bound is not None:
            return self._earlier(node, bound)
        term = node.term if node.term is not None else self.views.default[node.name]
        axes = self.views.axes[node.name, term]
        labels = tuple(dict.fromkeys(label for group in axes for label in group))
        position = self.scope.operands.index(node.name)
        value = self.graph.add(View(position, -1, axes), labels, self.dtypes[node.name])
        names = self.operands[node.name].names
        if names is not None:
            self.under[value] = {
                position_of(group[0]): name
                for group, name in zip(axes, names, strict=True)
                if group and is_dots(group[0])
            }
        return value, mentioned(term, axes)

    def _size_or_index(self, node: Use) -> tuple[int, Labels]:
        assert node.term is not None
        (item,) = node.term.items
        assert isinstance(item, Label)
        size = self.views.sizes.get(item.name)
        if size is None:
            hint = did_you_mean(item.name, [k for k in self.views.sizes if "@" not in k and "..." not in k])
            hint = hint or "no operand has a dim of this label; sizes={...} gives a size"
            message = f"the size of '{item.name}' is not known"
            raise error(Diagnostic("NE313", message, self.text, (Mark(item.span),), hint=hint))
        if node.name == SIZE:
            return self._number(size), ()
        return self.graph.add(Index(item.name), (item.name,), "int64"), (item.name,)

    def _earlier(self, node: Use, bound: Bound) -> tuple[int, Labels]:
        if node.term is None or node.term == bound.term:
            if bound.axes is None or _is_plain(bound.axes, self.graph.labels[bound.value]):
                return bound.value, bound.mention
            axes = tuple(
                tuple(label for label in group if not label.startswith("1@")) for group in bound.axes
            )
            flat = [label for group in axes for label in group]
            if len(set(flat)) < len(flat) or any("@out" in label for label in flat):
                return self._unclear(node)
        else:
            assert bound.axes is not None
            shape = tuple(self.graph.cells(labels) for labels in bound.axes)
            seen = {view: self.operands[view[0]] for view in self.views.terms}
            axes = relabelled(self.text, node.name, node.term, shape, self.views.sizes, seen)
        labels = tuple(dict.fromkeys(label for group in axes for label in group))
        term = node.term or bound.term
        assert term is not None
        value = self.graph.add(View(-1, bound.arranged, axes), labels, self.graph.dtypes[bound.arranged])
        if any(isinstance(item, Dots) for item in term.items):
            self.under[value] = self.under.get(bound.value, {})
        return value, mentioned(term, axes) if node.term is not None else bound.mention

    def _unclear(self, node: Use) -> tuple[int, Labels]:
        message = f"'{node.name}' has a dim twice, or one without a name: which dims are meant?"
        hint = f"name its dims where it is used: {node.name}[i j]"
        raise error(Diagnostic("NE523", message, self.text, (Mark(node.span),), hint=hint))

    def _map(self, function: str, arguments: Sequence[Node], span: Span) -> tuple[int, Labels]:
        pairs = [self.value(argument) for argument in arguments]
        made = self.map([value for value, _ in pairs], function, span)
        return made, tuple(dict.fromkeys(label for _, order in pairs for label in order))

    def map(self, values: Sequence[int], function: str, span: Span) -> int:
        """Return a pointwise function of values: folded where all of them are numbers of the text."""
        graph = self.graph
        values = broadcast(self, values, span)
        nodes = [graph.nodes[value] for value in values]
        kernel = FUNCTIONS[function].kernel
        if all(isinstance(node, Scalar) for node in nodes):
            return self._number(folded(self, function, values, span))
        if function in POWERS and _is_square(graph, values):
            return self.map(values[:1], "square", span)
        dtypes = [graph.dtypes[value] for value in values]
        dtype = self.told(lambda: self.arithmetic.dtype_of(kernel, dtypes), function, values, span)
        values = integers(self, kernel, values, dtype)
        if function == "where":
            values = [values[0], *(held(self, value, dtype, span) for value in values[1:])]
        labels = tuple(dict.fromkeys(label for value in values for label in graph.labels[value]))
        made = graph.add(Map(function, tuple(values)), labels, dtype)
        graph.spans.setdefault(made, span)
        if dtype == "weak:int" and may_be_fraction(self, function, values):
            self.unsure.add(made)
        unify_under(self, made, values, span)
        return made

    def told(self, ask: Callable[[], T], function: str, values: Sequence[int], span: Span) -> T:
        """Return what the arrays' library answers, or say that it knows no such function of these (NE524)."""
        try:
            return ask()
        except (TypeError, ValueError) as refused:
            dtypes = [self.graph.dtypes[value] for value in values]
            raise error(faults.undefined(self.text, function, dtypes, span)) from refused

    def cast(self, value: int, dtype: str) -> int:
        """Return a value in another dtype."""
        return self.graph.add(Map(f"cast:{dtype}", (value,)), self.graph.labels[value], dtype)

    def reduced_dtype(self, reducer: str, factors: Sequence[int], span: Span) -> str:
        """Return the dtype of a reduction of the product of some values."""
        dtypes = [self.graph.dtypes[factor] for factor in factors]
        return self.told(lambda: self.arithmetic.reduced(reducer, dtypes), reducer, factors, span)

    def _along(self, node: CallAlong) -> tuple[int, Labels]:
        value, mention = self.value(node.arguments[0])
        labels = bound_labels(self, node, value)
        if node.function in ALONG:
            if node.function in ("cumsum", "cumprod"):
                value = widened(self, value, node.name_span)
            dtype = self._along_dtype(node, value)
            made = self.graph.add(Along(node.function, value, labels), self.graph.labels[value], dtype)
            self.under[made] = self.under.get(value, {})
            return made, mention
        check_elements(self, node, labels)
        made = reduction(self, node.function, value, labels, node.name_span)
        has_dots = any(isinstance(item, Dots) for item in node.term.items)
        if not has_dots:
            self.under[made] = self.under.get(value, {})
        return made, without(mention, labels, has_dots=has_dots)

    def _along_dtype(self, node: CallAlong, value: int) -> str:
        dtype = STRONG.get(self.graph.dtypes[value], self.graph.dtypes[value])
        return self.told(
            lambda: self.arithmetic.dtype_of(node.function, [dtype]),
            node.function,
            [value],
            node.name_span,
        )


def _is_plain(axes: Axes, labels: Labels) -> bool:
    """Whether a term only orders the dims that the value has."""
    flat = [label for group in axes for label in group]
    return len(flat) == len(set(flat)) and all(label in labels for label in flat)


def _is_square(graph: Graph, values: Sequence[int]) -> bool:
    """Whether a power is that of 2 of numbers which have a square of their own dtype: it is quicker."""
    node, dtype = graph.nodes[values[1]], graph.dtypes[values[0]]
    return (
        isinstance(node, Scalar)
        and (node.kind, node.value) == ("int", 2)
        and dtype not in {"bool", "weak:bool"}
    )
