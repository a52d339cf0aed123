"""Values in terms of others that can be computed block by block: a softmax by its maxima and sums, a product
of several values by products of two.
"""

from __future__ import annotations

from nameexpr.compiler.ir.axes import Contraction, Labels
from nameexpr.compiler.ir.dtypes import NARROW
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import CAST, Along, Map, Reduction
from nameexpr.compiler.planning.path import Optimize
from nameexpr.compiler.planning.plan import ADDING, plan_contractions
from nameexpr.records import replace


def is_network(node: object) -> bool:
    """Return whether a reduction can be computed by contractions of two values at a time."""
    return isinstance(node, Reduction) and node.reducer in ADDING and len(node.factors) > 2  # noqa: PLR2004


def network_of(graph: Graph, number: int) -> Contraction:
    """Return the contraction of all factors of a reduction."""
    node = graph.nodes[number]
    assert isinstance(node, Reduction)
    terms = tuple([graph.labels[factor] for factor in node.factors])
    return Contraction(terms, graph.labels[number], node.labels, None, graph.sizes)


def by_pairs(graph: Graph, number: int, optimize: Optimize) -> list[int]:
    """Replace a product of several values by products of two, in the order of the planner; return the new
    values and the number, which is the last of them.
    """
    node = graph.nodes[number]
    assert isinstance(node, Reduction)
    own = graph.labels[number]
    plan = plan_contractions(network_of(graph, number), optimize)
    values = list(node.factors)
    made: list[int] = []
    for step in plan.steps:
        factors = tuple([values[value] for value in step.values])
        every = dict.fromkeys([label for factor in factors for label in graph.labels[factor]])
        summed = tuple([label for label in every if label not in step.labels and label not in own])
        labels = tuple([label for label in every if label not in summed])
        values.append(
            graph.add(Reduction(None, factors, summed, node.compute, node.compute), labels, node.compute)
        )
        made.append(values[-1])
    last = graph.nodes[made.pop()]
    assert isinstance(last, Reduction)
    if node.reducer == "mean":
        total = graph.add(last, graph.labels[values[-1]], node.compute)
        count = graph.scalar(float(graph.cells(node.labels)))
        mean = graph.add(Map("/.", (total, count)), graph.labels[total], node.compute)
        graph.nodes[number] = Map(CAST, (mean,), graph.dtypes[number])
        graph.labels[number] = graph.labels[mean]
        return [*made, total, mean, number]
    graph.nodes[number] = replace(last, result=node.result)
    graph.labels[number] = graph.labels[values[-1]]
    return [*made, number]


def softmax_by_parts(graph: Graph, number: int) -> list[int]:
    """Replace a softmax, or its logarithm, by the values that it is computed from; return them, and the
    number, which is the last.
    """
    node = graph.nodes[number]
    assert isinstance(node, Along)
    dtype = graph.dtypes[number]
    wide = "float32" if dtype in NARROW else dtype
    own = graph.labels[node.value]
    kept: Labels = tuple([label for label in own if label not in node.labels])
    x = (
        node.value
        if graph.dtypes[node.value] == wide
        else graph.add(Map(CAST, (node.value,), wide), own, wide)
    )
    largest = graph.add(Reduction("max", (x,), node.labels, wide, wide), kept, wide)
    shifted = graph.add(Map("-.", (x, largest)), own, wide)
    exponentials = graph.add(Map("exp", (shifted,)), own, wide)
    total = graph.add(Reduction("sum", (exponentials,), node.labels, wide, wide), kept, wide)
    if node.function == "softmax":
        last, made = Map("/.", (exponentials, total)), []
    else:
        logarithm = graph.add(Map("log", (total,)), kept, wide)
        last, made = Map("-.", (shifted, logarithm)), [logarithm]
    result = graph.add(last, own, wide)
    graph.nodes[number] = Map(CAST, (result,), dtype)
    cast = [] if x == node.value else [x]
    return [*cast, largest, shifted, exponentials, total, *made, result, number]
