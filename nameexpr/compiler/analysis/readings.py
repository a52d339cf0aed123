"""Dims that are read in parts or at positions: `(1 + T)` skips, `H@(2*h + dh)` reads at positions.

Each such dim of an operand has its own label, which stands for the whole dim and is not a label of the value;
a `Reading` lists the labels that the value has instead. A position that is an integer plus multiples of
labels is affine: it determines sizes, and is read as a view. Everything else is data, even if it follows from
sizes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import prod

from nameexpr.compiler.ir.axes import Axes, Labels, Unnamed
from nameexpr.compiler.ir.nodes import Read
from nameexpr.errors import Span
from nameexpr.records import record
from nameexpr.syntax import ast, walk
from nameexpr.syntax.walk import labels_in_place


@record
class Reading:
    """How one dim of an operand is read.

    `label` stands for the whole dim. `parts` are the labels of each of its parts; a dim with positions has
    one part, itself, or none if it is `_`. `live` are the numbers of the parts that the value has. `place` is
    the position, and `span` the range of all this in the text.
    """

    label: Unnamed
    parts: tuple[Labels, ...]
    live: tuple[int, ...]
    place: ast.Node | None
    span: Span

    @property
    def labels(self) -> Labels:
        """The labels that the value has in place of the dim, in the order of the text."""
        if self.place is not None:
            return labels_of(self.place)
        return tuple([label for part in self.live for label in self.parts[part]])


Readings = Mapping[str, Reading]
"""How dims are read, by the label of each."""


def placed(readings: Readings) -> set[str]:
    """Return the labels and the sizes that positions name."""
    found: set[str] = set()
    for reading in readings.values():
        for node in walk.nodes(reading.place) if reading.place is not None else ():
            if isinstance(node, ast.Use) and node.term is not None:
                found |= walk.labels_in(node.term)
    return found


def labels_of(place: ast.Node) -> Labels:
    """Return the labels that a position varies over and names, in the order of the text."""
    return tuple(
        dict.fromkeys([atom.name for atom in labels_in_place(place) if isinstance(atom, ast.LABELLED)])
    )


def visible(axes: Axes, readings: Readings) -> Axes:
    """Return the axes with the labels that the value has in place of dims that are read."""
    if not readings:
        return axes
    return tuple([tuple([new for label in labels for new in _instead(label, readings)]) for labels in axes])


def _instead(label: str, readings: Readings) -> Labels:
    return readings[label].labels if label in readings else (label,)


Affine = tuple[int, dict[str, int]]
"""A number, and the factor of each label."""


def affine(place: ast.Node, sizes: Mapping[str, int]) -> Affine | None:
    """Return a position as a number and multiples of labels; None for others, or if it needs an
    unknown size.
    """
    match place:
        case ast.Number(int(value)):
            return value, {}
        case ast.Use("index" | "size" as name, ast.Term((ast.Label(label),))):
            if name == "index":
                return 0, {label: 1}
            return (sizes[label], {}) if label in sizes else None
        case ast.Unary("-" | "+" as sign, value):
            inner = affine(value, sizes)
            return None if inner is None else _scaled(inner, -1 if sign == "-" else 1)
        case ast.Binary("+" | "-" | "*" as sign, left, right):
            first, second = affine(left, sizes), affine(right, sizes)
            if first is None or second is None:
                return None
            return _combined(sign, first, second)
    return None


def is_affine(place: ast.Node) -> bool:
    """Return whether a position is an integer plus multiples of labels, for any sizes."""
    return affine(place, _AnySize()) is not None


class _AnySize(dict[str, int]):
    def __contains__(self, label: object) -> bool:
        return True

    def __missing__(self, label: str) -> int:
        return 1


def _scaled(value: Affine, by: int) -> Affine:
    return value[0] * by, {label: stride * by for label, stride in value[1].items()}


def _combined(sign: str, left: Affine, right: Affine) -> Affine | None:
    if sign == "*":
        if left[1] and right[1]:
            return None
        return _scaled(left, right[0]) if left[1] else _scaled(right, left[0])
    other = _scaled(right, -1) if sign == "-" else right
    strides = dict(left[1])
    for label, stride in other[1].items():
        strides[label] = strides.get(label, 0) + stride
    return left[0] + other[0], strides


def extremes(place: Affine, sizes: Mapping[str, int], without: str = "") -> tuple[int, int]:
    """Return the least and the largest position for these sizes of labels; one label can be left out."""
    low = high = place[0]
    for label, stride in place[1].items():
        last = stride * max(sizes[label] - 1, 0) if label != without else 0
        low, high = (low + last, high) if stride < 0 else (low, high + last)
    return low, high


def largest_inside(place: Affine, size: int, sizes: Mapping[str, int], label: str) -> int:
    """Return the largest size of a label for which all positions are inside a dim."""
    low, high = extremes(place, sizes, label)
    stride = place[1][label]
    return (size - 1 - high) // stride + 1 if stride > 0 else low // -stride + 1


def sized_by_positions(
    readings: Iterable[Reading], sizes: Mapping[str, int], plain: Collection[str]
) -> dict[str, tuple[int, Reading]]:
    """Return the sizes of labels that only occur in positions, if each is the only unknown of one: the least
    over its positions, with the reading that has it.
    """
    found: dict[str, tuple[int, Reading]] = {}
    for reading in readings:
        place = None if reading.place is None or reading.label not in sizes else affine(reading.place, sizes)
        unknown = [label for label, stride in place[1].items() if label not in sizes] if place else []
        if place is None or len(unknown) != 1 or unknown[0] in plain or not place[1][unknown[0]]:
            continue
        (label,) = unknown
        size = largest_inside(place, sizes[reading.label], sizes, label)
        if label not in found or size < found[label][0]:
            found[label] = size, reading
    return found


def read_of(reading: Reading, sizes: Mapping[str, int]) -> Read | None:
    """Return how a dim is read as a view; None if that depends on data."""
    if reading.place is not None:
        place = affine(reading.place, sizes)
        return None if place is None else Read(reading.label, place[0], tuple(place[1].items()))
    (live,) = reading.live
    offset = sum(prod([sizes[label] for label in part]) for part in reading.parts[:live])
    return Read(reading.label, offset, row_major(reading.parts[live], sizes))


def row_major(labels: Sequence[str], sizes: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Return labels with their strides in a row-major product."""
    strides: list[tuple[str, int]] = []
    step = 1
    for label in reversed(labels):
        strides.append((label, step))
        step *= sizes[label]
    return tuple(reversed(strides))
