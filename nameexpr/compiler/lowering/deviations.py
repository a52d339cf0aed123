"""Variances of values whose deviations from the mean are computed anyway: `(x - mean[C](x)) / std[C](x)`.

They become means of squared deviations, which are products that BLAS adds up: one pass over values that
exist, where a variance alone takes a mean, a difference, squares and their sum.
"""

from __future__ import annotations

from collections.abc import Mapping

from nameexpr.compiler.ir.graph import Graph, with_sources
from nameexpr.compiler.ir.nodes import Map, Recurrence, Reduction
from nameexpr.records import replace

SPREAD = frozenset({"var", "std"})
FLOATS = frozenset({"float32", "float64"})
"""The dtypes in which deviations are stored as they are computed."""
Deviations = Mapping[tuple[int, frozenset[str]], Map]


def share_deviations(graph: Graph) -> Mapping[int, int]:
    """Return for each value of a complete graph the one that takes its place; new values are added."""
    deviations = {} if any(isinstance(node, Recurrence) for node in graph.nodes) else _deviations(graph)
    numbers: dict[int, int] = {}
    for number in range(len(graph.nodes)):
        node = graph.nodes[number]
        deviation = _deviation_of(graph, number, deviations)
        if deviation is not None:
            assert isinstance(node, Reduction)
            numbers[number] = _mean_square(graph, number, node, deviation, numbers)
            continue
        changed = with_sources(node, numbers)
        same = changed == node
        numbers[number] = number if same else graph.add(changed, graph.labels[number], graph.dtypes[number])
        if number in graph.spans:
            graph.spans.setdefault(numbers[number], graph.spans[number])
    return numbers


def _deviations(graph: Graph) -> Deviations:
    """Return the differences of a value and its mean, by the value and the labels of the mean."""
    found: dict[tuple[int, frozenset[str]], Map] = {}
    for node in graph.nodes:
        if isinstance(node, Map) and node.function == "-.":
            value, subtracted = node.arguments
            mean = graph.nodes[subtracted]
            if isinstance(mean, Reduction) and mean.reducer == "mean" and mean.factors == (value,):
                found[value, frozenset(mean.labels)] = node
    return found


def _deviation_of(graph: Graph, number: int, deviations: Deviations) -> Map | None:
    """Return the difference whose mean square is a variance, in the dtype of that."""
    node = graph.nodes[number]
    if not isinstance(node, Reduction) or node.reducer not in SPREAD or len(node.factors) != 1:
        return None
    (value,) = node.factors
    is_plain = graph.dtypes[value] == graph.dtypes[number] and graph.dtypes[value] in FLOATS
    return deviations.get((value, frozenset(node.labels))) if is_plain else None


def _mean_square(
    graph: Graph, number: int, node: Reduction, deviation: Map, numbers: Mapping[int, int]
) -> int:
    """Return the mean of the squares of a difference, or its root."""
    (value,), (_, subtracted), dtype = node.factors, deviation.arguments, graph.dtypes[number]
    mean = with_sources(graph.nodes[subtracted], numbers)
    new_mean = graph.add(mean, graph.labels[subtracted], dtype)
    arguments = (numbers[value], new_mean)
    own = graph.add(replace(deviation, arguments=arguments), graph.labels[numbers[value]], dtype)
    square = replace(node, reducer="mean", factors=(own, own))
    variance = graph.add(square, graph.labels[number], dtype)
    if node.reducer == "var":
        return variance
    return graph.add(Map("sqrt", (variance,)), graph.labels[number], dtype)
