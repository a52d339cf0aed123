"""Rewrites of a graph with derivatives when it is complete, and all uses of its values are known.

Identities, which distinguished values for derivatives, are removed. Then products are computed with as few
operations as possible (`Products`), symmetric sums of products by half of them
(`nameexpr.compiler.gradient.symmetric`), and values that are 0 off a diagonal are not chosen element by
element (`nameexpr.compiler.gradient.diagonals`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.compiler.gradient.rewritten import Rewriting
from nameexpr.compiler.ir.graph import Graph, with_sources
from nameexpr.compiler.ir.nodes import Identity, Recurrence
from nameexpr.compiler.planning.path import Optimize


def finished(
    graph: Graph, statements: Sequence[int], results: Sequence[int], optimize: Optimize
) -> Mapping[int, int]:
    """Return for each value of a complete graph the one that takes its place; new values are added."""
    numbers = without_identities(graph)
    if graph.is_for_text or any(isinstance(node, Recurrence) for node in graph.nodes):
        return numbers
    named = frozenset([numbers[statement] for statement in statements])
    again = Rewriting(graph, optimize, named, [numbers[result] for result in results]).run()
    return {number: again.get(other, other) for number, other in numbers.items()}


def without_identities(graph: Graph) -> Mapping[int, int]:
    """Return for each value of a graph the one that takes its place when no identity is left; new values are
    added to the graph.
    """
    numbers: dict[int, int] = {}
    for number in range(len(graph.nodes)):
        node = graph.nodes[number]
        if isinstance(node, Identity):
            numbers[number] = numbers[node.value]
            continue
        changed = with_sources(node, numbers)
        made = number if changed == node else graph.add(changed, graph.labels[number], graph.dtypes[number])
        numbers[number] = made
        if number in graph.spans:
            graph.spans.setdefault(made, graph.spans[number])
    return numbers
