"""The gradients of what is reduced, or goes through a function along dims."""

from __future__ import annotations

from collections.abc import Iterator

from nameexpr.compiler.gradient.factors import as_one, of_running_product, others
from nameexpr.compiler.gradient.pointwise import Masking, PartialGradient
from nameexpr.compiler.gradient.positions import of_sorted
from nameexpr.compiler.gradient.products import is_inexact
from nameexpr.compiler.gradient.rules import ALONG, COMPLEX_MEDIAN, EXACT_ONCE, REDUCTIONS, SORTED
from nameexpr.compiler.ir.nodes import Along, Read, Reduction, Window
from nameexpr.records import replace


def reduction_parts(
    walk: Masking, number: int, node: Reduction, gradient: int, mask: int | None
) -> Iterator[PartialGradient]:
    """Yield the gradients of the factors of a reduction, given that of its result."""
    algebra, graph = walk.algebra, walk.algebra.graph
    if node.reducer not in {"sum", "mean"}:
        (value,) = node.factors
        yield PartialGradient(value, _of_reduced(walk, number, node, gradient), mask)
        return
    if node.reducer == "mean":
        count = graph.count(node.labels)  # of no elements there are no gradients, or sums of none
        gradient = algebra.map("/.", gradient, count if graph.cells(node.labels) else algebra.number(1))
    read = algebra.seen(node.factors)
    every = dict.fromkeys([label for factor in node.factors for label in graph.labels[factor]])
    for place, factor in enumerate(node.factors):
        if factor not in walk.active or factor in node.factors[:place]:  # type: ignore[operator]
            continue
        factors = [gradient, *[algebra.conj(one) for other, one in enumerate(read) if other != place]]
        gone = [label for label in every if label not in graph.labels[factor]]
        here = mask
        if mask is not None and not set(gone).isdisjoint(graph.labels[mask]):
            others = [_without_masked(walk, one, mask) for one in factors[1:]]
            factors, here = [walk.masked(gradient, mask), *others], None
        value = algebra.total(factors, gone, node.compute or graph.dtypes[number])
        times = node.factors.count(factor)
        yield PartialGradient(
            factor, value if times == 1 else algebra.map("*.", value, algebra.number(times)), here
        )


def _without_masked(walk: Masking, value: int, mask: int) -> int:
    """Return a factor of a sum with 0 in place of all rows that a mask leaves out, which may be nan."""
    graph = walk.algebra.graph
    is_inside = set(graph.labels[mask]) <= set(graph.labels[value])
    is_masked = is_inside and is_inexact(graph.dtypes[value]) and walk.masks.matters(graph, value, mask)
    return walk.masked(value, mask) if is_masked else value


def along_part(walk: Masking, number: int, node: Along, gradient: int, mask: int | None) -> PartialGradient:
    """Return the gradient of what a function along dims is applied to."""
    (number, value), own = walk.algebra.seen([number, node.value]), node.value
    node = replace(node, value=value)
    if node.function in SORTED:
        return PartialGradient(own, of_sorted(walk.algebra, node.function, number, node, gradient), mask)
    if node.function in EXACT_ONCE and walk.algebra.is_again:
        return PartialGradient(
            own, of_running_product(walk.algebra, node.value, gradient, node.labels[0]), mask
        )
    given = {"y": number, "a": node.value}
    return PartialGradient(own, _ruled(walk, ALONG[node.function], given, node, gradient), mask)


def _of_reduced(walk: Masking, number: int, node: Reduction, gradient: int) -> int:
    algebra, number, value = walk.algebra, *walk.algebra.seen([number, *node.factors])
    if node.reducer in EXACT_ONCE and algebra.is_again:
        return algebra.times(gradient, algebra.conj(others(algebra, value, node.labels)))
    given = {"y": number, "a": value, "n": algebra.graph.count(node.labels)}
    rule = REDUCTIONS[str(node.reducer)]
    if node.reducer == "median" and algebra.graph.cells(node.labels) == 0:
        return algebra.number(0.0)
    if node.reducer == "median" and algebra.is_complex(value):
        given["l"], given["h"] = _middle_two(walk, value, node)
        rule = COMPLEX_MEDIAN
    return _ruled(walk, rule, given, node, gradient)


def _middle_two(walk: Masking, value: int, node: Reduction) -> tuple[int, int]:
    """Return the elements whose mean is the median of some complex numbers."""
    algebra, graph = walk.algebra, walk.algebra.graph
    whole, label, _ = as_one(algebra, value, node.labels)
    rows, dtype = algebra.along("sort", whole, (label,)), graph.dtypes[whole]
    kept = tuple([own for own in graph.labels[rows] if own != label])
    size = graph.sizes[label]
    low, high = [
        graph.add(Window(rows, (Read(label, middle, ()),)), kept, dtype)
        for middle in ((size - 1) // 2, size // 2)
    ]
    return low, high


def _ruled(walk: Masking, rule: str, given: dict[str, int], node: Reduction | Along, gradient: int) -> int:
    algebra = walk.algebra
    is_product = {node.reducer if isinstance(node, Reduction) else node.function} <= EXACT_ONCE
    given["g"] = algebra.conj(gradient) if is_product else gradient
    value = algebra.rule(rule, given, node.labels)
    return algebra.conj(value) if is_product else value
