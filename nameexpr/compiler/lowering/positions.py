"""Values that are read, or combined, at positions in other values."""

from __future__ import annotations

from collections.abc import Callable

from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Gather, Place, Scalar
from nameexpr.compiler.lowering.builder import Builder, Value


def at_positions(build: Builder, graph: Graph, number: int, source: Callable[[int], Value]) -> Value:
    """Return a value that is created; `source` returns those that it depends on."""
    node = graph.nodes[number]
    if isinstance(node, Gather):
        from nameexpr.compiler.lowering.gather import gather

        places = [source(position.value) for position in node.positions]
        return gather(build, source(node.value), node.positions, places)
    from nameexpr.compiler.lowering.placing import place

    assert isinstance(node, Place)
    value = None if isinstance(graph.nodes[node.value], Scalar) else source(node.value)
    return place(build, node, value, {label: source(one) for label, one in node.places}, graph.dtypes[number])
