"""Results that have parts: `k[B (past + new) D] = cache[B past D], key[B new D]`.

The blocks of a result are all combinations of the parts of its dims, row by row. Each has its own value, in
the order of the text, or only those have one all of whose parts have labels: the others are 0 then. A value
is repeated along the dims that it lacks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from nameexpr.compiler.analysis.build.values import Values
from nameexpr.compiler.analysis.faults import joins as faults
from nameexpr.compiler.analysis.faults.values import dropped, no_size
from nameexpr.compiler.analysis.readings import Reading
from nameexpr.compiler.analysis.rules.parts import blocks_of
from nameexpr.compiler.ir.axes import Axes, Labels, expand_ellipsis, flat, whole_dim
from nameexpr.compiler.ir.dtypes import WeakDtype, strong
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Arrange, Join, Scalar, Segment, View
from nameexpr.errors import error
from nameexpr.records import replace
from nameexpr.syntax import ast

Block = tuple[Segment, ...]
"""The part along each dim that is of several parts."""


def joined(values: Values, statement: ast.Statement, given: Sequence[int], axes: Axes) -> int:
    """Return the value whose parts are the given values."""
    graph, nodes = values.graph, statement.values
    given = [values.integer(value) for value in values.broadcast(given, statement.span)]
    every = tuple(dict.fromkeys([label for value in given for label in graph.labels[value]]))
    labels = flat(expand_ellipsis(axes, every))
    whole = {label: values.views.joined[label] for label in labels if label in values.views.joined}
    _learn_sizes(values, labels, whole)
    assert statement.term is not None
    blocks = blocks_with_values(graph, whole, statement.term, len(nodes))
    for node, value, block in zip(nodes, given, blocks, strict=True):
        values.check_is_array(value, node.span)
        _check_block(values, replace(statement, value=node), value, labels, block)
    dtype = values.promoted(given, statement.span)
    pairs = zip(given, nodes, strict=True)
    parts = [_strong(values, value, dtype, node) for value, node in pairs]
    result = join(graph, parts, blocks, labels, dtype)
    values.unify_names(result, given, statement.span)
    return result


def _learn_sizes(values: Values, labels: Labels, whole: Mapping[str, Reading]) -> None:
    """Record the sizes of dims that have parts."""
    graph = values.graph
    parts = [part for reading in whole.values() for labels in reading.parts for part in labels]
    own = [label for label in labels if label not in whole]
    for label in (*parts, *own):
        if label not in graph.sizes:
            raise error(no_size(values.tree, label, labels))
    for label, reading in whole.items():
        graph.sizes[label] = sum(map(graph.cells, reading.parts))


def blocks_with_values(graph: Graph, whole: Mapping[str, Reading], term: ast.Term, count: int) -> list[Block]:
    """Return the blocks of a result that have values, row by row."""
    dims = []
    for label, reading in whole.items():
        ends = [sum(map(graph.cells, reading.parts[:at])) for at in range(len(reading.parts))]
        dims.append([Segment(label, *pair) for pair in zip(ends, reading.parts, strict=True)])
    blocks, (is_live, _) = list(product(*dims)), blocks_of(term)
    if count == len(blocks):
        return blocks
    return [block for block, live in zip(blocks, is_live, strict=True) if live]


def join(graph: Graph, values: Sequence[int], blocks: Sequence[Block], labels: Labels, dtype: str) -> int:
    """Return an array with these labels whose blocks are the values."""
    pairs = [_apart(graph, *pair, labels) for pair in zip(values, blocks, strict=True)]
    places = tuple([block for _, block in pairs])
    return graph.add(Join(tuple([value for value, _ in pairs]), places, labels, dtype), labels, dtype)


def _check_block(values: Values, statement: ast.Statement, value: int, labels: Labels, block: Block) -> None:
    """Reject a value with dims that its block lacks."""
    graph, joined = values.graph, values.views.joined
    inside = {label for part in block for label in part.labels}
    lost = [label for label in graph.labels[value] if label not in inside and label not in labels]
    others = {label for part in block for labels in joined[part.label].parts for label in labels}
    foreign = next((label for label in lost if label in others), None)
    if foreign is not None:
        raise error(faults.other_part(values.tree, statement, foreign, block))
    if lost:
        raise error(dropped(values.tree, statement, lost, ()))


def _apart(graph: Graph, value: int, block: Block, labels: Labels) -> tuple[int, Block]:
    """Return a value and its block with every label once: a diagonal as an array with labels of its own."""
    inside = {part.label: part.labels for part in block}
    axes = tuple([inside.get(label, (label,)) for label in labels])
    every, dtype = flat(axes), strong(graph.dtypes[value])
    if len(every) == sum(map(len, axes)):
        return value, block
    fresh = {}
    for part in block:
        own = [whole_dim(label, f"{part.label}+{at}") for at, label in enumerate(part.labels)]
        graph.sizes.update(zip(own, map(graph.sizes.__getitem__, part.labels), strict=True))
        fresh[part.label] = tuple(own)
    arranged = graph.add(Arrange(value, axes), every, dtype)
    axes = tuple([fresh.get(label, (label,)) for label in labels])
    parts = tuple([replace(part, labels=fresh[part.label]) for part in block])
    return graph.add(View(-1, arranged, axes), flat(axes), dtype), parts


def _strong(values: Values, value: int, dtype: str, node: ast.Node) -> int:
    """Return a value, in the dtype of the array if it is computed from numbers alone."""
    graph = values.graph
    value = values.held(value, dtype, node.span)
    is_number = isinstance(graph.dtypes[value], WeakDtype)
    return values.cast(value, dtype) if is_number and not isinstance(graph.nodes[value], Scalar) else value
