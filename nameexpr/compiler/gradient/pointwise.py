"""The gradients of the arguments of a pointwise function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from nameexpr.compiler.analysis.build.contractions import reduction
from nameexpr.compiler.gradient.algebra import Algebra
from nameexpr.compiler.gradient.masks import Singularities
from nameexpr.compiler.gradient.products import is_inexact, kind_of
from nameexpr.compiler.gradient.rules import AS_IT_IS, COMPLEX, DIVISORS, POINTWISE
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import CAST, Map
from nameexpr.records import record, replace

WHERE, PRODUCT, IMAGINARY = "where", "*.", "imag"
POWERS = frozenset({"**.", "pow"})


@record
class PartialGradient:
    """A part of the gradient of a value; it is 0 where the mask is false."""

    of: int
    value: int
    mask: int | None = None


class Masking(Protocol):
    """What a walk provides."""

    @property
    def algebra(self) -> Algebra:
        """Writes values."""

    @property
    def active(self) -> object:
        """The values that have gradients."""

    @property
    def masks(self) -> Singularities:
        """How far masks go along."""

    def masked(self, value: int, mask: int | None) -> int:
        """Return a gradient with 0 where the mask is false."""


def rules_of(graph: Graph, node: Map) -> Sequence[str]:
    """Return the rule of each argument, "" where no gradient goes; KeyError if none is known."""
    if node.function in COMPLEX and any(kind_of(graph.dtypes[each]) == "complex" for each in node.arguments):
        return COMPLEX[node.function]
    return POINTWISE[node.function]


def reaches(graph: Graph, node: Map) -> Sequence[int]:
    """Return the arguments of a function to which a gradient goes."""
    if node.function == WHERE:
        return node.arguments[1:]
    if node.function == CAST:
        return node.arguments
    if node.function == IMAGINARY:
        return [one for one in node.arguments if kind_of(graph.dtypes[one]) == "complex"]
    rules = rules_of(graph, node)
    return [one for one, rule in zip(node.arguments, rules, strict=True) if rule] if rules else ()


def pointwise_parts(
    walk: Masking, number: int, node: Map, gradient: int, mask: int | None
) -> Iterator[PartialGradient]:
    """Yield the gradients of the arguments of a function, given that of its result."""
    graph = walk.algebra.graph
    (seen,), read = walk.algebra.seen([number]), replace(node, arguments=walk.algebra.seen(node.arguments))
    if mask is not None and node.function in DIVISORS:
        seen, read = _without_masked(walk.algebra, seen, read, mask)
    for place, argument in enumerate(node.arguments):
        if argument not in walk.active:  # type: ignore[operator]
            continue
        here = mask
        if node.function == WHERE:
            if place == 0:
                continue
            here = branch_of(walk.algebra, read.arguments[0], place, mask)
        gone = [label for label in graph.labels[number] if label not in graph.labels[argument]]
        factors = factors_of(walk.algebra, seen, read, place, gradient)
        if factors is None:
            continue
        if here is not None and not set(gone).isdisjoint(graph.labels[here]):
            factors = [walk.masked(product_of(walk.algebra, factors), here)]
            here = _anywhere(walk.algebra, here, gone) if isinstance(graph.nodes[argument], Map) else None
        value = (
            walk.algebra.total(factors, gone, graph.dtypes[number])
            if gone
            else product_of(walk.algebra, factors)
        )
        yield PartialGradient(argument, value, here)


def _without_masked(algebra: Algebra, number: int, node: Map, mask: int) -> tuple[int, Map]:
    """Return a function with a number in place of those of its values that its rule divides by, where a mask
    leaves its gradient out.
    """
    graph, (name, least) = algebra.graph, DIVISORS[node.function]
    values = [*node.arguments, number]
    place = len(values) - 1 if name == "y" else "ab".index(name)
    if set(graph.labels[mask]) <= set(graph.labels[values[place]]) and not graph.is_for_text:
        least = least if is_inexact(graph.dtypes[values[place]]) else int(least)
        values[place] = algebra.map("where", mask, values[place], algebra.number(least))
    return values[-1], replace(node, arguments=tuple(values[:-1]))


def _anywhere(algebra: Algebra, mask: int, labels: Sequence[str]) -> int:
    """Return whether a mask is true anywhere along some labels."""
    own = tuple([label for label in algebra.graph.labels[mask] if label in labels])
    return reduction(algebra.values, "any", mask, own, algebra.span)


def branch_of(algebra: Algebra, condition: int, place: int, mask: int | None) -> int:
    """Return where a branch of `where` is taken, and the mask is true."""
    if algebra.graph.dtypes[condition] != "bool":
        condition = algebra.map("!=.", condition, algebra.number(0))
    if place > 1:
        condition = algebra.map("logical_not", condition)
    return condition if mask is None else algebra.map("&.", mask, condition)


def product_of(algebra: Algebra, factors: Sequence[int]) -> int:
    """Return the product of some factors."""
    value = factors[0]
    for factor in factors[1:]:
        value = algebra.times(value, factor)
    return value


def factors_of(algebra: Algebra, number: int, node: Map, place: int, gradient: int) -> list[int] | None:
    """Return the factors of an argument's gradient; None if no gradient reaches it."""
    function, argument = node.function, node.arguments[place]
    if function in {CAST, WHERE}:
        return [gradient]
    if function == PRODUCT:
        return [gradient, algebra.conj(node.arguments[1 - place])]
    if function == IMAGINARY:
        return [gradient, algebra.number(1j)] if algebra.is_complex(argument) else None
    if function in POWERS:
        slope = _slope_of_power(algebra, number, node, place)
        if slope is not None:
            return [gradient, algebra.conj(slope)]
    rule = rules_of(algebra.graph, node)[place]
    if not rule:
        return None
    given = {"y": number, **dict(zip("abc", node.arguments, strict=False))}
    if not algebra.is_complex(number) or function in AS_IT_IS:
        return [algebra.rule(rule, {**given, "g": gradient})]
    return [algebra.conj(algebra.rule(rule, {**given, "g": algebra.conj(gradient)}))]


def _slope_of_power(algebra: Algebra, number: int, node: Map, place: int) -> int | None:
    """Return the derivative of a power whose exponent, or positive base, is a number of the text."""
    base, exponent = node.arguments
    if place == 0:
        power = algebra.number_in(exponent)
        if power is None or power in {0, 1}:
            return None if power is None else algebra.number(float(power.real))
        lower = base if power == 2 else algebra.map("**.", base, algebra.number(power - 1))  # noqa: PLR2004
        return algebra.map("*.", lower, exponent)
    known = algebra.number_in(base)
    if known is None or isinstance(known, complex) or not known > 0:
        return None
    return algebra.map("*.", number, algebra.map("log", base))
