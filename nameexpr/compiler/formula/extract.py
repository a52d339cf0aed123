"""Which products under a reduction are contractions: factors, and what may be done after the sum instead.

`sum[D](q * k / 8)` is a contraction of q and k, then divided by 8. A product is followed through `*`, signs,
small whole powers, and division by numbers of the text, as long as the dtype stays what it is. Integers are
widened before they are multiplied (docs/language.md, section 3, rule 8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from sys import float_info
from typing import TYPE_CHECKING

from nameexpr.compiler.dtypes import WIDE
from nameexpr.compiler.formula.graph import Filled, Labels, Map, Reduction, Scalar, number_of, sources_of
from nameexpr.compiler.typed import SUMMING
from nameexpr.errors import Span

if TYPE_CHECKING:
    from nameexpr.compiler.formula.build import Builder

ADDING = frozenset({"sum", "mean"})
MOST_PARTS = 2048
"""Parts of a product that are looked at; powers of powers have more than anybody can count."""
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
MOST_AGAIN = 1024
"""Parts that all products of a formula together take out of statements and powers. Each of n statements may
multiply by the one before: taken apart to the end, their sums would have n ** 2 / 2 factors.
"""
LARGEST_POWER = 4
"""Powers up to which x ** n is taken for a product of n factors."""


@dataclass
class Product:
    """The factors of a product, and the calls that can wait until it is summed: (function, other value).

    `wide` is the dtype of 64 bits in which a product of integers is computed, `root` the product as a value.
    """

    factors: list[int] = field(default_factory=list)
    wide: str = ""
    root: int = -1
    later: list[tuple[str, int]] = field(default_factory=list)


def reduction(build: Builder, reducer: str, value: int, labels: Labels, span: Span) -> int:
    """Return the number of a value reduced over labels."""
    product = Product([value])
    if reducer in ADDING:
        product = Product(wide=_computed_in(build.graph.dtypes[value]), root=value)
        _collect(build, value, labels, product, span)
    has_dims = any(build.graph.labels[factor] for factor in product.factors)
    if reducer in SUMMING and (reducer not in ADDING or not has_dims):
        product = Product([widened(build, value, span)])
    kept = _kept(build, product.factors, labels)
    dtype = build.reduced_dtype(reducer, product.factors, span)
    # A sum of halves stays float32 until numbers are applied, which may make it one that float16 holds.
    is_wide = dtype == "float16" and reducer in ADDING and bool(product.later)
    node = Reduction(reducer, tuple(product.factors), labels, is_wide)
    made = build.graph.add(node, kept, "float32" if is_wide else dtype)
    for function, other in product.later:
        made = build.map([made] if other < 0 else [made, other], function, span)
    return build.cast(made, dtype) if is_wide else made


def _kept(build: Builder, factors: Sequence[int], labels: Labels) -> Labels:
    every = dict.fromkeys(label for factor in factors for label in build.graph.labels[factor])
    return tuple(label for label in every if label not in labels)


def _collect(build: Builder, value: int, labels: Labels, product: Product, span: Span) -> None:
    """Add the factors of a value to a product that is summed over labels, in the order of the text."""
    stack = [(value, False)]
    parts = 0
    while stack:
        (value, is_again), parts = stack.pop(), parts + 1
        is_again = is_again or value in build.named or _is_power(build, value)
        build.parts_again += is_again
        is_left = parts >= MOST_PARTS or (is_again and build.parts_again > MOST_AGAIN)
        taken = None if is_left else _apart(build, value, labels, product, span)
        if taken is None:
            is_product = _is_product(build, value)
            product.factors.append(widened(build, value, span, product.wide) if is_product else value)
        else:
            stack += [(part, is_again) for part in reversed(taken)]


def _computed_in(dtype: str) -> str:
    """Return the dtype in which a product of this dtype is computed: 64 bits for integers."""
    return WIDE.get(dtype, "" if dtype == "float16" else dtype)


def _apart(build: Builder, value: int, labels: Labels, product: Product, span: Span) -> list[int] | None:
    """Return the factors of one value, and note what can wait; None if it is a factor itself."""
    graph = build.graph
    if value in build.named and graph.dtypes[value] in WIDE:
        return None  # a statement has computed it in its own dtype
    match graph.nodes[value]:
        case Map("*.", (left, right)) if _same_dtype(build, value, left, right):
            sides = [side for side in (left, right) if not isinstance(graph.nodes[side], Scalar)]
            if len(sides) > 1:
                return sides
            number = right if sides == [left] else left
            return _scaled(build, "*.", (value, sides[0], number), labels, product, span)
        case Map("/.", (left, right)) if graph.dtypes[left] == graph.dtypes[value]:
            if _is_number(build, right):
                return _scaled(build, "/.", (value, left, right), labels, product, span)
            inside = _divided(build, left, right, span)
            if inside is not None:
                return [inside]
            if not _waits(build, left, right, labels):
                return None
            product.later.append(("/.", right))
            return [left]
        case Map(".-", (inner,)) if graph.dtypes[inner] not in WIDE:
            product.later.append((".-", -1))
            return [inner]
        case Map("**.", (base, exponent)) if _small_power(build, value, base, exponent):
            power = graph.nodes[exponent]
            assert isinstance(power, Scalar)
            return [base] * int(power.value.real)
        case Map("square", (base,)):
            return [base, base]
    return None


def _same_dtype(build: Builder, value: int, left: int, right: int) -> bool:
    """Whether taking a product apart changes no dtype: numbers must be finite, and leave the other's."""
    graph = build.graph
    for side, other in ((left, right), (right, left)):
        node = graph.nodes[side]
        if isinstance(node, Scalar):
            keeps = graph.dtypes[other] == graph.dtypes[value] and graph.dtypes[value] not in WIDE
            return keeps and _is_harmless(number_of(node))
        if graph.dtypes[side].startswith("weak:"):
            return False
    return True


