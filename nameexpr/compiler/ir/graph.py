"""The graph of a formula: every distinct value once, with the labels it varies over and its dtype.

    value = View        an operand, or an earlier value, seen through a term
          | Scalar      a number, weak in promotion
          | Index       0, 1, ... along a label
          | Filled      a number along some labels
          | Map         a pointwise function; labels broadcast by name
          | Reduction   a product of values, reduced over labels: a contraction where the reducer adds
          | Along       softmax, cumsum, sort and their kind
          | Arrange     a value in the order, groups, repeats of a term
          | Drop        a value without some dims of size 1
          | Window      a value whose dims are read at affine positions: windows, strides, parts
          | Join        some values, each in its part of one array

Values are numbered in the order of their creation, so that the sources of a value have lower numbers. Adding
a value that already exists returns its number: common subexpressions are computed once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import copysign, isnan
from operator import attrgetter
from typing import Any, get_args

from nameexpr.compiler.ir.axes import Axes, Labels
from nameexpr.compiler.ir.dtypes import WEAK, WeakDtype
from nameexpr.errors import Span
from nameexpr.records import field, record

CAST = "cast"
"""The function of a `Map` that casts a value."""


@record
class View:
    """An operand (`position`), or an earlier value (`value`), as dims that are products of labels."""

    position: int
    value: int
    axes: Axes


@record
class Scalar:
    """A number. Its dtype is that of the values it is combined with; `kind` distinguishes 1, 1.0 and True,
    which are equal.
    """

    value: int | float | complex
    kind: str


@record
class Index:
    """The positions along a label."""

    label: str


@record
class Filled:
    """One number along labels."""

    value: float
    labels: Labels


@record
class Map:
    """A pointwise function of values; `dtype` is the target of a cast."""

    function: str
    arguments: tuple[int, ...]
    dtype: str = ""


@record
class Reduction:
    """The product of some values, reduced over labels; summed if there is no reducer.

    `compute` is the dtype in which factors are multiplied and reduced, `result` the dtype of the result; both
    are "" if nothing is cast.
    """

    reducer: str | None
    factors: tuple[int, ...]
    labels: Labels
    compute: str
    result: str


@record
class Along:
    """A function along labels, which are kept."""

    function: str
    value: int
    labels: Labels


@record
class Arrange:
    """A value as an array: its dims products of labels, in this order."""

    value: int
    axes: Axes


@record
class Drop:
    """A value without dims of size 1, which broadcast under `...`."""

    value: int
    labels: Labels


@record
class Read:
    """A dim that is read at positions: a number, plus the index along each label times its stride."""

    label: str
    offset: int
    strides: tuple[tuple[str, int], ...]


@record
class Window:
    """A value, some dims of which are read at positions; labels of the value may be among theirs."""

    value: int
    reads: tuple[Read, ...]


@record
class Segment:
    """A part of a dim: `label` stands for all of the dim, the product of `labels` for what begins at
    `offset`.
    """

    label: str
    offset: int
    labels: Labels


@record
class Join:
    """Values that are the parts of one array with these labels, repeated along those that they lack.

    `places` has the parts of each value, and `dtype` is that of the array; what is in no part is 0.
    """

    values: tuple[int, ...]
    places: tuple[tuple[Segment, ...], ...]
    labels: Labels
    dtype: str


Node = View | Scalar | Index | Filled | Map | Reduction | Along | Arrange | Drop | Window | Join
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
        node = Scalar(value, type(value).__name__)
        if isinstance(value, float) and isnan(value):
            node = Scalar(0, "nan")
        elif isinstance(value, float) and value == 0 and copysign(1, value) < 0:
            node = Scalar(0, "-0.0")
        return self.add(node, (), WEAK[type(value)])

    def strong(self, value: int) -> str:
        """Return the dtype of a value as an array: for a large integer a dtype that can hold it."""
        node, dtype = self.nodes[value], self.dtypes[value]
        if isinstance(node, Scalar) and node.kind == "int":
            number = number_of(node).real
            return "int64" if -(2**63) <= number < 2**63 else "uint64" if 0 < number < 2**64 else "float64"
        return dtype.strong if isinstance(dtype, WeakDtype) else dtype

    def cells(self, labels: Sequence[str]) -> int:
        """Return the number of elements that labels span."""
        total = 1
        for label in labels:
            total *= self.sizes[label]
        return total


def sources_of(node: Node) -> tuple[int, ...]:
    """Return the values that a value depends on directly."""
    match node:
        case View(_, value):
            return (value,) if value >= 0 else ()
        case Map(_, arguments) | Join(arguments):
            return arguments
        case Reduction(_, factors):
            return factors
        case Along(_, value) | Arrange(value) | Drop(value) | Window(value):
            return (value,)
        case _:
            return ()


def windowed(labels: Labels, reads: Sequence[Read]) -> Labels:
    """Return the labels of a value whose dims are read at positions."""
    instead = {read.label: [label for label, _ in read.strides] for read in reads}
    return tuple(dict.fromkeys([new for label in labels for new in instead.get(label, [label])]))


def is_moved(node: Node) -> bool:
    """Return whether the elements of a value are those of an operand: nothing is combined."""
    if isinstance(node, Reduction):
        return node.reducer is None and not node.labels and len(node.factors) == 1
    return isinstance(node, View | Window)


def use_counts(graph: Graph, outputs: Sequence[int]) -> dict[int, int]:
    """Return how often each value that the outputs need is used."""
    counts = dict.fromkeys(outputs, 1)
    for number in range(max(outputs), -1, -1):
        if number in counts:
            for source in set(sources_of(graph.nodes[number])):
                counts[source] = counts.get(source, 0) + 1
    return counts


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


def number_of(node: Scalar) -> int | float | complex:
    """Return the number that a scalar represents."""
    return float(node.kind) if node.kind in ("nan", "-0.0") else node.value


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
