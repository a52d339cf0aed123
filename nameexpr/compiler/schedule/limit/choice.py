"""Choose the joint loops that save time: what they compute stays in the cache.

A loop saves the time of writing and reading large values. It costs calls, the addition of results for each
block, and products of matrices with fewer rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import fsum, log, log2
from typing import NamedTuple

from nameexpr.compiler.ir.axes import Labels
from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Arrange, Drop, Reduction, View, Window
from nameexpr.compiler.ir.target import Target
from nameexpr.compiler.schedule.limit.joint import joint_loops
from nameexpr.compiler.schedule.limit.regions import GraphLoop, GraphLoops, region_of, users_of
from nameexpr.records import record, replace

ALIVE = 4
"""The number of values as large as the largest that are alive at once."""
FAR = 1 << 24
"""The bytes alive at once that one core's share of the last cache holds."""
NEARER, FURTHER = 0.006, 0.02
"""The extra cost of writing and reading a byte for each doubling of the bytes that are alive at once, from
`Target.tiled_bytes` on, and from `FAR` on.
"""
DEEP = 2
"""The largest depth of nested loops."""
SHARES = (0.25, 0.5, 1, 2, 4)
"""The sizes of the largest value of a block that are tried, in `Target.tiled_bytes`."""
WORTH = 200_000.0
"""The nanoseconds that loops must save."""
CALLS = 1.5
"""The number of calls for each value of a block."""
ADDED, PLACED = 0.1, 0.04
"""Adding one byte to the results of other blocks, and copying one into its place among them."""
RUN = 10.0
"""One run of adjacent elements of a function."""
ENOUGH = 0.95
"""The share of the most that blocks can save for which smaller ones are chosen."""
PAIR = 2


class Gain(NamedTuple):
    """Loops, and the nanoseconds that they save."""

    saved: float
    loops: GraphLoops


class ProductSizes(NamedTuple):
    """The sizes of a product of matrices, and which of them a loop cuts."""

    batch: int
    rows: int
    inner: int
    columns: int
    dtype: str
    cut: int

    def cost(self, target: Target, share: float) -> float:
        """Return the cost of the product of a block that has this share of all indices."""
        every = (self.batch, self.rows, self.inner, self.columns)
        batch, rows, inner, columns = [
            max(1, round(size * share)) if at == self.cut else size for at, size in enumerate(every)
        ]
        return target.costs.product_cost(batch, rows, inner, columns, self.dtype, is_by_dots=False)


class LoopWork(NamedTuple):
    """What a loop computes.

    `values` is their number; `made` are the bytes of those that are whole arrays without the loop and are not
    results of it. Arrays have `runs` runs of adjacent elements along its label; `added` are the bytes of
    results that are added up, `placed` those of results that have the label.
    """

    values: int
    made: Sequence[int]
    runs: int
    products: Sequence[ProductSizes]
    added: int
    placed: int


