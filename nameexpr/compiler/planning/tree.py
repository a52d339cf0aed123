"""A tree of contractions, and the searches that change it in place.

Simulated annealing rotates single steps: three values that are combined in two steps are combined in another
order, at first also a worse one. The acceptance depends on the ratio of the costs of the two steps: a step
that hardly counts in the whole is rotated as readily as one that does, so that all parts of the tree can
change at once. Refining takes subtrees, a value and its sources a few steps down, and reorders them by the
exact search.
"""

from __future__ import annotations

from math import fsum, inf
from random import Random

from nameexpr.compiler.planning.exact import search_connected
from nameexpr.compiler.planning.network import (
    HUGE,
    WRITING,
    Network,
    Pairs,
    hyperedges,
    linearize,
    surviving_labels,
)

TRIALS = 20_000
"""The number of pairs of sets that may be tried for one subtree: a few thousand nearly always suffice."""


class Tree:
    """The values of an order: operands first, then the result of each pair, the root at the end.

    For each value there are its two parts (`children`), the operands inside it, its labels, its number of
    elements (`sizes`), and the cost of its step. Only operands have a fixed position: a value may come to
    depend on values with higher numbers.
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
        """Compute labels, elements and cost of a value from its two parts."""
        left, right = self.children[node]
        self.inside[node] = both = self.inside[left] | self.inside[right]
        gone = shared = self.labels[left] & self.labels[right]
        kept = self.labels[left] ^ self.labels[right]
        if shared & self.hyper:
            stays = surviving_labels(shared & self.hyper, both, self.lasting)
            kept |= stays
            gone ^= stays
        step = self.sizes[left] * self.sizes[right] / self.cells[shared]
        self.labels[node] = kept
        self.sizes[node] = size = min(step / self.cells[gone], HUGE)
        self.costs[node] = step * (2 if gone else 1) + WRITING * size

    def cost(self) -> float:
        """Return the cost of all steps."""
        return fsum(self.costs)

    def pairs(self) -> Pairs:
        """Return the order, with its values numbered as they are created."""
        count, children = self.count, self.children
        return linearize(len(children) - 1, lambda node: node if node < count else children[node], count)


def anneal(tree: Tree, rng: Random, heat: float, sweeps: int) -> None:
    """Rotate the steps of a tree, while the temperature falls from its start to zero."""
    for sweep in range(sweeps):
        _sweep(tree, rng, heat * (1 - sweep / sweeps))


def _sweep(tree: Tree, rng: Random, heat: float) -> None:
    """Try one rotation at each value: of (one, other), third into (one, third), other."""
    count, children, labels, sizes = tree.count, tree.children, tree.labels, tree.sizes
    cells, costs, inside, hyper = tree.cells, tree.costs, tree.inside, tree.hyper
    random = rng.random
    for node in range(count, len(labels)):
        pair, third = children[node]
        dice = random()
        if pair < count or (third >= count and dice < 0.5):  # noqa: PLR2004
            pair, third = third, pair
            if pair < count:
                continue
        left, right = children[pair]
        if dice * 4 % 1 < 0.5:  # noqa: PLR2004
            left, right = right, left
        gone = shared = labels[left] & labels[third]
        if not shared:
            continue
        kept = labels[left] ^ labels[third]
        if shared & hyper:
            stays = surviving_labels(shared & hyper, inside[left] | inside[third], tree.lasting)
            kept |= stays
            gone ^= stays
        step = sizes[left] * sizes[third] / cells[shared]
        size = min(step / cells[gone], HUGE)
        first = step * (2 if gone else 1) + WRITING * size
        step = size * sizes[right] / cells[kept & labels[right]]
        second = step * (1 if labels[node] == kept | labels[right] else 2) + WRITING * sizes[node]
        old, new = costs[node] + costs[pair], first + second
        if new <= old or random() < (old / new) ** (1 / heat):
            children[pair], children[node] = (left, third), (pair, right)
            inside[pair] = inside[left] | inside[third]
            labels[pair], sizes[pair] = kept, size
            costs[pair], costs[node] = first, second


def refine(tree: Tree, leaves: int, seen: set[frozenset[int]], trials: float = inf) -> int:
    """Reorder the subtree below each value if that costs less, the costliest first; return how many pairs of
    sets were tried.

    A subtree has at most `leaves` values; those in `seen`, which grows, are known to be optimal. The search
    ends after `trials`.
    """
    order = sorted(range(tree.count, len(tree.labels)), key=lambda node: -tree.costs[node])
    tried = 0
    for node in order:
        if tried < trials:
            tried += _refine_at(tree, node, leaves, seen)
    return tried


def _refine_at(tree: Tree, node: int, leaves: int, seen: set[frozenset[int]]) -> int:
    front, taken = _front(tree, node, leaves)
    key = frozenset([tree.inside[value] for value in front])
    if len(front) <= 2 or key in seen:  # noqa: PLR2004
        return 0
    seen.add(key)
    bound = fsum([tree.costs[value] for value in taken]) * (1 - 1e-9)
    labels = [tree.labels[value] for value in front]
    network = Network(tuple(labels), tree.labels[node], tree.cells)
    pairs, tried = search_connected(network, bound=bound, trials=TRIALS)
    if pairs is not None:
        for new, (left, right) in zip([*taken[1:], node], pairs, strict=True):
            tree.children[new] = (front[left], front[right])
            tree.update(new)
            front.append(new)
    return tried + len(key)


def _front(tree: Tree, node: int, leaves: int) -> tuple[list[int], list[int]]:
    """Return the leaves of a subtree, and its steps, the costliest split first."""
    front, taken = list(tree.children[node]), [node]
    while len(front) < leaves:
        widest = max(front, key=tree.costs.__getitem__)
        if widest < tree.count:
            break
        front.remove(widest)
        front += tree.children[widest]
        taken.append(widest)
    return front, taken
