"""Sums of products that are symmetric: a product times itself with other labels.

The Hessian of a logistic regression is `sum[N](d[N] * x[N C] * x[N C'])`. Where d is not negative that is
`sum[N](y[N C] * y[N C'])` with `y = sqrt(d) * x`: BLAS computes half of it, if it is given one array twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from nameexpr.compiler.gradient.deltas import renamed
from nameexpr.compiler.gradient.ranges import is_not_negative
from nameexpr.compiler.ir.axes import Labels
from nameexpr.compiler.ir.dtypes import REAL_OF
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Arrange, Map, View
from nameexpr.records import record

SUMMED, ROWS, WORK = 128, 32, 1 << 14
"""The least number of elements that are summed, of rows of the result, and their product, for which half of
a product of matrices is faster than all of it.
"""
Base = tuple[object, Labels]
"""What a value shows, and the labels of its dims, in the order of that."""


@record
class Half:
    """Factors whose product, times the same with other labels and times the values `rest`, which are not
    negative, is the product of a symmetric sum.
    """

    factors: tuple[int, ...]
    rest: tuple[int, ...]
    names: Mapping[str, str]

    def renamed(self, graph: Graph, product: int) -> int:
        """Return the product of the factors with the other labels."""
        return renamed(graph, product, dict(self.names))


def halves(graph: Graph, factors: Sequence[int], summed: Labels, kept: Labels) -> Half | None:
    """Return half of the factors of a sum with the labels `kept`; None unless computing it twice from one
    array is faster.
    """
    bases = [base_of(graph, factor) for factor in factors]
    names = _swapped(bases)
    if not names or set(names) - set(kept):
        return None
    if graph.dtypes[factors[0]] in REAL_OF or not _is_large(graph, names, summed):
        return None

    def other(base: Base) -> Base:
        return base[0], tuple([names.get(label, label) for label in base[1]])

    if Counter(map(other, bases)) != Counter(bases):
        return None
    sides = _one_side(bases, names)
    moved = [bool(set(base[1]) & names.keys()) for base in bases]
    own = tuple([factor for factor, base in zip(factors, bases, strict=True) if set(base[1]) & sides])
    rest = tuple([factor for factor, is_moved in zip(factors, moved, strict=True) if not is_moved])
    if 2 * len(own) != sum(moved) or not all(is_not_negative(graph, factor) for factor in rest):
        return None
    return Half(own, rest, {one: names[one] for one in sides})


def base_of(graph: Graph, value: int) -> Base:
    """Return what a value shows under its labels: an operand, or another value."""
    node = graph.nodes[value]
    if isinstance(node, View) and all(len(group) == 1 for group in node.axes):
        labels = tuple([label for (label,) in node.axes])
        if node.value < 0:
            return (View, node.position), labels
        array = graph.nodes[node.value]
        if isinstance(array, Arrange) and all(len(group) == 1 for group in array.axes):
            names = {old: new for (old,), new in zip(array.axes, labels, strict=True)}
            own = graph.labels[array.value]
            if len(names) == len(labels) == len(own) and names.keys() == set(own):
                return array.value, tuple([names[label] for label in own])
    return value, graph.labels[value]


def _swapped(bases: Sequence[Base]) -> dict[str, str]:
    """Return the labels that exchanging the two uses of each array exchanges; {} if there is nothing like
    that.
    """
    uses: dict[object, list[Labels]] = {}
    for base, labels in bases:
        uses.setdefault(base, []).append(labels)
    names: dict[str, str] = {}
    for every in uses.values():
        if len(every) == 2:  # noqa: PLR2004  an array that is used twice
            for one, other in zip(*every, strict=True):
                if names.setdefault(one, other) != other or names.setdefault(other, one) != one:
                    return {}
    return {one: other for one, other in names.items() if one != other}


def _is_large(graph: Graph, names: Mapping[str, str], summed: Labels) -> bool:
    count = graph.cells(summed)
    pairs = {frozenset(pair) for pair in names.items()}
    rows = graph.cells(tuple([min(pair) for pair in pairs]))
    return count >= SUMMED and rows >= ROWS and count * rows >= WORK


def _one_side(bases: Sequence[Base], names: Mapping[str, str]) -> set[str]:
    """Return one of each pair of labels; those that a value has both of are on the same side."""
    sides: set[str] = set()
    for _, labels in bases:
        moved = [label for label in labels if label in names]
        if sides.isdisjoint(moved) and any(names[label] in sides for label in moved):
            continue
        sides |= {label for label in moved if names[label] not in sides}
    return sides


def root(graph: Graph, value: int) -> int:
    """Return the square root of a value that is not negative, up to rounding."""
    labels, dtype = graph.labels[value], graph.dtypes[value]
    value = graph.add(Map("maximum", (value, graph.scalar(0.0))), labels, dtype)
    return graph.add(Map("sqrt", (value,)), labels, dtype)