@record
class LoopChoice:
    """A graph, which of its values are arrays if there are no loops, the orders of their axes, and the labels
    of the loops around it.
    """

    graph: Graph
    made: Collection[int]
    orders: Collection[Labels]
    target: Target
    around: frozenset[str] = frozenset()

    def best(self, outputs: Sequence[int], given: Collection[int], least: float = WORTH) -> Gain:
        """Return the loops that save most; none if no loop saves more than `least`."""
        needed = sorted(users_of(self.graph, outputs, (), given))
        most = Gain(least, ())
        for label in self._labels(needed):
            for loop in joint_loops(self.graph, outputs, needed, label, given):
                most = max(most, self._sized(loop), key=lambda one: one.saved)
        return most if len(self.around) + 1 == DEEP or not most.loops else self._nested(most)

    def _labels(self, needed: Sequence[int]) -> list[str]:
        """Return the labels over which loops could be worth it: those of values that leave the cache."""
        spilled: dict[str, float] = {}
        for one in needed:
            if one in self.made and (cost := self._bytes(one) * self._spill_rate(self._bytes(one))):
                for label in self.graph.labels[one]:
                    spilled[label] = spilled.get(label, 0.0) + cost
        labels = [label for label, cost in spilled.items() if cost > WORTH and label not in self.around]
        return [label for label in labels if self.graph.sizes[label] > 1]

    def _bytes(self, number: int) -> int:
        cells = self.graph.cells(self.graph.labels[number])
        return cells * ITEM_BYTES.get(self.graph.dtypes[number], 8)

    def _spill_rate(self, largest: float) -> float:
        """Return the extra cost of writing and reading a byte if the largest value has `largest` bytes."""
        alive = ALIVE * largest
        near = log2(max(1.0, min(alive, FAR) / self.target.tiled_bytes))
        return NEARER * near + FURTHER * log2(max(1.0, alive / FAR))

    def _sized(self, loop: GraphLoop) -> Gain:
        """Return a loop with the blocks that save most."""
        work = self._work(loop)
        gains = []
        for block in sorted(self._blocks(loop.label, max(work.made, default=1))):
            sized = replace(loop, block=block)
            gains.append(Gain(self._saved(sized, work), (sized,)))
        most = max([one.saved for one in gains])
        return next(one for one in gains if one.saved >= ENOUGH * most or one.saved == most)

    def _nested(self, gain: Gain) -> Gain:
        """Return a loop with the loops in its blocks that save most; loops that cost little save memory."""
        (loop,), sizes = gain.loops, self.graph.sizes
        turns = sizes[loop.label] / loop.block
        graph = replace(self.graph, sizes={**sizes, loop.label: loop.block})
        inside = replace(self, graph=graph, around=self.around | {loop.label})
        inner = inside.best(loop.tops, loop.reads, (ENOUGH - 1) * gain.saved / turns)
        if not inner.loops:
            return gain
        return Gain(gain.saved + inner.saved * turns, (replace(loop, inner=inner.loops),))

    def _work(self, loop: GraphLoop) -> LoopWork:
        """Return what a loop computes."""
        region, labels = list(region_of(self.graph, loop)), self.graph.labels
        own = [order for order in self.orders if loop.label in order]
        return LoopWork(
            len(region),
            [self._bytes(one) for one in region if one in self.made and one not in loop.tops],
            sum([self.graph.cells(order[: order.index(loop.label)]) for order in own]),
            [one for number in region if (one := self._product(number, loop.label))],
            sum([self._bytes(top) for top in loop.tops if loop.label not in labels[top]]),
            sum([self._bytes(top) for top in loop.tops if loop.label in labels[top]]),
        )

    def _blocks(self, label: str, largest: int) -> set[int]:
        """Return the sizes of blocks to try, equal ones if possible."""
        size, found = self.graph.sizes[label], set()
        for share in SHARES:
            turns = max(2, -(-largest // int(share * self.target.tiled_bytes)))
            near = range(max(2, 2 * turns // 3), 3 * turns // 2 + 1)
            even = [one for one in near if size % one == 0]
            turns = min(even, key=lambda one: abs(log(one / turns)), default=turns)
            found.add(max(1, -(-size // turns)))
        return found

    def _saved(self, loop: GraphLoop, work: LoopWork) -> float:
        """Return the nanoseconds that a loop saves."""
        costs, size = self.target.costs, self.graph.sizes[loop.label]
        turns, share = -(-size // loop.block), loop.block / size
        largest = max(work.made, default=0)
        saved = sum(work.made) * (self._spill_rate(largest) - self._spill_rate(largest * share))
        saved += fsum(
            [one.cost(self.target, 1) - turns * one.cost(self.target, share) for one in work.products]
        )
        calls = turns * CALLS * work.values * costs.call_cost("copy")
        results = turns * ADDED * work.added + PLACED * work.placed
        return saved - calls - (turns - 1) * RUN * work.runs - results

    def _product(self, number: int, label: str) -> ProductSizes | None:
        """Return the sizes of a product of matrices; None for any other value."""
        node, graph = self.graph.nodes[number], self.graph
        if not isinstance(node, Reduction) or len(node.factors) != PAIR or not node.labels:
            return None
        left, right = (set(graph.labels[factor]) for factor in node.factors)
        own = set(graph.labels[number])
        groups = left & right & own, (left - right) & own, set(node.labels), (right - left) & own
        cut = next((at for at, group in enumerate(groups) if label in group), -1)
        batch, rows, inner, columns = [graph.cells(tuple(group)) for group in groups]
        return ProductSizes(batch, rows, inner, columns, graph.dtypes[number], cut)


def chosen_loops(
    graph: Graph,
    outputs: Sequence[int],
    scheduled: Collection[int],
    orders: Collection[Labels],
    target: Target,
    given: Collection[int],
) -> GraphLoops:
    """Return the loops that save most time; none if no loop saves enough.

    Parameters
    ----------
    graph, outputs : Graph, sequence of int
        What is computed.
    scheduled : collection of int
        The values that are computed on their own if there are no loops, not in the blocks of others.
    orders : collection of tuple of str
        The labels of the axes of arrays without loops.
    target : Target
        The costs.
    given : collection of int
        Values that are not computed in loops.
    """
    moved = Arrange, Drop, View, Window
    made = {one for one in scheduled if not isinstance(graph.nodes[one], moved)}
    large = {order for order in orders if order and set(order) <= graph.sizes.keys()}
    large = {order for order in large if graph.cells(order) >= target.fused_cells}
    return LoopChoice(graph, made, large, target).best(outputs, given).loops
