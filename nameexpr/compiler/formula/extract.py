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
MOST_PARTS = 64
"""Parts into which a product is taken; powers of powers would be taken apart for ever."""
LARGEST_POWER = 4
"""Powers up to which x ** n is taken for a product of n factors."""


@dataclass
class Product:
    """The factors of a product, and the calls that can wait until it is summed: (function, other value).

    `wide` is the dtype of 64 bits in which a product of integers is computed.
    """

    factors: list[int] = field(default_factory=list)
    wide: str = ""
    parts: int = 0
    later: list[tuple[str, int]] = field(default_factory=list)


def reduction(build: Builder, reducer: str, value: int, labels: Labels, span: Span) -> int:
    """Return the number of a value reduced over labels."""
    product = Product([value])
    if reducer in ADDING:
        product = Product(wide=WIDE.get(build.graph.dtypes[value], ""))
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
    """Add the factors of a value to a product that is summed over labels."""
    graph = build.graph
    node = graph.nodes[value]
    if value in build.named and graph.dtypes[value] in WIDE:
        product.factors.append(value)  # a statement has computed it in its own dtype
        return
    product.parts += 1
    if product.parts > MOST_PARTS:
        product.factors.append(value)
        return
    match node:
        case Map("*.", (left, right)) if _same_dtype(build, value, left, right):
            for side in (left, right):
                _collect_side(build, side, labels, product, span)
        case Map("/.", (left, right)) if _divides(build, value, left, right, labels):
            _collect(build, left, labels, product, span)
            product.later.append(("/.", right))
        case Map(".-", (inner,)) if graph.dtypes[inner] not in WIDE:
            _collect(build, inner, labels, product, span)
            product.later.append((".-", -1))
        case Map("**.", (base, exponent)) if _small_power(build, value, base, exponent):
            power = graph.nodes[exponent]
            assert isinstance(power, Scalar)
            for _ in range(int(power.value.real)):
                _collect(build, base, labels, product, span)
        case Map("square", (base,)):
            _collect(build, base, labels, product, span)
            _collect(build, base, labels, product, span)
        case _:
            product.factors.append(widened(build, value, span, product.wide))


def _collect_side(build: Builder, side: int, labels: Labels, product: Product, span: Span) -> None:
    node = build.graph.nodes[side]
    if isinstance(node, Scalar):
        product.later.append(("*.", side))
    else:
        _collect(build, side, labels, product, span)


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
    """Return a product of integers with its factors in 64 bits; any other value as it is."""
    graph = build.graph
    dtype, node = graph.dtypes[value], graph.nodes[value]
    if isinstance(node, Map) and node.function in MULTIPLYING and value not in build.named:
        under = (wide or WIDE[dtype]) if dtype in WIDE else ""
        arguments = [widened(build, one, span, under) for one in node.arguments]
        return build.map(arguments, node.function, span)
    return build.cast(value, wide) if wide and dtype in WIDE and dtype != wide else value
