"""From plan and nest of loops to program: the plan's steps become values of a graph that is lowered with
loops.
"""

from __future__ import annotations

from nameexpr.compiler.ir.nodes import sources_of
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.lowering.builder import Builder
from nameexpr.compiler.schedule.limit.blocks import LoopLowering
from nameexpr.compiler.schedule.limit.expand import expand
from nameexpr.compiler.schedule.limit.loops import BlockLoop, Nest, numbers_in
from nameexpr.compiler.schedule.limit.network import SingleReduction
from nameexpr.compiler.schedule.limit.regions import GraphLoop


def lower_loops(single: SingleReduction, nest: Nest) -> Program:
    """Return the program of a reduction with loops."""
    graph, plan, operands = single.graph, single.plan, single.operands
    reduction = graph.nodes.index(single.node)
    expanded = expand(graph, {reduction: (plan, 0)})
    steps = expanded.steps[reduction]

    def loop_of(loop: BlockLoop) -> GraphLoop:
        """Return a loop over items as a loop over values; the item after the last step may be empty."""
        inside = [steps[min(item, len(steps) - 1)] for item in numbers_in(loop.items)]
        sources = [source for value in inside for source in sources_of(expanded.graph.nodes[value])]
        reads = tuple(dict.fromkeys([source for source in sources if source not in inside]))
        top = steps[min(loop.top, len(steps) - 1)]
        return GraphLoop(loop.label, (top,), reads, loop.block, tuple(map(loop_of, loop.inner)))

    build, output = Builder(graph.sizes, len(operands.shapes), single.target), expanded.numbers[single.output]
    row_major = frozenset([output] if single.is_row_major else ())
    loops, plans = tuple(map(loop_of, nest)), expanded.plans
    whole = expanded.graph, build, operands, lambda *_: plan
    return LoopLowering(*whole, row_major, {}, plans, loops, graph.sizes).lowered((output,))
