"""Values that are 0 off a diagonal: arrays of zeros with the diagonal written into them.

The Jacobian of `x[i] ** 2` is `where(index[i] == index[j], 2 * x[i], 0)`: most of its elements are 0, and
choosing among all of them takes far longer than writing those that are not.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.gradient.deltas import is_zero, renamed
from nameexpr.compiler.ir.axes import Labels, flat
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Arrange, Index, Map, Node, View

LARGE = 1 << 10
"""The number of elements of a value from which writing its diagonal is faster."""
Pair = tuple[str, str]
"""Two labels that have the same index on a diagonal."""


def on_diagonal(graph: Graph, node: Node, labels: Labels, dtype: str) -> int | None:
    """Return the value of a node that is 0 off a diagonal as zeros with the diagonal in them; None for any
    other node, and for small values.
    """
    pairs, value = list[Pair](), -1
    while (chosen := _chosen(graph, node)) is not None:
        pair, value = chosen
        pairs.append(pair)
        node = graph.nodes[value]
    if not pairs or graph.cells(labels) < LARGE or not _fits(graph, pairs, value, dtype):
        return None
    same = {other: label for label, other in pairs}
    axes = tuple([(same.get(label, label),) for label in labels])
    array = graph.add(Arrange(renamed(graph, value, same), axes), flat(axes), dtype)
    return graph.add(View(-1, array, tuple([(label,) for label in labels])), labels, dtype)


def _chosen(graph: Graph, node: Node) -> tuple[Pair, int] | None:
    """Return the labels whose indices must be the same for a value not to be 0, and what it is then."""
    match node:
        case Map("where", (condition, value, other)) if is_zero(graph, other):
            match graph.nodes[condition]:
                case Map("==.", (left, right)):
                    match graph.nodes[left], graph.nodes[right]:
                        case Index(one), Index(another) if one != another:
                            return (one, another), value
    return None


def _fits(graph: Graph, pairs: Sequence[Pair], value: int, dtype: str) -> bool:
    """Return whether an array has such a diagonal: each label is in one pair, and the value has at most one
    of each.
    """
    every, own = [label for pair in pairs for label in pair], graph.labels[value]
    return (
        graph.dtypes[value] == dtype
        and len(set(every)) == len(every)
        and all(graph.sizes[one] == graph.sizes[other] for one, other in pairs)
        and not any(one in own and other in own for one, other in pairs)
    )
