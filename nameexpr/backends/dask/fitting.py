"""What fits into one task: which values can be computed together, from which arrays, in which blocks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from nameexpr.backends.dask.blocks import Chunked, Cuts, Load, fitted, natural_cuts, number_of_blocks
from nameexpr.backends.dask.pieces import cone, is_heavy, labels_within, needed_whole
from nameexpr.backends.dask.steps import Stored, along
from nameexpr.compiler.ir.axes import Labels, flat
from nameexpr.compiler.ir.dtypes import ITEM_BYTES, strong
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Along, Arrange, Index, Recurrence, Reduction, Rows, State, View
from nameexpr.records import field, record

CHEAP = 1 << 16
"""The number of elements up to which a value may be computed again by several tasks."""


class NoFitError(Exception):
    """No blocks are small enough: (the number of the value, the bytes that a task may need)."""


@record
class Fit:
    """A step that fits: the values inside, its leaves, and its cuts."""

    inside: tuple[int, ...]
    leaves: tuple[int, ...]
    cuts: Cuts


@record(frozen=False)
class Fitter:
    """The values of a graph, and those that are arrays: operands, and what is `stored`.

    `budget` is how many bytes a task may hold, `most` the same for steps that cannot be cut any further, None
    without a limit. `moving` are the values that are computed step by step inside a recurrence.
    """

    graph: Graph
    operands: Sequence[Stored]
    budget: int
    most: int | None
    moving: frozenset[int]
    stored: dict[int, Stored] = field(default_factory=dict)

    def cone(self, number: int) -> list[int]:
        """Return the values that are computed with a value, and what they read."""
        return cone(self.graph, [number], self.is_leaf)

    def is_leaf(self, number: int) -> bool:
        """Return whether a value is an array, or seen in one."""
        node = self.graph.nodes[number]
        if number in self.stored or isinstance(node, Index):
            return True
        return isinstance(node, View) and (node.position >= 0 or node.value in self.stored)

    def leaf(self, number: int) -> Stored:
        """Return the array of a leaf."""
        node = self.graph.nodes[number]
        if number in self.stored:
            return self.stored[number]
        if isinstance(node, Index):
            size = self.graph.sizes[node.label]
            return along(node.label, {node.label: (size,)})
        assert isinstance(node, View)
        if node.position >= 0:
            operand = self.operands[node.position]
            return Stored(operand.array, node.axes, operand.votes)
        return Stored(self.stored[node.value].array, node.axes)

    def item(self, number: int) -> int:
        """Return the bytes of an element of a value."""
        return ITEM_BYTES.get(strong(self.graph.dtypes[number]), 8)

    def bytes(self, number: int) -> int:
        """Return the bytes of an array that is read."""
        return int(getattr(self.leaf(number).array, "nbytes", 0))

    def reach(self, number: int) -> set[str]:
        """Return all labels that a value is computed from."""
        return {label for each in self.cone(number) for label in self.graph.labels[each]}

    def fit(self, number: int, *, is_split: bool = False) -> Fit | None:
        """Return the step that computes a value with all that is not stored; None if it does not fit into the
        budget. With `is_split` the labels of the value, a reduction, may lie in several blocks.
        """
        return self._fit(number, self.budget, is_split=is_split)

    def fit_at_all(self, number: int, *, is_split: bool = False) -> Fit:
        """Return the step of a value that exceeds the budget, if it may (NoFitError)."""
        fit = self._fit(number, self.most, is_split=is_split)
        if fit is None:
            raise NoFitError(number, self.most)
        return fit

    def _fit(self, number: int, budget: int | None, *, is_split: bool) -> Fit | None:
        graph, sizes = self.graph, self.graph.sizes
        inside = self.cone(number)
        leaves = tuple([one for one in inside if self.is_leaf(one)])
        computed = [one for one in inside if not self.is_leaf(one)]
        stored = [self.leaf(leaf) for leaf in leaves]
        needed: set[str] = set()
        for one in computed:
            if not (is_split and one == number):
                needed |= {*needed_whole(graph.nodes[one], sizes), *self._relabelled(one)}
        for array in stored:
            needed |= {*needed_whole(View(0, -1, array.axes), sizes)}
        labels = {label for one in inside for label in graph.labels[one]}
        labels |= labels_within([graph.nodes[one] for one in computed])
        labels |= {label for array in stored for label in flat(array.axes)}
        arrays = [_chunked(one) for one in stored if hasattr(one.array, "chunks")]
        cuts = natural_cuts(arrays, sorted(labels), needed, sizes)
        load = self._load(number, leaves, computed, frozenset(needed), is_split=is_split)
        inputs = sum([number_of_blocks(array.chunks) for array in arrays if array.bytes])
        found = fitted(load, cuts, budget, inputs)
        if found is None or self._repeats(computed, number, found):
            return None
        return Fit(tuple(inside), leaves, found)

    def _load(
        self,
        number: int,
        leaves: Sequence[int],
        computed: Sequence[int],
        whole: frozenset[str],
        *,
        is_split: bool,
    ) -> Load:
        """Return what a task holds: what it reads, its result twice, and large values in between."""
        graph = self.graph
        terms = [(flat(self.leaf(leaf).axes), self.item(leaf)) for leaf in leaves]
        for one in computed:
            node = graph.nodes[one]
            if one != number and is_heavy(node) and not isinstance(node, Recurrence):
                terms.append((graph.labels[one], self.item(one)))
            if isinstance(node, Along):
                terms.append((graph.labels[node.value], self.item(node.value)))
        kept, own = graph.labels[number], graph.nodes[number]
        terms += [(kept, self.item(number))] * 2
        split = own.labels if is_split and isinstance(own, Reduction) else ()
        every = {label for labels, _ in terms for label in labels} | {*split}
        terms += [((label,), 0) for label in sorted(every)]
        return Load(tuple(terms), kept, whole, graph.sizes)

    def _relabelled(self, number: int) -> Labels:
        """Return the labels of an earlier statement or row, and those it is read under, where they differ."""
        nodes = self.graph.nodes
        own: Any
        match nodes[number]:
            case View(position, value, axes) if position < 0:
                own = nodes[value]
                earlier = own.axes if isinstance(own, Arrange) else ()
            case State(key, statement, _, _, axes):
                loops = [one for one in nodes if isinstance(one, Recurrence)]
                own = next(one for one in loops if key.startswith(f"{one.key}\n"))
                earlier = own.axes[statement]
            case Rows(recurrence, statement, (_, *rest)):
                own, axes = nodes[recurrence], tuple(rest)
                earlier = own.axes[statement]
            case _:
                return ()
        return () if earlier == axes else (*flat(earlier), *flat(axes))

    def _repeats(self, computed: Collection[int], number: int, cuts: Cuts) -> bool:
        """Return whether an expensive value would be computed by several tasks."""
        graph = self.graph
        split = {label for label in cuts if len(cuts[label]) > 1}
        for one in computed:
            if one == number or not is_heavy(graph.nodes[one]) or one in self.moving:
                continue
            reach = self.reach(one)
            if split - reach and graph.cells(tuple(reach)) > CHEAP:
                return True
        return False


def _chunked(stored: Stored) -> Chunked:
    array: Any = stored.array
    return Chunked(stored.axes, array.chunks, int(array.nbytes) if stored.votes else 0)
