"""The program of an expression under a memory limit.

The search for loops knows labels only; what a program allocates in addition to its values, including copies,
is known when it is lowered. The search therefore lowers its target until a program fits.
"""

from __future__ import annotations

from math import inf, prod

from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.lowering.lower import lower
from nameexpr.compiler.memory.arrays import item_bytes
from nameexpr.compiler.memory.program import peak_bytes
from nameexpr.compiler.schedule.limit.loops import Nest
from nameexpr.compiler.schedule.limit.lowering import lower_loops
from nameexpr.compiler.schedule.limit.network import SingleReduction, network_of
from nameexpr.compiler.schedule.limit.refusal import over_limit, resized, smaller_label
from nameexpr.compiler.schedule.limit.search import Effort, find_nests
from nameexpr.compiler.schedule.simplify import simplify
from nameexpr.errors import error
from nameexpr.records import replace
from nameexpr.syntax.ast import Expression

HALVES = {"float64": "float32", "complex128": "complex64"}
"""Dtypes that take half the memory of their wide counterparts."""
ROUNDS = 6
"""The number of times that the search lowers its target."""
TRIED = 4
"""The number of nests of one search that are lowered to programs."""
FEW = 4
"""The number of steps up to which programs are tried, too."""
LOWER = 0.9
"""The factor by which the target is lowered if programs do not show by how much they exceed it."""


def fit_expression(
    tree: Expression | Scope, single: SingleReduction, program: Program, limit: int
) -> Program:
    """Return the cheapest program of an expression that needs at most `limit` bytes, not counting operands.

    Raises
    ------
    LimitError
        NE709 if none was found.
    """
    fit, needed = fit_memory_limit(single, program, limit)
    if needed > limit and len(single.plan.steps) <= FEW:
        fit, needed = min((fit, needed), _tried_as_programs(single, limit), key=lambda pair: pair[1])
    if needed <= limit:
        return fit
    compute, sizes = single.dtypes.compute, single.graph.sizes

    def peak_with(label: str, size: int) -> float:
        smaller = resized(single.graph, single.operands, label, size)
        if smaller is None:
            return inf
        graph, operands = smaller
        plan = replace(single.plan, contraction=replace(single.plan.contraction, sizes=graph.sizes))
        program, _ = lower(graph, [single.output], operands, lambda *_: plan, single.target)
        small = simplify(program, single.target)
        return peak_bytes(small, shapes_of(small))

    def advice(labels: tuple[str, ...]) -> list[str]:
        halved = [f"pass dtype='{HALVES[compute]}'"] if compute in HALVES else []
        return halved + smaller_label(labels, sizes, limit, peak_with)

    result = prod(map(single.graph.cells, single.result)) * item_bytes(single.dtypes.result)
    raise error(over_limit(tree, program, single.operands.given, [result], needed, limit, advice))


def _tried_as_programs(single: SingleReduction, limit: int) -> tuple[Program, int]:
    """Return the best program that is found as for formulas, and the bytes that it needs: a network knows
    nothing of the copies and temporaries of a product, which are most of what one or two steps need.
    """
    from nameexpr.compiler.schedule.limit.formula import GraphSearch, by_steps

    graph, outputs, given = single.graph, (single.output,), (single.target, single.is_row_major, limit)
    search = GraphSearch(graph, outputs, single.operands, lambda *_: single.plan, *given)
    best = by_steps(search, search.tried(()).plans).fit()
    return best.program, best.peak


def fit_memory_limit(single: SingleReduction, program: Program, limit: int) -> tuple[Program, int]:
    """Return the cheapest program that needs at most `limit` bytes, or else the one that needs least, and the
    bytes that it needs; `program` is the one without loops.
    """
    given = single.operands.given
    least = peak_bytes(program, shapes_of(program), given)
    network = network_of(single)
    aim, seen, effort = float(limit), set[Nest](), Effort()
    for _ in range(ROUNDS if least > limit and single.dtypes.compute else 0):
        found, lowest = find_nests(network, int(aim), effort)
        missed = 1.0
        for one in [*found[:TRIED], *([] if found else [lowest])]:
            if one.nest in seen:
                continue
            seen.add(one.nest)
            tried = lower_loops(single, one.nest)
            peak = peak_bytes(tried, shapes_of(tried), given)
            if peak < least:
                program, least = tried, peak
            if peak <= limit:
                return tried, peak
            missed = max(missed, one.peak / peak if one.nest else 0.0) if missed < 1 else one.peak / peak
        if not found:
            break
        aim *= min(LOWER, missed)
    return program, least
