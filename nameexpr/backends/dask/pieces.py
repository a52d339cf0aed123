"""Pieces: the part of a graph that one task computes, from blocks of arrays to a block of its results.

A piece has no sizes of its own but those of labels that lie in one block: the others follow from the shapes
of the blocks. It is pickled into every task, so it holds nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import prod

from nameexpr.compiler.ir.axes import Axes, Labels, flat
from nameexpr.compiler.ir.graph import Graph, with_sources
from nameexpr.compiler.ir.nodes import (
    Along,
    Arrange,
    Gather,
    Index,
    Join,
    Node,
    Place,
    Recurrence,
    Reduction,
    Rows,
    State,
    View,
    Window,
    sources_of,
)
from nameexpr.records import record, replace

Sizes = Mapping[str, int]


@record
class Subgraph:
    """Values with their labels and dtypes; `outputs` are the results, and `inputs` the labels of the dims of
    each array that is read. `sizes` are those of labels that are never split.
    """

    nodes: tuple[Node, ...]
    labels: tuple[Labels, ...]
    dtypes: tuple[str, ...]
    outputs: tuple[int, ...]
    inputs: tuple[Axes, ...]
    sizes: tuple[tuple[str, int], ...]

    def graph(self, shapes: Sequence[tuple[int, ...]]) -> Graph:
        """Return the graph for blocks of these shapes."""
        sizes = dict(self.sizes)
        for axes, shape in zip(self.inputs, shapes, strict=True):
            for group, size in zip(axes, shape, strict=True):
                for label in group:
                    if label not in sizes:  # the others of its group are not split
                        sizes[label] = size // max(1, prod([sizes[one] for one in group if one != label]))
        return Graph(sizes, list(self.nodes), list(self.labels), list(self.dtypes))

    @property
    def input_dtypes(self) -> tuple[str, ...]:
        """The dtype of each array that is read, in the order of `inputs`."""
        found = {
            node.position: dtype
            for node, dtype in zip(self.nodes, self.dtypes, strict=True)
            if isinstance(node, View) and node.position >= 0
        }
        return tuple([found.get(position, "int64") for position in range(len(self.inputs))])


def inner_sources(node: Node) -> tuple[int, ...]:
    """Return the values that a value depends on, those that a recurrence computes step by step included."""
    return (*sources_of(node), *node.steps) if isinstance(node, Recurrence) else sources_of(node)


def cone(graph: Graph, roots: Iterable[int], is_leaf: Callable[[int], bool]) -> list[int]:
    """Return what some values are computed from, sources first; leaves are included, but not what they
    depend on.
    """
    order: dict[int, None] = {}
    stack = [(root, False) for root in roots]
    while stack:
        number, is_done = stack.pop()
        if number in order:
            continue
        if is_done or is_leaf(number):
            order[number] = None
            continue
        stack.append((number, True))
        stack += [(source, False) for source in inner_sources(graph.nodes[number]) if source not in order]
    return list(order)


def cut(
    graph: Graph,
    roots: Sequence[int],
    leaves: Mapping[int, Axes],
    extents: Sequence[str],
    whole: Collection[str],
) -> Subgraph:
    """Return the piece that computes some arranged values from leaves, in this order; after them it reads
    an array along each of the labels `extents`. Labels in `whole` are not split.
    """
    numbers: dict[int, int] = {}
    nodes: list[Node] = []
    positions = {leaf: position for position, leaf in enumerate(leaves)}
    for number in cone(graph, roots, leaves.__contains__):
        node = graph.nodes[number]
        if number in positions:
            node = View(positions[number], -1, leaves[number])
        else:
            node = with_sources(node, numbers)
        numbers[number] = len(nodes)
        nodes.append(node)
    found = list(numbers)
    labels = tuple([graph.labels[number] for number in found])
    inputs = (*leaves.values(), *[((label,),) for label in extents])
    used = {*labels_within(nodes), *[label for own in labels for label in own], *extents}
    return Subgraph(
        tuple(nodes),
        labels,
        tuple([graph.dtypes[number] for number in found]),
        tuple([numbers[root] for root in roots]),
        inputs,
        tuple([(label, graph.sizes[label]) for label in sorted(used) if label in whole]),
    )


def labels_within(nodes: Iterable[Node]) -> set[str]:
    """Return the labels that nodes mention, which their values may lack."""
    found: set[str] = set()
    for node in nodes:
        found |= set(needed_whole(node, None))
        if isinstance(node, View | Arrange | State | Rows):
            found |= set(flat(node.axes))
    return found


def lead(group: Labels, sizes: Sizes | None) -> str | None:
    """Return the label of a dim along which it can be cut into blocks: the first that is longer than 1."""
    if sizes is None:
        return None
    long = [label for label in group if sizes[label] != 1]
    return long[0] if long else None


def needed_whole(node: Node, sizes: Sizes | None) -> Labels:
    """Return the labels that must not be split for a value to be computed block by block; without sizes all
    that a node may need.
    """
    match node:
        case View(_, _, axes) | Rows(_, _, axes):
            inner = inner_labels(axes, sizes)
            return (*inner, *flat(axes[:1])) if isinstance(node, Rows) else inner
        case Arrange(_, axes):
            every = [label for group in axes for label in group]
            repeated = [label for label in every if every.count(label) > 1]
            return (*inner_labels(axes, sizes), *repeated)
        case Reduction(_, _, labels) | Along(_, _, labels):
            return labels
        case Window(_, reads):
            return tuple([label for read in reads for label in (read.label, *dict(read.strides))])
        case Gather(_, positions):
            return tuple([position.label for position in positions])
        case Place(_, _, labels, places):
            return (*labels, *[label for label, _ in places])
        case Join(_, places):
            return tuple([one for own in places for part in own for one in (part.label, *part.labels)])
        case State(_, _, label, _, axes):
            return (label, *inner_labels(axes, sizes))
        case Recurrence():
            inner = tuple([one for axes in node.axes for one in inner_labels(axes, sizes)])
            return (node.label, *inner)
    return ()


def inner_labels(axes: Axes, sizes: Sizes | None) -> Labels:
    """Return the labels of dims that are not their leads: a block has all of their elements."""
    return tuple([label for group in axes for label in without_lead(group, sizes)])


def without_lead(group: Labels, sizes: Sizes | None) -> Labels:
    """Return the labels of a dim without the first occurrence of its lead."""
    first = lead(group, sizes)
    place = len(group) if first is None else group.index(first)
    return (*group[:place], *group[place + 1 :])


def is_heavy(node: Node) -> bool:
    """Return whether a value is too expensive to be computed again in several tasks."""
    light = sources_of(node) == () or isinstance(node, Index)
    return not light and isinstance(
        node, Reduction | Along | Window | Gather | Place | Join | Recurrence | Rows
    )


def arranged(graph: Graph, value: int, axes: Axes) -> int:
    """Return the number of a value as an array with these dims, in the dtype that its program gives it."""
    return graph.add(Arrange(value, axes), flat(axes), graph.dtypes[value])


def reduced(graph: Graph, value: int, **changes: object) -> int:
    """Return the number of a reduction like another one, in the dtype that it is computed in."""
    node = graph.nodes[value]
    assert isinstance(node, Reduction)
    changed = replace(node, **{"result": node.compute, **changes})
    is_like_its_factor = changed.reducer not in (node.reducer, "sum")
    dtype = graph.dtypes[node.factors[0] if is_like_its_factor else value]
    return graph.add(changed, graph.labels[value], node.compute or dtype)
