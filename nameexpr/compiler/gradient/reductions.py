"""The gradients of what is reduced, or goes through a function along dims."""

from __future__ import annotations

from collections.abc import Iterator

from nameexpr.compiler.gradient.pointwise import Masking, PartialGradient
from nameexpr.compiler.gradient.positions import of_sorted
from nameexpr.compiler.gradient.rules import ALONG, FIRST_ORDER, REDUCTIONS, SORTED
from nameexpr.compiler.ir.nodes import Along, Reduction


def reduction_parts(walk: Masking, number: int, node: Reduction, gradient: int) -> Iterator[PartialGradient]:
    """Yield the gradients of the factors of a reduction, given that of its result."""
    algebra, graph = walk.algebra, walk.algebra.graph
    count = graph.count(node.labels)
    if node.reducer not in {"sum", "mean"}:
        (value,) = node.factors
        given = {"y": number, "a": value, "n": count}
        yield PartialGradient(value, _ruled(walk, REDUCTIONS[str(node.reducer)], given, node, gradient))
        return
    if node.reducer == "mean":
        gradient = algebra.map("/.", gradient, count)
    every = dict.fromkeys([label for factor in node.factors for label in graph.labels[factor]])
    for place, factor in enumerate(node.factors):
        if factor not in walk.active or factor in node.factors[:place]:  # type: ignore[operator]
            continue
        others = [algebra.conj(one) for number, one in enumerate(node.factors) if number != place]
        gone = [label for label in every if label not in graph.labels[factor]]
        value = algebra.total([gradient, *others], gone)
        times = node.factors.count(factor)
        yield PartialGradient(
            factor, value if times == 1 else algebra.map("*.", value, algebra.number(times))
        )


def along_part(walk: Masking, number: int, node: Along, gradient: int) -> PartialGradient:
    """Return the gradient of what a function along dims is applied to."""
    if node.function in SORTED:
        return PartialGradient(node.value, of_sorted(walk.algebra, node.function, number, node, gradient))
    given = {"y": number, "a": node.value}
    return PartialGradient(node.value, _ruled(walk, ALONG[node.function], given, node, gradient))


def _ruled(walk: Masking, rule: str, given: dict[str, int], node: Reduction | Along, gradient: int) -> int:
    algebra = walk.algebra
    given["g"] = gradient
    value = algebra.rule(rule, given, node.labels)
    if isinstance(node, Reduction) and node.reducer in FIRST_ORDER:
        algebra.first_order.add(value)
        return algebra.times(gradient, algebra.conj(value))
    return value
