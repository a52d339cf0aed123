"""What is known about integers before anything is computed: the interval that a value lies in, and the exact
extremes of values that follow from sizes alone.

Positions that are proved to be inside their dim need no check when they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

from nameexpr.compiler.ir.dtypes import ITEM_BYTES, KIND_OF, strong
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import (
    Along,
    Arrange,
    Drop,
    Gather,
    Index,
    Map,
    Reduction,
    Scalar,
    View,
    Window,
    number_of,
)

Interval = tuple[int, int]
MOST = 10_000
"""The largest number of positions that are computed one by one to find their extremes."""


def interval(graph: Graph, value: int) -> Interval | None:
    """Return numbers between which an integer lies: at worst all that its dtype has; None if it is none."""
    held = _held(graph.dtypes[value])
    found = None if held is None else _interval(graph, value)
    if held is None or found is None or not held[0] <= found[0] <= found[1] <= held[1]:
        return held
    return found


def _held(dtype: str) -> Interval | None:
    """Return the least and the largest integer of a dtype."""
    dtype = strong(dtype)
    kind, bits = KIND_OF.get(dtype), 8 * ITEM_BYTES.get(dtype, 8)
    if kind not in {"int", "uint"}:
        return None
    least = 0 if kind == "uint" else -(1 << (bits - 1))
    return least, least + (1 << bits) - 1


def _interval(graph: Graph, value: int) -> Interval | None:
    match graph.nodes[value]:
        case Scalar(int(number), "int"):
            return number, number
        case Index(label):
            return 0, max(0, graph.sizes[label] - 1)
        case Map(function, arguments) if function in _BOUNDS:
            inner = [interval(graph, argument) for argument in arguments]
            return None if None in inner else _BOUNDS[function](*inner)
        case Reduction("argmax" | "argmin", (_,), (label,)) | Along("argsort", _, (label,)):
            return 0, max(0, graph.sizes[label] - 1)
        case Along("sort" | "flip" | "cummax" | "cummin", source) | Drop(source) | Window(source):
            return interval(graph, source)
        case View(_, source) | Gather(source) if source >= 0:
            return interval(graph, source)
        case Arrange(source, axes) if len({*axes}) == len(axes):  # else there are zeros off the diagonal
            return interval(graph, source)
    return None


def _product(left: Interval, right: Interval) -> Interval:
    ends = [one * other for one in left for other in right]
    return min(ends), max(ends)


def _quotient(left: Interval, right: Interval) -> Interval | None:
    if right[0] <= 0:
        return None
    ends = [one // other for one in left for other in right]
    return min(ends), max(ends)


def _remainder(left: Interval, right: Interval) -> Interval | None:
    if right[0] <= 0:
        return None
    if left[0] >= 0:
        return 0, min(left[1], right[1] - 1)
    return 0, right[1] - 1


def _least(left: Interval, right: Interval) -> Interval:
    return min(left[0], right[0]), min(left[1], right[1])


def _most(left: Interval, right: Interval) -> Interval:
    return max(left[0], right[0]), max(left[1], right[1])


_BOUNDS: Mapping[str, Callable[..., Interval | None]] = {
    "+.": lambda left, right: (left[0] + right[0], left[1] + right[1]),
    "-.": lambda left, right: (left[0] - right[1], left[1] - right[0]),
    "*.": _product,
    "//.": _quotient,
    "floor_divide": _quotient,
    "%.": _remainder,
    "remainder": _remainder,
    ".-": lambda one: (-one[1], -one[0]),
    ".+": lambda one: one,
    "minimum": _least,
    "maximum": _most,
    "clip": lambda one, low, high: _least(_most(one, low), high),
}
"""The interval of a function's result from those of its arguments."""

_EXACT: Mapping[str, Callable[..., int]] = {
    "+.": lambda left, right: left + right,
    "-.": lambda left, right: left - right,
    "*.": lambda left, right: left * right,
    "//.": lambda left, right: left // right,
    "floor_divide": lambda left, right: left // right,
    "%.": lambda left, right: left % right,
    "remainder": lambda left, right: left % right,
    ".-": lambda one: -one,
    ".+": lambda one: one,
    "abs": abs,
    "minimum": min,
    "maximum": max,
    "clip": lambda one, low, high: min(max(one, low), high),
    "==.": lambda left, right: left == right,
    "<.": lambda left, right: left < right,
    "<=.": lambda left, right: left <= right,
    ">.": lambda left, right: left > right,
    ">=.": lambda left, right: left >= right,
    "where": lambda condition, left, right: left if condition else right,
}
"""Functions of integers whose results in int64 are those of Python."""


def extremes_of(graph: Graph, value: int) -> Interval | None:
    """Return the least and the largest element of a value that follows from sizes alone; None if it does not,
    or has too many elements to look at each.
    """
    labels = graph.labels[value]
    if not _is_exact(graph, value) or not 0 < graph.cells(labels) <= MOST:
        return None
    try:
        found = [
            _element(graph, value, dict(zip(labels, indices, strict=True)))
            for indices in product(*[range(graph.sizes[label]) for label in labels])
        ]
    except ZeroDivisionError:
        return None
    low, high = min(found), max(found)
    return (low, high) if -(1 << 63) <= low <= high < 1 << 63 else None


def _is_exact(graph: Graph, value: int) -> bool:
    node = graph.nodes[value]
    if isinstance(node, Map) and node.function in _EXACT:
        return all(_is_exact(graph, argument) for argument in node.arguments)
    return isinstance(node, Index) or (isinstance(node, Scalar) and node.kind == "int")


def _element(graph: Graph, value: int, indices: Mapping[str, int]) -> int:
    match graph.nodes[value]:
        case Index(label):
            return indices[label]
        case Scalar() as node:
            return int(number_of(node).real)
        case Map(function, arguments):
            elements: Sequence[int] = [_element(graph, argument, indices) for argument in arguments]
            return int(_EXACT[function](*elements))
    raise AssertionError("an element of data is not known")
