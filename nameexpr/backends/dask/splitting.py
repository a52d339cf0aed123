"""From a graph to lazy arrays: what is computed in one task per block, and where the graph is split.

Values are visited from operands to results. A value joins the values that it is computed from in one task,
if every label that it needs whole (summed, sorted, read at positions) lies in one block, the blocks fit into
the budget, and nothing expensive would be computed several times. Otherwise what it reads becomes a lazy
array of its own; and a reduction over labels that stay cut is a tree of contributions of blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, TypeGuard

from nameexpr.backends.dask.blocks import Cuts
from nameexpr.backends.dask.fitting import Fit, Fitter
from nameexpr.backends.dask.partials import SPLIT
from nameexpr.backends.dask.pieces import cone, is_heavy
from nameexpr.backends.dask.rewriting import by_pairs, is_network, network_of, softmax_by_parts
from nameexpr.backends.dask.steps import is_cut
from nameexpr.backends.dask.storing import Storer
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import (
    Along,
    Arrange,
    Index,
    Node,
    Recurrence,
    Reduction,
    Rows,
    Scalar,
    State,
    View,
    sources_of,
)
from nameexpr.compiler.planning.path import Optimize
from nameexpr.compiler.planning.plan import plan_contractions
from nameexpr.records import record, replace

GATHERED = 4
"""How much more it costs to move an element of an operand than one of a contribution to a sum."""
ROOM = 8
"""How many times the bytes that a task may hold are moved at most for a reduction or a softmax: about the
memory of one worker.
"""
REPEATED = 1.3
"""How many times the flops of products of two arrays a product of all of them, block by block, may take."""


@record
class Splitter:
    """Makes the values of a graph lazy arrays, as far as they have to be.

    `kept` are values that are to be arrays in any case; `uses` counts how often each label is reduced.
    """

    fitter: Fitter
    storer: Storer
    optimize: Optimize
    kept: frozenset[int]
    uses: dict[str, int]

    def visit(self, number: int) -> None:
        """Decide how a value is computed: with its sources, or from arrays of them."""
        node = self.fitter.graph.nodes[number]
        match node:
            case Reduction():
                self._reduce(number, node)
            case View(position, value):
                if position < 0 and self.fitter.fit(number) is None:
                    self.storer.store(value)
            case Scalar() | Index() | Recurrence() | Arrange():
                pass  # the latter are computed with their rows, and where they are read
            case _:
                if not self._joins(number):
                    self._apart(number)
        if number in self.kept:
            self.storer.store(number)

    def _joins(self, number: int) -> bool:
        """Return whether a value is computed in one task with what it is computed from."""
        graph = self.fitter.graph
        if not any(is_heavy(graph.nodes[one]) for one in self.fitter.cone(number)):
            return True
        fit, node = self.fitter.fit(number), graph.nodes[number]
        if fit is None or not _is_softmax(node):
            return fit is not None
        return self._moved(fit, node.labels) <= ROOM * self.fitter.budget

    def _apart(self, number: int) -> None:
        """Store what a value is computed from (NoFitError if it does not fit even then)."""
        node = self.fitter.graph.nodes[number]
        if _is_softmax(node):
            for made in softmax_by_parts(self.fitter.graph, number):
                self.visit(made)
            return
        self._store_sources(number)
        if self.fitter.fit(number) is None:
            self.fitter.fit_at_all(number)

    def _store_sources(self, number: int) -> None:
        """Store the values that a value depends on directly, unless they are operands or numbers."""
        nodes = self.fitter.graph.nodes
        node = nodes[number]
        for source in sources_of(nodes[node.recurrence] if isinstance(node, Rows) else node):
            if not self.fitter.is_leaf(source):
                self.storer.store(source)

    def _reduce(self, number: int, node: Reduction) -> None:
        """Reduce in one task, or in a tree over the blocks of labels that are cut."""
        if self._is_whole(number, node):
            return
        parts = self.fitter.fit(number, is_split=True)
        if is_network(node) and (parts is None or self._repeats_work(number, node, parts.cuts)):
            for made in by_pairs(self.fitter.graph, number, self.optimize):
                self.visit(made)
            return
        if node.reducer not in SPLIT or parts is None:
            self._store_sources(number)
            if self._is_whole(number, node):
                return
        if node.reducer in SPLIT:
            self.storer.store_tree(number, node)
        else:
            self.fitter.fit_at_all(number)

    def _is_whole(self, number: int, node: Reduction) -> bool:
        """Return whether a reduction is computed in one task, with its labels in one block: where moving what
        is cut along them costs less than moving contributions, or what else reads them needs them whole.
        """
        fitter = self.fitter
        fit, parts = fitter.fit(number), fitter.fit(number, is_split=True)
        if fit is None or (is_network(node) and self._repeats_work(number, node, fit.cuts)):
            return False
        if parts is None or node.reducer not in SPLIT:
            return True
        cut = [label for label in node.labels if is_cut(label, parts.cuts)]
        moved = self._moved(fit, cut)
        if moved > ROOM * fitter.budget or any(self.uses[label] != 1 for label in cut):
            return moved <= ROOM * fitter.budget
        result = fitter.graph.cells(fitter.graph.labels[number]) * fitter.item(number)
        return moved * GATHERED <= result * prod([len(parts.cuts[label]) for label in cut])

    def _repeats_work(self, number: int, node: Reduction, cuts: Cuts) -> bool:
        """Return whether tasks that each multiply all factors take more flops than products of two arrays."""
        graph = self.fitter.graph
        whole = network_of(graph, number)
        labels = {label for term in whole.terms for label in term}
        block = {label: max(cuts[label]) for label in labels}
        tasks = prod([len(cuts[label]) for label in labels])
        part = replace(whole, sizes={**graph.sizes, **block})
        flops = plan_contractions(whole, self.optimize).flops
        return plan_contractions(part, self.optimize).flops * tasks > REPEATED * flops

    def _moved(self, fit: Fit, labels: Sequence[str]) -> int:
        """Return the bytes that have to be moved for some labels to lie in one block."""
        return sum([self.fitter.bytes(leaf) for leaf in fit.leaves if self._is_cut_along(leaf, labels)])

    def _is_cut_along(self, leaf: int, labels: Sequence[str]) -> bool:
        """Return whether an array has several blocks along one of these labels."""
        stored = self.fitter.leaf(leaf)
        if not hasattr(stored.array, "chunks"):
            return False
        pairs = zip(stored.axes, stored.array.chunks, strict=True)
        return any(len(chunks) > 1 and not set(group).isdisjoint(labels) for group, chunks in pairs)


def _is_softmax(node: Node) -> TypeGuard[Along]:
    return isinstance(node, Along) and node.function in ("softmax", "log_softmax")


def arrays_of(splitter: Splitter, needed: Sequence[int], outputs: Sequence[int]) -> list[Any]:
    """Return the lazy arrays of some arrangements, which are computed from the values that are needed."""
    for number in needed:
        if number not in splitter.fitter.moving:
            splitter.visit(number)
    return [splitter.storer.store(output).array for output in outputs]


def needed_for(graph: Graph, outputs: Sequence[int]) -> list[int]:
    """Return what some values are computed from, sources first."""
    return cone(graph, outputs, lambda _: False)


def moving_among(graph: Graph, needed: Sequence[int]) -> frozenset[int]:
    """Return the values that are computed step by step inside a recurrence."""
    moving: set[int] = set()
    for number in needed:
        node = graph.nodes[number]
        is_read = isinstance(node, State) or not moving.isdisjoint(sources_of(node))
        if is_read and not isinstance(node, Recurrence | Rows):
            moving.add(number)
    return frozenset(moving)


def uses_of_labels(graph: Graph, needed: Sequence[int], outputs: Sequence[int]) -> dict[str, int]:
    """Return for each label how often it is reduced; more if results have it, or functions along it."""
    counts = dict.fromkeys(graph.sizes, 0)
    for number in needed:
        node = graph.nodes[number]
        if isinstance(node, Reduction | Along):
            for label in node.labels:
                counts[label] += 1 if isinstance(node, Reduction) else 2
    for output in outputs:
        for label in graph.labels[output]:
            counts[label] += 2
    return counts
