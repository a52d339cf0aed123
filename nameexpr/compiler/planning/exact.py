"""Searches that find the cheapest order.

Chains and rings are the textbook's matrix chain, with labels of the output at any operand, and with the ends
joined for a ring: the best way to compute a stretch of operands is the best place to cut it. In other
networks, sets of operands are visited in the order of their cost. This is Dijkstra's algorithm for values
composed of two values (Knuth, "A generalization of Dijkstra's algorithm", 1977), with a lower bound on the
remaining cost, as in A*: the value of a set takes part in one more step, which visits all its elements. Only
sets that are cheaper than the best order are ever examined, so that no cap on the cost has to be guessed and
raised.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

from nameexpr.compiler.planning.network import (
    HUGE,
    WRITING,
    Network,
    Pairs,
    bits,
    hyperedges,
    linearize,
    surviving_labels,
)

FITTING = 6
"""The time of a pair of sets that can be joined, relative to one that cannot."""


class Chain(NamedTuple):
    """Operands in a row; `bonds` are the elements of the labels between one and the next, `legs` those of the
    output's labels, both twice over, so that stretches may run past the end of a ring.
    """

    operands: Sequence[int]
    bonds: Sequence[float]
    legs: Sequence[float]
    is_ring: bool


def read_chain(network: Network) -> Chain | None:
    """Return the chain or ring that a network is, or None if it is neither."""
    terms, output, cells = network
    if hyperedges(terms, output):
        return None
    owners: dict[int, list[int]] = {}
    near: list[set[int]] = [set() for _ in terms]
    for position, term in enumerate(terms):
        for label in bits(term & ~output):
            owners.setdefault(label, []).append(position)
    for left, right in owners.values():
        near[left].add(right)
        near[right].add(left)
    ends = [position for position, neighbours in enumerate(near) if len(neighbours) == 1]
    if len(ends) not in (0, 2) or max(map(len, near)) > 2:  # noqa: PLR2004
        return None
    order = [min(ends, default=0)]
    while len(order) < len(terms):
        following = near[order[-1]].difference(order[-2:])
        if not following:
            return None
        order.append(min(following))
    if len(set(order)) < len(order):
        return None  # two rings
    pairs = zip(order, [*order[1:], order[0]], strict=True)
    bonds = [cells[terms[left] & terms[right] & ~output] for left, right in pairs]
    legs = [cells[terms[left] & output] for left in order]
    return Chain(order, bonds * 2, legs * 2, not ends)


class Stretches(NamedTuple):
    """The costs of stretches: those that start at a place and those that end there, by their length, and the
    number of elements of their values.
    """

    starts: list[list[float]]
    ends: list[list[float]]
    cells: dict[tuple[int, int], float]


def cut_chain(chain: Chain) -> Pairs:
    """Return the cheapest order; outer products are not tried, as they are never better in a chain."""
    count = len(chain.operands)
    table = _stretches(chain)

    def split(stretch: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]] | int:
        first, length = stretch
        if length == 1:
            return chain.operands[first]
        if length == count and chain.is_ring:
            first, cut = _halves(chain, table)
        else:
            costs = _costs(chain, table, first, length)
            cut = costs.index(min(costs)) + 1
        return (first, cut), ((first + cut) % count, length - cut)

    return linearize((0, count), split, count)


def _stretches(chain: Chain) -> Stretches:
    count = len(chain.operands)
    table = Stretches([[] for _ in range(count)], [[] for _ in range(count)], {})
    legs = [1.0] * count
    for length in range(1, count + (not chain.is_ring)):
        for first in range(count if chain.is_ring else count - length + 1):
            last = first + length - 1
            legs[first] = min(legs[first] * chain.legs[last], HUGE)
            table.cells[first, length] = legs[first] * chain.bonds[first - 1] * chain.bonds[last]
            cost = 0.0
            if length > 1:
                cost = min(_costs(chain, table, first, length)) + WRITING * table.cells[first, length]
            table.starts[first].append(cost)
            table.ends[last % count].append(cost)
    return table


def _costs(chain: Chain, table: Stretches, first: int, length: int) -> list[float]:
    """Return the cost of a stretch for each place to cut it."""
    last = first + length - 1
    flops = 2 * table.cells[first, length]
    lefts = table.starts[first][: length - 1]
    rights = table.ends[last % len(chain.operands)][length - 2 :: -1]
    return [
        left + right + flops * bond
        for left, right, bond in zip(lefts, rights, chain.bonds[first:last], strict=True)
    ]


def _halves(chain: Chain, table: Stretches) -> tuple[int, int]:
    """Return where the first of the two parts of a ring that are joined last begins, and its length."""
    count = len(chain.operands)
    best = (inf, 0, 1)
    for first in range(count):
        before = chain.bonds[first - 1]
        for length in range(1, count - first):
            rest = (first + length) % count
            cost = table.starts[first][length - 1] + table.starts[rest][count - length - 1]
            both = table.cells[first, length] * table.cells[rest, count - length]
            cost += 2 * both / before / chain.bonds[first + length - 1]
            best = min(best, (cost, first, length))
    return best[1:]


def search_connected(
    network: Network, *, bound: float = inf, trials: float = inf, outer: bool = False
) -> tuple[Pairs | None, int]:
    """Return the cheapest order, if one costs less than `bound`, and how many pairs of sets were tried, where
    pairs that fit are weighted by their time.

    The search gives up after `trials`. With `outer`, pairs that share no label are tried, too.

    Examples
    --------
    >>> from nameexpr.compiler.planning.network import Cells
    >>> search_connected(Network((0b011, 0b110, 0b100), 0b001, Cells([10.0, 10.0, 10.0])))[0]
    [(1, 2), (3, 0)]
    """
    sets = _Sets(network, bound, outer)
    heap, closed, whole = sets.heap, set(), sets.whole
    while heap:
        _, subset, labels, size, cost = heappop(heap)
        if subset == whole:
            return linearize(whole, sets.split, len(network.terms)), sets.tried
        if subset not in closed:
            closed.add(subset)
            sets.join(subset, labels, size, cost)
            sets.done.append((subset, labels, size, cost))
            if sets.tried > trials:
                break
    return None, sets.tried


class _Sets:
    """Sets of operands, as bits: the cost and the two parts of their best order, the sets still to be visited
    by the lower bound of an order with them, and those already visited.
    """

    def __init__(self, network: Network, bound: float, outer: bool) -> None:
        terms, output, cells = network
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

    def split(self, subset: int) -> tuple[int, int] | int:
        """Return the two parts of a set in its best order, or the operand that it is."""
        return self.best[subset][1:] if subset & (subset - 1) else subset.bit_length() - 1

    def join(self, subset: int, labels: int, size: float, cost: float) -> None:
        """Join a set with all that were visited: most of the time is spent here."""
        cells, outer, hyper, best = self.cells, self.outer, self.hyper, self.best
        self.tried += len(self.done)
        for partner, theirs, their_size, their_cost in self.done:
            shared = labels & theirs
            if subset & partner or not (shared or outer):
                continue
            self.tried += FITTING
            both, kept, gone = subset | partner, labels ^ theirs, shared
            if shared & hyper:
                stays = surviving_labels(shared & hyper, both, self.lasting)
                kept |= stays
                gone ^= stays
            step = size * their_size / cells[shared]
            left = step / cells[gone]
            total = cost + their_cost + step * (2 if gone else 1) + WRITING * left
            known = best.get(both)
            if known is None or total < known[0]:
                estimate = total if both == self.whole else total + self.least * left
                if estimate < self.bound:
                    best[both] = (total, subset, partner)
                    heappush(self.heap, (estimate, both, kept, left, total))
                    if both == self.whole:
                        self.bound = total
