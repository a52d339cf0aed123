"""The exact search: sets of operands in the order of what it costs to make them, cheapest first.

This is Dijkstra's algorithm for things that are made of two things (Knuth, "A generalization of Dijkstra's
algorithm", 1977), with a bound on what must still come, as A* has: the value of a set takes part in one more
step, which goes through all its cells. Only sets that are cheaper than the best order are ever looked at, so
no cap on the cost has to be guessed and raised.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

from nameexpr.compiler.planning.cost import WRITING
from nameexpr.compiler.planning.network import Cells, hyperedges, staying
from nameexpr.compiler.planning.pairs import Pairs, unfold

FITTING = 6
"""What a pair of sets that can be joined takes beside one that cannot."""


class Found(NamedTuple):
    """An order, or None if none was found, and how many pairs of sets were tried for it, those that fit
    counted as the time that they take.
    """

    pairs: Pairs | None
    tried: int


def cheapest(
    terms: Sequence[int],
    output: int,
    cells: Cells,
    *,
    bound: float = inf,
    trials: float = inf,
    outer: bool = False,
) -> Found:
    """Return the order that costs least, if one costs less than `bound`.

    Parameters
    ----------
    terms, output, cells
        The network.
    bound : float
        Cost of an order that is known.
    trials : float
        Pairs of sets that may be tried; beyond that the search gives up.
    outer : bool
        Whether pairs that share no label are tried too.

    Examples
    --------
    >>> cheapest([0b011, 0b110, 0b100], 0b001, Cells([10.0, 10.0, 10.0])).pairs
    [(1, 2), (3, 0)]
    """
    search = _Search(terms, output, cells, bound, outer)
    heap, closed, whole = search.heap, set(), search.whole
    while heap:
        _, made, labels, size, cost = heappop(heap)
        if made == whole:
            return Found(unfold(whole, search.split, len(terms)), search.tried)
        if made not in closed:
            closed.add(made)
            search.join(made, labels, size, cost)
            search.done.append((made, labels, size, cost))
            if search.tried > trials:
                break
    return Found(None, search.tried)


class _Search:
    """Sets of operands, as bits: what the best way costs and which two parts it has, those still to be looked
    at by the least that an order with them costs, and those done with.
    """

    def __init__(self, terms: Sequence[int], output: int, cells: Cells, bound: float, outer: bool) -> None:
        self.cells, self.bound, self.outer, self.tried = cells, bound, outer, 0
        self.whole = (1 << len(terms)) - 1
        self.lasting = hyperedges(terms, output)
        self.hyper = sum(self.lasting)
        self.least = 1 if outer or self.hyper else 2  # a step without a hyperedge always sums
        self.best: dict[int, tuple[float, int, int]] = {}
        self.done: list[tuple[int, int, float, float]] = []
        self.heap: list[tuple[float, int, int, float, float]] = []
        for position, term in enumerate(terms):
            heappush(self.heap, (self.least * cells[term], 1 << position, term, cells[term], 0.0))

    def split(self, made: int) -> tuple[int, int] | int:
        """Return the two parts that a set is best made of, or the operand that it is."""
        return self.best[made][1:] if made & (made - 1) else made.bit_length() - 1

    def join(self, one: int, labels: int, size: float, cost: float) -> None:
        """Join a set with all that are done: most of the time goes here."""
        cells, outer, hyper, best = self.cells, self.outer, self.hyper, self.best
        self.tried += len(self.done)
        for other, theirs, their_size, their_cost in self.done:
            shared = labels & theirs
            if one & other or not (shared or outer):
                continue
            self.tried += FITTING
            both, kept, gone = one | other, labels ^ theirs, shared
            if shared & hyper:
                stays = staying(shared & hyper, both, self.lasting)
                kept |= stays
                gone ^= stays
            step = size * their_size / cells[shared]
            left = step / cells[gone]
            total = cost + their_cost + step * (2 if gone else 1) + WRITING * left
            known = best.get(both)
            if known is None or total < known[0]:
                estimate = total if both == self.whole else total + self.least * left
                if estimate < self.bound:
                    best[both] = (total, one, other)
                    heappush(self.heap, (estimate, both, kept, left, total))
                    if both == self.whole:
                        self.bound = total
