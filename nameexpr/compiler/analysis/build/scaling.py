"""Where a number goes that a product under a sum is multiplied with or divided by: before the sum, or behind.

Before it stands a number that makes the sum smaller, which might overflow without it: in the smallest factor,
or in a vector that takes the place of ones.
"""

from __future__ import annotations

from sys import float_info

from nameexpr.compiler.analysis.build.values import Values
from nameexpr.compiler.ir.axes import Labels
from nameexpr.compiler.ir.dtypes import WIDE, WeakDtype
from nameexpr.compiler.ir.graph import Filled, Map, Scalar, number_of, sources_of
from nameexpr.errors import Span
from nameexpr.records import field, record

REAL = {"float32": "float32", "float64": "float64", "complex64": "float32", "complex128": "float64"}
SMALLEST = {"float32": 2.0**-126, "float64": 2.0**-1022}
"""The smallest normal number of a dtype."""
LONGEST = 1 << 12
"""Cells that are summed up to which a vector of one number is made for them."""
MANY = 64
"""Factors of a product that are looked at to place a number."""
LITTLE = 4
"""How many times smaller than a product its factor is that a number is applied to."""
LARGEST = float_info.max


@record(frozen=False)
class Product:
    """The factors of a product, and the calls that can wait until it is summed: (function, other value).

    `wide` is the dtype of 64 bits in which a product of integers is computed, `root` the product as a value.
    """

    factors: list[int] = field(default_factory=list)
    wide: str = ""
    root: int = -1
    later: list[tuple[str, int]] = field(default_factory=list)


def scaled(
    values: Values, function: str, parts: tuple[int, int, int], labels: Labels, product: Product, span: Span
) -> list[int] | None:
    """Return the factors of a value that is multiplied with a number, or divided by it; None if it is one.

    A number that makes the sum smaller is applied before: the sum without it might overflow. Behind it stands
    that of halves, which are added up as float32, and that of a product whose factors are all as large as it.
    """
    value, inner, number = parts
    graph = values.graph
    scale = abs(number_of(graph.nodes[number]))  # type: ignore[arg-type]
    is_smaller = scale < 1 if function == "*." else scale > 1
    if not set(labels) & set(graph.labels[inner]):
        return None
    if not is_smaller or graph.dtypes[value] == "float16":
        product.later.append((function, number))
        return [inner]
    if len(_parts(values, inner)) == 1:
        is_lone = len(_parts(values, product.root)) == 1
        return _filled(values, function, parts, labels) if is_lone else None
    inside = divided(values, inner, number, span, function)
    if inside is not None and _is_little(values, inside):
        return [inside]
    product.later.append((function, number))
    return [inner]


def _filled(values: Values, function: str, parts: tuple[int, int, int], labels: Labels) -> list[int] | None:
    """Return a value, and its number along what is summed: their product takes no longer than a sum.

    None where that is long, or the number is not a normal one of the dtype.
    """
    value, inner, number = parts
    graph = values.graph
    dtype = REAL.get(graph.dtypes[value], "")
    summed = tuple(label for label in graph.labels[inner] if label in labels)
    scale = number_of(graph.nodes[number]).real  # type: ignore[arg-type]
    factor = float(scale) if function == "*." else 1 / scale
    if not dtype or abs(factor) < SMALLEST[dtype] or graph.cells(summed) > LONGEST:
        return None
    return [inner, graph.add(Filled(factor, summed), summed, dtype)]


def _is_little(values: Values, product: int) -> bool:
    """Whether the smallest factor of a product is much smaller than what it is multiplied to."""
    graph = values.graph
    cells = [graph.cells(graph.labels[part]) for part in _parts(values, product) if graph.labels[part]]
    return min(cells) * LITTLE <= graph.cells(graph.labels[product])


def _parts(values: Values, value: int) -> list[int]:
    """Return what a value is multiplied of, whatever its signs and numbers: itself if it is no product."""
    found: list[int] = []
    stack = [value]
    while stack and len(found) < MANY:
        value = stack.pop()
        match values.graph.nodes[value]:
            case Map("square" | "**.", (base, *_)):
                found += [base, base]
            case Map("*." | "/." | ".-" as function, arguments):
                inner = [one for one in arguments if values.graph.labels[one]]
                is_apart = function == "*." or len(inner) == 1
                stack += reversed(inner) if is_apart else ()
                found += () if is_apart else [value]
            case _:
                found.append(value)
    return found


def divided(values: Values, value: int, divisor: int, span: Span, function: str = "/.") -> int | None:
    """Return a product that is divided, or else, in its smallest factor which has all dims of the divisor."""
    graph = values.graph
    needed = set(graph.labels[divisor])
    match graph.nodes[value]:
        case Map("*.", (left, right)) if same_dtype(values, value, left, right):
            sides = [left, right]
            fitting = [
                place
                for place in (0, 1)
                if graph.labels[sides[place]] and needed <= set(graph.labels[sides[place]])
            ]
            if not fitting:
                return None
            place = min(fitting, key=lambda one: graph.cells(graph.labels[sides[one]]))
            inner = divided(values, sides[place], divisor, span, function)
            if inner is None:
                inner = values.map([values.cast(sides[place], graph.dtypes[value]), divisor], function, span)
            sides[place] = inner
            return values.map(sides, "*.", span)
        case Map(".-", (inner,)) | Map("/.", (inner, _)) if graph.dtypes[inner] == graph.dtypes[value]:
            rest = sources_of(graph.nodes[value])[1:]
            made = divided(values, inner, divisor, span, function)
            outer = ".-" if not rest else "/."
            return None if made is None else values.map([made, *rest], outer, span)
    return None


def same_dtype(values: Values, value: int, left: int, right: int) -> bool:
    """Whether taking a product apart changes no dtype: numbers must be finite, and leave the other's."""
    graph = values.graph
    for side, other in ((left, right), (right, left)):
        node = graph.nodes[side]
        if isinstance(node, Scalar):
            keeps = graph.dtypes[other] == graph.dtypes[value] and graph.dtypes[value] not in WIDE
            return keeps and is_harmless(number_of(node))
        if isinstance(graph.dtypes[side], WeakDtype):
            return False
    return True


def is_harmless(number: complex) -> bool:
    """Whether sums may be multiplied or divided by a number: no nan comes or goes by it."""
    return 0 < abs(number) <= LARGEST
