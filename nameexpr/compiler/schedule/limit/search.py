"""Search for the cheapest nest of loops that keeps a network within a limit.

A few nests at a time are extended by one more loop around the item at the peak, one index at a time: if that
does not fit, no block does. The blocks of a nest that fits are then made as large as the limit allows. What a
loop changes is measured for the items below its top only; the rest of the nest keeps its costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, log
from typing import NamedTuple

from nameexpr.compiler.planning.network import CALL, FLOPS, LEAST, MOST, SHARE
from nameexpr.compiler.schedule.limit.loops import (
    BlockLoop,
    Measure,
    Nest,
    Path,
    candidates,
    measure,
    paths_of,
    walk,
    with_block,
    with_loop,
)
from nameexpr.compiler.schedule.limit.network import StepTree
from nameexpr.records import record, replace

WIDTH = 4
"""The number of nests that are kept at a time by their costs, and again by their flops alone."""
LOOPS = 24
"""The largest number of loops in a nest."""
DEEP = 8
"""The largest depth of nested loops: Python nests at most 20."""
FEW = 6
"""The number of fitting nests of equally many loops whose blocks are enlarged."""
NOTHING = 1e-9
ENOUGH = 1.05
"""The ratio of the cost of a nest to that without loops up to which nothing better is searched."""
UNFOUND = 6
"""How many times longer a search may take that has found no nest."""
VISIT = 1.3e-6
"""The seconds that it takes to measure one item. Searches count the items that they measure, so that their
results are the same on every machine.
"""


class CostedNest(NamedTuple):
    """A nest with its costs: those of all calls as flops, and the flops alone."""

    nest: Nest
    cost: float
    flops: float
    peak: float
    excess: float

    @property
    def rank(self) -> float:
        """The key by which nests are chosen to be extended by another loop: near the limit, and cheap."""
        return log(max(1.0, self.cost)) + self.excess

    @property
    def flops_rank(self) -> float:
        """The same without calls, which are fewer in larger blocks."""
        return log(max(1.0, self.flops)) + self.excess


@record(frozen=False)
class Effort:
    """The seconds that consecutive searches have taken."""

    spent: float = 0.0


@record(frozen=False)
class Search:
    """The cost of the cheapest nest that fits so far, and the nest with the lowest peak of all."""

    tree: StepTree
    limit: float
    effort: Effort
    lowest: CostedNest | None = None
    cheapest: float = inf

    @property
    def is_over(self) -> bool:
        """Whether the search has used its share of the time, which grows with that of the cheapest nest."""
        return self.effort.spent > allowed_seconds(self.tree, self.cheapest)

    def costed(self, nest: Nest) -> CostedNest:
        """Return the costs of a nest."""
        found = self.measured(nest)
        return CostedNest(nest, found.cost, found.flops, found.peak, found.excess)

    def measured(self, nest: Nest, *, is_traced: bool = False) -> Measure:
        """Measure a nest, and record it if it is the cheapest or its peak the lowest."""
        self.effort.spent += VISIT * self.tree.count
        found = measure(self.tree, nest, self.limit, is_traced=is_traced)
        if found.peak <= self.limit:
            self.cheapest = min(self.cheapest, found.cost)
        if self.lowest is None or (found.peak, found.cost) < (self.lowest.peak, self.lowest.cost):
            self.lowest = CostedNest(nest, found.cost, found.flops, found.peak, found.excess)
        return found


def allowed_seconds(tree: StepTree, cost: float) -> float:
    """Return the seconds that a search may take that has found a nest of this cost; more if it has none."""
    least = LEAST * tree.count
    if cost == inf:
        return min(MOST, UNFOUND * least)
    return min(MOST, SHARE * (cost / FLOPS + CALL * tree.count) + least)


def find_nests(
    tree: StepTree,
    limit: float,
    effort: Effort | None = None,
    nests: Sequence[CostedNest] = (),
    cheapest: float = inf,
) -> tuple[list[CostedNest], CostedNest]:
    """Return nests of loops that fit a limit, the cheapest first, and the one with the lowest peak.

    Parameters
    ----------
    tree : StepTree
        What is computed.
    limit : float
        Bytes.
    effort : Effort, optional
        What earlier searches have used of the time; it is counted up.
    nests : sequence of CostedNest, optional
        The nests to which loops are added first; by default none.
    cheapest : float, optional
        The cost of a nest that is known to fit: nests with more flops are not extended.
    """
    search = Search(tree, limit, effort or Effort(), cheapest=cheapest)
    start = search.costed(())
    fitting = [start] if start.peak <= limit else []
    first = dict.fromkeys([_by_indices(one.nest) for one in nests])
    beam = [] if fitting else [search.costed(nest) for nest in [*first][:WIDTH]] or [start]
    for _ in range(LOOPS):
        if not beam or search.is_over or search.cheapest < ENOUGH * start.cost:
            break
        grown = _grown(search, beam)
        new = sorted([one for one in grown if not one.excess], key=lambda one: one.flops)
        fitting += [_widened(search, one.nest) for one in new[:FEW]]
        rest = [one for one in grown if one.excess and one.flops < search.cheapest]
        ranked = sorted(rest, key=lambda one: one.rank)[:WIDTH]
        ranked += sorted(rest, key=lambda one: one.flops_rank)[:WIDTH]
        beam = list(dict.fromkeys(ranked))
    for one in beam:
        search.measured(one.nest)
    assert search.lowest is not None
    return sorted(fitting, key=lambda one: one.cost), search.lowest


def _grown(search: Search, beam: list[CostedNest]) -> list[CostedNest]:
    """Return all nests with one more loop that reduces the excess over the limit, an index at a time."""
    grown: dict[Nest, CostedNest] = {}
    for one in beam:
        before = search.measured(one.nest, is_traced=True)
        for path, loop in _more(search, one.nest, before):
            nest = with_loop(one.nest, path, loop)
            if nest not in grown:
                costed = _changed(search, nest, before, path, loop)
                if costed is not None:
                    grown[nest] = costed
            if search.is_over:
                return list(grown.values())
    return list(grown.values())


def _more(search: Search, nest: Nest, before: Measure) -> Iterator[tuple[Path, BlockLoop]]:
    """Yield the loops that could be added around the item at the peak, and where."""
    tree = search.tree
    for depth in range(len(before.path), -1, -1):
        path = before.path[:depth]
        assert before.levels is not None
        level, _ = before.levels[path]
        items = set(level.items)
        tops, item = [], before.item
        while item in items:
            tops.append(item)
            item = tree.parent[item]
        for loop in candidates(tree, nest, path, before.alive, tops):
            if depth + _depth(loop) <= DEEP:
                yield path, loop


def _depth(loop: BlockLoop) -> int:
    return 1 + max(map(_depth, loop.inner), default=0)


def _changed(search: Search, nest: Nest, before: Measure, path: Path, loop: BlockLoop) -> CostedNest | None:
    """Return the costs of a nest with one more loop: those before, with another part below its top; None if
    that does not reduce the excess over the limit.
    """
    tree, below = search.tree, search.tree.below[loop.top]
    assert before.levels is not None
    level, moments = before.levels[path]
    others = [one for one in level.nest if one.items & below and not one.items & loop.items]
    items = [number for number in level.items if below >> number & 1]
    first = moments[next(number for number in items if number in moments)]
    last = moments[loop.top]
    most = last.after[0] - first.before[0] - NOTHING
    found = Measure(before.limit, most)
    search.effort.spent += VISIT * len(items)
    walk(tree, level._replace(items=items, nest=(*others, loop), below=first.alive), found)
    if found.excess >= most:
        return None
    costs = before.excess, before.cost, before.flops
    new = found.excess, found.cost, found.flops
    excess, cost, flops = [
        one - (after - start) + added
        for one, start, after, added in zip(costs, first.before, last.after, new, strict=True)
    ]
    return CostedNest(nest, cost, flops, found.peak, excess if excess > NOTHING else 0.0)


def _widened(search: Search, nest: Nest) -> CostedNest:
    """Return a nest that fits with the largest blocks that do, those of inner loops first."""
    for path, loop in sorted(paths_of(nest), key=lambda pair: -len(pair[0])):
        size = int(search.tree.elements[search.tree.bits[loop.label]])
        low, high = 2, size  # blocks: `high` of them fit
        while low < high:
            middle = (low + high) // 2
            if search.measured(with_block(nest, path, -(-size // middle))).peak <= search.limit:
                high = middle
            else:
                low = middle + 1
        nest = with_block(nest, path, -(-size // high))
    return search.costed(nest)


def widened(tree: StepTree, limit: float, nests: Sequence[Nest]) -> list[CostedNest]:
    """Return which of some nests fit with other blocks, the cheapest first."""
    search = Search(tree, limit, Effort())
    single = map(_by_indices, nests)
    fitting = [_widened(search, nest) for nest in dict.fromkeys(single) if search.costed(nest).peak <= limit]
    return sorted(fitting, key=lambda one: one.cost)


def _by_indices(nest: Nest) -> Nest:
    """Return a nest with one index at a time."""
    return tuple([replace(loop, block=1, inner=_by_indices(loop.inner)) for loop in nest])
