"""What the next step of a plan does with the product of two values: it copies it, unless the order of its
labels lets it read matrices.

A strategy that takes a little longer, but leaves the labels of the product in such an order, saves the copy.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.ir.axes import Labels
from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.lowering.builder import Builder
from nameexpr.compiler.lowering.products import Pair, Strategy
from nameexpr.compiler.planning.plan import ContractionPlan
from nameexpr.records import record, replace


@record
class NextStep:
    """The labels of a product by what the step that reads it does with them: those that it sums, and those
    that its other operand lacks.
    """

    own: frozenset[str]
    summed: frozenset[str]


def reader_of(plan: ContractionPlan, number: int) -> NextStep | None:
    """Return how the value of a step is read; None if the next step only sums it."""
    values = [*plan.terms, *(step.labels for step in plan.steps)]
    value, labels = len(plan.terms) + number, plan.steps[number].labels
    step = next((step for step in plan.steps[number + 1 :] if value in step.values), None)
    if step is None or len(step.values) == 1:
        return None
    other = values[step.values[step.values[0] == value]]
    own = frozenset([label for label in labels if label not in other])
    return NextStep(
        own, frozenset([label for label in labels if label in other and label not in step.labels])
    )


def for_reader(
    build: Builder, found: list[Strategy], pair: Pair, reader: NextStep, dtype: str
) -> list[Strategy]:
    """Return strategies by their cost and that of the copy that the next step needs of their results, if it
    cannot read them as matrices.
    """
    labels = (*pair.batch, *pair.left, *pair.right)
    is_merged = len(reader.own) > 1 or len(reader.summed) > 1
    if not is_merged or build.size(labels) <= build.target.any_layout_cells:
        return found
    result = []
    copies: dict[Labels, float] = {}
    for strategy in found:
        made = (*strategy.outer, *strategy.rows, *strategy.columns)
        if strategy.kind == "loop":
            made = labels
        elif strategy.kind == "tiny":
            made = (*strategy.rows, *strategy.columns, *strategy.outer)
        order = tuple([label for label in made if build.sizes[label] != 1 and label not in pair.summed])
        if order not in copies:
            copies[order] = _copy_cost(build, order, reader, dtype)
        result.append(replace(strategy, cost=strategy.cost + copies[order]))
    return sorted(result, key=lambda strategy: strategy.cost)


def _copy_cost(build: Builder, order: Labels, reader: NextStep, dtype: str) -> float:
    """Return the cost of the copy that the next step needs of a value with its labels in this order."""
    if _is_together(order, reader.own) and _is_together(order, reader.summed):
        return 0.0
    costs, steps = build.target.costs, dict(zip(order, build.row_major_strides(order), strict=True))
    wanted = sorted(order, key=lambda label: (label in reader.own) + 2 * (label in reader.summed))
    size = build.size(order) * ITEM_BYTES.get(dtype, 8)
    copy = costs.copy_cost(build.sizes, steps, wanted, dtype) + costs.spill_cost(size)
    return copy - costs.call_cost("copy") + costs.call_cost("view")  # `reshape` copies small arrays


def _is_together(order: Sequence[str], labels: frozenset[str]) -> bool:
    """Return whether these labels follow each other."""
    places = [place for place, label in enumerate(order) if label in labels]
    return not places or places[-1] - places[0] == len(places) - 1
