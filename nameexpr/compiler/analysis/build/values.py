"""Adding values to a graph: each gets its labels and its dtype; constant expressions are folded.

Numbers, and values computed from numbers alone, stay weak: they take the dtype of the arrays that they are
combined with, as in NumPy. Dims under `...` that have size 1 broadcast where values are combined, and their
names unify.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from nameexpr.compiler.analysis.faults import values as faults
from nameexpr.compiler.analysis.operands import Views
from nameexpr.compiler.ir.axes import Axes, EllipsisNames, Labels, Unnamed, is_under_dots
from nameexpr.compiler.ir.dtypes import (
    ITEM_BYTES,
    KIND_OF,
    MAGNITUDE,
    WEAK,
    Dtypes,
    WeakDtype,
    choose_dtypes,
    scalar,
)
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import CAST, Drop, Index, Map, Scalar, number_of
from nameexpr.errors import Diagnostic, Mark, NotHeldError, Span, did_you_mean, error
from nameexpr.ops import FUNCTIONS, INTEGER, SIZE
from nameexpr.records import field, record
from nameexpr.syntax.ast import Call, Formula, Label, Term, Use

T = TypeVar("T")
POWERS = frozenset({"**.", "pow"})
DIVIDING = frozenset({"//.", "%.", "floor_divide", "remainder", "fmod"})


class Arithmetic(NamedTuple):
    """What the compiler needs to know about the array library, as it knows dtypes by name only.

    `dtype_of` takes a kernel and dtypes, and returns the dtype of the result (TypeError if there is none);
    `fold` returns the result of a kernel for numbers, as a number. `promoted` returns the dtype of a product
    of arrays of the given dtypes; `reduced` also takes a reducer, and returns the dtype of the reduction.
    `choose` determines the dtypes that products are computed in. With `is_by_rank`, arrays without dims have
    a dtype of their own (`ScalarDtype`), and numbers that an integer dtype cannot hold are rejected here,
    since the library would wrap them.
    """

    dtype_of: Callable[[str, tuple[str, ...]], str]
    fold: Callable[[str, Sequence[int | float | complex]], int | float | complex]
    reduced: Callable[[str, tuple[str, ...]], str]
    promoted: Callable[[tuple[str, ...]], str]
    choose: Callable[..., Dtypes] = choose_dtypes
    is_by_rank: bool = False


@record
class StatementValue:
    """An earlier statement: its value, its labels in order, and its term with the axes of that term."""

    value: int
    order: Labels
    mention: Labels
    term: Term | None
    axes: Axes | None
    arranged: int


class Gradients(Protocol):
    """What writes derivatives into a graph (`nameexpr.compiler.gradient`)."""

    def call(self, writer: Any, node: Call) -> tuple[int, Labels]:
        """Return the value of `grad(...)` or `stop(...)`, and the labels that it mentions."""

    def statement(
        self, values: Values, name: str | None, value: int, axes: Axes | None, *, in_step: bool = False
    ) -> int:
        """Return the value of a statement, apart from others if something is differentiated by it."""

    def array(self, values: Values, name: str | None, arranged: int) -> int:
        """Return the array of a statement that has a dim twice, apart from others likewise."""

    def pairs(self, values: Values, value: int) -> int:
        """Return a contraction as contractions of pairs."""


@record(frozen=False)
class Values:
    """The graph of a formula while it is built.

    `named` are the values of statements, `unsure` the numbers that are integers for most operands only,
    `under` the names that values have under `...`. `parts_again` counts the parts of products that were taken
    from statements and powers. `gradients` writes derivatives, if there are any.
    """

    tree: Formula
    views: Views
    arithmetic: Arithmetic
    graph: Graph
    named: set[int] = field(default_factory=set)
    unsure: set[int] = field(default_factory=set)
    under: dict[int, EllipsisNames] = field(default_factory=dict)
    parts_again: int = 0
    gradients: Gradients | None = None

    def map(self, values: Sequence[int], function: str, span: Span) -> int:
        """Return a pointwise function of values: folded if all of them are numbers of the text."""
        graph = self.graph
        values = self.broadcast(values, span)
        nodes = [graph.nodes[value] for value in values]
        kernel, dtypes = FUNCTIONS[function].kernel, self._dtypes(values)
        if all(isinstance(node, Scalar) for node in nodes):
            numbers = [number_of(node) for node in nodes if isinstance(node, Scalar)]
            try:
                return graph.scalar(
                    self.ask(lambda: self.arithmetic.fold(kernel, numbers), function, values, span)
                )
            except NotHeldError as fault:
                raise error(faults.not_computed(self.tree.text, fault, span)) from fault
        if function in POWERS and graph.dtypes[values[0]] not in {"bool", WEAK[bool]}:
            exponent = nodes[1]
            if isinstance(exponent, Scalar) and (exponent.kind, exponent.value) == ("int", 2):
                return self.map(values[:1], "square", span)  # which is faster
        dtype = self.ask(lambda: self.arithmetic.dtype_of(kernel, dtypes), function, values, span)
        if not self.unsure.isdisjoint(values):
            values = self._integers(kernel, values, dtype)
        if function == "where":
            values = [values[0], *(self.held(value, dtype, span) for value in values[1:])]
        elif self.arithmetic.is_by_rank and WEAK[int] in dtypes and not isinstance(dtype, WeakDtype):
            common = self.promoted(values, span)
            values = [self.held(value, common, span) for value in values]
        labels = tuple(dict.fromkeys([label for value in values for label in graph.labels[value]]))
        result = graph.add(Map(function, tuple(values)), labels, dtype)
        graph.spans.setdefault(result, span)
        if dtype == WEAK[int] and self._may_be_fraction(function, values):
            self.unsure.add(result)
        self.unify_names(result, values, span)
        return result

    def cast(self, value: int, dtype: str) -> int:
        """Return a value in another dtype."""
        return self.graph.add(Map(CAST, (value,), dtype), self.graph.labels[value], dtype)

    def ask(self, ask: Callable[[], T], function: str, values: Sequence[int], span: Span) -> T:
        """Return the answer of the array library, or raise NE524 if it does not define the function for these
        values.
        """
        try:
            return ask()
        except (TypeError, ValueError) as refused:
            raise error(faults.undefined(self.tree.text, function, self._dtypes(values), span)) from refused

    def promoted(self, values: Sequence[int], span: Span) -> str:
        """Return the dtype of an array that holds all values."""
        dtypes = self._dtypes(values)
        return self.ask(lambda: self.arithmetic.promoted(dtypes), "joined", values, span)

    def reduced_dtype(self, reducer: str, factors: Sequence[int], span: Span) -> str:
        """Return the dtype of a reduction of the product of some values."""
        dtypes = self._dtypes(factors)
        return self.ask(lambda: self.arithmetic.reduced(reducer, dtypes), reducer, factors, span)

    def wide_dtype(self, value: int, span: Span) -> str:
        """Return the dtype in which a bool or integer is summed."""
        dtype, choose = self.graph.dtypes[value], self.arithmetic.choose
        return self.ask(lambda: choose((dtype,), dtype, "sum").compute, "sum", [value], span)

    def integer(self, value: int) -> int:
        """Return a number that is rejected if it turns out not to be an integer."""
        if value not in self.unsure:
            return value
        integer = self.graph.add(Map(INTEGER, (value,)), self.graph.labels[value], WEAK[int])
        self.graph.spans.setdefault(integer, self.graph.spans[value])
        return integer

    def check_is_array(self, value: int, span: Span) -> None:
        """Reject an integer that is used as an array but that no dtype can hold (NE526)."""
        node = self.graph.nodes[value]
        if isinstance(node, Scalar) and node.kind == "int":
            number = number_of(node)
            try:
                float(number.real)
            except OverflowError as fault:
                reason = faults.not_held(number, "float64")
                raise error(faults.not_computed(self.tree.text, reason, span)) from fault

    def _dtypes(self, values: Sequence[int]) -> tuple[str, ...]:
        return self.marked([self.graph.dtypes[value] for value in values], values)

    def strong_dtypes(self, values: Sequence[int]) -> tuple[str, ...]:
        """Return the dtypes of values as arrays."""
        return self.marked(list(map(self.graph.strong, values)), values)

    def marked(self, dtypes: Sequence[str], values: Sequence[int]) -> tuple[str, ...]:
        """Return the dtypes of values, those without dims as the array library has to know them."""
        if not self.arithmetic.is_by_rank:
            return tuple(dtypes)
        pairs = zip(dtypes, values, strict=True)
        return tuple([
            dtype if isinstance(dtype, WeakDtype) or self.graph.labels[value] else scalar(dtype)
            for dtype, value in pairs
        ])  # fmt: skip

    def held(self, value: int, dtype: str, span: Span) -> int:
        """Return an integer as a value of a dtype that can hold it: `where` would wrap it silently."""
        if self.graph.dtypes[value] != WEAK[int] or dtype not in MAGNITUDE:
            return value
        node = self.graph.nodes[value]
        if not isinstance(node, Scalar):
            return self.cast(value, dtype)
        least = 0 if KIND_OF[dtype] == "uint" else -MAGNITUDE[dtype]
        number = number_of(node)
        if not least <= number.real < least + 2 ** (8 * ITEM_BYTES[dtype]):
            raise error(faults.not_computed(self.tree.text, faults.not_held(number, dtype), span))
        return value

    def _integers(self, kernel: str, values: Sequence[int], dtype: str) -> list[int]:
        """Return the arguments of a function; numbers whose kind determines its dtype must be integers."""
        arguments = list(values)
        for position, value in enumerate(values):
            if value in self.unsure:
                dtypes = list(self._dtypes(values))
                dtypes[position] = WEAK[float]
                try:
                    takes_float = isinstance(dtype, WeakDtype)
                    takes_float |= self.arithmetic.dtype_of(kernel, tuple(dtypes)) == dtype
                except TypeError:
                    takes_float = False
                arguments[position] = value if takes_float else self.integer(value)
        return arguments

    def _may_be_fraction(self, function: str, values: Sequence[int]) -> bool:
        """Return whether a function of integers may return a float, depending on values: 2 ** -1, 7 // 0."""
        last = self.graph.nodes[values[-1]]
        known = number_of(last).real if isinstance(last, Scalar) else None
        if not self.unsure.isdisjoint(values) or function == "reciprocal":
            return True
        if function in POWERS:
            return known is None or known < 0
        return function in DIVIDING and not known

    def broadcast(self, values: Sequence[int], span: Span) -> Sequence[int]:
        """Return values whose dims under `...` fit: those of size 1 broadcast (NE309 if others differ)."""
        meeting: dict[int, list[Unnamed]] = {}
        for label in dict.fromkeys([label for value in values for label in self.graph.labels[value]]):
            if is_under_dots(label):
                meeting.setdefault(label.number, []).append(label)
        dropped: set[str] = set()
        for labels in meeting.values():
            long = [label for label in labels if self.graph.sizes[label] != 1]
            if len(long) > 1:
                views = self.views
                raise error(faults.broadcast_fault(self.tree, views.axes, views.operands, long, span))
            dropped |= {label for label in labels if long and label not in long}
        return [self._without(value, dropped) for value in values] if dropped else values

    def size_or_index(self, node: Use) -> tuple[int, Labels]:
        """Return the value of `size[C]` or `index[C]`, and its labels (NE313 if the size is not known)."""
        assert node.term is not None
        (item,) = node.term.items
        assert isinstance(item, Label)
        size = self.views.sizes.get(item.name)
        if size is None:
            known = [label for label in self.views.sizes if not isinstance(label, Unnamed)]
            hint = did_you_mean(item.name, known)
            hint = hint or "no operand has a dim with this label; pass its size as sizes={...}"
            message = f"the size of '{item.name}' is not known"
            raise error(Diagnostic("NE313", message, self.tree.text, (Mark(item.span),), hint=hint))
        if node.name == SIZE:
            return self.graph.count((item.name,)), ()
        return self.graph.add(Index(item.name), (item.name,), "int64"), (item.name,)

    def _without(self, value: int, dropped: set[str]) -> int:
        own = self.graph.labels[value]
        here = tuple(label for label in own if label in dropped)
        if not here:
            return value
        kept = tuple(label for label in own if label not in dropped)
        narrower = self.graph.add(Drop(value, here), kept, self.graph.dtypes[value])
        self.under[narrower] = self.under.get(value, {})
        return narrower

    def unify_names(self, result: int, values: Sequence[int], span: Span) -> None:
        """Unify the names that values have under `...` (NE402 if two of them differ)."""
        names: dict[int, str | None] = {}
        for value in values if self.under else ():
            for number, name in self.under.get(value, {}).items():
                if None not in (name, names.get(number)) and names[number] != name:
                    message = f"under '...' the dim '{name}' meets '{names[number]}'"
                    hint = "rename one of the dims, or write these dims out"
                    raise error(Diagnostic("NE402", message, self.tree.text, (Mark(span),), hint=hint))
                names[number] = names.get(number) or name
        if names:
            self.under[result] = names
