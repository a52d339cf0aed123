"""The nodes of a graph: how each value is computed from others, as inert records.

    value = View        an operand, or an earlier value, seen through a term
          | Scalar      a number, weak in promotion
          | SizeOf      how many elements some labels span, in a graph that is written as text
          | Index       0, 1, ... along a label
          | Filled      a number along some labels
          | Map         a pointwise function; labels broadcast by name
          | Reduction   a product of values, reduced over labels: a contraction where the reducer adds
          | Along       softmax, cumsum, sort and their kind
          | Arrange     a value in the order, groups, repeats of a term
          | Drop        a value without some dims of size 1
          | Identity    a value as it is, distinguished for derivatives
          | Window      a value whose dims are read at affine positions: windows, strides, parts
          | Gather      a value whose dims are read at positions that other values hold
          | Place       a value reduced by label: its rows are combined at positions that other values hold
          | Join        some values, each in its part of one array
          | State       the rows of a recurrence that are read, one for each step
          | Recurrence  starts, and a step that is computed once for each index along a label
          | Rows        all rows of one statement of a recurrence

Sources are the numbers of other values of the graph (`nameexpr.compiler.ir.graph`).
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.ir.axes import Axes, Labels
from nameexpr.records import record

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
class SizeOf:
    """The number of elements that labels span. Graphs that are planned have a `Scalar` instead."""

    labels: Labels


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
class Identity:
    """A value as it is: that of the statement `name`, by which something is differentiated; if `name` is "",
    one through which no gradient goes. They are removed before anything is planned.
    """

    value: int
    name: str


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
class State:
    """The rows of statement `number` of recurrence `key` that are read: row T + `offset` in step T.

    `axes` are the dims of a row. The value has the label of the steps, too, so that it is computed with like
    any other; what depends on it is computed step by step.
    """

    key: str
    number: int
    label: str
    offset: int
    axes: Axes


@record
class Recurrence:
    """Statements that read their own earlier rows; `inputs` are the other values that their steps read.

    For each statement: `starts` are the values of its first rows and how many rows each is, `steps` the value
    of a row, which still has the label of the steps, and `axes` the dims of a row.
    """

    key: str
    label: str
    starts: tuple[tuple[tuple[int, int], ...], ...]
    steps: tuple[int, ...]
    axes: tuple[Axes, ...]
    inputs: tuple[int, ...]


@record
class Rows:
    """The rows of one statement of a recurrence, starts first; `axes` are the dims of all of them."""

    recurrence: int
    number: int
    axes: Axes


@record
class ReadAt:
    """A dim that is read at the positions in another value; `is_inside` if they cannot leave the dim."""

    label: str
    value: int
    is_inside: bool


@record
class Gather:
    """A value, some dims of which are read at positions; labels that it shares with them are one index."""

    value: int
    positions: tuple[ReadAt, ...]


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


@record
class Place:
    """The rows of a value along labels, combined by a reducer at the positions that other values hold along
    each label of `places`; rows with positions outside are left out.
    """

    reducer: str
    value: int
    labels: Labels
    places: tuple[tuple[str, int], ...]


Node = (
    View | Scalar | SizeOf | Index | Filled | Map | Reduction | Along | Arrange | Drop | Identity | Window
    | Gather | Place | Join | State | Recurrence | Rows
)  # fmt: skip


def sources_of(node: Node) -> tuple[int, ...]:
    """Return the values that a value depends on directly."""
    match node:
        case View(_, value):
            return (value,) if value >= 0 else ()
        case Map(_, arguments) | Join(arguments):
            return arguments
        case Reduction(_, factors):
            return factors
        case Recurrence():
            return (*node.inputs, *[value for starts in node.starts for _, value in starts])
        case Along(_, value) | Arrange(value) | Drop(value) | Identity(value) | Window(value) | Rows(value):
            return (value,)
        case Gather(value, positions):
            return (value, *[position.value for position in positions])
        case Place(_, value, _, places):
            return (value, *[place for _, place in places])
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


def number_of(node: Scalar) -> int | float | complex:
    """Return the number that a scalar represents."""
    return float(node.kind) if node.kind in ("nan", "-0.0") else node.value
