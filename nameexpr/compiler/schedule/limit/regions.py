"""Determine the possible loops over blocks of a label in a graph.

A loop computes values, its *tops*, block by block, from blocks of their sources, as far down as they can be
computed in such blocks. If a top keeps the label, each block has its place in it; if it is a sum or the like
over the label, the results of blocks are combined. Everything else that is read is computed once, before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

from nameexpr.compiler.ir.axes import Axes
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.liveness import COMBINED, WIDENED
from nameexpr.compiler.ir.nodes import (
    Along,
    Arrange,
    Drop,
    Filled,
    Gather,
    Join,
    Map,
    Place,
    Reduction,
    Scalar,
    View,
    Window,
    is_moved,
    sources_of,
)
from nameexpr.records import record, replace

DEEP = 8
"""The largest depth of nested loops: Python nests at most 20."""


@record
class GraphLoop:
    """A loop over blocks of a label, initially one index at a time.

    `reads` are the values computed before it, `inner` the loops inside it.
    """

    label: str
    tops: tuple[int, ...]
    reads: tuple[int, ...]
    block: int = 1
    inner: GraphLoops = ()


GraphLoops: TypeAlias = tuple[GraphLoop, ...]
Users: TypeAlias = dict[int, set[int]]


def users_of(graph: Graph, outputs: Collection[int], loops: GraphLoops, given: Collection[int]) -> Users:
    """Return the readers of each value outside of some loops, -1 for an output; `given` are not computed
    here. The last top of a loop is the reader of all that the loop reads.
    """
    regions: dict[int, tuple[int, ...]] = {}
    for loop in loops:
        regions |= {**dict.fromkeys(loop.tops, ()), max(loop.tops): loop.reads}
    users: Users = {output: {-1} for output in outputs}
    for number in range(max(outputs), -1, -1):
        if number in users and number not in given:
            for source in regions.get(number, sources_of(graph.nodes[number])):
                users.setdefault(source, set()).add(number)
    return users


def more_loops(
    graph: Graph,
    outputs: Sequence[int],
    loops: GraphLoops,
    given: Collection[int] = (),
    around: frozenset[str] = frozenset(),
) -> Iterator[GraphLoops]:
    """Return the loops with one more, outside all others or in one of them.

    Parameters
    ----------
    graph : Graph
        What is computed.
    outputs : sequence of int
        The values to compute.
    loops : tuple of GraphLoop
        The existing loops.
    given : collection of int
        Values that already exist.
    around : frozenset of str
        The labels of the loops around these.
    """
    users = users_of(graph, outputs, loops, given)
    fixed = {*given, *(top for loop in loops for top in loop.tops)}
    for top in sorted(users, reverse=True):
        for label in () if top in fixed else _labels(graph, top):
            if label in around or graph.sizes[label] < 2 or _is_covered(graph, top, label, users, fixed):  # noqa: PLR2004
                continue
            found = {_reads(graph, top, label, users, fixed, again) for again in (False, True)}
            yield from [(*loops, GraphLoop(label, (top,), reads)) for reads in sorted(found)]
    for number, loop in enumerate(loops if len(around) < DEEP else ()):
        for inner in more_loops(graph, loop.tops, loop.inner, loop.reads, around | {loop.label}):
            yield (*loops[:number], replace(loop, inner=inner), *loops[number + 1 :])


def _labels(graph: Graph, top: int) -> list[str]:
    """Return the labels over which a value can be computed in blocks."""
    node = graph.nodes[top]
    is_seen = isinstance(node, Arrange) and is_moved(graph.nodes[node.value])
    if is_seen or isinstance(node, View | Scalar | Filled | Drop | Window):
        return []
    labels = [label for label in graph.labels[top] if carries(graph, top, label)]
    if isinstance(node, Reduction) and (node.reducer or "sum") in COMBINED:
        every = {label for factor in node.factors for label in graph.labels[factor]}
        labels += [label for label in node.labels if label in every]
    return [*labels, *node.labels] if isinstance(node, Place) else labels


def carries(graph: Graph, number: int, label: str) -> bool:
    """Return whether a block of a value along a label can be computed from blocks of its sources."""
    if label not in graph.labels[number]:
        return False
    match graph.nodes[number]:
        case View(_, value, axes) if value >= 0:
            seen = graph.nodes[value]
            assert isinstance(seen, Arrange)
            is_own = _has_own_dim(axes, label) and _has_own_dim(seen.axes, label)
            return is_own and axes.index((label,)) == seen.axes.index((label,))
        case Map() | Filled() | Gather():
            return True
        case Reduction(_, _, labels) | Along(_, _, labels) | Drop(_, labels):
            return label not in labels
        case Place(_, _, labels, places):
            return label not in labels and label not in dict(places)
        case Window(_, reads):
            return all(label != read.label and label not in dict(read.strides) for read in reads)
        case Join(_, places):
            return not any(label in (one.label, *one.labels) for parts in places for one in parts)
        case Arrange(source, axes):
            return label in graph.labels[source] and _has_own_dim(axes, label)
    return False


def _has_own_dim(axes: Axes, label: str) -> bool:
    return (label,) in axes and sum(group.count(label) for group in axes) == 1


def _is_covered(graph: Graph, top: int, label: str, users: Users, fixed: Collection[int]) -> bool:
    """Return whether a loop over the only reader of this value is better, as that value is at most
    as large.
    """
    reader = next(iter(users[top])) if len(users[top]) == 1 else -1
    is_free = reader >= 0 and reader not in fixed and carries(graph, reader, label)
    return is_free and graph.cells(graph.labels[reader]) <= graph.cells(graph.labels[top])


def _reads(
    graph: Graph, top: int, label: str, users: Users, fixed: Collection[int], again: bool
) -> tuple[int, ...]:
    """Return the values that a loop reads; with `again`, values that are also read elsewhere are computed
    again in it.
    """
    inside, reads = {top}, []
    for number in sorted([number for number in users if number < top], reverse=True):
        if inside.isdisjoint(users[number]) or isinstance(graph.nodes[number], Scalar):
            continue
        if number in fixed or not carries(graph, number, label) or not (again or users[number] <= inside):
            reads.append(number)
        else:
            inside.add(number)
    return tuple(sorted(reads))


def region_of(graph: Graph, loop: GraphLoop) -> Iterator[int]:
    """Yield the values that a loop computes."""
    seen, waiting = {*loop.reads, *loop.tops}, list(loop.tops)
    while waiting:
        number = waiting.pop()
        yield number
        more = [one for one in dict.fromkeys(sources_of(graph.nodes[number])) if one not in seen]
        more = [one for one in more if not isinstance(graph.nodes[one], Scalar)]
        seen.update(more)
        waiting += more


def paths_of(loops: GraphLoops) -> Iterator[tuple[tuple[int, ...], GraphLoop]]:
    """Yield every loop with its position, inner ones first."""
    for number, loop in enumerate(loops):
        for path, inner in paths_of(loop.inner):
            yield (number, *path), inner
        yield (number,), loop


def with_block(loops: GraphLoops, path: tuple[int, ...], block: int) -> GraphLoops:
    """Return loops in which the one at `path` has blocks of another size."""
    number, *rest = path
    changed = replace(loops[number], block=block)
    if rest:
        changed = replace(loops[number], inner=with_block(loops[number].inner, tuple(rest), block))
    return (*loops[:number], changed, *loops[number + 1 :])


def block_graph(graph: Graph, loop: GraphLoop, block: int) -> Graph:
    """Return the graph of a block: a sum over the label keeps the wide dtype of its computation."""
    nodes, dtypes = list(graph.nodes), list(graph.dtypes)
    for top in loop.tops:
        node = nodes[top]
        is_placed = loop.label in graph.labels[top]
        if is_placed or not isinstance(node, Reduction) or node.reducer not in {None, *WIDENED}:
            continue
        dtypes[top] = node.compute or dtypes[top]
        nodes[top] = replace(
            node, reducer="sum" if node.reducer == "mean" else node.reducer, result=dtypes[top]
        )
    return replace(graph, sizes={**graph.sizes, loop.label: block}, nodes=nodes, dtypes=dtypes)
