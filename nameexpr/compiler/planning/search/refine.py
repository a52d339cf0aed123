"""Better subtrees: a value and what it is made of, a few steps down, ordered anew by the exact search."""

from __future__ import annotations

from math import fsum, inf

from nameexpr.compiler.planning.exact.connected import cheapest
from nameexpr.compiler.planning.search.tree import Tree

TRIALS = 20_000
"""Pairs of sets that may be tried for one subtree: a few thousand do nearly always."""


def refine(tree: Tree, leaves: int, seen: set[frozenset[int]], trials: float = inf) -> int:
    """Order the subtree below each value anew if that costs less, the costliest first.

    Parameters
    ----------
    tree : Tree
        What is changed.
    leaves : int
        Values that a subtree is made of, at most.
    seen : set
        Subtrees that are known to be as good as they can be; it grows.
    trials : float
        Pairs of sets after which to stop.

    Returns
    -------
    int
        How many pairs of sets were tried.
    """
    order = sorted(range(tree.count, len(tree.labels)), key=lambda node: -tree.costs[node])
    tried = 0
    for node in order:
        if tried < trials:
            tried += _refine_at(tree, node, leaves, seen)
    return tried


def _refine_at(tree: Tree, node: int, leaves: int, seen: set[frozenset[int]]) -> int:
    front, taken = _front(tree, node, leaves)
    key = frozenset([tree.inside[one] for one in front])
    if len(front) <= 2 or key in seen:  # noqa: PLR2004
        return 0
    seen.add(key)
    bound = fsum([tree.costs[one] for one in taken]) * (1 - 1e-9)
    labels = [tree.labels[one] for one in front]
    found = cheapest(labels, tree.labels[node], tree.cells, bound=bound, trials=TRIALS)
    if found.pairs is not None:
        for new, (one, other) in zip([*taken[1:], node], found.pairs, strict=True):
            tree.children[new] = (front[one], front[other])
            tree.update(new)
            front.append(new)
    return found.tried + len(key)


def _front(tree: Tree, node: int, leaves: int) -> tuple[list[int], list[int]]:
    """Return the values that a subtree is made of, and its steps, the costliest taken apart first."""
    front, taken = list(tree.children[node]), [node]
    while len(front) < leaves:
        widest = max(front, key=tree.costs.__getitem__)
        if widest < tree.count:
            break
        front.remove(widest)
        front += tree.children[widest]
        taken.append(widest)
    return front, taken
