"""Which products under a reduction are contractions: factors, and what may be done after the sum instead.

`sum[D](q * k / 8)` is a contraction of q and k, then divided by 8. A product is followed through `*`, signs,
small whole powers, and division by what does not vary over the dims that are summed, as long as the dtype
stays what it is. Integers are widened before they are multiplied (docs/language.md, section 3, rule 8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING

from nameexpr.compiler.dtypes import WIDE
from nameexpr.compiler.formula.graph import Labels, Map, Reduction, Scalar, number_of
from nameexpr.compiler.typed import SUMMING
from nameexpr.errors import Span

if TYPE_CHECKING:
    from nameexpr.compiler.formula.build import Builder

ADDING = frozenset({"sum", "mean"})
MOST_PARTS = 2048
"""Parts of a product that are looked at; powers of powers have more than anybody can count."""
LARGEST_POWER = 4
"""Powers up to which x ** n is taken for a product of n factors."""


@dataclass
class Product:
    """The factors of a product, and the calls that can wait until it is summed: (function, other value).

    `wide` is the dtype of 64 bits in which a product of integers is computed.
    """

    factors: list[int] = field(default_factory=list)
    wide: str = ""
    later: list[tuple[str, int]] = field(default_factory=list)


def reduction(build: Builder, reducer: str, value: int, labels: Labels, span: Span) -> int:
    """Return the number of a value reduced over labels."""
    product = Product([value])
    if reducer in ADDING:
        product = Product(wide=_computed_in(build.graph.dtypes[value]))
        _collect(build, value, labels, product, span)
    elif reducer in SUMMING:
        product = Product([widened(build, value, span)])
    if all(not build.graph.labels[factor] for factor in product.factors):
        product = Product([widened(build, value, span)])
    kept = _kept(build, product.factors, labels)
    dtype = build.reduced_dtype(reducer, product.factors, span)
    made = build.graph.add(Reduction(reducer, tuple(product.factors), labels), kept, dtype)
    for function, other in product.later:
        made = build.map([made] if other < 0 else [made, other], function, span)
    return made


def _kept(build: Builder, factors: Sequence[int], labels: Labels) -> Labels:
    every = dict.fromkeys(label for factor in factors for label in build.graph.labels[factor])
    return tuple(label for label in every if label not in labels)


def _collect(build: Builder, value: int, labels: Labels, product: Product, span: Span) -> None:
    """Add the factors of a value to a product that is summed over labels, in the order of the text."""
    stack = [value]
    parts = 0
    while stack:
        value, parts = stack.pop(), parts + 1
        taken = _apart(build, value, labels, product) if parts < MOST_PARTS else None
        if taken is None:
            product.factors.append(widened(build, value, span, product.wide))
        else:
            stack += reversed(taken)


def _computed_in(dtype: str) -> str:
    """Return the dtype in which a product of this dtype is computed: 64 bits for integers."""
    return WIDE.get(dtype, "" if dtype == "float16" else dtype)


def _apart(build: Builder, value: int, labels: Labels, product: Product) -> list[int] | None:
    """Return the factors of one value, and note what can wait; None if it is a factor itself."""
    graph = build.graph
    if value in build.named and graph.dtypes[value] in WIDE:
        return None  # a statement has computed it in its own dtype
    match graph.nodes[value]:
        case Map("*.", (left, right)) if _same_dtype(build, value, left, right):
            numbers = [side for side in (left, right) if isinstance(graph.nodes[side], Scalar)]
            product.later += [("*.", number) for number in numbers]
            return [side for side in (left, right) if side not in numbers]
        case Map("/.", (left, right)) if _divides(build, value, left, right, labels):
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
            is_finite = isfinite(abs(number_of(node)))
            return (
                is_finite and graph.dtypes[other] == graph.dtypes[value] and graph.dtypes[value] not in WIDE
            )
        if graph.dtypes[side].startswith("weak:"):
            return False
    return True


def _divides(build: Builder, value: int, left: int, right: int, labels: Labels) -> bool:
    graph = build.graph
    if set(graph.labels[right]) & set(labels) or not set(graph.labels[left]) & set(labels):
        return False
    return graph.dtypes[left] == graph.dtypes[value]


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


def widened(build: Builder, value: int, span: Span, wide: str = "") -> int:
    """Return a product with its integer factors in the dtype that it is computed in; any other value as is."""
    graph = build.graph
    dtype, node = graph.dtypes[value], graph.nodes[value]
    if isinstance(node, Map) and node.function in MULTIPLYING and value not in build.named:
        under = wide or WIDE.get(dtype, "")
        arguments = [widened(build, one, span, under) for one in node.arguments]
        return build.map(arguments, node.function, span)
    return build.cast(value, wide) if wide and dtype in WIDE and dtype != wide else value
