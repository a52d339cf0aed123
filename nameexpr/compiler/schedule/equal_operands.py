"""Operands that are the same array: the plan and the program that compute what they have in common once."""

from __future__ import annotations

from collections.abc import Callable

from nameexpr.compiler.compilation import Options
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import View, Window
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.lowering.builder import Operands
from nameexpr.compiler.lowering.lower import Planner
from nameexpr.compiler.planning.path import is_our_own
from nameexpr.compiler.planning.plan import ContractionPlan
from nameexpr.compiler.schedule.cse import best_shared, calls, share

Plans = tuple[ContractionPlan, ...]


def share_operands(
    graph: Graph,
    operands: Operands,
    options: Options,
    program: Program,
    plans: Plans,
    lowered: Callable[[Planner], tuple[Program, Plans]],
    is_contraction: bool,
) -> tuple[Program, Plans, tuple[int, ...]]:
    """Return the program that computes equal values of equal operands once, its plans, and which operands
    are equal; the program unchanged if nothing is shared.
    """
    if not is_contraction:
        once = share(program, options.same)
        return (once, plans, options.same) if calls(once) < calls(program) else (program, plans, ())
    (plan,) = plans
    tried = [(plan, program)]
    is_read = any(isinstance(node, Window) for node in graph.nodes)  # its factors are not its operands
    if is_our_own(options.optimize) and len(options.same) > 3 and not is_read:  # noqa: PLR2004  two pairs
        from nameexpr.compiler.planning.repeated import plan_repeated

        axes = [node.axes for node in graph.nodes if isinstance(node, View)]
        other = plan_repeated(plan, axes, options.same)
        if other is not None:
            tried.append((other, lowered(lambda *_: other)[0]))
    shared = best_shared(tried, options.same, options.memory_limit, operands.given)
    return (program, plans, ()) if shared is None else (shared[1], (shared[0],), options.same)
