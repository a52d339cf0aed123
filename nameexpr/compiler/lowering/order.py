"""Which values a program makes, in which turn, and that its results share no memory."""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.ir.graph import Arrange, Graph, Map, Reduction, Scalar, sources_of
from nameexpr.compiler.ir.program import Cast, Copy, is_view
from nameexpr.compiler.ir.program import sources_of as instruction_sources
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.schedule.fusion import Fusing, is_fused_map, is_fused_reduction


def in_turn(graph: Graph, uses: dict[int, int], fusing: Fusing) -> list[int]:
    """Return the values to make one after the other: those that no block holds, nor an arrangement asks for.

    Each then finds its sources made, so that no chain of statements is too long for Python's recursion.
    """
    inside: set[int] = set()
    asked: set[int] = set()
    for number in sorted(uses, reverse=True):
        node = graph.nodes[number]
        if isinstance(node, Arrange) and isinstance(graph.nodes[node.value], Reduction):
            asked.add(node.value)
        if number in inside:
            continue
        if isinstance(node, Map) and is_fused_map(fusing, number):
            inside |= set(fusing.inner(number)) - {number}
        elif isinstance(node, Reduction) and is_fused_reduction(fusing, number):
            inside |= {one for factor in node.factors for one in fusing.inner(factor)}
    inside |= asked
    return [n for n in sorted(uses) if n not in inside and not isinstance(graph.nodes[n], Scalar)]


def apart(build: Builder, values: Sequence[Value]) -> tuple[int, ...]:
    """Return the numbers of results, none of which shares memory with another."""
    owner = {operand: operand for operand in range(build.count)}
    for number, one in enumerate(build.instructions):
        is_shared = is_view(one) and not isinstance(one, Cast)
        owner[build.count + number] = (
            owner[instruction_sources(one)[0]] if is_shared else build.count + number
        )
    taken: set[int] = set()
    results = []
    for value in values:
        if owner[value.number] in taken:
            value = build.emit(Copy(value.number), value.labels, value.dtype)
            owner[value.number] = value.number
        taken.add(owner[value.number])
        results.append(value.number)
    return tuple(results)


def use_counts(graph: Graph, outputs: Sequence[int]) -> dict[int, int]:
    """Return how often each value that the outputs need is used."""
    counts = dict.fromkeys(outputs, 1)
    for number in range(max(outputs), -1, -1):
        if number in counts:
            for source in set(sources_of(graph.nodes[number])):
                counts[source] = counts.get(source, 0) + 1
    return counts
