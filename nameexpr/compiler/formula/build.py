"""Syntax tree to graph: every value gets its labels and its dtype; scopes are checked on the way.

Numbers, and what is computed from numbers alone, stay weak: they take the dtype of the arrays that they meet,
as in NumPy. What they are is found here, once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from nameexpr.compiler.formula.dots import (
    Under,
    in_order,
    is_dots,
    mentioned,
    own_dots,
    place_of,
    without,
)
from nameexpr.compiler.formula.dots import number_of as number_of_dim
from nameexpr.compiler.formula.extract import reduction, widened
from nameexpr.compiler.formula.functions import ALONG, CONSTANTS, FUNCTIONS, INDEX, SIZE
from nameexpr.compiler.formula.graph import Along as AlongNode
from nameexpr.compiler.formula.graph import Arrange, Drop, Graph, Index, Labels, Map, Scalar, View, number_of
from nameexpr.compiler.formula.scope import Scope
from nameexpr.compiler.formula.views import Views, marks_of_label, relabelled
from nameexpr.compiler.operands import Operand
from nameexpr.compiler.typed import NEED_ELEMENTS, Axes, shown
from nameexpr.errors import Diagnostic, Mark, NameExprError, Span, did_you_mean, error
from nameexpr.syntax.ast import Dots, Label, Pack, Term
from nameexpr.syntax.formula_ast import Along, Binary, Call, Node, Number, Statement, Unary, Use

T = TypeVar("T")

WEAK = "weak:"
STRONG = {"weak:bool": "bool", "weak:int": "int64", "weak:float": "float64", "weak:complex": "complex128"}
"""The dtypes that numbers have as arrays."""
"""Dtypes of numbers start with it: weak:int, weak:float, weak:bool, weak:complex."""


class Arithmetic(Protocol):
    """What the compiler must be told of the arrays' library: it knows no dtypes but by name."""

    def dtype_of(self, call: str, dtypes: Sequence[str]) -> str:
        """Return the dtype that a pointwise function gives for these; TypeError if there is none."""

    def fold(self, call: str, numbers: Sequence[int | float | complex]) -> int | float | complex:
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


