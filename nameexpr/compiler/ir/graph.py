"""The graph of a text: every distinct value once.

A value is a node (`nameexpr.compiler.ir.nodes`), the labels that it varies over, and a dtype.
Values are numbered in the order of their creation, so that the sources of a value have lower numbers. Adding
a value that already exists returns its number: common subexpressions are computed once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import copysign, isnan
from operator import attrgetter
from typing import Any, get_args

from nameexpr.compiler.ir.axes import Labels, gathered, hint_of
from nameexpr.compiler.ir.dtypes import WEAK, WeakDtype
from nameexpr.compiler.ir.nodes import (
    Along,
    Arrange,
    Drop,
    Gather,
    Identity,
    Join,
    Map,
    Node,
    Place,
    Recurrence,
    Reduction,
    Rows,
    Scalar,
    View,
    Window,
    number_of,
    sources_of,
    windowed,
)
from nameexpr.errors import Span
from nameexpr.records import field, record, replace

_FIELDS = {kind: attrgetter(*kind.__match_args__) for kind in get_args(Node)}
"""The fields that distinguish nodes of a kind: read together, so that a value is looked up without a
Python-level call.
"""


@record(frozen=False)
class Graph:
    """All values: the node, the labels and the dtype of each; for functions also their positions in
    the text.
    """

    sizes: dict[str, int]
    nodes: list[Node] = field(default_factory=list)
    labels: list[Labels] = field(default_factory=list)
    dtypes: list[str] = field(default_factory=list)
    known: dict[tuple[type, Any], int] = field(default_factory=dict)
    spans: dict[int, Span] = field(default_factory=dict)
    is_for_text = False
    """Whether values are as the text has them, and not as they are computed fastest for some sizes."""

    def add(self, node: Node, labels: Sequence[str], dtype: str) -> int:
        """Return the number of a value, new or not."""
        kind = node.__class__
        number = self.known.setdefault((kind, _FIELDS[kind](node)), len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(node)
            self.labels.append(tuple(labels))
            self.dtypes.append(dtype)
        return number

    def scalar(self, value: int | float | complex) -> int:
        """Return the number of a weak scalar; all nans are one value, and -0.0 differs from 0.0."""
        value = getattr(value, "scalar", value)  # of a size that is a symbol
        kind = type(hint_of(value))
        node = Scalar(value, kind.__name__)
        if isinstance(value, float) and isnan(value):
            node = Scalar(0, "nan")
        elif isinstance(value, float) and value == 0 and copysign(1, value) < 0:
            node = Scalar(0, "-0.0")
        return self.add(node, (), WEAK[kind])

    def strong(self, value: int) -> str:
        """Return the dtype of a value as an array: for a large integer a dtype that can hold it."""
        node, dtype = self.nodes[value], self.dtypes[value]
        if isinstance(node, Scalar) and node.kind == "int":
            number = number_of(node).real
            return "int64" if -(2**63) <= number < 2**63 else "uint64" if 0 < number < 2**64 else "float64"
        return dtype.strong if isinstance(dtype, WeakDtype) else dtype

    def count(self, labels: Labels) -> int:
        """Return the value that is the number of elements that labels span."""
        return self.scalar(self.cells(labels))

    def cells(self, labels: Sequence[str]) -> int:
        """Return the number of elements that labels span."""
        total = 1
        for label in labels:
            total *= self.sizes[label]
        return total


def with_sources(node: Node, numbers: Mapping[int, int]) -> Node:
    """Return a node that reads other values."""

    def every(values: Sequence[int]) -> tuple[int, ...]:
        return tuple([numbers[value] for value in values])

    match node:
        case View(_, value) if value < 0:
            return node
        case (
            View(_, value) | Along(_, value) | Arrange(value) | Drop(value) | Identity(value) | Window(value)
        ):
            return replace(node, value=numbers[value])
        case Gather(value, positions):
            read = [replace(position, value=numbers[position.value]) for position in positions]
            return replace(node, value=numbers[value], positions=tuple(read))
        case Place(_, value, _, places):
            at = tuple([(label, numbers[place]) for label, place in places])
            return replace(node, value=numbers[value], places=at)
        case Map(_, arguments):
            return replace(node, arguments=every(arguments))
        case Reduction(_, factors):
            return replace(node, factors=every(factors))
        case Join(values):
            return replace(node, values=every(values))
        case Rows(recurrence):
            return replace(node, recurrence=numbers[recurrence])
        case Recurrence():
            starts = [tuple([(count, numbers[one]) for count, one in each]) for each in node.starts]
            inputs = tuple(dict.fromkeys(every(node.inputs)))  # two values may have become one
            return replace(node, starts=tuple(starts), steps=every(node.steps), inputs=inputs)
    return node


def labels_of(graph: Graph, node: Node, labels: Labels) -> Labels:
    """Return the labels of a node whose sources may have theirs in another order; `labels` are those that it
    had before.
    """
    match node:
        case Map(_, values) | Reduction(_, values):
            every = dict.fromkeys([label for value in values for label in graph.labels[value]])
            return tuple([label for label in every if label in labels])
        case Along(_, value) | Drop(value):
            return tuple([label for label in graph.labels[value] if label in labels])
        case Window(value, reads):
            return windowed(graph.labels[value], reads)
        case Gather(value, positions):
            places = {position.label: graph.labels[position.value] for position in positions}
            return gathered(graph.labels[value], places)
    return labels


def use_counts(graph: Graph, outputs: Sequence[int]) -> dict[int, int]:
    """Return how often each value that the outputs need is used."""
    counts = dict.fromkeys(outputs, 1)
    for number in range(max(outputs), -1, -1):
        if number in counts:
            for source in set(sources_of(graph.nodes[number])):
                counts[source] = counts.get(source, 0) + 1
    return counts


def readers_of(graph: Graph, values: Sequence[int]) -> Mapping[int, Sequence[int]]:
    """Return the values among some that read each source."""
    readers: dict[int, list[int]] = {}
    for value in values:
        for source in dict.fromkeys(sources_of(graph.nodes[value])):
            readers.setdefault(source, []).append(value)
    return readers


def constant_values(graph: Graph, operands: Collection[int]) -> set[int]:
    """Return the values that depend on the given operands alone, or on none."""
    constants: set[int] = set()
    for value, node in enumerate(graph.nodes):
        if isinstance(node, View) and node.position >= 0:
            is_constant = node.position in operands
        else:
            is_constant = constants.issuperset(sources_of(node))
        if is_constant:
            constants.add(value)
    return constants


def merged(orders: Sequence[Labels]) -> Labels:
    """Return all labels in an order that keeps that of every sequence, as far as they agree.

    It is the layout that requires the fewest transpositions.

    Examples
    --------
    >>> merged([("i", "D"), ("j", "D")])
    ('i', 'j', 'D')
    """
    left = [list(order) for order in orders]
    result: list[str] = []
    while any(left):
        heads = [order[0] for order in left if order]
        free = [head for head in heads if not any(head in order[1:] for order in left)]
        chosen = free[0] if free else heads[0]
        result.append(chosen)
        left = [[label for label in order if label != chosen] for order in left]
    return tuple(result)
