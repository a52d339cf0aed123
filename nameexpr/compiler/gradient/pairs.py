"""Contractions of several factors as contractions of pairs, in the order that planning chooses.

Both directions then share what the pairs have in common: all gradients of a contraction cost at most twice
as much as the contraction itself, however many factors it has.
"""

from __future__ import annotations

from nameexpr.compiler.ir.axes import Contraction
from nameexpr.compiler.ir.dtypes import BLAS
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Map, Reduction
from nameexpr.compiler.planning.path import Optimize
from nameexpr.compiler.planning.plan import plan_contractions

ADDING = frozenset({"sum", "mean"})
PAIR = 2


def in_pairs(graph: Graph, value: int, optimize: Optimize) -> int:
    """Return a contraction as contractions of pairs; any other value unchanged.

    Narrow floats and integers are left, as rounding between the pairs would change their sums.
    """
    node, dtype = graph.nodes[value], graph.dtypes[value]
    if not isinstance(node, Reduction) or node.reducer not in ADDING or dtype not in BLAS:
        return value
    if len(node.factors) <= PAIR or any(graph.dtypes[factor] != dtype for factor in node.factors):
        return value
    terms = tuple([graph.labels[factor] for factor in node.factors])
    contraction = Contraction(terms, graph.labels[value], node.labels, "sum", graph.sizes)
    plan = plan_contractions(contraction, optimize)
    if plan.contraction.terms != terms:  # dims of size 1 were removed
        return value
    made = list(node.factors)
    for step in plan.steps:
        parts = tuple([made[number] for number in step.values])
        if step.summed:
            pair = Reduction("sum", parts, step.summed, dtype, dtype)
            own = dict.fromkeys([label for part in parts for label in graph.labels[part]])
            labels = tuple([label for label in own if label not in step.summed])
            made.append(graph.add(pair, labels, dtype))
        else:
            labels = tuple(dict.fromkeys([label for part in parts for label in graph.labels[part]]))
            made.append(graph.add(Map("*.", parts), labels, dtype))
    if node.reducer == "sum":
        return made[-1]
    count = graph.scalar(graph.cells(node.labels))
    return graph.add(Map("/.", (made[-1], count)), graph.labels[made[-1]], dtype)
