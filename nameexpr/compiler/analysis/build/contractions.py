"""Which products under a reduction are contractions: factors, and what may be done after the sum instead.

`sum[D](q * k / 8)` is a contraction of q and k, then divided by 8. A product is followed through `*`, signs,
small whole powers, and division by numbers of the text, as long as the dtype stays what it is. Integers are
widened before they are multiplied (docs/language.md, section 3, rule 8).
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.analysis.build.scaling import Product, divided, is_harmless, same_dtype, scaled
from nameexpr.compiler.analysis.build.values import Values
from nameexpr.compiler.ir.axes import Labels
from nameexpr.compiler.ir.dtypes import WIDE, Dtypes, choose_dtypes
from nameexpr.compiler.ir.graph import Map, Reduction, Scalar, number_of
from nameexpr.errors import Span
from nameexpr.ops import SUMMING

ADDING = frozenset({"sum", "mean"})
MOST_PARTS = 2048
"""Parts of a product that are looked at; powers of powers have more than anybody can count."""
MOST_AGAIN = 1024
"""Parts that all products of a formula together take out of statements and powers. Each of n statements may
multiply by the one before: taken apart to the end, their sums would have n ** 2 / 2 factors.
"""
LARGEST_POWER = 4
"""Powers up to which x ** n is taken for a product of n factors."""


def reduction(values: Values, reducer: str, value: int, labels: Labels, span: Span) -> int:
    """Return the number of a value reduced over labels."""
    product = Product([value])
    if reducer in ADDING:
        product = Product(wide=_computed_in(values.graph.dtypes[value]), root=value)
        _collect(values, value, labels, product, span)
    has_dims = any(values.graph.labels[factor] for factor in product.factors)
    if reducer in SUMMING and (reducer not in ADDING or not has_dims):
        product = Product([widened(values, value, span)])
    kept = _kept(values, product.factors, labels)
    dtype = values.reduced_dtype(reducer, product.factors, span)
    # A sum of halves stays float32 until numbers are applied, which may make it one that float16 holds.
    is_wide = dtype == "float16" and reducer in ADDING and bool(product.later)
    chosen = _chosen(values, reducer, product.factors)
    result = chosen.compute if is_wide else chosen.result
    node = Reduction(reducer, tuple(product.factors), labels, chosen.compute, result)
    made = values.graph.add(node, kept, "float32" if is_wide else dtype)
    for function, other in product.later:
        made = values.map([made] if other < 0 else [made, other], function, span)
    # Integers among the factors were widened, which is not to widen the floats that they are multiplied by.
    wanted = values.reduced_dtype(reducer, [value], span) if reducer in ADDING else dtype
    return values.cast(made, wanted) if values.graph.dtypes[made] != wanted else made


def _chosen(values: Values, reducer: str, factors: Sequence[int]) -> Dtypes:
    dtypes = tuple(map(values.graph.strong, factors))
    product = values.arithmetic.promoted(dtypes)
    return choose_dtypes(dtypes, product, is_summed=reducer in SUMMING, reducer=reducer)


def _kept(values: Values, factors: Sequence[int], labels: Labels) -> Labels:
    every = dict.fromkeys(label for factor in factors for label in values.graph.labels[factor])
    return tuple(label for label in every if label not in labels)


def _collect(values: Values, value: int, labels: Labels, product: Product, span: Span) -> None:
    """Add the factors of a value to a product that is summed over labels, in the order of the text."""
    stack = [(value, False)]
    parts = 0
    while stack:
        (value, is_again), parts = stack.pop(), parts + 1
        is_again = is_again or value in values.named or _is_power(values, value)
        values.parts_again += is_again
        is_left = parts >= MOST_PARTS or (is_again and values.parts_again > MOST_AGAIN)
        taken = None if is_left else _apart(values, value, labels, product, span)
        if taken is None:
            is_product = _is_product(values, value)
            product.factors.append(widened(values, value, span, product.wide) if is_product else value)
        else:
            stack += [(part, is_again) for part in reversed(taken)]


def _computed_in(dtype: str) -> str:
    """Return the dtype in which a product of this dtype is computed: 64 bits for integers."""
    return WIDE.get(dtype, "" if dtype == "float16" else dtype)


def _apart(values: Values, value: int, labels: Labels, product: Product, span: Span) -> list[int] | None:
    """Return the factors of one value, and note what can wait; None if it is a factor itself."""
    graph = values.graph
    if value in values.named and graph.dtypes[value] in WIDE:
        return None  # a statement has computed it in its own dtype
    match graph.nodes[value]:
        case Map("*.", (left, right)) if same_dtype(values, value, left, right):
            sides = [side for side in (left, right) if not isinstance(graph.nodes[side], Scalar)]
            if len(sides) > 1:
                return sides
            number = right if sides == [left] else left
            return scaled(values, "*.", (value, sides[0], number), labels, product, span)
        case Map("/.", (left, right)) if graph.dtypes[left] == graph.dtypes[value]:
            if _is_number(values, right):
                return scaled(values, "/.", (value, left, right), labels, product, span)
            inside = divided(values, left, right, span)
            if inside is not None:
                return [inside]
            if not _waits(values, left, right, labels):
                return None
            product.later.append(("/.", right))
            return [left]
        case Map(".-", (inner,)) if graph.dtypes[inner] not in WIDE:
            product.later.append((".-", -1))
            return [inner]
        case Map("**.", (base, exponent)) if _small_power(values, value, base, exponent):
            power = graph.nodes[exponent]
            assert isinstance(power, Scalar)
            return [base] * int(power.value.real)
        case Map("square", (base,)):
            return [base, base]
    return None


def _waits(values: Values, left: int, right: int, labels: Labels) -> bool:
    """Whether a division can wait until after the sum: by a number, or where no factor has its dims.

    An operand may turn out to be 0, and 0 / 0 among the summed is nan: where a factor can be divided, it is.
    """
    over, under = set(values.graph.labels[left]), set(values.graph.labels[right])
    if not over & set(labels) or under & set(labels):
        return False
    if isinstance(values.graph.nodes[right], Scalar):
        return False
    return not under <= over or _is_times(values, left)


def _is_times(values: Values, value: int) -> bool:
    """Whether a value is a product of two, whatever its sign."""
    node = values.graph.nodes[value]
    if isinstance(node, Map) and node.function == ".-":
        return _is_times(values, node.arguments[0])
    return isinstance(node, Map) and node.function == "*."


def _is_number(values: Values, value: int) -> bool:
    node = values.graph.nodes[value]
    return isinstance(node, Scalar) and is_harmless(number_of(node))


def _is_power(values: Values, value: int) -> bool:
    node = values.graph.nodes[value]
    return isinstance(node, Map) and node.function in {"**.", "square"}


def _small_power(values: Values, value: int, base: int, exponent: int) -> bool:
    power = values.graph.nodes[exponent]
    return (
        isinstance(power, Scalar)
        and power.kind == "int"
        and 1 <= power.value.real <= LARGEST_POWER
        and values.graph.dtypes[base] == values.graph.dtypes[value]
        and bool(values.graph.labels[base])
    )


MULTIPLYING = frozenset({"*.", "/.", ".-", ".+", "**.", "square"})


def _is_product(values: Values, value: int) -> bool:
    node = values.graph.nodes[value]
    return isinstance(node, Map) and node.function in MULTIPLYING and value not in values.named


def widened(values: Values, value: int, span: Span, wide: str = "") -> int:
    """Return a product with its narrow factors in the dtype it is computed in; any other value as is."""
    graph = values.graph
    dtype, node = graph.dtypes[value], graph.nodes[value]
    if isinstance(node, Map) and _is_product(values, value):
        under = wide or WIDE.get(dtype, "")
        arguments = [widened(values, one, span, under) for one in node.arguments]
        return values.map(arguments, node.function, span)
    is_narrow = dtype in WIDE or dtype == "float16"
    return values.cast(value, wide) if wide and is_narrow and dtype != wide else value
