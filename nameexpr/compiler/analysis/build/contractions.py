"""Find the products under a reduction that are contractions: their factors, and what can be applied after the
sum.

`sum[D](q * k / 8)` is a contraction of q and k, followed by a division by 8. A product is followed through
`*`, signs, small integer powers, and division by numbers of the text, as long as the dtype does not change.
Integers are widened before they are multiplied (docs/language.md, section 3, rule 8).
"""

from __future__ import annotations

from collections.abc import Sequence
from sys import float_info

from nameexpr.compiler.analysis.build.values import Values
from nameexpr.compiler.ir.axes import Labels
from nameexpr.compiler.ir.dtypes import WIDE, WeakDtype
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Map, Reduction, Scalar, number_of
from nameexpr.errors import Span
from nameexpr.ops import SUMMING
from nameexpr.records import field, record

ADDING = frozenset({"sum", "mean"})
MULTIPLYING = frozenset({"*.", "/.", ".-", ".+", "**.", "square"})
MOST_PARTS = 2048
"""The largest number of parts of a product that are examined; powers of powers have exponentially many."""
MOST_AGAIN = 1024
"""The largest number of parts that all products of a formula together take from statements and powers. Each
of n statements may multiply by the previous one: fully expanded, their sums would have n ** 2 / 2 factors.
"""
LARGEST_POWER = 4
"""The largest n for which x ** n is treated as a product of n factors."""


def reduction(values: Values, reducer: str, value: int, labels: Labels, span: Span) -> int:
    """Return the number of a value reduced over labels."""
    graph, product = values.graph, Product(values, value, labels, span)
    if reducer in ADDING and not graph.is_for_text:
        product.collect()
    factors, epilogue = product.factors or [value], product.epilogue
    if reducer in SUMMING and not (reducer in ADDING and any(graph.labels[factor] for factor in factors)):
        factors, epilogue = [widened(values, value, span)], []
    every = dict.fromkeys(label for factor in factors for label in graph.labels[factor])
    kept = tuple(label for label in every if label not in labels)
    dtype = values.reduced_dtype(reducer, factors, span)
    # A sum of float16 values stays float32 until numbers are applied, which may bring it into the range of
    # float16.
    is_by_rank = values.arithmetic.is_by_rank
    dtypes = values.strong_dtypes(factors) if is_by_rank else tuple(map(graph.strong, factors))
    promoted = values.arithmetic.promoted(dtypes)
    chosen = values.arithmetic.choose(dtypes, promoted, reducer)
    is_wide = dtype == "float16" != chosen.compute and reducer in ADDING and bool(epilogue)
    result = chosen.compute if is_wide else chosen.result
    node = Reduction(reducer, tuple(factors), labels, chosen.compute, result)
    reduced = graph.add(node, kept, "float32" if is_wide else dtype)
    if labels and not graph.is_for_text and any(_is_choice(graph, factor) for factor in factors):
        from nameexpr.compiler.analysis.build.placing import placed

        reduced = placed(values, reduced, span, reduction)
    if values.gradients is not None:
        reduced = values.gradients.pairs(values, reduced)
    for function, other in epilogue:
        reduced = values.map([reduced] if other < 0 else [reduced, other], function, span)
    # Integers among the factors were widened; this must not widen the floats that they are multiplied by.
    wanted = values.reduced_dtype(reducer, [value], span) if reducer in ADDING else dtype
    return values.cast(reduced, wanted) if graph.dtypes[reduced] != wanted else reduced


def _is_choice(graph: Graph, value: int) -> bool:
    """Return whether a value may choose elements by a label."""
    node = graph.nodes[value]
    return isinstance(node, Map) and (node.function == "where" or graph.dtypes[value] == "bool")


