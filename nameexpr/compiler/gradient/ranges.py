"""Between which numbers real values lie, for any operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf

from nameexpr.compiler.gradient.products import kind_of
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import (
    CAST,
    Along,
    Arrange,
    Filled,
    Index,
    Map,
    Reduction,
    Scalar,
    View,
    number_of,
)

Range = tuple[float, float]
ANY: Range = (-inf, inf)
NOT_NEGATIVE: Range = (0.0, inf)
DEEPEST = 12
"""The number of functions that are followed."""
FUNCTIONS: Mapping[str, Range] = {
    **dict.fromkeys(("exp", "exp2", "abs", "square", "sqrt", "softplus", "relu", "hypot"), NOT_NEGATIVE),
    **dict.fromkeys(("sigmoid",), (0.0, 1.0)),
    **dict.fromkeys(("tanh", "sin", "cos", "sign"), (-1.0, 1.0)),
    "cosh": (1.0, inf),
}
"""What functions of any real argument give."""
REDUCED: Mapping[str, Range] = dict.fromkeys(("norm", "std", "var"), NOT_NEGATIVE)
KEEPING = frozenset({"max", "min", "mean", "median"})
"""Reductions whose results are between the smallest and the largest element."""


def is_not_negative(graph: Graph, value: int) -> bool:
    """Return whether no element of a real value is less than 0, up to rounding; it may be nan."""
    return range_of(graph, value)[0] >= 0


def range_of(graph: Graph, value: int, depth: int = 0) -> Range:
    """Return numbers between which all elements of a real value lie that are not nan, up to rounding."""
    if graph.dtypes[value] == "bool":
        return 0.0, 1.0
    if depth > DEEPEST or not _is_followed(graph, value):
        return ANY

    def of(source: int) -> Range:
        return range_of(graph, source, depth + 1)

    match graph.nodes[value]:
        case Scalar() as node:
            number = number_of(node)
            return ANY if isinstance(number, complex) or number != number else (float(number),) * 2  # noqa: PLR0124
        case Filled(number):
            return number, number
        case Index(label):
            return 0.0, float(max(0, graph.sizes[label] - 1))
        case Map(function, arguments):
            return _of_map(function, arguments, of)
        case Reduction("sum" | None, (factor,)):
            return NOT_NEGATIVE if of(factor)[0] >= 0 else ANY
        case Reduction(reducer, (factor,)):
            return of(factor) if reducer in KEEPING else REDUCED.get(str(reducer), ANY)
        case Along("softmax"):
            return 0.0, 1.0
        case View(_, source) if source >= 0:
            return of(source)
        case Arrange(source):
            low, high = of(source)
            return min(low, 0.0), max(high, 0.0)  # a diagonal is embedded in zeros
    return ANY


def _is_followed(graph: Graph, value: int) -> bool:
    """Return whether a value is real and does not wrap around, as integers do."""
    is_counted = isinstance(graph.nodes[value], Scalar | Index)
    return is_counted or kind_of(graph.dtypes[value]) == "float"


def _of_map(function: str, arguments: tuple[int, ...], of: Callable[[int], Range]) -> Range:
    if function in FUNCTIONS:
        return FUNCTIONS[function]
    if function == "*." and len(set(arguments)) == 1:
        low, high = of(arguments[0])
        most = max(abs(low), abs(high))
        return 0.0, most * most
    if function in ARITHMETIC:
        return ARITHMETIC[function](*[of(argument) for argument in arguments])
    return ANY


def _times(left: Range, right: Range) -> Range:
    ends = [0.0 if 0 in (one, other) else one * other for one in left for other in right]
    return min(ends), max(ends)


def _divided(left: Range, right: Range) -> Range:
    if right[0] <= 0:
        return ANY  # 1 / -0.0 is negative
    return _times(left, (1 / right[1], 1 / right[0]))


def _chosen(_: Range, left: Range, right: Range) -> Range:
    return min(left[0], right[0]), max(left[1], right[1])


ARITHMETIC: Mapping[str, Callable[..., Range]] = {
    "+.": lambda left, right: (left[0] + right[0], left[1] + right[1]),
    "-.": lambda left, right: (left[0] - right[1], left[1] - right[0]),
    "*.": _times,
    "/.": _divided,
    ".-": lambda one: (-one[1], -one[0]),
    ".+": lambda one: one,
    "where": _chosen,
    "maximum": lambda left, right: (max(left[0], right[0]), max(left[1], right[1])),
    "minimum": lambda left, right: (min(left[0], right[0]), min(left[1], right[1])),
    CAST: lambda one: one,
}
"""The range of a function's result from those of its arguments."""
