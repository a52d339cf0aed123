"""Nests of loops for orders in which some labels are sliced (`nameexpr.compiler.planning.sliced`).

There is one chain of loops, each inside the one before. A loop first covers everything; its top is then moved
down as far as the limit allows, so that fewer items are repeated, and what does not depend on its label is
computed before it, as long as the values that are kept for that fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from nameexpr.compiler.planning.network import Network, Pairs, bits
from nameexpr.compiler.planning.plan import ContractionPlan
from nameexpr.compiler.schedule.limit.loops import BlockLoop, Measure, Nest, measure, numbers_in
from nameexpr.compiler.schedule.limit.network import StepTree

SHARES = (1.0, 0.4, 0.0)
"""The shares of the memory that is left which values computed before loops may take: the rest is for larger
blocks.
"""
TOPS = 6
"""The number of tops that are tried for each loop."""


class Top(NamedTuple):
    """The label of a loop, as a bit, and its top."""

    label: int
    item: int


def network_of(tree: StepTree, plan: ContractionPlan) -> tuple[Network, Pairs]:
    """Return the operands of a plan, without labels that only one of them has, and its order."""
    count = len(plan.terms)
    terms, numbers, pairs = (
        [tree.mask(term) for term in plan.terms],
        dict(enumerate(range(count))),
        list[tuple[int, int]](),
    )
    for number, step in enumerate(plan.steps, count):
        if len(step.values) == 1:
            (value,) = step.values
            terms[value] = tree.mask(step.labels)
            numbers[number] = value
        else:
            first, second = step.values
            numbers[number] = count + len(pairs)
            pairs.append((numbers[first], numbers[second]))
    present = 0
    for term in terms:
        present |= term
    output = tree.mask([label for label in plan.kept if label in tree.bits]) & present
    return Network(tuple(terms), output, tree.elements), pairs


def sliceable(tree: StepTree) -> int:
    """Return the labels over which everything can be computed in slices."""
    every = (1 << tree.count) - 1
    large = [bit for bit in tree.bits.values() if tree.elements[bit] > 1]
    return sum([bit for bit in large if tree.readers(every, bit) and tree.combines(every, bit)])


def sliced_nests(tree: StepTree, labels: int, limit: float) -> list[Nest]:
    """Return nests with a loop over each of some labels, an index at a time."""
    every, last = (1 << tree.count) - 1, tree.count - 1
    readers = {bit: tree.readers(every, bit) for bit in bits(labels)}
    order = sorted(readers, key=lambda bit: (-readers[bit].bit_count(), bit))
    tops = _lowered(tree, [Top(bit, last) for bit in order], limit)
    free = limit - _measured(tree, tops, limit).peak
    return list(dict.fromkeys([_chain(tree, tops, share * free) for share in SHARES]))


def _measured(tree: StepTree, tops: Sequence[Top], limit: float) -> Measure:
    return measure(tree, _chain(tree, tops, 0.0), limit)


def _lowered(tree: StepTree, tops: list[Top], limit: float) -> list[Top]:
    """Return loops with lower tops, if these fit the limit, and cost less."""
    cost = _measured(tree, tops, limit).cost
    for label in [top.label for top in tops]:
        for item in _tops(tree, label):
            tried = [top._replace(item=item) if top.label == label else top for top in tops]
            tried.sort(key=lambda top: -top.item)
            if all(tree.below[one.item] >> other.item & 1 for one, other in pairwise(tried)):
                found = _measured(tree, tried, limit)
                if found.peak <= limit and found.cost < cost:
                    tops, cost = tried, found.cost
                    break
    return tops


def _tops(tree: StepTree, label: int) -> list[int]:
    """Return possible tops of a loop, from the item that sums its label towards the last one."""
    reading = [number for number, labels in enumerate(tree.every) if labels & label]
    item = reading[-1]
    path = []
    while item >= 0:
        path.append(item)
        item = tree.parent[item]
    return path[:-1][:: max(1, len(path) // TOPS)]


def _chain(tree: StepTree, tops: Sequence[Top], free: float) -> Nest:
    """Return the nest of a chain of loops; `free` are the bytes for values that are computed before them."""
    levels: list[tuple[Top, int]] = []
    items, looped = (1 << tree.count) - 1, 0
    for top in tops:
        items &= tree.below[top.item]
        if not tree.readers(items, top.label):
            continue  # all of them are computed before an outer loop
        before, free = _before(tree, top, items, looped, free)
        items &= ~before
        looped |= top.label
        levels.append((top, items))
    names = {bit: label for label, bit in tree.bits.items()}
    nest: Nest = ()
    for top, items in reversed(levels):
        nest = (BlockLoop(names[top.label], 1, top.item, items, nest),)
    return nest


def _before(tree: StepTree, top: Top, items: int, looped: int, free: float) -> tuple[int, float]:
    """Return the items that are computed before a loop, those first that save most flops for their bytes, and
    the bytes that are left.
    """
    apart = items & ~tree.readers(items, top.label)
    roots = [number for number in numbers_in(apart) if not apart >> tree.parent[number] & 1]
    sizes = {number: tree.elements[tree.keep[number] & ~looped] * tree.width for number in roots}
    saved = {
        number: sum(
            [tree.flops[one] + tree.target.step_flops for one in numbers_in(items & tree.below[number])]
        )
        for number in roots
    }
    before = 0
    for number in sorted(roots, key=lambda number: -saved[number] / sizes[number]):
        if sizes[number] <= free:
            free -= sizes[number]
            before |= items & tree.below[number]
    return before, free
