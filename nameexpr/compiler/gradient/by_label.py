"""The gradients of rows that are combined by label: sums, maxima, minima and products of equal labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce

from nameexpr.compiler.analysis.build.placing import read_at, read_inside
from nameexpr.compiler.gradient.algebra import Algebra
from nameexpr.compiler.gradient.deltas import renamed
from nameexpr.compiler.gradient.factors import WIDER, fresh
from nameexpr.compiler.ir.nodes import Index, Place
from nameexpr.records import replace


def of_place(algebra: Algebra, number: int, node: Place, gradient: int) -> int:
    """Return the gradient of what is combined by label: 0 for rows that no label takes."""
    gradient = _times_slope(algebra, number, node, _read(algebra, node, gradient))
    own = {*algebra.graph.labels[node.value], *algebra.basis}
    gone = [label for label in algebra.graph.labels[gradient] if label not in own]
    return algebra.total([gradient], gone) if gone else gradient


def tangent_of_place(algebra: Algebra, number: int, node: Place, tangent: int) -> int:
    """Return the tangent of what is combined by label, given that of the rows."""
    tangent = algebra.spread(tangent, node.labels)
    dtype = algebra.graph.strong(tangent)
    value = _times_slope(algebra, number, node, tangent)
    return _placed(algebra, node, "sum", algebra.as_array(value, WIDER.get(dtype, dtype)))


def _times_slope(algebra: Algebra, number: int, node: Place, value: int) -> int:
    """Return a value for each row times the derivative of what it is combined to by the row."""
    read = partial(_read, algebra, node)
    if node.reducer in {"max", "min"}:
        is_chosen = algebra.map("==.", node.value, read(number))
        ties = read(_placed(algebra, node, "sum", algebra.as_array(is_chosen, "float64")))
        share = algebra.map("/.", value, algebra.map("maximum", ties, algebra.number(1.0)))
        return algebra.map("where", is_chosen, share, algebra.number(0.0))
    if node.reducer == "prod":
        rest = _others(algebra, node) if algebra.is_again else _quotients(algebra, number, node, read)
        return algebra.map("*.", value, algebra.conj(rest))
    return value


def _read(algebra: Algebra, node: Place, value: int) -> int:
    """Return for each row what its label has, 0 without one."""
    for label, place in node.places:
        inside, at = read_inside(algebra.values, place, label, algebra.span)
        read = read_at(algebra.graph, value, label, at)
        value = algebra.map("where", inside, read, algebra.number(0.0))
    return value


def _placed(algebra: Algebra, node: Place, reducer: str, value: int) -> int:
    """Return another value combined by the same labels."""
    graph = algebra.graph
    value = algebra.spread(value, graph.labels[node.value])
    labels = [label for label in graph.labels[value] if label not in node.labels]
    placed = replace(node, reducer=reducer, value=value)
    return graph.add(placed, (*labels, *[label for label, _ in node.places]), graph.dtypes[value])


def _quotients(algebra: Algebra, number: int, node: Place, read: Callable[[int], int]) -> int:
    """Return for each row the product of all others with its label: with one zero that of all but the zero,
    with several 0.
    """
    one, none = algebra.number(1.0), algebra.number(0.0)
    is_zero = algebra.map("==.", node.value, algebra.number(0))
    filled = algebra.map("where", is_zero, one, node.value)
    zeros = read(_placed(algebra, node, "sum", algebra.as_array(is_zero, "float64")))
    rest = read(_placed(algebra, node, "prod", filled))
    alone = algebra.map("where", algebra.map("==.", zeros, one), rest, none)
    return algebra.map("where", is_zero, alone, algebra.map("/.", read(number), filled))


def _others(algebra: Algebra, node: Place) -> int:
    """Return for each row the product of all others with its label, from all pairs of rows."""
    graph, both = algebra.graph, partial(algebra.map, "&.")
    rows = {label: fresh(algebra, label, graph.sizes[label], node.value) for label in node.labels}
    indices = [[graph.add(Index(one), (one,), "int64") for one in pair] for pair in rows.items()]
    places = [[place, renamed(graph, place, rows)] for _, place in node.places]
    is_own, is_same = (
        reduce(both, [algebra.map("==.", *pair) for pair in every]) for every in (indices, places)
    )
    is_other = both(is_same, algebra.map("logical_not", is_own))
    factors = algebra.map("where", is_other, renamed(graph, node.value, rows), algebra.number(1.0))
    return algebra.rule("prod[R](a)", {"a": factors, "g": factors}, tuple(rows.values()))
