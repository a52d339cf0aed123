"""All orders of a few operands: the one with the fewest flops, and those that have nearly as few.

Every set of operands is split in two in all ways, including outer products.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TypeAlias

from nameexpr.compiler.planning.network import Pairs, linearize

IsFree: TypeAlias = Callable[[int, int, int], bool]
Tree: TypeAlias = "int | tuple[Tree, Tree]"


def search_all(
    terms: Sequence[frozenset[str]],
    output: frozenset[str],
    sizes: Mapping[str, int],
    is_free: IsFree | None = None,
) -> Pairs:
    """Return the order with the fewest flops of all orders, including those with outer products.

    Flops come first, exactly as they are reported, and elements written only break ties: with few operands
    the caller can see every order, and expects the one that a textbook would use. With `is_free`, a predicate
    of a set of operands, the elements of its value and the flops that compute it, free values count nothing,
    and all flops break ties.

    Examples
    --------
    >>> terms = [frozenset("ij"), frozenset("jk"), frozenset("kl")]
    >>> search_all(terms, frozenset("il"), dict(i=10, j=2, k=10, l=2))
    [(1, 2), (0, 3)]
    """
    names = sorted(frozenset().union(*terms))
    widths = [sizes[name] for name in names]
    keep = _kept(terms, output, names)
    cells: dict[int, int] = {}
    best: list[tuple[int, int, int, int]] = [(0, 0, 0, 0)] * len(keep)
    for subset in range(3, len(keep)):
        if not subset & (subset - 1):
            continue
        splits, kept = [], keep[subset]
        left = (subset - 1) & subset
        while 2 * left > subset:  # the half with the last operand, so that each split comes once
            right = subset ^ left
            labels = keep[left] | keep[right]
            flops = cells.get(labels)
            if flops is None:
                flops = cells[labels] = _product(labels, widths)
            if labels != kept:
                flops *= 2
            ours, theirs = best[left], best[right]
            if is_free is None:
                splits.append((ours[0] + theirs[0] + flops, ours[1] + theirs[1], right, left))
            else:
                total = ours[1] + theirs[1] + flops
                paid = 0 if is_free(subset, _product(kept, widths), total) else ours[0] + theirs[0] + flops
                splits.append((paid, total, right, left))
            left = (left - 1) & subset
        flops, second, right, left = min(splits)
        best[subset] = (flops, second + (_product(kept, widths) if is_free is None else 0), right, left)
    return linearize(
        len(keep) - 1, lambda it: best[it][2:] if it & (it - 1) else it.bit_length() - 1, len(terms)
    )


def orders_within(
    most: float, terms: Sequence[frozenset[str]], output: frozenset[str], sizes: Mapping[str, int]
) -> list[Pairs]:
    """Return the orders of at most this many flops, the fewest first; of equal ones those that write the
    fewest elements.

    Examples
    --------
    >>> terms = [frozenset("ij"), frozenset("jk"), frozenset("kl")]
    >>> orders_within(700, terms, frozenset("il"), dict(i=10, j=2, k=10, l=2))
    [[(1, 2), (0, 3)]]
    >>> len(orders_within(10_000, terms, frozenset("il"), dict(i=10, j=2, k=10, l=2)))
    3
    """
    names = sorted(frozenset().union(*terms))
    widths = [sizes[name] for name in names]
    keep = _kept(terms, output, names)
    trees: list[list[tuple[int, int, Tree]]] = [[] for _ in keep]
    for position in range(len(terms)):
        trees[1 << position].append((0, 0, position))
    for subset in range(3, len(keep)):
        left, made = (subset - 1) & subset, _product(keep[subset], widths)
        while 2 * left > subset:
            labels, right = keep[left] | keep[subset ^ left], subset ^ left
            flops = _product(labels, widths) * (1 if labels == keep[subset] else 2)
            for (ours, more, one), (theirs, others, other) in product(trees[right], trees[left]):
                if ours + theirs + flops <= most:
                    trees[subset].append((ours + theirs + flops, more + others + made, (one, other)))
            left = (left - 1) & subset
    every = sorted(trees[-1], key=lambda tree: tree[:2])
    return [linearize(tree, lambda tree: tree, len(terms)) for _, _, tree in every]


def _kept(terms: Sequence[frozenset[str]], output: frozenset[str], names: Sequence[str]) -> list[int]:
    """Return the labels that the product of each set of operands keeps."""
    places = {name: 1 << position for position, name in enumerate(names)}
    inside = [0]
    for term in terms:
        labels = 0
        for name in term:
            labels |= places[name]
        inside += [labels | others for others in inside]
    result = 0
    for name in output:
        result |= places.get(name, 0)
    return [one & (result | other) for one, other in zip(inside, reversed(inside), strict=True)]


def _product(labels: int, widths: Sequence[int]) -> int:
    cells = 1
    while labels:
        lowest = labels & -labels
        cells *= widths[lowest.bit_length() - 1]
        labels ^= lowest
    return cells
