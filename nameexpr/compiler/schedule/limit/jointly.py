"""The program of a graph with the joint loops that save time, if there are any."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Recurrence
from nameexpr.compiler.ir.primitives import is_view, shapes_of
from nameexpr.compiler.ir.program import Program, Shape
from nameexpr.compiler.ir.target import Target
from nameexpr.compiler.lowering.builder import Builder, Operands
from nameexpr.compiler.lowering.fusion import FusionPlan
from nameexpr.compiler.lowering.lower import Planner, schedule_order
from nameexpr.compiler.planning.plan import ContractionPlan
from nameexpr.compiler.schedule.limit.blocks import LoopLowering
from nameexpr.compiler.schedule.limit.choice import chosen_loops
from nameexpr.compiler.schedule.tiling import tile_leading_axes
from nameexpr.records import replace


def lower_jointly(
    graph: Graph,
    outputs: Sequence[int],
    operands: Operands,
    plan: Planner,
    target: Target,
    is_row_major: bool,
    program: Program,
    needed: Collection[int],
    fusing: FusionPlan | None,
    fixed: Collection[int],
) -> tuple[Program, tuple[Shape, ...], tuple[ContractionPlan, ...]] | None:
    """Return a program with joint loops, the shapes of its values, and its plans; None if no loops save time.

    `program` is the one without loops.
    What depends on bound operands alone, the values `fixed`, is not computed in loops.
    """
    if any(isinstance(node, Recurrence) for node in graph.nodes):
        return None
    given = [number for number in fixed if number in needed]
    inside = () if fusing is None else fusing.only_inside(needed, outputs)
    scheduled = schedule_order(graph, needed, inside)
    made = zip(program.instructions, program.notes, strict=True)
    orders = [note.labels for instruction, note in made if not is_view(instruction)]
    loops = chosen_loops(graph, outputs, scheduled, orders, target, given)
    if not loops:
        return None
    target = replace(target, fused_cells=target.tiled_bytes)  # smaller values are in the cache anyway
    build = Builder(graph.sizes, len(operands.shapes), target)
    row_major = frozenset(outputs if is_row_major else ())
    lowering = LoopLowering(graph, build, operands, plan, row_major, {}, {}, loops, graph.sizes)
    program = lowering.lowered(outputs)
    program = tile_leading_axes(program, shapes_of(program), target)
    return program, shapes_of(program), tuple([plan for plan, _ in lowering.plans.values()])
