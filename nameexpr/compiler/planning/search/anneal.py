"""Simulated annealing: three values that meet in two steps meet in another order, worse ones too at first.

The odds are taken on what the two steps cost, by ratio: a step that hardly counts in the whole is turned as
readily as one that does, so that the tree can be changed in all its parts at once.
"""

from __future__ import annotations

from random import Random

from nameexpr.compiler.planning.cost import WRITING
from nameexpr.compiler.planning.network import HUGE, staying
from nameexpr.compiler.planning.search.tree import Tree


def anneal(tree: Tree, rng: Random, heat: float, sweeps: int) -> None:
    """Turn about the steps of a tree, while the heat falls from its start to nothing."""
    for sweep in range(sweeps):
        _sweep(tree, rng, heat * (1 - sweep / sweeps))


def _sweep(tree: Tree, rng: Random, heat: float) -> None:
    """Try one turn at each value: of (one, other), third into (one, third), other."""
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
        one, other = children[pair]
        if dice * 4 % 1 < 0.5:  # noqa: PLR2004
            one, other = other, one
        gone = shared = labels[one] & labels[third]
        if not shared:
            continue
        kept = labels[one] ^ labels[third]
        if shared & hyper:
            stays = staying(shared & hyper, inside[one] | inside[third], tree.lasting)
            kept |= stays
            gone ^= stays
        step = sizes[one] * sizes[third] / cells[shared]
        size = min(step / cells[gone], HUGE)
        first = step * (2 if gone else 1) + WRITING * size
        step = size * sizes[other] / cells[kept & labels[other]]
        second = step * (1 if labels[node] == kept | labels[other] else 2) + WRITING * sizes[node]
        old, new = costs[node] + costs[pair], first + second
        if new <= old or random() < (old / new) ** (1 / heat):
            children[pair], children[node] = (one, third), (pair, other)
            inside[pair] = inside[one] | inside[third]
            labels[pair], sizes[pair] = kept, size
            costs[pair], costs[node] = first, second
