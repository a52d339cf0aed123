"""Deltas: the gradients of a value's elements by each other, with which a Jacobian begins.

The gradient of a value with the dim N is that of each of its elements: it has another label for them, and
begins as 1 where both labels have the same index. A sum over N of a product with such a delta is the product
with N renamed. Deltas are therefore kept outside of what they are multiplied by, and most of them disappear.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from nameexpr.compiler.analysis.build.values import Values
from nameexpr.compiler.ir.axes import Axes, Labels, flat, whole_dim
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Arrange, Filled, Index, Map, Scalar, View, number_of
from nameexpr.errors import Span
from nameexpr.records import replace

Apart = tuple[tuple[int, ...], int]
"""The deltas of a product, and what they are multiplied by."""


def with_basis(values: Values, labels: Labels, number: int, span: Span) -> tuple[dict[str, str], int]:
    """Return other labels for the elements of a value with these labels, by label, and the value that is 1
    where they are the same; `number` distinguishes the labels from others.
    """
    graph = values.graph
    basis: dict[str, str] = {label: whole_dim("_", f"{label}.{number}") for label in labels}
    graph.sizes.update({other: graph.sizes[label] for label, other in basis.items()})
    deltas = [_delta(values, label, other, span) for label, other in basis.items()]
    return basis, joined(values, deltas, graph.scalar(1.0), span)


def _delta(values: Values, label: str, other: str, span: Span) -> int:
    pair = [values.graph.add(Index(one), (one,), "int64") for one in (label, other)]
    return values.map(pair, "==.", span)


def pair_of(graph: Graph, value: int, basis: Collection[str]) -> tuple[str, str] | None:
    """Return the label and the basis label that a delta compares; None for any other value."""
    match graph.nodes[value]:
        case Map("==.", (left, right)):
            match graph.nodes[left], graph.nodes[right]:
                case Index(label), Index(other) if other in basis and label not in basis:
                    return label, other
    return None


def apart(values: Values, value: int, basis: Collection[str]) -> Apart:
    """Return the deltas of a product, and the rest of it."""
    if basis.isdisjoint(values.graph.labels[value]):  # type: ignore[attr-defined]
        return (), value
    match values.graph.nodes[value]:
        case Map("where", (delta, rest, other)) if is_zero(values.graph, other):
            if pair_of(values.graph, delta, basis) is not None:
                deltas, inner = apart(values, rest, basis)
                return tuple(sorted({delta, *deltas})), inner
    return (), value


def is_zero(graph: Graph, value: int) -> bool:
    """Return whether a value is the number 0."""
    node = graph.nodes[value]
    return isinstance(node, Scalar) and number_of(node) == 0


def joined(values: Values, deltas: Sequence[int], rest: int, span: Span) -> int:
    """Return a value where all deltas are 1, and 0 elsewhere: a product, except where the value is not
    finite.
    """
    for delta in deltas:
        rest = values.map([delta, rest, values.graph.scalar(0.0)], "where", span)
    return rest


def renamed(graph: Graph, value: int, names: dict[str, str]) -> int:
    """Return a value with other labels."""

    def new(labels: Labels) -> Labels:
        return tuple([names.get(label, label) for label in labels])

    own, dtype = graph.labels[value], graph.dtypes[value]
    if names.keys().isdisjoint(own):
        return value
    match node := graph.nodes[value]:
        case Index(label):
            return graph.add(Index(names[label]), (names[label],), dtype)
        case Filled(number, labels) if len(set(new(labels))) == len(labels):
            return graph.add(Filled(number, new(labels)), new(labels), dtype)
        case View(_, _, axes):
            others: Axes = tuple(map(new, axes))
            return graph.add(replace(node, axes=others), flat(others), dtype)
    single = tuple([(label,) for label in own])
    array = graph.add(Arrange(value, single), own, graph.strong(value))
    others = tuple(map(new, single))
    return graph.add(View(-1, array, others), flat(others), graph.strong(value))


def with_label(values: Values, delta: int, basis: Collection[str], names: dict[str, str], span: Span) -> int:
    """Return a delta whose label has another name."""
    label, other = pair_of(values.graph, delta, basis) or ("", "")
    return _delta(values, names.get(label, label), other, span)


def without_basis(values: Values, value: int, basis: dict[str, str], span: Span) -> int:
    """Return a value with the labels of what was differentiated in place of those of the basis."""
    names = {other: label for label, other in basis.items()}
    deltas, rest = apart(values, value, frozenset(names))
    made = []
    for delta in deltas:
        label, other = pair_of(values.graph, delta, frozenset(names)) or ("", "")
        made.append(_delta(values, label, names[other], span))
    return joined(values, made, renamed(values.graph, rest, names), span)


def turned(values: Values, value: int, inner: Mapping[str, str], basis: Mapping[str, str], span: Span) -> int:
    """Return a derivative by the elements of an operand, whose labels `inner` has by those of the operand,
    with the labels of the operand, and those that `basis` has for the elements of the value by its own.
    """
    own = {other: label for label, other in inner.items()}
    deltas, rest = apart(values, value, frozenset(own))
    made = []
    for delta in deltas:
        label, other = pair_of(values.graph, delta, frozenset(own)) or ("", "")
        made.append(_delta(values, own[other], basis[label], span))
    return joined(values, made, renamed(values.graph, rest, {**own, **basis}), span)
