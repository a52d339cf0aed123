"""Writes products, and other simple functions of gradients, in their simplest form.

Simplifications are exact, up to the rounding of numbers that are multiplied: x * 1 is x, -(-x) is x, and
(x * 2) * 3 is x * 6. Deltas stay outside of products (`nameexpr.compiler.gradient.deltas`).
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.analysis.build.values import Values
from nameexpr.compiler.gradient.deltas import Apart, apart, joined
from nameexpr.compiler.ir.dtypes import KIND_OF, WeakDtype
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Map, Scalar, number_of
from nameexpr.errors import Span
from nameexpr.records import field, record

OTHER_KINDS = {"bfloat16": "float", "longdouble": "float", "clongdouble": "complex"}
LINEAR = frozenset({"*.", "/.", ".-", "+.", "-.", "where", "conj", "real"})
"""Functions of gradients that leave deltas outside."""
LARGEST = 1e30
"""Numbers are combined if their product is between this and one over it: any dtype but float16 holds it."""


def kind_of(dtype: str) -> str:
    """Return bool, int, uint, float or complex."""
    return dtype.kind if isinstance(dtype, WeakDtype) else KIND_OF.get(dtype) or OTHER_KINDS.get(dtype, "")


def is_inexact(dtype: str) -> bool:
    """Return whether a dtype is one of floats or complex numbers, which have derivatives."""
    return kind_of(dtype) in {"float", "complex"}


@record(frozen=False)
class Products:
    """Writes products and other simple functions; `span` is where errors point to.

    `kept` are gradients that several arguments use, and `made` the products that were written for one use
    and may be split in a sum. With `is_again`, these gradients are differentiated again. `basis` are labels
    of the elements of a value with dims (`nameexpr.compiler.gradient.deltas`). `stored` are equal values, for
    those of the steps of a recurrence that are rows (`nameexpr.compiler.gradient.steps`).
    """

    values: Values
    span: Span
    kept: set[int] = field(default_factory=set)
    made: set[int] = field(default_factory=set)
    is_again: bool = False
    basis: frozenset[str] = frozenset()
    stored: dict[int, int] = field(default_factory=dict)

    @property
    def graph(self) -> Graph:
        """The graph that is written to."""
        return self.values.graph

    def seen(self, values: Sequence[int]) -> tuple[int, ...]:
        """Return values that are equal to some others, and known without computing them."""
        return tuple([self.stored.get(value, value) for value in values])

    def number(self, value: float | complex) -> int:
        """Return a number."""
        return self.graph.scalar(value)

    def number_in(self, value: int) -> int | float | complex | None:
        """Return the number that a value is, None if it is not known."""
        node = self.graph.nodes[value]
        return number_of(node) if isinstance(node, Scalar) else None

    def is_complex(self, value: int) -> bool:
        """Return whether a value is complex."""
        return kind_of(self.graph.dtypes[value]) == "complex"

    def map(self, function: str, *values: int) -> int:
        """Return a pointwise function of values."""
        if self.basis and function in LINEAR:
            parts = [self.apart(value) for value in values]
            if any(deltas for deltas, _ in parts):
                return self._outside(function, values, parts)
        simple = self._simplified(function, values)
        return self.values.map(values, function, self.span) if simple is None else simple

    def apart(self, value: int) -> Apart:
        """Return the deltas of a product, and the rest of it."""
        return apart(self.values, value, self.basis) if self.basis else ((), value)

    def _outside(self, function: str, values: Sequence[int], parts: Sequence[Apart]) -> int:
        """Return a linear function of values with deltas, which stay outside of it if that is possible."""
        sets, rests = [deltas for deltas, _ in parts], [rest for _, rest in parts]
        deltas: tuple[int, ...] = ()
        if function == "*.":
            deltas = tuple(sorted({*sets[0], *sets[1]}))
        elif len(values) == 1 or (function == "/." and not sets[1]) or len(set(sets)) == 1:
            deltas = sets[0]
        elif function == "where" and not sets[0]:
            chosen = [place for place in (1, 2) if self.number_in(values[3 - place]) == 0]
            deltas = sets[chosen[0]] if chosen else ()
        if not deltas:
            return self.values.map(values, function, self.span)
        return joined(self.values, deltas, self.map(function, *rests), self.span)

    def times(self, left: int, right: int) -> int:
        """Return a product that a sum may split."""
        value = self.map("*.", left, right)
        self.made.add(value)
        return value

    def conj(self, value: int) -> int:
        """Return the complex conjugate: a real value itself."""
        return self.map("conj", value) if self.is_complex(value) else value

    def added(self, values: Sequence[int]) -> int:
        """Return the sum of values; equal ones are multiplied."""
        total = -1
        for value in dict.fromkeys(values):
            count = values.count(value)
            value = value if count == 1 else self.map("*.", value, self.number(count))
            total = value if total < 0 else self.map("+.", total, value)
        return total

    def in_dtype(self, value: int, dtype: str) -> int:
        """Return a gradient in the dtype of its value: of a real value the real part."""
        deltas, rest = self.apart(value)
        if deltas:
            return joined(self.values, deltas, self.in_dtype(rest, dtype), self.span)
        have = self.graph.dtypes[value]
        if isinstance(have, WeakDtype) or isinstance(dtype, WeakDtype):
            is_complex = self.is_complex(value) and kind_of(dtype) != "complex"
            return self.map("real", value) if is_complex else value
        return self.as_array(value, dtype)

    def as_array(self, value: int, dtype: str) -> int:
        """Return a gradient as an array of a dtype, a number too."""
        deltas, rest = self.apart(value)
        if deltas:
            return joined(self.values, deltas, self.as_array(rest, dtype), self.span)
        if self.is_complex(value) and kind_of(dtype) != "complex":
            value = self.map("real", value)
        return value if self.graph.dtypes[value] == dtype else self.values.cast(value, dtype)

    def _simplified(self, function: str, values: Sequence[int]) -> int | None:
        """Return a value that needs no call, None without one."""
        if function == ".-":
            node = self.graph.nodes[values[0]]
            return node.arguments[0] if isinstance(node, Map) and node.function == ".-" else None
        if function not in {"*.", "/."}:
            return None
        left, right = values
        if function == "*." and self.number_in(right) is None:
            left, right = right, left
        number = self.number_in(right)
        if number is None or not is_inexact(self.graph.dtypes[left]):
            return None
        if number == 1 and not isinstance(number, complex):
            return left
        return self._combined(function, left, number)

    def _combined(self, function: str, value: int, number: int | float | complex) -> int | None:
        """Return a multiple of a multiple as one multiple; None if the value is none."""
        node = self.graph.nodes[value]
        if not (isinstance(node, Map) and node.function in {"*.", "/."}):
            return None
        inner, other = node.arguments
        if node.function == "*." and self.number_in(other) is None:
            inner, other = other, inner
        first = self.number_in(other)
        if not first or not number or self.graph.dtypes[inner] != self.graph.dtypes[value]:
            return None
        both = (1 / first if node.function == "/." else first) * (1 / number if function == "/." else number)
        if isinstance(both, complex) or not 1 / LARGEST < abs(both) < LARGEST:
            return None
        return self.map("*.", inner, self.number(float(both)))
