"""The program of an expression under a memory limit.

The search for loops knows labels only; which values a program copies is known when it is lowered. If a
program does not fit, its copies are noted, and blocks are chosen again; without any the target is
lowered.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod
from typing import NamedTuple

from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.lowering.lower import lower
from nameexpr.compiler.memory.arrays import item_bytes
from nameexpr.compiler.memory.program import peak_bytes
from nameexpr.compiler.planning.plan import ContractionPlan
from nameexpr.compiler.schedule.limit.copies import learn_copies
from nameexpr.compiler.schedule.limit.loops import Nest
from nameexpr.compiler.schedule.limit.lowering import lower_loops
from nameexpr.compiler.schedule.limit.network import SingleReduction
from nameexpr.compiler.schedule.limit.orders import OrderedNests, order_nests
from nameexpr.compiler.schedule.limit.refusal import over_limit, resized, smaller_label
from nameexpr.compiler.schedule.limit.search import CostedNest, Effort, find_nests, widened
from nameexpr.compiler.schedule.simplify import simplify
from nameexpr.errors import error
from nameexpr.records import replace
from nameexpr.syntax.ast import Expression

HALVES = {"float64": "float32", "complex128": "complex64"}
"""Dtypes that take half the memory of their wide counterparts."""
ROUNDS = 3
"""The number of searches."""
TRIED = 4
"""The number of nests of one order that are lowered to programs, and half of it after each other search."""
MOST = 8
"""The number of nests that are lowered in all."""
FEW = 4
"""The number of steps up to which programs are tried, too, as for formulas."""
LOWER = 0.9
"""The factor by which the target is lowered if programs copy nothing but what the search knows."""


class PlannedProgram(NamedTuple):
    """A program, and the plan whose steps it computes."""

    program: Program
    plan: ContractionPlan


def fit_expression(
    tree: Expression | Scope, single: SingleReduction, program: Program, limit: int
) -> PlannedProgram:
    """Return the cheapest program of an expression that needs at most `limit` bytes, not counting operands,
    and its plan.

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


def _tried_as_programs(single: SingleReduction, limit: int) -> tuple[PlannedProgram, int]:
    """Return the best program that is found as for formulas, and the bytes that it needs: the search for
    nests does not know the temporaries of products that are added afterwards.
    """
    from nameexpr.compiler.schedule.limit.formula import GraphSearch, by_steps

    graph, outputs, given = single.graph, (single.output,), (single.target, single.is_row_major, limit)
    search = GraphSearch(graph, outputs, single.operands, lambda *_: single.plan, *given)
    best = by_steps(search, search.tried(()).plans).fit()
    return PlannedProgram(best.program, single.plan), best.peak


def fit_memory_limit(single: SingleReduction, program: Program, limit: int) -> tuple[PlannedProgram, int]:
    """Return the cheapest program that needs at most `limit` bytes, or else the one that needs least, and the
    bytes that it needs; `program` is the one without loops.
    """
    given = single.operands.given
    best, least = PlannedProgram(program, single.plan), peak_bytes(program, shapes_of(program), given)
    if least <= limit or not single.dtypes.compute:
        return best, least
    effort = Effort()
    attempts = [_Attempt(order, limit, effort) for order in order_nests(single, float(limit), effort)]
    for _ in range(MOST):
        attempt = min(attempts, key=lambda one: one.cost)
        if attempt.is_over:
            break
        fit, peak = attempt.lowered()
        if peak < least:
            best, least = fit, peak
        if least <= limit:
            break
    return best, least


class _Attempt:
    """The nests of an order that are lowered, one after the other: what their programs copy is known then."""

    def __init__(self, order: OrderedNests, limit: int, effort: Effort) -> None:
        self.single, self.tree, self.known, lowest = order
        self.limit, self.aim, self.effort = limit, float(limit), effort
        self.found, self.seen = self.known or [lowest], set[Nest]()
        self.rounds, self.left = ROUNDS - 1 if self.known else 0, TRIED

    @property
    def cost(self) -> float:
        """The cost of the next nest, infinite if none is known to fit."""
        return self.found[0].cost if self.found and self.known else inf

    @property
    def is_over(self) -> bool:
        """Whether no nest is left."""
        return not self.found

    def lowered(self) -> tuple[PlannedProgram, int]:
        """Return the program of the next nest and the bytes that it needs, and find other nests if these are
        too many.
        """
        nest, single, given = self.found[0].nest, self.single, self.single.operands.given
        self.seen.add(nest)
        program = lower_loops(single, nest)
        peak = peak_bytes(program, shapes_of(program), given)
        if peak > self.limit:
            if not learn_copies(self.tree, nest, program, given, self.limit):
                self.aim *= LOWER
            self.left -= 1
            self._find()
        return PlannedProgram(program, single.plan), peak

    def _find(self) -> None:
        known = [one.nest for one in self.known]
        self.found = self._unseen(widened(self.tree, self.aim, known)) if self.left > 0 else []
        if self.found or not self.rounds:
            return
        self.rounds -= 1
        found, lowest = find_nests(self.tree, self.aim, self.effort, self.known)
        if not found:
            found, lowest = find_nests(self.tree, self.aim, self.effort)
        self.known, self.left = found, TRIED // 2
        self.found, self.rounds = self._unseen(found or [lowest]), self.rounds if found else 0

    def _unseen(self, found: Sequence[CostedNest]) -> list[CostedNest]:
        return [one for one in found if one.nest not in self.seen]