@dataclass
class Builder:
    """Walks the tree; one method per kind of node, each returns a value's number and the labels mentioned."""

    scope: Scope
    operands: Mapping[str, Operand]
    dtypes: Mapping[str, str]
    views: Views
    arithmetic: Arithmetic
    graph: Graph
    statements: dict[str, Bound] = field(default_factory=dict)
    named: set[int] = field(default_factory=set)
    under: dict[int, Under] = field(default_factory=dict)

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
        dtype = self.graph.dtypes[value]
        arranged = self.graph.add(Arrange(value, axes), flat, STRONG.get(dtype, dtype))
        return Bound(value, flat, mentioned(statement.term, axes), statement.term, axes, arranged)

    def _check_left(self, statement: Statement, value: int, axes: Axes) -> None:
        """Refuse dims that would be dropped in silence, and new ones whose size nobody knows."""
        flat = {label for labels in axes for label in labels}
        lost = [label for label in self.graph.labels[value] if label not in flat]
        assert statement.term is not None
        if lost:
            names = " ".join(dict.fromkeys(map(_word, lost)))
            listed = " and ".join(f"'{shown(_word(label))}'" for label in dict.fromkeys(lost))
            where = [Mark(statement.term.span), *self._marks_of(statement.value, lost)]
            message = (
                f"{listed} would be dropped: {'it is' if len(lost) == 1 else 'they are'} not on the left"
            )
            hint = f"reduce over it, such as with sum[{names}](...), or write it on the left"
            raise error(Diagnostic("NE240", message, self.text, tuple(where), hint=hint))
        for label in sorted(flat - set(self.graph.labels[value])):
            if label not in self.views.sizes:
                near = did_you_mean(label, self.graph.labels[value])
                hint = near or f"a new dim needs a size: {label}=3, or sizes={{'{label}': 3}}"
                message = f"'{label}' stands on the left only, and its size is not known"
                marks = marks_of_label(self.scope.tree, label)
                raise error(Diagnostic("NE312", message, self.text, marks, hint=hint))

    def _marks_of(self, node: Node, labels: Sequence[str]) -> list[Mark]:
        span = node.span
        marks = [m for label in labels for m in marks_of_label(self.scope.tree, label)]
        return [m for m in marks if span.start <= m.span.start < span.end]

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
            case Along():
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
                place_of(group[0]): name
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
            raise error(Diagnostic("NE312", message, self.text, (Mark(item.span),), hint=hint))
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
            axes = relabelled(self.text, node.name, node.term, shape, self.views.sizes)
        labels = tuple(dict.fromkeys(label for group in axes for label in group))
        term = node.term or bound.term
        assert term is not None
        value = self.graph.add(View(-1, bound.arranged, axes), labels, self.graph.dtypes[bound.arranged])
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
        values = self._broadcast(values, span)
        nodes = [graph.nodes[value] for value in values]
        call = FUNCTIONS[function].call
        if all(isinstance(node, Scalar) for node in nodes):
            numbers = [number_of(node) for node in nodes if isinstance(node, Scalar)]
            return self._number(
                self._told(lambda: self.arithmetic.fold(call, numbers), function, values, span)
            )
        dtypes = [graph.dtypes[value] for value in values]
        dtype = self._told(lambda: self.arithmetic.dtype_of(call, dtypes), function, values, span)
        labels = tuple(dict.fromkeys(label for value in values for label in graph.labels[value]))
        made = graph.add(Map(function, tuple(values)), labels, dtype)
        self._unify_under(made, values, span)
        return made

    def _unify_under(self, made: int, values: Sequence[int], span: Span) -> None:
        """Unify the names that values have under `...` (NE402 if two of them differ)."""
        names: dict[str, str | None] = {}
        for value in values:
            for place, name in self.under.get(value, {}).items():
                if None not in (name, names.get(place)) and names[place] != name:
                    message = f"under '...' the dim '{name}' meets '{names[place]}'"
                    hint = "rename one of the dims, or write these dims out"
                    raise error(Diagnostic("NE402", message, self.text, (Mark(span),), hint=hint))
                names[place] = names.get(place) or name
        if names:
            self.under[made] = names

    def _broadcast(self, values: Sequence[int], span: Span) -> list[int]:
        """Return values whose dims under `...` fit: those of size 1 give way (NE309 if others differ)."""
        labels = dict.fromkeys(label for value in values for label in self.graph.labels[value])
        by_place: dict[str, list[str]] = {}
        for label in labels:
            if label.startswith("..."):
                by_place.setdefault(place_of(label), []).append(label)
        gone = set()
        for place, found in by_place.items():
            long = [label for label in found if self.graph.sizes[label] != 1]
            if len(long) > 1:
                sizes = " and ".join(str(self.graph.sizes[label]) for label in long)
                message = f"dims under '...' do not broadcast: {sizes}, at place {place[3:]} from the right"
                hint = "aligned from the right, sizes must be equal or 1"
                raise error(Diagnostic("NE309", message, self.text, (Mark(span),), hint=hint))
            gone |= {label for label in found if long and label not in long}
        return [self._without(value, gone) for value in values]

    def _without(self, value: int, gone: set[str]) -> int:
        own = self.graph.labels[value]
        here = tuple(label for label in own if label in gone)
        if not here:
            return value
        kept = [label for label in own if label not in gone]
        dropped = self.graph.add(Drop(value, here), kept, self.graph.dtypes[value])
        self.under[dropped] = self.under.get(value, {})
        return dropped

    def _told(self, ask: Callable[[], T], function: str, values: Sequence[int], span: Span) -> T:
        """Return what the arrays' library answers, or say that it knows no such function of these (NE524)."""
        try:
            return ask()
        except (TypeError, ValueError, OverflowError) as refused:
            kinds = " and ".join(dict.fromkeys(_kind(self.graph.dtypes[value]) for value in values))
            name = function.strip(".")
            message = f"'{name}' is not defined for {kinds}"
            hint = "convert an operand first, or compare it: x != 0 makes bools"
            raise error(Diagnostic("NE524", message, self.text, (Mark(span),), hint=hint)) from refused

    def cast(self, value: int, dtype: str) -> int:
        """Return a value in another dtype."""
        return self.graph.add(Map(f"cast:{dtype}", (value,)), self.graph.labels[value], dtype)

    def reduced_dtype(self, reducer: str, factors: Sequence[int], span: Span) -> str:
        """Return the dtype of a reduction of the product of some values."""
        dtypes = [self.graph.dtypes[factor] for factor in factors]
        return self._told(lambda: self.arithmetic.reduced(reducer, dtypes), reducer, factors, span)

    def _along(self, node: Along) -> tuple[int, Labels]:
        value, mention = self.value(node.arguments[0])
        labels = self._bound_labels(node, value)
        if node.function in ALONG:
            if node.function in ("cumsum", "cumprod"):
                value = widened(self, value, node.name_span)
            dtype = self._along_dtype(node, value)
            made = self.graph.add(AlongNode(node.function, value, labels), self.graph.labels[value], dtype)
            self.under[made] = self.under.get(value, {})
            return made, mention
        self._check_elements(node, labels)
        made = reduction(self, node.function, value, labels, node.name_span)
        has_dots = any(isinstance(item, Dots) for item in node.term.items)
        if not has_dots:
            self.under[made] = self.under.get(value, {})
        return made, without(mention, labels, has_dots=has_dots)

    def _along_dtype(self, node: Along, value: int) -> str:
        dtype = STRONG.get(self.graph.dtypes[value], self.graph.dtypes[value])
        return self._told(
            lambda: self.arithmetic.dtype_of(f"formulas.{node.function}", [dtype]),
            node.function,
            [value],
            node.name_span,
        )

    def _check_elements(self, node: Along, labels: Labels) -> None:
        if node.function in NEED_ELEMENTS and any(self.graph.sizes[label] == 0 for label in labels):
            empty = next(label for label in labels if self.graph.sizes[label] == 0)
            message = f"{node.function} over no elements has no value: '{shown(empty)}' is 0"
            hint = "reduce over dims that hold something, or use a reduction that has a value for nothing"
            raise error(Diagnostic("NE311", message, self.text, (Mark(node.term.span),), hint=hint))

    def _bound_labels(self, node: Along, value: int) -> Labels:
        """Return the labels that stand in the brackets, every one of them in the value."""
        own = self.graph.labels[value]
        labels: list[str] = []
        for item in node.term.items:
            if isinstance(item, Dots | Pack):
                word = f"{item.name}..." if isinstance(item, Pack) else "..."
                labels += sorted(
                    (one for one in own if one.startswith(word)), key=lambda one: number_of_dim(one, word)
                )
                if word not in self.views.under:
                    raise self._foreign(node, item.span, word, own)
            elif isinstance(item, Label):
                if item.name not in own:
                    raise self._foreign(node, item.span, item.name, own)
                labels.append(item.name)
        return tuple(labels)

    def _foreign(self, node: Along, span: Span, name: str, own: Labels) -> NameExprError:
        known = [label for label in own if "@" not in label]
        listed = f"its dims are {' '.join(dict.fromkeys(map(_word, known)))}" if known else "it has no dims"
        hint = did_you_mean(name, known) or listed
        message = f"the value that {node.function} is given has no dim '{name}'"
        return error(
            Diagnostic("NE241", message, self.text, (Mark(span), Mark(node.arguments[0].span)), hint=hint)
        )


def _kind(dtype: str) -> str:
    """Return a dtype as a message says it."""
    return f"a number ({dtype.removeprefix(WEAK)})" if dtype.startswith(WEAK) else dtype


def _word(label: str) -> str:
    """Return how a label is written in brackets: a pack's dims as the pack."""
    word, dots, _ = label.partition("...")
    return word + dots if dots else label


def _is_plain(axes: Axes, labels: Labels) -> bool:
    """Whether a term only orders the dims that the value has."""
    flat = [label for group in axes for label in group]
    return len(flat) == len(set(flat)) and all(label in labels for label in flat)
