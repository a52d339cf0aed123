"""Expressions that only move values: into the parts of one result, or the parts of one operand into several
results.

    N a, N b -> N (a + b)      operand k is block k of the result
    N (a + b) -> a N, N b      each result is a view of one block of the operand
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.compiler.analysis.build.joins import blocks_with_values, join
from nameexpr.compiler.analysis.readings import Readings, read_of
from nameexpr.compiler.analysis.resolve import Resolved
from nameexpr.compiler.analysis.rules.blocks import choices
from nameexpr.compiler.ir.axes import Axes, Names, flat
from nameexpr.compiler.ir.dtypes import Dtypes
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import CAST, Arrange, Map, View, Window, windowed
from nameexpr.records import record, replace
from nameexpr.syntax import ast


@record
class Blocks:
    """What an expression moves from its operands to its results.

    `axes` are the labels of each result. `joined` are the dims with parts of the only result, and `term` is
    its term; `reads` contains for each of several results how the operand is read. `names` are those of the
    results after the first.
    """

    operands: tuple[Axes, ...]
    axes: tuple[Axes, ...]
    sizes: Mapping[str, int]
    joined: Readings
    term: ast.Term
    reads: tuple[Readings, ...]
    names: tuple[Names, ...]


def read_blocks(
    tree: ast.Expression, resolved: Resolved, sizes: Mapping[str, int], names: Sequence[Names]
) -> Blocks:
    """Return the blocks of an expression whose text follows the rules."""
    assert tree.outputs is not None
    reads = [resolved.readings]
    for chosen in choices(tree) if resolved.others else ():
        live = iter(chosen)
        every = resolved.readings.items()
        reads.append(
            {key: replace(one, live=(next(live),)) if len(one.live) > 1 else one for key, one in every}
        )
    axes = (resolved.result, *resolved.others)
    rest = resolved.joined, tree.outputs[0], tuple(reads[1:] or reads), tuple(names)
    return Blocks(resolved.operands, axes, sizes, *rest)


def build_blocks(blocks: Blocks, dtypes: Dtypes) -> tuple[Graph, tuple[int, ...]]:
    """Return the graph of an expression that moves blocks, and the numbers of its results."""
    graph, dtype = Graph(dict(blocks.sizes)), dtypes.result
    if not blocks.joined:
        pairs = zip(blocks.axes, blocks.reads, strict=True)
        return graph, tuple([_split(graph, blocks.operands[0], *pair, dtypes) for pair in pairs])
    (axes,), (reads,) = blocks.axes, blocks.reads
    views = zip(blocks.operands, dtypes.operands, strict=True)
    values = [_seen(graph, number, *view, reads) for number, view in enumerate(views)]
    parts = blocks_with_values(graph, blocks.joined, blocks.term, len(values))
    joined = join(graph, values, parts, flat(axes), dtype)
    return graph, (graph.add(Arrange(joined, axes), flat(axes), dtype),)


def _split(graph: Graph, operand: Axes, axes: Axes, reads: Readings, dtypes: Dtypes) -> int:
    """Return the number of one of several results."""
    value = _seen(graph, 0, operand, dtypes.operands[0], reads)
    if graph.dtypes[value] != dtypes.result:
        value = graph.add(Map(CAST, (value,), dtypes.result), graph.labels[value], dtypes.result)
    return graph.add(Arrange(value, axes), flat(axes), dtypes.result)


def _seen(graph: Graph, position: int, axes: Axes, dtype: str, readings: Readings) -> int:
    """Return the number of an operand, of which parts are read where its term has them."""
    labels = flat(axes)
    value = graph.add(View(position, -1, axes), labels, dtype)
    found = [read_of(readings[label], graph.sizes) for label in labels if label in readings]
    reads = tuple([read for read in found if read is not None])
    return graph.add(Window(value, reads), windowed(labels, reads), dtype) if reads else value