def _scaled(
    build: Builder, function: str, parts: tuple[int, int, int], labels: Labels, product: Product, span: Span
) -> list[int] | None:
    """Return the factors of a value that is multiplied with a number, or divided by it; None if it is one.

    A number that makes the sum smaller is applied before: the sum without it might overflow. Behind it stands
    that of halves, which are added up as float32, and that of a product whose factors are all as large as it.
    """
    value, inner, number = parts
    graph = build.graph
    scale = abs(number_of(graph.nodes[number]))  # type: ignore[arg-type]
    is_smaller = scale < 1 if function == "*." else scale > 1
    if not set(labels) & set(graph.labels[inner]):
        return None
    if not is_smaller or graph.dtypes[value] == "float16":
        product.later.append((function, number))
        return [inner]
    if len(_parts(build, inner)) == 1:
        is_lone = len(_parts(build, product.root)) == 1
        return _filled(build, function, parts, labels) if is_lone else None
    inside = _divided(build, inner, number, span, function)
    if inside is not None and _is_little(build, inside):
        return [inside]
    product.later.append((function, number))
    return [inner]


def _filled(build: Builder, function: str, parts: tuple[int, int, int], labels: Labels) -> list[int] | None:
    """Return a value, and its number along what is summed: their product takes no longer than a sum.

    None where that is long, or the number is not a normal one of the dtype.
    """
    value, inner, number = parts
    graph = build.graph
    dtype = REAL.get(graph.dtypes[value], "")
    summed = tuple(label for label in graph.labels[inner] if label in labels)
    scale = number_of(graph.nodes[number]).real  # type: ignore[arg-type]
    factor = float(scale) if function == "*." else 1 / scale
    if not dtype or abs(factor) < SMALLEST[dtype] or graph.cells(summed) > LONGEST:
        return None
    return [inner, graph.add(Filled(factor, summed), summed, dtype)]


def _is_little(build: Builder, product: int) -> bool:
    """Whether the smallest factor of a product is much smaller than what it is multiplied to."""
    graph = build.graph
    cells = [graph.cells(graph.labels[part]) for part in _parts(build, product) if graph.labels[part]]
    return min(cells) * LITTLE <= graph.cells(graph.labels[product])


