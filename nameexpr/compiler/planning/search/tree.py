"""A tree of contractions that can be changed in place."""

from __future__ import annotations

from math import fsum

from nameexpr.compiler.planning.cost import WRITING
from nameexpr.compiler.planning.network import HUGE, Network, hyperedges, staying
from nameexpr.compiler.planning.pairs import Pairs, unfold


class Tree:
    """The values of an order: operands first, then the result of each pair, the last of all at the end.

    For each value there are its two parts (`children`), the operands inside it, its labels, its cells
    (`sizes`), and what the step that makes it costs. Only operands have a fixed place: a value may come to be
    made of values with higher numbers.
    """

    def __init__(self, network: Network, pairs: Pairs) -> None:
        count = len(network.terms)
        self.network, self.cells, self.count = network, network.cells, count
        self.lasting = hyperedges(network.terms, network.output)
        self.hyper = sum(self.lasting)
        self.children = [(-1, -1)] * count + pairs
        self.inside = [1 << position for position in range(count)] + [0] * len(pairs)
        self.labels = list(network.terms) + [0] * len(pairs)
        self.sizes = [network.cells[term] for term in network.terms] + [0.0] * len(pairs)
        self.costs = [0.0] * (count + len(pairs))
        for node in range(count, len(self.labels)):
            self.update(node)

    def update(self, node: int) -> None:
        """Compute labels, cells and cost of a value from its two parts."""
        one, other = self.children[node]
        self.inside[node] = both = self.inside[one] | self.inside[other]
        gone = shared = self.labels[one] & self.labels[other]
        kept = self.labels[one] ^ self.labels[other]
        if shared & self.hyper:
            stays = staying(shared & self.hyper, both, self.lasting)
            kept |= stays
            gone ^= stays
        step = self.sizes[one] * self.sizes[other] / self.cells[shared]
        self.labels[node] = kept
        self.sizes[node] = size = min(step / self.cells[gone], HUGE)
        self.costs[node] = step * (2 if gone else 1) + WRITING * size

    def cost(self) -> float:
        """Return what all steps cost."""
        return fsum(self.costs)

    def pairs(self) -> Pairs:
        """Return the order, with its values numbered as they arise."""
        count, children = self.count, self.children
        return unfold(len(children) - 1, lambda node: node if node < count else children[node], count)
