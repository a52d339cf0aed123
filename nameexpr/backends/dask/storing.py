"""Values as lazy arrays: a block of one is computed by one task, or from the contributions of several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nameexpr.backends.dask.fitting import CHEAP, Fit, Fitter
from nameexpr.backends.dask.pieces import Subgraph, arranged, cut, is_heavy, labels_within, lead, reduced
from nameexpr.backends.dask.steps import (
    BlockKernel,
    BlockStep,
    Stored,
    along,
    emitted,
    is_cut,
    labels_to_axes,
    summed_up,
)
from nameexpr.compiler.ir.axes import Axes, Labels, flat
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Along, Arrange, Node, Recurrence, Reduction
from nameexpr.records import field, record

PAIRED = frozenset({"var", "std", "argmax", "argmin"})
"""The reducers whose contributions consist of several arrays."""


@record
class Outcome:
    """The result of a step: its values, the dims of an array of them, and labels whose blocks each contribute
    to one block of it; `reduction` is the node of such a step.
    """

    number: int
    roots: tuple[int, ...]
    axes: Axes
    summed: Labels = ()
    reduction: Reduction | None = None

    @property
    def finish(self) -> str:
        """How the values of a contribution belong together; "" if there is one."""
        reducer = None if self.reduction is None else self.reduction.reducer
        return reducer if reducer in PAIRED else ""


@record
class Made:
    """A value that became a lazy array: its number, the values that the step computes, and the step."""

    number: int
    inside: tuple[int, ...]
    step: BlockStep
    array: Any


@record(frozen=False)
class Storer:
    """What makes lazy arrays of values that fit.

    `dtypes` returns the dtype of a value as an array, and `kernel` what computes a piece from arrays of some
    dtypes.
    """

    fitter: Fitter
    dtypes: Callable[[int], Any]
    kernel: Callable[[Subgraph, tuple[Any, ...], str, Labels], BlockKernel]
    made: list[Made] = field(default_factory=list)

    @property
    def graph(self) -> Graph:
        """The graph of all values."""
        return self.fitter.graph

    def store(self, number: int) -> Stored:
        """Return a value as a lazy array, with one dim for each label; an arrangement as it is."""
        stored = self.fitter.stored
        if number not in stored:
            node = self.graph.nodes[number]
            if isinstance(node, Arrange) and node.value in stored and stored[node.value].axes == node.axes:
                return stored[node.value]
            fit = self.fitter.fit(number) or self.fitter.fit_at_all(number)
            axes = node.axes if isinstance(node, Arrange) else labels_to_axes(self.graph.labels[number])
            root = number if isinstance(node, Arrange) else arranged(self.graph, number, axes)
            step = self._step(_name(self.graph, node), Outcome(number, (root,), axes), fit)
            stored[number] = Stored(emitted(step), axes)
            self.made.append(Made(number, fit.inside, step, stored[number].array))
        return stored[number]

    def store_tree(self, number: int, node: Reduction) -> None:
        """Store a reduction: contributions of blocks, combined in a tree."""
        fitter, graph = self.fitter, self.graph
        fit = fitter.fit(number, is_split=True) or fitter.fit_at_all(number, is_split=True)
        summed = tuple([label for label in node.labels if is_cut(label, fit.cuts)])
        axes = labels_to_axes(graph.labels[number])
        padded = (*axes, *[() for _ in summed])
        roots = tuple([arranged(graph, root, padded) for root in _contributions(graph, number, node)])
        name = f"partial-{node.reducer}" if node.reducer else "contract"
        step = self._step(name, Outcome(number, roots, axes, summed, node), fit)
        array = summed_up(step, node.reducer, graph.cells(node.labels))
        fitter.stored[number] = Stored(array, axes)
        self.made.append(Made(number, fit.inside, step, array))

    def repeated(self) -> frozenset[int]:
        """Return the expensive values that more than one step computes."""
        graph, fitter = self.graph, self.fitter
        heavy = [
            one for one, node in enumerate(graph.nodes) if is_heavy(node) and not isinstance(node, Recurrence)
        ]
        found = dict.fromkeys({*heavy} - {*fitter.stored} - fitter.moving, 0)
        for made in self.made:
            for one in made.inside:
                if one in found and one != made.number:
                    found[one] += 1
        several = [one for one, times in found.items() if times > 1]
        return frozenset([one for one in several if graph.cells(tuple(fitter.reach(one))) > CHEAP])

    def _step(self, name: str, outcome: Outcome, fit: Fit) -> BlockStep:
        """Return the step that computes some values from the leaves of a fit."""
        graph, cuts = self.graph, fit.cuts
        leaves = {leaf: self.fitter.leaf(leaf) for leaf in fit.leaves}
        seen = {lead(group, graph.sizes) for stored in leaves.values() for group in stored.axes}
        inside = {label for one in fit.inside for label in graph.labels[one]} | {*flat(outcome.axes)}
        inside |= labels_within([graph.nodes[one] for one in fit.inside if one not in leaves])
        labels = () if outcome.reduction is None else outcome.reduction.labels
        extents = [label for label in sorted(inside) if is_cut(label, cuts) and label not in seen]
        if outcome.finish.startswith("arg"):  # blocks have to know their positions
            extents += [label for label in labels if is_cut(label, cuts) and label in seen]
        whole = {label for label in graph.sizes if not is_cut(label, cuts)}
        axes = {leaf: one.axes for leaf, one in leaves.items()}
        piece = cut(graph, outcome.roots, axes, extents, whole)
        inputs = (*leaves.values(), *[along(label, cuts) for label in extents])
        given = tuple([getattr(stored.array, "dtype", None) for stored in inputs])
        kernel, dtype = self.kernel(piece, given, outcome.finish, labels), self.dtypes(outcome.number)
        return BlockStep(name, kernel, inputs, outcome.axes, outcome.summed, dtype, cuts, graph.sizes)


def _contributions(graph: Graph, number: int, node: Reduction) -> list[int]:
    """Return the values of which the contribution of a block consists."""
    match node.reducer:
        case "var" | "std":
            return [reduced(graph, number, reducer=kind) for kind in ("mean", "var")]
        case "argmax" | "argmin":
            return [reduced(graph, number, reducer=node.reducer[3:]), reduced(graph, number)]
        case "mean":
            return [reduced(graph, number, reducer="sum")]
        case "any" | "all" | "count_nonzero":
            return [number]
        case _:
            return [reduced(graph, number)]


def _name(graph: Graph, node: Node) -> str:
    if isinstance(node, Arrange):
        node = graph.nodes[node.value]
    if isinstance(node, Reduction):
        return "contract" if node.reducer is None else node.reducer.rstrip("=")
    return node.function if isinstance(node, Along) else type(node).__name__.lower()
