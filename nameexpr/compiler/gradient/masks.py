"""How far masks of `where` go along: what they leave out may be nan or infinite, and must not reach a sum.

Through pointwise functions a mask goes along for free: it is applied once, where they end. Beyond a sum it
would be applied to more elements than before it. It continues there only if it matters: if there are
functions below the sum that may be nan or infinite, or have such derivatives, as `sqrt(x)` at 0; and if the
mask asks for nan or infinity itself, since operands then have them.
"""

from __future__ import annotations

from nameexpr.compiler.gradient.rules import DIVISORS
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Map, Node, Scalar, SizeOf, number_of, sources_of
from nameexpr.records import field, record

SINGULAR = frozenset({*DIVISORS, "reciprocal", "exp", "exp2", "expm1", "sinh", "cosh", "tan"})
"""Functions that are nan or infinite, or have such derivatives, for some finite arguments."""
ASKING = frozenset({"isnan", "isfinite", "isinf"})


@record(frozen=False)
class Singularities:
    """What is known about the values of a graph: which may be `singular`, and which are `asking` for that."""

    singular: list[bool] = field(default_factory=list)
    asking: list[bool] = field(default_factory=list)

    def continues(self, graph: Graph, value: int, mask: int) -> bool:
        """Return whether a mask matters for what a reduction, or a function along dims, is computed from."""
        return any(self.matters(graph, source, mask) for source in sources_of(graph.nodes[value]))

    def matters(self, graph: Graph, value: int, mask: int) -> bool:
        """Return whether a value may be nan or infinite where a mask leaves it out."""
        for number in range(len(self.singular), max(value, mask) + 1):
            node = graph.nodes[number]
            sources = sources_of(node)
            self.singular.append(_is_singular(graph, node) or any(self.singular[one] for one in sources))
            asks = isinstance(node, Map) and node.function in ASKING
            self.asking.append(asks or any(self.asking[one] for one in sources))
        return self.singular[value] or self.asking[mask]


def _is_singular(graph: Graph, node: Node) -> bool:
    """Return whether a function is one of these, its other argument not a number of the text."""
    match node:
        case Map("/.", (_, divisor)):
            return number_in(graph, divisor) == 0
        case Map("**." | "pow", (_, exponent)):
            power = number_in(graph, exponent)
            return isinstance(power, complex) or power < 1 or power % 1 != 0
        case Map(function):
            return function in SINGULAR
    return False


def number_in(graph: Graph, value: int) -> float | complex:
    """Return a number of the text, or size; 0 for other values."""
    match graph.nodes[value]:
        case Scalar() as node:
            return number_of(node)
        case SizeOf():
            return 1
    return 0
