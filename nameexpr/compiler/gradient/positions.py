"""The gradients of values that are read or written in parts and at positions.

What is read at a position, a gradient adds there: a gather and a sum by label are each other's gradient, and
so are the parts of an array and the array that consists of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nameexpr.compiler.analysis.build.placing import wide
from nameexpr.compiler.gradient.algebra import Algebra
from nameexpr.compiler.gradient.deltas import renamed
from nameexpr.compiler.ir.axes import Labels, whole_dim
from nameexpr.compiler.ir.nodes import (
    Along,
    Gather,
    Index,
    Join,
    Place,
    Read,
    Segment,
    Window,
    windowed,
)

WIDER = {"float16": "float32"}
"""Dtypes that are not added up by label, and those in which they are."""


def of_gather(algebra: Algebra, node: Gather, gradient: int) -> int:
    """Return the gradient of what a gather reads."""
    places = {position.label: position.value for position in node.positions}
    return scattered(algebra, gradient, algebra.graph.labels[node.value], places)


def of_window(algebra: Algebra, node: Window, gradient: int) -> int:
    """Return the gradient of what a window reads: parts are put into zeros, overlapping windows are added."""
    own = algebra.graph.labels[node.value]
    kept = [label for label in own if label not in {read.label for read in node.reads}]
    inside = [label for read in node.reads for label, _ in read.strides]
    is_apart = len({*inside, *kept}) == len(inside) + len(kept)
    if is_apart and all(_is_reversal(algebra, read) for read in node.reads):
        pairs = [(read, read.strides[0][0]) for read in node.reads]
        back = [Read(label, read.offset, ((read.label, -1),)) for read, label in pairs]
        have = algebra.graph.labels[gradient]
        return window(algebra, gradient, tuple([read for read in back if read.label in have]))
    if is_apart and all([stride for _, stride in read.strides] in ([], [1]) for read in node.reads):
        return put(algebra, gradient, own, node.reads)
    return scattered(algebra, gradient, own, {read.label: _places(algebra, read) for read in node.reads})


def _is_reversal(algebra: Algebra, read: Read) -> bool:
    sizes = algebra.graph.sizes
    return [(sizes[label], stride) for label, stride in read.strides] == [(sizes[read.label], -1)]


def window(algebra: Algebra, value: int, reads: tuple[Read, ...]) -> int:
    """Return a value read at positions; the value itself if there are none."""
    graph = algebra.graph
    if not reads:
        return value
    value = algebra.as_array(value, graph.strong(value))
    return graph.add(Window(value, reads), windowed(graph.labels[value], reads), graph.dtypes[value])


def put(algebra: Algebra, gradient: int, own: Labels, reads: Sequence[Read]) -> int:
    """Return an array of zeros, except for a part that is the gradient."""
    graph = algebra.graph
    parts = tuple([
        Segment(read.label, read.offset, tuple([label for label, _ in read.strides])) for read in reads
    ])  # fmt: skip
    inside = {label for part in parts for label in part.labels}
    others = [label for label in graph.labels[gradient] if label not in inside]
    labels, dtype = tuple(dict.fromkeys([*others, *own])), graph.strong(gradient)
    return graph.add(Join((gradient,), (parts,), labels, dtype), labels, dtype)


def _places(algebra: Algebra, read: Read) -> int:
    """Return the positions that a window reads, as integers along its labels."""
    place = algebra.values.cast(algebra.number(read.offset), "int64")
    for label, stride in read.strides:
        index = algebra.graph.add(Index(label), (label,), "int64")
        step = index if stride == 1 else algebra.map("*.", index, algebra.number(stride))
        place = algebra.map("+.", place, step)
    return place


def scattered(algebra: Algebra, gradient: int, own: Labels, places: Mapping[str, int]) -> int:
    """Return a gradient added up at positions along some dims of a value that has the labels `own`."""
    graph = algebra.graph
    rows = dict.fromkeys([label for place in places.values() for label in graph.labels[place]])
    summed = tuple([label for label in rows if label not in own or label in places])
    value = algebra.spread(gradient, tuple(rows))
    dtype = graph.strong(value)
    value = algebra.as_array(value, WIDER.get(dtype, dtype))
    kept = [label for label in graph.labels[value] if label not in summed]
    at = tuple([(label, wide(algebra.values, place)) for label, place in places.items()])
    node = Place("sum", value, summed, at)
    return algebra.as_array(graph.add(node, (*kept, *places), graph.dtypes[value]), dtype)


def of_join(algebra: Algebra, node: Join, gradient: int) -> Iterable[tuple[int, int]]:
    """Return the values that are the parts of an array, with the gradient of each."""
    graph = algebra.graph
    for value, parts in zip(node.values, node.places, strict=True):
        instead = {part.label: part.labels for part in parts}
        inside = [new for label in node.labels for new in instead.get(label, (label,))]
        own = graph.labels[gradient]
        reads = tuple([_read(algebra, part) for part in parts if part.label in own])
        part_of = window(algebra, gradient, reads)
        yield value, algebra.total([part_of], [one for one in inside if one not in graph.labels[value]])


def _read(algebra: Algebra, part: Segment) -> Read:
    strides, stride = [], 1
    for label in reversed(part.labels):
        strides.append((label, stride))
        stride *= algebra.graph.sizes[label]
    return Read(part.label, part.offset, tuple(reversed(strides)))


def of_sorted(algebra: Algebra, function: str, number: int, node: Along, gradient: int) -> int:
    """Return the gradient of `sort`, `cummax` and `cummin`, whose elements are those of the value."""
    graph, (label,) = algebra.graph, node.labels
    order = origins_of(algebra, function, number, node)
    other = whole_dim("_", f"{label}.along")
    graph.sizes[other] = graph.sizes[label]
    rows = renamed(graph, algebra.spread(gradient, (label,)), {label: other})
    return scattered(algebra, rows, graph.labels[node.value], {label: renamed(graph, order, {label: other})})


def origins_of(algebra: Algebra, function: str, number: int, node: Along) -> int:
    """Return the positions of the elements of a value that are those of the result of such a function."""
    if function == "sort":
        labels = algebra.graph.labels[node.value]
        return algebra.graph.add(Along("argsort", node.value, node.labels), labels, "int64")
    return _latest(algebra, number, node.value, node.labels[0])


def _latest(algebra: Algebra, number: int, value: int, label: str) -> int:
    """Return for each element of a running maximum or minimum the last position where it was attained."""
    graph = algebra.graph
    index = graph.add(Index(label), (label,), "int64")
    is_new = algebra.map("==.", value, number)
    is_nan = algebra.map("isnan", value)
    found = algebra.map("where", algebra.map("|.", is_new, is_nan), index, algebra.number(0))
    return graph.add(Along("cummax", found, (label,)), graph.labels[found], "int64")
