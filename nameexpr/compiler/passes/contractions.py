"""Which products under a reduction are contractions: factors, and what may be done after the sum instead.

`sum[D](q * k / 8)` is a contraction of q and k, then divided by 8. A product is followed through `*`, signs,
small whole powers, and division by numbers of the text, as long as the dtype stays what it is. Integers are
widened before they are multiplied (docs/language.md, section 3, rule 8).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nameexpr.compiler.ir.dtypes import WIDE, Dtypes, choose_dtypes
from nameexpr.compiler.ir.graph import Labels, Map, Reduction, Scalar, number_of
from nameexpr.compiler.passes.scaling import Product, divided, is_harmless, same_dtype, scaled
from nameexpr.errors import Span
from nameexpr.ops import SUMMING

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.build.build import Builder

ADDING = frozenset({"sum", "mean"})
MOST_PARTS = 2048
"""Parts of a product that are looked at; powers of powers have more than anybody can count."""
MOST_AGAIN = 1024
"""Parts that all products of a formula together take out of statements and powers. Each of n statements may
multiply by the one before: taken apart to the end, their sums would have n ** 2 / 2 factors.
"""
LARGEST_POWER = 4
"""Powers up to which x ** n is taken for a product of n factors."""


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
    chosen = _chosen(build, reducer, product.factors)
    result = chosen.compute if is_wide else chosen.result
    node = Reduction(reducer, tuple(product.factors), labels, chosen.compute, result)
    made = build.graph.add(node, kept, "float32" if is_wide else dtype)
    for function, other in product.later:
        made = build.map([made] if other < 0 else [made, other], function, span)
    # Integers among the factors were widened, which is not to widen the floats that they are multiplied by.
    wanted = build.reduced_dtype(reducer, [value], span) if reducer in ADDING else dtype
    return build.cast(made, wanted) if build.graph.dtypes[made] != wanted else made


def _chosen(build: Builder, reducer: str, factors: Sequence[int]) -> Dtypes:
    dtypes = tuple(map(build.graph.strong, factors))
    product = build.arithmetic.promoted(dtypes)
    return choose_dtypes(dtypes, product, is_summed=reducer in SUMMING, reducer=reducer)


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
        case Map("*.", (left, right)) if same_dtype(build, value, left, right):
            sides = [side for side in (left, right) if not isinstance(graph.nodes[side], Scalar)]
            if len(sides) > 1:
                return sides
            number = right if sides == [left] else left
            return scaled(build, "*.", (value, sides[0], number), labels, product, span)
        case Map("/.", (left, right)) if graph.dtypes[left] == graph.dtypes[value]:
            if _is_number(build, right):
                return scaled(build, "/.", (value, left, right), labels, product, span)
            inside = divided(build, left, right, span)
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
    return isinstance(node, Scalar) and is_harmless(number_of(node))


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
