"""Search for the cheapest nest of loops that keeps a network within a limit.

A few nests at a time are extended by one more loop, at first with one index at a time: if that does not fit,
no block does. The blocks of a nest that fits are then made as large as the limit allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import NamedTuple

from nameexpr.compiler.schedule.limit.loops import (
    Measure,
    Nest,
    candidates,
    measure,
    paths_of,
    with_block,
    with_loop,
)
from nameexpr.compiler.schedule.limit.network import StepNetwork
from nameexpr.records import record

WIDTH = 6
"""The number of nests that are kept at a time with single indices, and again with larger blocks.
"""
LOOPS = 16
"""The largest number of loops in a nest."""
DEEP = 8
"""The largest depth of nested loops: Python nests at most 20."""
FEW = 12
"""The number of fitting nests of equally many loops whose blocks are enlarged."""
NOTHING = 1e-9
MEASURED = 3
"""The effort of measuring a nest; checking whether a loop is possible counts 1. Both take time in proportion
to the number of items, so that the time of a search is bounded, and its result is the same on every machine.
"""
MOST = 30_000
"""The total effort of all searches for one program."""


class CostedNest(NamedTuple):
    """A nest with its costs."""

    nest: Nest
    cost: float
    peak: int
    excess: float

    @property
    def rank(self) -> float:
        """The key by which nests are chosen to be extended by another loop: near the limit, and cheap."""
        return log(self.cost) + self.excess


@record(frozen=False)
class Effort:
    """The remaining effort of consecutive searches: one that has found a nest leaves half of it."""

    left: int = MOST


@record(frozen=False)
class Search:
    """The results so far: nests that fit, and the one with the lowest peak of all."""

    network: StepNetwork
    limit: int
    effort: Effort
    least: int
    lowest: CostedNest | None = None
    fits: bool = False

    @property
    def is_over(self) -> bool:
        """Whether the search has used its share of the effort."""
        return self.effort.left <= (self.least if self.fits else 0)

    def costed(self, nest: Nest) -> CostedNest:
        """Return the costs of a nest, and record it if its peak is the lowest."""
        self.effort.left -= MEASURED
        measured = measure(self.network, nest, self.limit)
        costed = CostedNest(nest, measured.cost, measured.peak, measured.excess)
        self.fits |= costed.peak <= self.limit
        if self.lowest is None or (costed.peak, costed.cost) < (self.lowest.peak, self.lowest.cost):
            self.lowest = costed
        return costed


def find_nests(
    network: StepNetwork, limit: int, effort: Effort | None = None
) -> tuple[list[CostedNest], CostedNest]:
    """Return nests of loops that fit a limit, the cheapest first, and the one with the lowest peak.

    Parameters
    ----------
    network : StepNetwork
        What is computed.
    limit : int
        Bytes.
    effort : Effort, optional
        The effort that earlier searches left; it is counted down.
    """
    effort = effort or Effort()
    search = Search(network, limit, effort, effort.left // 2)
    start = search.costed(())
    fitting = [start] if start.peak <= limit else []
    beam = [] if fitting else [start]
    for _ in range(LOOPS):
        grown = _grown(search, beam)
        new = sorted((one for one in grown if one.peak <= limit), key=lambda one: one.cost)
        fitting += [_widened(search, one) for one in new[:FEW]]
        cheapest = min((one.cost for one in fitting), default=float("inf"))
        rest = sorted((one for one in grown if one.peak > limit), key=lambda one: one.rank)[: 3 * WIDTH]
        wide = sorted(rest, key=lambda one: _widened(search, one).rank)
        beam = list(dict.fromkeys((*wide[:WIDTH], *rest[:WIDTH])))
        if not beam or search.is_over or cheapest < 1.05 * start.cost:
            break
    assert search.lowest is not None
    return sorted(fitting, key=lambda one: one.cost), search.lowest


def _grown(search: Search, beam: list[CostedNest]) -> list[CostedNest]:
    """Return all nests with one more loop that reduces the excess over the limit, an index at a time."""
    grown: dict[Nest, CostedNest] = {}
    for one in beam:
        before = measure(search.network, one.nest, search.limit)
        for nest in _more(search, one.nest, before):
            if search.is_over or nest in grown:
                continue
            costed = search.costed(nest)
            if costed.excess < before.excess:
                grown[nest] = costed
    return list(grown.values())


def _more(search: Search, nest: Nest, before: Measure) -> Iterator[Nest]:
    """Yield the nests with one more loop that covers the items at the peak."""
    network = search.network
    labels = frozenset(network.sizes) if before.path else before.alive
    for depth in range(len(before.path), -1, -1):
        path = before.path[:depth]
        for label in sorted(labels):
            if search.is_over:
                return
            search.effort.left -= len(network.items)
            for loop in candidates(network, nest, path, frozenset([label])):
                more = with_loop(nest, path, loop)
                if max(len(inner) for inner, _ in paths_of(more)) <= DEEP:
                    yield more


def _widened(search: Search, one: CostedNest) -> CostedNest:
    """Return a nest with the largest blocks that do not increase the excess over the limit."""
    nest = one.nest
    for path, loop in sorted(paths_of(nest), key=lambda pair: -len(pair[0])):
        size = search.network.sizes[loop.label]
        low, high = 2, size  # blocks: `high` of them fit
        while low < high:
            middle = (low + high) // 2
            if search.costed(with_block(nest, path, -(-size // middle))).excess <= one.excess + NOTHING:
                high = middle
            else:
                low = middle + 1
        nest = with_block(nest, path, -(-size // high))
    return search.costed(nest)
