"""Pointwise functions of whole arrays, and the order of their axes.

The largest argument determines the order, so that what is transposed is small. An *expansion*, such as the
mask `index[S] <= index[T]`, has labels that none of its arguments has together, so that the order of its axes
is free: it is created in that of the first function or product that reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from nameexpr.compiler.ir.axes import Labels, hint_of
from nameexpr.compiler.ir.graph import Graph, merged
from nameexpr.compiler.ir.nodes import CAST, Map, Reduction, Scalar, number_of, sources_of
from nameexpr.compiler.ir.program import Instruction, Number
from nameexpr.compiler.ir.target import Target
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.ops import FUNCTIONS

MATRIX = 2
"""The number of axes from which a value can be read in another order than it has in memory."""


def expansions(graph: Graph, needed: Collection[int], outputs: Collection[int]) -> frozenset[int]:
    """Return the expansions that are read along with a value that has all of their labels."""
    found = set()
    for number in needed:
        node = graph.nodes[number]
        if isinstance(node, Map | Reduction):
            sources = sources_of(node)
            every = [set(graph.labels[source]) for source in sources]
            for source, own in zip(sources, every, strict=True):
                if sum(own <= other for other in every) > 1 and is_expansion(graph, source):
                    found.add(source)
    return frozenset(found.difference(outputs))


def is_expansion(graph: Graph, number: int) -> bool:
    """Return whether a value has labels that none of its arguments has together."""
    node, own = graph.nodes[number], set(graph.labels[number])
    return isinstance(node, Map) and all(set(graph.labels[one]) < own for one in node.arguments)


def order_of(build: Builder, values: Sequence[Value]) -> Labels:
    """Return the labels of all values, in the order of large ones, and of those with more labels."""
    ranked = sorted(values, key=lambda one: (-hint_of(build.size(one.labels)), -len(one.labels)))
    return merged([one.labels for one in ranked])


def lower_map(
    build: Builder,
    graph: Graph,
    number: int,
    values_of: Callable[[Sequence[int]], list[Value]],
    preferred: Labels,
) -> Value:
    """Return a function of values, with its labels in the preferred order, if there is one, else in that of
    its arguments.
    """
    node = graph.nodes[number]
    assert isinstance(node, Map)
    nodes = [graph.nodes[argument] for argument in node.arguments]
    pairs = zip(node.arguments, nodes, strict=True)
    values = values_of([argument for argument, source in pairs if not isinstance(source, Scalar)])
    own = order_of(build, values)
    labels = tuple(dict.fromkeys([label for label in (*preferred, *own) if label in own]))
    numbers = tuple([build.expand(along(build, value, labels), labels).number for value in values])
    numbers_of = tuple([number_of(source) if isinstance(source, Scalar) else None for source in nodes])
    kernel, constants = kernel_of(build.target, node.function, numbers_of)
    shape, dtype = build.shape(labels), graph.dtypes[number]
    made = Instruction("pointwise", numbers, shape, dtype=dtype, function=kernel, constants=constants)
    return build.emit(made, labels, dtype, build.row_major_strides(labels))


def step_of(graph: Graph, target: Target, number: int, places: Mapping[int, int]) -> Instruction:
    """Return a function as a step of a block, whose values have these places."""
    node, dtype = graph.nodes[number], graph.dtypes[number]
    assert isinstance(node, Map)
    sources: list[int] = []
    constants: list[Number | None] = []
    for argument in node.arguments:
        inner = graph.nodes[argument]
        constants.append(number_of(inner) if isinstance(inner, Scalar) else None)
        sources += [] if isinstance(inner, Scalar) else [places[argument]]
    if node.function == CAST:
        return Instruction("cast", tuple(sources), dtype=dtype)
    kernel, numbers = kernel_of(target, node.function, tuple(constants))
    return Instruction("pointwise", tuple(sources), dtype=dtype, function=kernel, constants=numbers)


def kernel_of(
    target: Target, function: str, constants: tuple[Number | None, ...]
) -> tuple[str, tuple[Number | None, ...]]:
    """Return the kernel of a function, and its numbers: `relu` is a maximum, which can write over memory."""
    kernel = FUNCTIONS[function].kernel
    is_maximum = kernel == "relu" and constants == (None,) and "over" in target.native
    return ("maximum", (None, 0)) if is_maximum else (kernel, constants)


def along(build: Builder, value: Value, labels: Labels) -> Value:
    """Return a value that is read along with a much larger one with these labels: a copy if it is not
    contiguous along the last axis.
    """
    target = build.target
    own = [label for label in labels if label in value.labels and build.sizes[label] != 1]
    cells = build.size(labels)
    if len(own) < MATRIX or cells < target.fused_cells or value.strides is None:
        return value
    stride = abs(value.strides[value.labels.index(own[-1])])
    if stride <= 1 or build.size(own) * target.copied_reads > cells:
        return value
    return build.copied(build.transpose(value, [label for label in labels if label in value.labels]))