@record(frozen=False)
class Product:
    """A product that is summed over labels: its factors, and the calls that can wait until after the sum.

    `epilogue` contains the function and the other value (or -1) of each call.
    """

    values: Values
    root: int
    labels: Labels
    span: Span
    factors: list[int] = field(default_factory=list)
    epilogue: list[tuple[str, int]] = field(default_factory=list)

    def collect(self) -> None:
        """Find the factors, in the order of the text."""
        values, graph = self.values, self.values.graph
        dtype = graph.dtypes[self.root]
        wide = "" if dtype == "float16" else dtype
        wide = values.wide_dtype(self.root, self.span) if dtype in WIDE else wide
        stack = [(self.root, False)]
        parts = 0
        while stack:
            (value, is_again), parts = stack.pop(), parts + 1
            node = graph.nodes[value]
            is_power = isinstance(node, Map) and node.function in {"**.", "square"}
            is_again = is_again or value in values.named or is_power
            values.parts_again += is_again
            is_left = parts >= MOST_PARTS or (is_again and values.parts_again > MOST_AGAIN)
            factors = None if is_left else self._factors(value)
            if factors is not None:
                stack += [(factor, is_again) for factor in reversed(factors)]
            elif _is_product(values, value):
                self.factors.append(widened(values, value, self.span, wide))
            else:
                self.factors.append(value)

    def _factors(self, value: int) -> Sequence[int] | None:
        """Return the factors of one value, and record what can wait; None if it is a factor itself."""
        values, graph = self.values, self.values.graph
        if value in values.named and graph.dtypes[value] in WIDE:
            return None  # a statement has computed it in its own dtype
        match graph.nodes[value]:
            case Map("*.", (left, right)) if _keeps_dtype(graph, value, left, right):
                sides = [side for side in (left, right) if not isinstance(graph.nodes[side], Scalar)]
                if len(sides) > 1:
                    return sides
                from nameexpr.compiler.analysis.build.scaling import scaled

                return scaled(self, "*.", value, sides[0], right if sides == [left] else left)
            case Map("/.", (left, right)) if graph.dtypes[left] == graph.dtypes[value]:
                from nameexpr.compiler.analysis.build.scaling import (
                    commutes_with_sum,
                    scaled,
                    with_divided_factor,
                )

                number = graph.nodes[right]
                if isinstance(number, Scalar) and _is_harmless(number_of(number)):
                    return scaled(self, "/.", value, left, right)
                inside = with_divided_factor(self, left, right)
                if inside is not None:
                    return [inside]
                if not commutes_with_sum(self, left, right):
                    return None
                self.epilogue.append(("/.", right))
                return [left]
            case Map(".-", (inner,)) if graph.dtypes[inner] not in WIDE:
                self.epilogue.append((".-", -1))
                return [inner]
            case Map("**.", (base, exponent)):
                power = graph.nodes[exponent]
                times = int(power.value.real) if isinstance(power, Scalar) and power.kind == "int" else 0
                keeps_dtype = graph.dtypes[base] == graph.dtypes[value]
                is_small = 1 <= times <= LARGEST_POWER and keeps_dtype and bool(graph.labels[base])
                return [base] * times if is_small else None
            case Map("square", (base,)):
                return [base, base]
        return None

    def keeps_dtype(self, value: int, left: int, right: int) -> bool:
        """Return whether splitting a product keeps its dtype."""
        return _keeps_dtype(self.values.graph, value, left, right)

    def widened(self, value: int, wide: str) -> int:
        """Return a factor with its own narrow factors in the dtype they are multiplied in."""
        return widened(self.values, value, self.span, wide)


def _keeps_dtype(graph: Graph, value: int, left: int, right: int) -> bool:
    """Return whether splitting a product keeps its dtype: numbers are finite and do not change the
    other's.
    """
    for side, other in ((left, right), (right, left)):
        node = graph.nodes[side]
        if isinstance(node, Scalar):
            keeps = graph.dtypes[other] == graph.dtypes[value] and graph.dtypes[value] not in WIDE
            return keeps and _is_harmless(number_of(node))
        if isinstance(graph.dtypes[side], WeakDtype):
            return False
    return True


def _is_harmless(number: complex) -> bool:
    """Return whether sums may be multiplied or divided by a number without creating or hiding a nan."""
    return 0 < abs(number) <= float_info.max


def _is_product(values: Values, value: int) -> bool:
    node = values.graph.nodes[value]
    return isinstance(node, Map) and node.function in MULTIPLYING and value not in values.named


def widened(values: Values, value: int, span: Span, wide: str = "") -> int:
    """Return a product with its narrow factors in the dtype it is computed in; any other value as is."""
    graph = values.graph
    dtype, node = graph.dtypes[value], graph.nodes[value]
    if isinstance(node, Map) and _is_product(values, value):
        under = wide or (values.wide_dtype(value, span) if dtype in WIDE else "")
        arguments = [widened(values, argument, span, under) for argument in node.arguments]
        return values.map(arguments, node.function, span)
    is_narrow = dtype in WIDE or dtype == "float16"
    return values.cast(value, wide) if wide and is_narrow and dtype != wide else value
