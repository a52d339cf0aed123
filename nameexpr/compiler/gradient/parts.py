"""Products and sums of products in a complete graph, and the factors and numbers that they consist of."""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.gradient.products import LARGEST
from nameexpr.compiler.ir.dtypes import BLAS
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Map, Reduction, Scalar, number_of
from nameexpr.records import field, record


@record(frozen=False)
class Factored:
    """What a product consists of: values that are multiplied, values that it is divided by, and numbers that
    it is multiplied by.
    """

    factors: list[int] = field(default_factory=list)
    divisors: list[int] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)


def is_sum(graph: Graph, value: int) -> bool:
    """Return whether a value is a sum of products of values of its dtype, one that BLAS knows."""
    node, dtype = graph.nodes[value], graph.dtypes[value]
    if not isinstance(node, Reduction) or node.reducer != "sum" or dtype not in BLAS or not node.labels:
        return False
    dtypes = {graph.dtypes[factor] for factor in node.factors}
    return dtypes == {dtype} == {node.compute, node.result} and all(graph.labels[one] for one in node.factors)


def is_product(graph: Graph, value: int) -> bool:
    """Return whether a value is a product, quotient or negative whose factors have its dtype, or are
    numbers.
    """
    node, dtype = graph.nodes[value], graph.dtypes[value]
    if not isinstance(node, Map) or dtype not in BLAS:
        return False
    match node:
        case Map("*." | "/.", (left, right)):
            sides = [side for side in (left, right) if _scale(graph, side) is None]
            return bool(sides) and all(graph.dtypes[side] == dtype for side in sides)
        case Map(".-", (inner,)):
            return graph.dtypes[inner] == dtype
    return False


def parts_of(graph: Graph, product: int) -> Factored:
    """Return the parts of a product, or of a sum."""
    node = graph.nodes[product]
    if isinstance(node, Reduction):
        return Factored(list(node.factors))
    assert isinstance(node, Map)
    parts, is_quotient = Factored(), node.function == "/."
    for place, argument in enumerate(node.arguments):
        number = _scale(graph, argument)
        if number is not None:
            parts.numbers.append(1 / number if is_quotient and place else number)
        else:
            (parts.divisors if is_quotient and place else parts.factors).append(argument)
    if node.function == ".-":
        parts.numbers.append(-1.0)
    return parts


def _scale(graph: Graph, value: int) -> float | None:
    """Return a real number that products may be multiplied or divided by in any order; None for any other
    value.
    """
    node = graph.nodes[value]
    if not isinstance(node, Scalar):
        return None
    number = number_of(node)
    if isinstance(number, complex) or not 1 / LARGEST < abs(number) < LARGEST:
        return None
    return float(number)


def combined(numbers: Sequence[float]) -> list[float]:
    """Return numbers with the same product, as few as possible."""
    found: list[float] = []
    for number in numbers:
        if found and 1 / LARGEST < abs(found[-1] * number) < LARGEST:
            found[-1] *= number
        else:
            found.append(number)
    return [number for number in found if number != 1]
