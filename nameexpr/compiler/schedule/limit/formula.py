"""The program of a graph under a memory limit: loops are tried as programs, because the memory of blocks of
functions, kernels and copies is only known for programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, inf, log, prod
from typing import NamedTuple

from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.ir.target import Target
from nameexpr.compiler.lowering.builder import Builder, Operands
from nameexpr.compiler.lowering.lower import Planner
from nameexpr.compiler.memory.arrays import item_bytes
from nameexpr.compiler.memory.program import info_of, moments, peak_bytes
from nameexpr.compiler.planning.plan import ContractionPlan
from nameexpr.compiler.schedule.limit.blocks import LoopLowering
from nameexpr.compiler.schedule.limit.expand import Plans, expand
from nameexpr.compiler.schedule.limit.joint import more_joint_loops
from nameexpr.compiler.schedule.limit.refusal import over_limit, resized, smaller_label
from nameexpr.compiler.schedule.limit.regions import GraphLoops, more_loops, paths_of, with_block
from nameexpr.compiler.schedule.place import place_within
from nameexpr.compiler.schedule.tiling import tile_leading_axes
from nameexpr.errors import error
from nameexpr.records import field, record, replace
from nameexpr.syntax.ast import Expression

WIDTH = 4
"""The number of sets of loops that are kept at a time: those with the lowest peaks."""
LOOPS = 6
"""The largest number of loops in a program."""
FEW = 6
"""The number of fitting sets of equally many loops whose blocks are enlarged."""
MOST = 16_000
"""The total number of instructions of all programs that are tried, so that a search takes seconds at most."""
JOINT = 6_000
"""How many more there may be for joint loops: they are few, and often the cheapest."""
READ = 1.05
"""The factor by which another loop is slower than its operations: it reads its sources again."""
HOPELESS = 8
"""How many times fewer if the results alone exceed the limit: then only the needed memory is determined."""


class Tried(NamedTuple):
    """Loops with the resulting program: its peak, its cost, and its excess.

    The excess is the sum over all moments above the limit of the logarithm of their ratio to it.
    """

    loops: GraphLoops
    program: Program
    plans: Plans
    peak: int
    cost: float
    excess: float


@record(frozen=False)
class GraphSearch:
    """The graph to compute, and how many more instructions may be tried."""

    graph: Graph
    outputs: Sequence[int]
    operands: Operands
    plan: Planner
    target: Target
    is_row_major: bool
    limit: int
    known: Plans = field(default_factory=dict)
    left: int = MOST
    seen: dict[GraphLoops, Tried] = field(default_factory=dict)

    def tried(self, loops: GraphLoops) -> Tried:
        """Return the program with some loops."""
        if loops not in self.seen:
            build = Builder(self.graph.sizes, len(self.operands.shapes), self.target)
            row_major = frozenset(self.outputs if self.is_row_major else ())
            given = (self.graph, build, self.operands, self.plan, row_major)
            lowering = LoopLowering(*given, {}, {**self.known}, loops, self.graph.sizes)
            program = lowering.lowered(self.outputs)
            program = tile_leading_axes(program, shapes_of(program), self.target)
            self.left -= _length(program)
            shapes = shapes_of(program)
            sizes = moments(info_of(program, shapes, self.operands.given))
            excess = fsum([log(max(1, size / max(1, self.limit))) for size in sizes])
            cost = self.target.program_cost(program, shapes, self.operands.given)
            self.seen[loops] = Tried(loops, program, lowering.plans, max(sizes, default=0), cost, excess)
        return self.seen[loops]

    def fit(self) -> Tried:
        """Return the cheapest program within the limit, else the one with the lowest peak that was found."""
        lowest = self.tried(())
        beam, fitting = [lowest], [lowest] if lowest.peak <= self.limit else []
        for _ in range(LOOPS):
            grown = {} if fitting else self._grown(beam)
            lowest = min([lowest, *grown.values()], key=lambda one: (one.peak, one.cost))
            new = sorted([one for one in grown.values() if one.peak <= self.limit], key=lambda one: one.cost)
            fitting += [self._widened(one) for one in new[:FEW]]
            beam = sorted(grown.values(), key=lambda one: (one.excess, one.cost))[:WIDTH]
        return min(fitting, key=lambda one: one.cost * READ ** len(one.loops), default=lowest)

    def _grown(self, beam: Sequence[Tried]) -> dict[GraphLoops, Tried]:
        """Return the programs with more loops that need less memory; joint loops are tried first."""
        grown: dict[GraphLoops, Tried] = {}
        for kind, rest in ((more_joint_loops, -JOINT), (more_loops, 0)):
            for one in beam:
                for loops in kind(self.graph, self.outputs, one.loops):
                    if self.left < rest:
                        break
                    more = self.tried(loops)
                    if more.excess < one.excess or more.peak < one.peak:
                        grown[loops] = more
        return grown

    def _widened(self, one: Tried) -> Tried:
        """Return the same loops with the largest blocks within the limit."""
        for path, loop in paths_of(one.loops):
            low, high = 2, self.graph.sizes[loop.label]  # blocks: `high` of them fit
            while low < high:
                middle = (low + high) // 2
                block = -(-self.graph.sizes[loop.label] // middle)
                wide = self.tried(with_block(one.loops, path, block))
                if wide.peak <= self.limit:
                    high, one = middle, wide
                else:
                    low = middle + 1
        return one


def fit_formula(
    tree: Expression | Scope, search: GraphSearch, program: Program, plans: tuple[ContractionPlan, ...]
) -> tuple[Program, tuple[ContractionPlan, ...]]:
    """Return the cheapest program of a formula within a limit, and its plans; those without loops are given.

    Raises
    ------
    LimitError
        NE709 if none was found.
    """
    graph, shapes = search.graph, shapes_of(program)
    if peak_bytes(program, shapes, search.operands.given) <= search.limit:
        return program, plans
    pairs = zip(program.outputs, search.outputs, strict=True)
    sizes = [prod(shapes[result]) * item_bytes(graph.dtypes[output]) for result, output in pairs]
    if sum(sizes) > search.limit:
        search.left //= HOPELESS
    whole = search.tried(()).plans
    search = by_steps(search, whole)
    best = search.fit()
    if best.peak <= search.limit:
        fresh = [plan for number, plan in best.plans.items() if number not in search.known]
        limited, _ = place_within(best.program, search.operands.given, search.limit)
        return limited, tuple([plan for plan, _ in (*whole.values(), *fresh)])

    def peak_with(label: str, size: int) -> float:
        smaller = resized(search.graph, search.operands, label, size)
        if smaller is None:
            return inf
        return replace(search, graph=smaller[0], operands=smaller[1], seen={}).tried(()).peak

    def advice(labels: tuple[str, ...]) -> list[str]:
        return smaller_label(labels, graph.sizes, search.limit, peak_with)

    needed = min(best.peak, peak_bytes(program, shapes, search.operands.given))
    raise error(over_limit(tree, program, search.operands.given, sizes, needed, search.limit, advice))


def by_steps(search: GraphSearch, plans: Plans) -> GraphSearch:
    """Return a search for loops around the single steps of contractions with these plans."""
    expanded = expand(search.graph, plans)
    outputs = [expanded.numbers[output] for output in search.outputs]
    return replace(search, graph=expanded.graph, outputs=outputs, known=expanded.plans, seen={})


def _length(program: Program) -> int:
    """Return the number of instructions, including those in loops."""
    loops = [one.loop for one in program.instructions if one.loop is not None]
    return len(program.instructions) + sum([_length(body) for loop in loops for body in loop.bodies])
