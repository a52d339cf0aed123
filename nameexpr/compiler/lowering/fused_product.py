"""A reduction of a large product that no contraction computes, block by block."""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.liveness import PAIR, REAL
from nameexpr.compiler.ir.nodes import Reduction
from nameexpr.compiler.ir.program import Instruction
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.fusion import MOST_AXES, FusionPlan
from nameexpr.compiler.lowering.tiles import FULL_AXIS
from nameexpr.compiler.planning.plan import ContractionPlan

PRODUCTS = FULL_AXIS | {"max", "min", "prod"}
"""Reducers that are faster on blocks of a large product than on all of it, and as accurate."""


def fused_product(
    graph: Graph,
    build: Builder,
    node: Reduction,
    plan: ContractionPlan,
    factors: Sequence[Value],
    step: int,
) -> Value | None:
    """Return a reduction of the product of two values that no contraction computes, block by block; None if
    another reducer, or another dtype, needs the whole product.
    """
    dtype, is_one_pair = node.compute, len(factors) == PAIR and len(plan.steps[0].labels) <= MOST_AXES
    if not is_one_pair or node.reducer not in PRODUCTS or not dtype == node.result in REAL:
        return None
    fusing = FusionPlan(graph, {}, build.target)
    leaves = [build.cast(factor, dtype) for factor in factors]
    multiply = Instruction("pointwise", (0, 1), constants=(None,) * PAIR, dtype=dtype, function="multiply")
    order, build.step = fusing.order(leaves, set(node.labels)), step
    made = fusing.emit(build, leaves, (multiply,), (2,), order, node.labels, dtype, node.reducer)
    build.step = None
    return made
