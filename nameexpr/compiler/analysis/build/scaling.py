"""Numbers and divisors in a product that is summed: applied to a factor before the sum, or after it.

A number that makes the sum smaller is applied before the sum, which might overflow otherwise: to the smallest
factor, or as a vector in place of ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from nameexpr.compiler.analysis.build.values import Values
from nameexpr.compiler.ir.axes import Labels
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Filled, Map, Scalar, number_of
from nameexpr.errors import Span

REAL = {"float32": "float32", "float64": "float64", "complex64": "float32", "complex128": "float64"}
SMALLEST = {"float32": 2.0**-126, "float64": 2.0**-1022}
"""The smallest normal number of a dtype."""
LONGEST = 1 << 12
"""The largest number of summed elements for which a vector of one number is created."""
MANY = 64
"""The largest number of factors that are examined to place a number."""
LITTLE = 4
"""How many times smaller than the product a factor must be for a number to be applied to it."""


class Summand(Protocol):
    """A product that is summed over labels, of which the factors are being found
    (`nameexpr.compiler.analysis.build.contractions`).
    """

    values: Values
    root: int
    labels: Labels
    span: Span
    epilogue: list[tuple[str, int]]

    def keeps_dtype(self, value: int, left: int, right: int) -> bool:
        """Return whether splitting a product keeps its dtype."""

    def widened(self, value: int, wide: str) -> int:
        """Return a factor with its own narrow factors in the dtype they are multiplied in."""


def scaled(product: Summand, function: str, value: int, inner: int, number: int) -> Sequence[int] | None:
    """Return the factors of a value that is multiplied or divided by a number; None if it is a factor.

    A number that makes the sum smaller is applied before it, unless the sum is one of float16 values,
    which is float32, or all factors are as large as their product.
    """
    graph = product.values.graph
    scale = abs(number_of(graph.nodes[number]))  # type: ignore[arg-type]
    is_smaller = scale < 1 if function == "*." else scale > 1
    if not set(product.labels) & set(graph.labels[inner]):
        return None
    if is_smaller and graph.dtypes[value] != "float16":
        if len(_parts(graph, inner)) == 1:
            is_lone = len(_parts(graph, product.root)) == 1
            return _filled(product, function, value, inner, number) if is_lone else None
        inside = with_divided_factor(product, inner, number, function)
        if inside is not None:
            sizes = [graph.cells(own) for part in _parts(graph, inside) if (own := graph.labels[part])]
            if min(sizes) * LITTLE <= graph.cells(graph.labels[inside]):
                return [inside]
    product.epilogue.append((function, number))
    return [inner]


def _filled(product: Summand, function: str, value: int, inner: int, number: int) -> Sequence[int] | None:
    """Return a value, and its number as an array along the summed labels: their product takes no longer
    than a sum.

    Return None if that array would be long, or if the number is not a normal number of the dtype.
    """
    graph = product.values.graph
    dtype = REAL.get(graph.dtypes[value], "")
    summed = tuple(label for label in graph.labels[inner] if label in product.labels)
    scale = number_of(graph.nodes[number]).real  # type: ignore[arg-type]
    factor = float(scale) if function == "*." else 1 / scale
    if not dtype or abs(factor) < SMALLEST[dtype] or graph.cells(summed) > LONGEST:
        return None
    return [inner, graph.add(Filled(factor, summed), summed, dtype)]


def with_divided_factor(
    product: Summand, value: int, divisor: int, function: str = "/.", dtype: str = ""
) -> int | None:
    """Return a product with its smallest factor that has all dims of the divisor divided, in the dtype of
    the product; None without one.
    """
    values, graph, span = product.values, product.values.graph, product.span
    needed, dtype = set(graph.labels[divisor]), dtype or graph.dtypes[value]
    match graph.nodes[value]:
        case Map("*.", (left, right)) if product.keeps_dtype(value, left, right):
            sides = [left, right]
            owns = [graph.labels[side] for side in sides]
            fitting = [side for side in (0, 1) if owns[side] and needed.issubset(owns[side])]
            if not fitting:
                return None
            side = min(fitting, key=lambda side: graph.cells(owns[side]))
            inner = with_divided_factor(product, sides[side], divisor, function, dtype)
            if inner is None:
                factor = product.widened(sides[side], "" if dtype == "float16" else dtype)
                inner = values.map([values.cast(factor, dtype), divisor], function, span)
            sides[side] = inner
            return values.map(sides, "*.", span)
        case Map((".-" | "/.") as outer, (inner, *others)) if graph.dtypes[inner] == graph.dtypes[value]:
            divided = with_divided_factor(product, inner, divisor, function, dtype)
            return None if divided is None else values.map([divided, *others], outer, span)
    return None


def commutes_with_sum(product: Summand, left: int, right: int) -> bool:
    """Return whether a division can wait: it is by a number, or no factor has the divisor's dims.

    An operand may turn out to be 0, and 0 / 0 among the summed values is nan: if a factor can be divided,
    it is.
    """
    graph = product.values.graph
    over, under = set(graph.labels[left]), set(graph.labels[right])
    if not over & set(product.labels) or under & set(product.labels):
        return False
    if isinstance(graph.nodes[right], Scalar):
        return False
    return not under <= over or _is_times(graph, left)


def _is_times(graph: Graph, value: int) -> bool:
    """Return whether a value is a product of two values, up to its sign."""
    node = graph.nodes[value]
    while isinstance(node, Map) and node.function == ".-":
        node = graph.nodes[node.arguments[0]]
    return isinstance(node, Map) and node.function == "*."


def _parts(graph: Graph, value: int) -> list[int]:
    """Return the values whose product a value is, up to signs and numbers: itself if it is not a product."""
    parts: list[int] = []
    stack = [value]
    while stack and len(parts) < MANY:
        value = stack.pop()
        match graph.nodes[value]:
            case Map("square" | "**.", (base, *_)):
                parts += [base, base]
            case Map("*." | "/." | ".-" as function, arguments):
                inner = [argument for argument in arguments if graph.labels[argument]]
                if function == "*." or len(inner) == 1:
                    stack += reversed(inner)
                else:
                    parts.append(value)
            case _:
                parts.append(value)
    return parts
