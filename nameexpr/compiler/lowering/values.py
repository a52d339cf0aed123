"""The values that no contraction has: numbers along labels, functions along dims, windows, parts of an
array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nameexpr.compiler.ir.axes import Labels
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.liveness import owners
from nameexpr.compiler.ir.nodes import Along, Drop, Filled, Index, Join, Scalar, Window, number_of
from nameexpr.compiler.ir.pieces import Piece
from nameexpr.compiler.ir.program import Instruction, Number
from nameexpr.compiler.ir.windows import is_disjoint, overlaps
from nameexpr.compiler.lowering.builder import Builder, Value

INDEX = "int64"


def lower_value(build: Builder, graph: Graph, number: int, source: Callable[[int], Value]) -> Value:
    """Return a value that is created; `source` returns those that it depends on."""
    node, dtype = graph.nodes[number], graph.dtypes[number]
    match node:
        case Index(label):
            return counted(build, label)
        case Filled(one, labels):
            return filled(build, one, labels, dtype)
        case Along(function, inner, labels):
            value = source(inner)
            axes, other = tuple(map(value.axis, labels)), "" if value.dtype == dtype else dtype
            made = Instruction("along_axes", (value.number,), axes=axes, dtype=other, function=function)
            return build.emit(made, value.labels, dtype, build.row_major_strides(value.labels))
        case Drop(inner, labels):
            value = source(inner)
            kept = tuple(label for label in value.labels if label not in labels)
            return build.reshape(value, build.shape(kept), kept)
        case Window(inner, reads):
            return build.window(source(inner), reads)
        case Join():
            return _join(build, graph, node, source)
    raise AssertionError(f"{node} has another lowering")


def counted(build: Builder, label: str) -> Value:
    """Return the indices along a label: 0, 1, ..."""
    made = Instruction("arange", shape=(build.sizes[label],))
    return build.emit(made, (label,), INDEX, build.row_major_strides((label,)))


def filled(build: Builder, number: float, labels: Labels, dtype: str) -> Value:
    """Return one number along labels."""
    made = Instruction("full", (), build.shape(labels), dtype=dtype, constants=(number,))
    return build.emit(made, labels, dtype, build.row_major_strides(labels))


def _join(build: Builder, graph: Graph, node: Join, source: Callable[[int], Value]) -> Value:
    """Return a new array with values and numbers as its parts."""
    sources: list[int] = []
    pieces: list[Piece] = []
    constants: list[Number | None] = []
    for number, parts in zip(node.values, node.places, strict=True):
        at, value = {part.label: part for part in parts}, graph.nodes[number]
        inside = [at[label].labels if label in at else (label,) for label in node.labels]
        own = [label for labels in inside for label in labels]
        starts = tuple([at[label].offset if label in at else 0 for label in node.labels])
        pieces.append(Piece(starts, tuple(map(build.size, inside)), build.shape(own)))
        constants.append(number_of(value) if isinstance(value, Scalar) else None)
        if not isinstance(value, Scalar):
            sources.append(build.expand(source(number), own).number)
    made = Instruction(
        "concatenate",
        tuple(sources),
        build.shape(node.labels),
        dtype=node.dtype,
        constants=tuple(constants),
        pieces=tuple(pieces),
    )
    return build.emit(made, node.labels, node.dtype, build.row_major_strides(node.labels))


def apart(build: Builder, values: Sequence[Value]) -> tuple[int, ...]:
    """Return the numbers of values that share no element with each other, and in which no two elements are
    one: those that do are copied.
    """
    seen = build.count, build.instructions
    if build.windows:
        shapes = {number: build.shape(source.labels) for number, (source, _) in build.windows.items()}
        is_copied = [overlaps(one.number, *seen, shapes) for one in values]
        pairs = zip(values, is_copied, strict=True)
        values = [build.copied(one, is_lax=True) if twice else one for one, twice in pairs]
    owner = owners(*seen)
    results: list[int] = []
    for value in values:
        number = value.number
        same = [one for one in results if owner[one] == owner[number]]
        if not all(is_disjoint(number, one, *seen) for one in same):
            number = build.emit(Instruction("copy", (number,)), value.labels, value.dtype).number
            owner.append(number)
        results.append(number)
    return tuple(results)
