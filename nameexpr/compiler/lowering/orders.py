"""The order of the contractions of a few values, among those that take nearly as few flops as the best.

Flops alone do not tell how long an order takes: of two with the same flops, one may multiply larger matrices,
or need copies that the other does not. Each of them is lowered on its own, and the one whose calls are
expected to take the least time is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nameexpr.compiler.ir.dtypes import Dtypes
from nameexpr.compiler.ir.layouts import OperandLayout
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.contraction import lower_reduction
from nameexpr.compiler.planning.few import orders_within
from nameexpr.compiler.planning.plan import ContractionPlan, TooManyDimsError, plan_contractions
from nameexpr.records import record, replace

FEW = 4
"""The number of values up to which orders are compared: the first call waits for it."""
NEAR = 1.1
"""The ratio to the fewest flops up to which an order is considered."""
VALUES = 6
"""The number of operands of all other orders that are considered, for the sake of the first call."""
GAIN = 0.9
"""The ratio to the time of the order with the fewest flops from which another one is used: the costs of calls
are hardly more accurate.
"""


@record
class CostedOrder:
    """A plan, and the expected nanoseconds of its calls."""

    plan: ContractionPlan
    cost: float


def quickest_order(
    build: Builder, plan: ContractionPlan, factors: Sequence[Value], dtypes: Dtypes
) -> ContractionPlan:
    """Return the plan whose calls take the least time, of those in the orders that are considered."""
    plan = replace(plan, is_open=False)
    is_window = any(factor.number in build.windows for factor in factors)
    is_portable = "over" not in build.target.native
    if is_portable or is_window or len(factors) > FEW or plan.flops < build.target.step_flops:
        return plan
    plans = [plan, *_others(plan)]
    if len(plans) == 1:
        return plan
    found = [CostedOrder(one, _cost(build, one, factors, dtypes)) for one in plans]
    usual = found[0]
    return build.choose(sorted(found, key=lambda one: one.cost * (GAIN if one is usual else 1.0))).plan


def _others(plan: ContractionPlan) -> Iterator[ContractionPlan]:
    """Yield the plans in the other orders that are considered."""
    kept, every = plan.kept, [label for term in plan.terms for label in term]
    terms = [frozenset([a for a in term if a in kept or every.count(a) > 1]) for term in plan.terms]
    output, sizes = kept & frozenset(every), plan.contraction.sizes
    most = NEAR * sum([step.flops for step in plan.steps if len(step.values) > 1])
    for order in orders_within(most, terms, output, sizes)[: 1 + VALUES // len(plan.terms)]:
        try:
            other = plan_contractions(plan.contraction, order=order)
        except TooManyDimsError:
            continue
        if other.steps != plan.steps:
            yield other


def _cost(build: Builder, plan: ContractionPlan, factors: Sequence[Value], dtypes: Dtypes) -> float:
    """Return the expected nanoseconds of the calls of a plan."""
    alone = Builder(build.sizes, len(factors), build.target, found=build.found)
    value = lower_reduction(
        alone, plan, [replace(factor, number=number) for number, factor in enumerate(factors)], dtypes
    )
    build.used_strides |= alone.used_strides
    shapes = tuple([build.shape(factor.labels) for factor in factors])
    instructions, notes = tuple(alone.instructions), tuple(alone.notes)
    program = Program(shapes, instructions, notes, value.number, depends_on_layout=False)
    given = [OperandLayout(factor.dtype, factor.strides) for factor in factors]
    return build.target.program_cost(program, shapes_of(program), given)