def _parts(build: Builder, value: int) -> list[int]:
    """Return what a value is multiplied of, whatever its signs and numbers: itself if it is no product."""
    found: list[int] = []
    stack = [value]
    while stack and len(found) < MANY:
        value = stack.pop()
        match build.graph.nodes[value]:
            case Map("square" | "**.", (base, *_)):
                found += [base, base]
            case Map("*." | "/." | ".-" as function, arguments):
                inner = [one for one in arguments if build.graph.labels[one]]
                is_apart = function == "*." or len(inner) == 1
                stack += reversed(inner) if is_apart else ()
                found += () if is_apart else [value]
            case _:
                found.append(value)
    return found


def _divided(build: Builder, value: int, divisor: int, span: Span, function: str = "/.") -> int | None:
    """Return a product that is divided, or else, in its smallest factor which has all dims of the divisor."""
    graph = build.graph
    needed = set(graph.labels[divisor])
    match graph.nodes[value]:
        case Map("*.", (left, right)) if _same_dtype(build, value, left, right):
            sides = [left, right]
            fitting = [
                place
                for place in (0, 1)
                if graph.labels[sides[place]] and needed <= set(graph.labels[sides[place]])
            ]
            if not fitting:
                return None
            place = min(fitting, key=lambda one: graph.cells(graph.labels[sides[one]]))
            inner = _divided(build, sides[place], divisor, span, function)
            if inner is None:
                inner = build.map([build.cast(sides[place], graph.dtypes[value]), divisor], function, span)
            sides[place] = inner
            return build.map(sides, "*.", span)
        case Map(".-", (inner,)) | Map("/.", (inner, _)) if graph.dtypes[inner] == graph.dtypes[value]:
            rest = sources_of(graph.nodes[value])[1:]
            made = _divided(build, inner, divisor, span, function)
            outer = ".-" if not rest else "/."
            return None if made is None else build.map([made, *rest], outer, span)
    return None


def _waits(build: Builder, left: int, right: int, labels: Labels) -> bool:
    """Whether a division can wait until after the sum: by a number, or where no factor has its dims.

    An operand may turn out to be 0, and 0 / 0 among the summed is nan: where a factor can be divided, it is.
    """
    over, under = set(build.graph.labels[left]), set(build.graph.labels[right])
    if not over & set(labels) or under & set(labels):
        return False
    if isinstance(build.graph.nodes[right], Scalar):
        return False
    return not under <= over or _is_times(build, left)


def _is_times(build: Builder, value: int) -> bool:
    """Whether a value is a product of two, whatever its sign."""
    node = build.graph.nodes[value]
    if isinstance(node, Map) and node.function == ".-":
        return _is_times(build, node.arguments[0])
    return isinstance(node, Map) and node.function == "*."


def _is_number(build: Builder, value: int) -> bool:
    node = build.graph.nodes[value]
    return isinstance(node, Scalar) and _is_harmless(number_of(node))


def _is_harmless(number: complex) -> bool:
    """Whether sums may be multiplied or divided by a number: no nan comes or goes by it."""
    return 0 < abs(number) <= LARGEST


def _is_power(build: Builder, value: int) -> bool:
    node = build.graph.nodes[value]
    return isinstance(node, Map) and node.function in {"**.", "square"}


def _small_power(build: Builder, value: int, base: int, exponent: int) -> bool:
    power = build.graph.nodes[exponent]
    return (
        isinstance(power, Scalar)
        and power.kind == "int"
        and 1 <= power.value.real <= LARGEST_POWER
        and build.graph.dtypes[base] == build.graph.dtypes[value]
        and bool(build.graph.labels[base])
    )


MULTIPLYING = frozenset({"*.", "/.", ".-", ".+", "**.", "square"})


def _is_product(build: Builder, value: int) -> bool:
    node = build.graph.nodes[value]
    return isinstance(node, Map) and node.function in MULTIPLYING and value not in build.named


def widened(build: Builder, value: int, span: Span, wide: str = "") -> int:
    """Return a product with its narrow factors in the dtype it is computed in; any other value as is."""
    graph = build.graph
    dtype, node = graph.dtypes[value], graph.nodes[value]
    if isinstance(node, Map) and _is_product(build, value):
        under = wide or WIDE.get(dtype, "")
        arguments = [widened(build, one, span, under) for one in node.arguments]
        return build.map(arguments, node.function, span)
    is_narrow = dtype in WIDE or dtype == "float16"
    return build.cast(value, wide) if wide and is_narrow and dtype != wide else value
