"""Fuse chains of pointwise functions on large arrays, and reductions of them, into blocks.

A block has at most `Target.block_cells` elements, so that its few temporaries stay in the cache. Pointwise
values that only one other value uses belong to the region of that value; the values that a region reads are
its leaves. A region is fused if it spans many elements, and if that avoids an intermediate: there are several
functions, or a reduction of a value that is larger than any leaf.

A value of a cheap function that is much larger than its arguments, such as a difference of all pairs, is
computed again in every region that reads it, since reading it from memory would take longer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import prod

from nameexpr.compiler.ir.axes import Labels
from nameexpr.compiler.ir.dtypes import ITEM_BYTES, WeakDtype, choose_dtypes
from nameexpr.compiler.ir.graph import Graph, merged
from nameexpr.compiler.ir.nodes import Map, Node, Reduction, Scalar, sources_of
from nameexpr.compiler.ir.program import Instruction
from nameexpr.compiler.ir.target import Target
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.pointwise import step_of
from nameexpr.compiler.lowering.tiles import ASSOCIATIVE, FULL_AXIS, tiles_of
from nameexpr.records import field, record

MOST_AXES = 12
"""The largest number of axes of a block: Python nests at most 20 loops."""
CHEAP = frozenset(
    {".-", "+.", "-.", "*.", "/.", "==.", "!=.", "<.", "<=.", ">.", ">=.", "where", "maximum", "minimum"}
)
"""Functions that take no longer than reading their result from memory."""
Values = Callable[[Sequence[int]], list[Value]]


@record(frozen=False)
class FusionPlan:
    """Which values are fused, and how; `stored` are those that no block computes again."""

    graph: Graph
    uses: dict[int, int]
    target: Target
    stored: frozenset[int] = frozenset()
    decided: dict[int, bool] = field(default_factory=dict)

    def lowered(self, build: Builder, number: int, values_of: Values) -> Value:
        """Return a pointwise value, or a reduction of one, computed block by block."""
        node, dtype = self.graph.nodes[number], self.graph.dtypes[number]
        inner = self.inner_values(number)
        node = node if isinstance(node, Reduction) else Reduction(None, (number,), (), dtype, dtype)
        roots, reduced, reducer = node.factors, node.labels, node.reducer
        leaves, steps, factors, order = self.steps(roots, inner, reduced, values_of)
        if reducer in FULL_AXIS:
            steps, factors = self._widened(roots[0], reducer, steps, factors[0], len(leaves))
        return self.emit(build, leaves, steps, factors, order, reduced, dtype, reducer)

    def emit(
        self,
        build: Builder,
        leaves: Sequence[Value],
        steps: tuple[Instruction, ...],
        factors: tuple[int, ...],
        order: Labels,
        reduced: Labels,
        dtype: str,
        reducer: str | None,
    ) -> Value:
        """Emit blocks of these functions of some values, and return the value of the result."""
        kept = tuple(label for label in order if label not in reduced)
        axes = tuple(order.index(label) for label in reduced)
        sources = tuple(self._with_every_axis(build, leaf, order).number for leaf in leaves)
        shape = build.shape(order)
        dtypes = [leaf.dtype for leaf in leaves] + [step.dtype for step in steps]
        item = max([ITEM_BYTES.get(one, 8) for one in dtypes])
        is_stored = any(self.graph.cells(leaf.labels) == prod(shape) for leaf in leaves)
        tiles = tiles_of(self.target, shape, axes, reducer, item, is_stored=is_stored)
        made = Instruction(
            "fused", sources, shape, axes, (), dtype, reducer or "", tiles=tiles, steps=steps, factors=factors
        )
        return build.emit(made, kept, dtype, build.row_major_strides(kept))

    def _widened(
        self, root: int, reducer: str, steps: tuple[Instruction, ...], factor: int, count: int
    ) -> tuple[tuple[Instruction, ...], tuple[int, ...]]:
        """Return the steps of a block with its value cast to the dtype in which its reducer computes."""
        dtype = self.graph.dtypes[root]
        compute = choose_dtypes((dtype,), dtype, reducer).compute
        if compute == dtype:
            return steps, (factor,)
        return (*steps, Instruction("cast", (factor,), dtype=compute)), (count + len(steps),)

    def _with_every_axis(self, build: Builder, leaf: Value, order: Labels) -> Value:
        """Return a view with an axis for every label, of size 1 where the value does not vary."""
        if not leaf.labels:
            return leaf
        if self._is_across(leaf, order):
            leaf = build.transpose(leaf, [label for label in order if label in leaf.labels])
            leaf = build.emit(Instruction("copy", (leaf.number,)), leaf.labels, leaf.dtype)
        return build.expand(leaf, order, has_leading=True)

    def _is_across(self, leaf: Value, order: Labels) -> bool:
        """Return whether a small leaf is not contiguous along a block's last axis, so that copying it pays
        off.
        """
        here = [label for label in order if label in leaf.labels and self.graph.sizes[label] != 1]
        own = [label for label in leaf.labels if self.graph.sizes[label] != 1]
        most = self.graph.cells(order)
        return here != own and self.graph.cells(leaf.labels) * self.target.copied_reads <= most

    def only_inside(self, needed: Collection[int], outputs: Sequence[int]) -> set[int]:
        """Return the values that are only computed inside of blocks."""
        inside: set[int] = set()
        read = set(outputs)
        for number in sorted(needed, reverse=True):
            if number in inside and number not in read:
                continue
            if self.fuses(number):
                inside.update([inner for inner in self.inner_values(number) if inner != number])
                read |= self._leaves(number)
            else:
                read.update(sources_of(self.graph.nodes[number]))
        return inside - read

    def inner_values(self, number: int) -> list[int]:
        """Return the values that are computed in the blocks of a pointwise value or of a reduction."""
        node = self.graph.nodes[number]
        if isinstance(node, Map):
            return self.fused_values(number)
        assert isinstance(node, Reduction)
        roots = [factor for factor in node.factors if self._is_apart(factor)]
        return sorted({inner for root in roots for inner in self.fused_values(root)})

    def _leaves(self, number: int) -> set[int]:
        """Return the values that are read from outside by the blocks of a fused value."""
        inner, node = self.inner_values(number), self.graph.nodes[number]
        read = set(node.factors if isinstance(node, Reduction) else ())
        return read.union(*map(self._arguments, inner)) - {*inner}

    def fused_values(self, root: int) -> list[int]:
        """Return the pointwise values of a region, the root last: those that are not used elsewhere, or
        computed again.
        """
        found: list[int] = []
        stack = [root]
        while stack:
            number = stack.pop()
            node = self.graph.nodes[number]
            if not isinstance(node, Map) or not self.graph.labels[number]:
                continue
            if number != root and not self._belongs(number, root):
                continue
            found.append(number)
            stack.extend(node.arguments)
        return sorted(set(found))

    def _belongs(self, number: int, root: int) -> bool:
        """Return whether a value is computed in every block: it is not used elsewhere, and it is
        not small.
        """
        if not self._is_apart(number) or isinstance(self.graph.dtypes[number], WeakDtype):
            return False
        graph = self.graph
        return graph.cells(graph.labels[number]) * self.target.apart_reads > graph.cells(graph.labels[root])

    def _is_apart(self, number: int) -> bool:
        """Return whether a value is never stored: one region uses it, or all compute it again."""
        return self.uses.get(number, 0) <= 1 or self._is_computed_again(number)

    def _is_computed_again(self, number: int) -> bool:
        """Return whether a cheap function has a result that is much larger than any of its arguments."""
        graph, node = self.graph, self.graph.nodes[number]
        if not isinstance(node, Map) or node.function not in CHEAP or number in self.stored:
            return False
        cells = graph.cells(graph.labels[number])
        return cells >= self.target.fused_cells and all(
            graph.cells(graph.labels[argument]) * self.target.apart_reads <= cells
            for argument in node.arguments
        )

    def steps(
        self, roots: Sequence[int], inner: Sequence[int], reduced: Labels, values_of: Values
    ) -> tuple[list[Value], tuple[Instruction, ...], tuple[int, ...], Labels]:
        """Return a region's leaves as values, its functions as steps, the positions of its roots, and its
        labels.
        """
        wanted = [argument for number in inner for argument in self._arguments(number)]
        read = [one for one in dict.fromkeys([*wanted, *roots]) if one not in inner]
        read = [one for one in read if not isinstance(self.graph.nodes[one], Scalar)]
        places, leaves = {one: place for place, one in enumerate(read)}, values_of(read)
        places |= {number: len(leaves) + count for count, number in enumerate(inner)}
        steps = tuple(step_of(self.graph, self.target, number, places) for number in inner)
        order = self.order(leaves, set(reduced))
        return leaves, steps, tuple(places[root] for root in roots), order

    def order(self, leaves: Sequence[Value], reduced: set[str]) -> Labels:
        """Return the labels of a block in order: long reduced ones last, short ones first.

        NumPy's loops run along the last axis. If a leaf is about as large as the region, its order is kept.
        """
        cells = self.graph.cells
        ranked = sorted([leaf.labels for leaf in leaves], key=lambda own: (-cells(own), -len(own)))
        order = merged(ranked)
        if not reduced or any(cells(leaf.labels) * self.target.apart_reads > cells(order) for leaf in leaves):
            return order
        kept = tuple(label for label in order if label not in reduced)
        gone = tuple(label for label in order if label in reduced)
        return (*kept, *gone) if cells(gone) >= self.target.run_cells else (*gone, *kept)

    def most_alive(self, inner: Sequence[int]) -> int:
        """Return how many values of a region are alive at once if it runs on whole arrays, in place."""
        last = {argument: number for number in inner for argument in self._arguments(number)}
        alive: set[int] = set()
        most = 0
        for number in inner:
            dead = {one for one in alive if last.get(one) == number}
            dtypes = {self.graph.dtypes[one] for one in dead}
            most = max(most, len(alive) + (self.graph.dtypes[number] not in dtypes))
            alive = (alive - dead) | {number}
        return most

    def _arguments(self, number: int) -> tuple[int, ...]:
        node = self.graph.nodes[number]
        assert isinstance(node, Map)
        return node.arguments

    def fuses(self, number: int) -> bool:
        """Return whether a pointwise value, or a reduction of one, is computed in blocks."""
        if number not in self.decided:
            node = self.graph.nodes[number]
            is_map = isinstance(node, Map)
            self.decided[number] = self._fuses_map(number) if is_map else self._fuses_reduction(node)
        return self.decided[number]

    def _fuses_map(self, number: int) -> bool:
        """Return whether a value is large and consists of at least two functions."""
        labels, target = self.graph.labels[number], self.target
        cells = self.graph.cells(labels)
        if cells < target.fused_cells or len(labels) > MOST_AXES:
            return False
        inner = self.fused_values(number)
        most = target.huge_chain_length if cells >= target.huge_cells else target.chain_length
        is_again = any(self._is_computed_again(one) for one in inner if one != number)
        return is_again or len(inner) > most or self.most_alive(inner) > 1

    def _fuses_reduction(self, node: Node) -> bool:
        """Return whether a node reduces a large pointwise value that no memory contains: truths of numbers
        that one does contain take an eighth of them.

        Several factors are fused only if one of them varies over all labels: no contraction would be cheaper
        then.
        """
        if not isinstance(node, Reduction) or node.reducer not in ASSOCIATIVE | FULL_AXIS:
            return False
        graph, factors = self.graph, node.factors
        inner = [one for one in factors if isinstance(graph.nodes[one], Map) and self._is_apart(one)]
        if not inner or any(isinstance(graph.dtypes[factor], WeakDtype) for factor in factors):
            return False
        every = {label for factor in factors for label in graph.labels[factor]}
        if all(graph.dtypes[factor] == "bool" for factor in factors):
            read = {argument for factor in inner for argument in self._arguments(factor)}
            if any(set(graph.labels[argument]) == every for argument in read):
                return False
        return (
            len(every) <= MOST_AXES
            and set(node.labels) <= every
            and graph.cells(tuple(every)) >= self.target.fused_cells
            and any(set(graph.labels[factor]) == every for factor in inner)
        )
