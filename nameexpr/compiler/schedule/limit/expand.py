"""Split contractions of several factors into the steps of their plans, each a value that a loop can
compute.
"""

from __future__ import annotations

from collections.abc import Mapping

from nameexpr.compiler.ir.axes import Labels
from nameexpr.compiler.ir.graph import Graph, with_sources
from nameexpr.compiler.ir.nodes import Reduction
from nameexpr.compiler.planning.plan import ContractionPlan, Step
from nameexpr.records import record, replace

Plans = dict[int, tuple[ContractionPlan, int]]
"""For each reduction its plan, and the number of earlier steps."""


@record
class Expanded:
    """A graph of steps: `numbers` maps the values of the original graph to those of this one, `plans` are
    those of the reductions, `steps` contains for each reduction that was split the values of its steps and
    its own.
    """

    graph: Graph
    numbers: Mapping[int, int]
    plans: Plans
    steps: Mapping[int, tuple[int, ...]]


def expand(graph: Graph, plans: Plans) -> Expanded:
    """Return a graph with each planned reduction as the steps of its plan, followed by the reducer."""
    whole = Graph(graph.sizes)
    numbers: dict[int, int] = {}
    steps: dict[int, tuple[int, ...]] = {}
    expanded = Expanded(whole, numbers, {}, steps)
    for number, node in enumerate(graph.nodes):
        node = with_sources(node, numbers)
        if number in plans and isinstance(node, Reduction):
            known = graph.labels[number], graph.dtypes[number]
            steps[number] = tuple(_steps(expanded, node, known, *plans[number]))
            numbers[number] = steps[number][-1]
        else:
            numbers[number] = whole.add(node, graph.labels[number], graph.dtypes[number])
    return expanded


def _steps(
    expanded: Expanded, node: Reduction, known: tuple[Labels, str], plan: ContractionPlan, before: int
) -> list[int]:
    """Add the steps of a plan to the graph, and return their values, that of the whole reduction last."""
    whole, contraction, values = expanded.graph, plan.contraction, list(node.factors)
    terms = [*contraction.terms, *(step.labels for step in plan.steps)]
    steps: list[Step | None] = [*plan.steps]
    if plan.reduced or not steps:
        steps.append(None)
    for place, step in enumerate(steps):
        read = (len(terms) - 1,) if step is None else step.values
        summed = plan.reduced or node.labels if step is None else step.summed
        factors, own = tuple([values[one] for one in read]), tuple([terms[one] for one in read])
        alone = () if step is None else (replace(step, values=tuple(range(len(read)))),)
        single = replace(plan, contraction=replace(contraction, terms=own), steps=alone)
        if place == len(steps) - 1:
            labels = node.labels if node.reducer == "mean" else summed  # the mean is over all of them
            made = whole.add(replace(node, factors=factors, labels=labels), *known)
        else:
            is_last = step is plan.steps[-1]  # before the reducer
            result, reduced = (contraction.result, plan.reduced) if is_last else ((), ())
            inner = replace(single.contraction, result=result, dropped=())
            single = replace(single, contraction=inner, reduced=reduced)
            labels = terms[len(values)]
            made = whole.add(
                Reduction(None, factors, summed, node.compute, node.compute), labels, node.compute
            )
        expanded.plans[made] = single, before + place
        values.append(made)
    return values[len(node.factors) :]
