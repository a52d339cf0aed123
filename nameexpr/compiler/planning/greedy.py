"""Randomised greedy orders: the pair that looks best is contracted next, repeatedly with different noise.

A pair looks good if its result is small compared with the two values that it replaces. How much those count,
and how much noise is added, differs from round to round; the noise is the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from itertools import repeat
from math import copysign, inf, log1p
from typing import NamedTuple

from nameexpr.compiler.planning.network import HUGE, WRITING, Network, Pairs, bits, hyperedges

CLIQUE = 8
"""The number of others with the same label that each operand is paired with: one label in 1000 operands would
be half a million pairs."""


class Start(NamedTuple):
    """The start of every round: the network, pairs of neighbours, and the labels that are in more than two
    places, with their number.
    """

    network: Network
    edges: tuple[tuple[int, int], ...]
    counts: dict[int, int]


def read_start(network: Network) -> Start:
    """Find the neighbours and hyperedges of a network."""
    members: dict[int, list[int]] = {}
    for position, term in enumerate(network.terms):
        for label in bits(term):
            members.setdefault(label, []).append(position)
    edges: dict[tuple[int, int], None] = {}
    for owners in members.values():
        if len(owners) > CLIQUE:
            owners.sort(key=lambda position: network.cells[network.terms[position]])
        for index, left in enumerate(owners):
            for right in owners[index + 1 : index + CLIQUE]:
                edges[min(left, right), max(left, right)] = None
    lasting = hyperedges(network.terms, network.output)
    return Start(network, tuple(edges), {label: places.bit_count() for label, places in lasting.items()})


def greedy(
    start: Start, weight: float = 1.0, noise: Iterator[float] | None = None, limit: float = inf
) -> tuple[float, Pairs] | None:
    """Return the cost of an order, and the order, if it costs no more than `limit`.

    `weight` is how much the elements of the two contracted values count, `noise` is subtracted from the score
    of each candidate.
    """
    state = _State(start, weight, noise or repeat(0.0))
    heap, near, pairs = state.heap, state.near, []
    heapify(heap)
    while heap:
        _, left, right = heappop(heap)
        if near[left] is not _GONE and near[right] is not _GONE:
            pairs.append((left, right))
            state.contract(left, right)
            if state.cost > limit:
                return None
    return state.cost, pairs


_GONE: set[int] = set()
"""The neighbours of a value that has been contracted."""


class _State:
    """The values and candidates during a round."""

    def __init__(self, start: Start, weight: float, noise: Iterator[float]) -> None:
        terms, _, self.cells = start.network
        self.weight, self.noise = weight, noise
        self.labels = list(terms)
        self.sizes = [self.cells[term] for term in terms]
        self.counts = dict(start.counts)
        self.hyper = sum(self.counts)
        self.cost = 0.0
        self.near: list[set[int]] = [set() for _ in terms]
        self.heap: list[tuple[float, int, int]] = []
        for left, right in start.edges:
            self.near[left].add(right)
            self.near[right].add(left)
            self.heap.append((self.score(left, right), left, right))

    def score(self, left: int, right: int) -> float:
        """Return how much a pair adds to the live memory, on a logarithmic scale, minus the noise."""
        shared = self.labels[left] & self.labels[right]
        size, their_size = self.sizes[left], self.sizes[right]
        result = size * their_size / self.cells[shared] / self.cells[shared & ~self.hyper]
        change = result - self.weight * (size + their_size)
        return copysign(log1p(abs(change)), change) - next(self.noise)

    def contract(self, left: int, right: int) -> None:
        """Replace two values by their product, and make it a candidate with the neighbours of both."""
        shared = self.labels[left] & self.labels[right]
        gone = shared & ~self.hyper
        step = self.sizes[left] * self.sizes[right] / self.cells[shared]
        result = min(step / self.cells[gone], HUGE)
        self.cost += step * (2 if gone else 1) + WRITING * result
        self.labels.append((self.labels[left] | self.labels[right]) & ~gone)
        self.sizes.append(result)
        if shared & self.hyper:
            self._count(bits(shared & self.hyper))
        self._connect(left, right)

    def _count(self, labels: Iterable[int]) -> None:
        """Record that labels are in one place fewer: if in two, the next step that has both sums."""
        for label in labels:
            self.counts[label] -= 1
            if self.counts[label] == 2:  # noqa: PLR2004
                self.hyper ^= label

    def _connect(self, left: int, right: int) -> None:
        number, near = len(self.near), self.near
        around = near[left] | near[right]
        around -= {left, right}
        near.append(around)
        near[left] = near[right] = _GONE
        for third in around:
            their = near[third]
            their.discard(left)
            their.discard(right)
            their.add(number)
            heappush(self.heap, (self.score(third, number), third, number))
