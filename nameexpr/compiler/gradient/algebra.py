"""Writes products, sums and rules as values of a graph, in their simplest form.

Simplifications are exact, up to the rounding of numbers that are multiplied: x * 1 is x, -(-x) is x, and
(x * 2) * 3 is x * 6. A sum of a product is a contraction of those factors that vary along fewer labels than
the product; numbers are applied to its result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from nameexpr.compiler.analysis.build.contractions import reduction
from nameexpr.compiler.analysis.build.values import Values
from nameexpr.compiler.gradient.rules import parsed
from nameexpr.compiler.ir.axes import Labels
from nameexpr.compiler.ir.dtypes import KIND_OF, REAL_OF, WeakDtype, strong
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Along, Filled, Map, Reduction, Scalar, number_of
from nameexpr.errors import Span
from nameexpr.records import field, record
from nameexpr.syntax import ast

OTHER_KINDS = {"bfloat16": "float", "longdouble": "float", "clongdouble": "complex"}
LARGEST = 1e30
"""Numbers are combined if their product is between this and one over it: any dtype but float16 holds it."""


def kind_of(dtype: str) -> str:
    """Return bool, int, uint, float or complex."""
    return dtype.kind if isinstance(dtype, WeakDtype) else KIND_OF.get(dtype) or OTHER_KINDS.get(dtype, "")


def is_inexact(dtype: str) -> bool:
    """Return whether a dtype is one of floats or complex numbers, which have derivatives."""
    return kind_of(dtype) in {"float", "complex"}


@record(frozen=False)
class Algebra:
    """Writes values; `span` is where errors point to.

    `kept` are gradients that several arguments use, and `made` the products that were written for one use
    and may be split in a sum. `first_order` are the values of rules that have no derivative themselves.
    """

    values: Values
    span: Span
    kept: set[int] = field(default_factory=set)
    made: set[int] = field(default_factory=set)
    first_order: set[int] = field(default_factory=set)

    @property
    def graph(self) -> Graph:
        """The graph that is written to."""
        return self.values.graph

    def number(self, value: float | complex) -> int:
        """Return a number."""
        return self.graph.scalar(value)

    def number_in(self, value: int) -> float | complex | None:
        """Return the number that a value is, None if it is not known."""
        node = self.graph.nodes[value]
        return number_of(node) if isinstance(node, Scalar) else None

    def is_complex(self, value: int) -> bool:
        """Return whether a value is complex."""
        return kind_of(self.graph.dtypes[value]) == "complex"

    def map(self, function: str, *values: int) -> int:
        """Return a pointwise function of values."""
        simple = self._simplified(function, values)
        return self.values.map(values, function, self.span) if simple is None else simple

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
        have = self.graph.dtypes[value]
        if isinstance(have, WeakDtype) or isinstance(dtype, WeakDtype):
            is_complex = self.is_complex(value) and kind_of(dtype) != "complex"
            return self.map("real", value) if is_complex else value
        return self.as_array(value, dtype)

    def as_array(self, value: int, dtype: str) -> int:
        """Return a gradient as an array of a dtype, a number too."""
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

    def _combined(self, function: str, value: int, number: complex) -> int | None:
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

    def rule(self, text: str, given: Mapping[str, int], labels: Labels = ()) -> int:
        """Return the value of a rule; `given` are the values of its names, `labels` those of R."""
        return self._written(parsed(text), given, labels)

    def _written(self, node: ast.Node, given: Mapping[str, int], labels: Labels) -> int:
        match node:
            case ast.Number(number):
                return self.number(number)
            case ast.Use(name):
                return self.number(float("inf")) if name == "inf" else given[name]
            case ast.Unary(sign, inner):
                return self.map(f".{sign}", self._written(inner, given, labels))
            case ast.Binary(sign, left, right):
                values = self._written(left, given, labels), self._written(right, given, labels)
                return self.times(*values) if sign == "*" else self.map(f"{sign}.", *values)
            case ast.Call(function, arguments):
                return self.map(function, *[self._written(one, given, labels) for one in arguments])
            case ast.CallAlong(function, _, (inner,)):
                return self._along_dims(function, self._written(inner, given, labels), given["g"], labels)
        raise AssertionError(node)

    def _along_dims(self, function: str, value: int, gradient: int, labels: Labels) -> int:
        if function == "sum":
            total = self.total([value], labels)  # a count in the dtype of what it divides
            return total if is_inexact(self.graph.dtypes[total]) else self._as(total, gradient)
        if function in {"mean", "prod", "max", "min"}:
            return reduction(self.values, function, value, labels, self.span)
        return self.along(function, value, labels)

    def _as(self, value: int, other: int) -> int:
        dtype = strong(self.graph.dtypes[other])
        return self.values.cast(value, REAL_OF.get(dtype, dtype))

    def along(self, function: str, value: int, labels: Labels) -> int:
        """Return a function along labels, which the value may lack."""
        node = self.graph.nodes[value]
        if function == "flip":
            if not set(labels) & set(self.graph.labels[value]):
                return value
            if isinstance(node, Along) and (node.function, node.labels) == (function, labels):
                return node.value
        value = self.spread(value, labels)
        return self.graph.add(
            Along(function, value, labels), self.graph.labels[value], self.graph.strong(value)
        )

    def spread(self, value: int, labels: Sequence[str]) -> int:
        """Return a value repeated along those labels that it lacks."""
        missing = tuple([label for label in labels if label not in self.graph.labels[value]])
        if not missing:
            return value
        dtype = self.graph.strong(value)
        ones = self.graph.add(Filled(1.0, missing), missing, REAL_OF.get(dtype, dtype))
        return self.values.map([value, ones], "*.", self.span)

    def total(self, factors: Sequence[int], labels: Sequence[str]) -> int:
        """Return the sum of a product over labels; along those that no factor has, it is multiplied."""
        graph, flat, after = self.graph, *self._split(factors)
        own = {label for factor in flat for label in graph.labels[factor]}
        count = graph.cells([label for label in labels if label not in own])
        summed = tuple([label for label in labels if label in own])
        if not flat:
            value = self.number(1.0)
        elif summed:
            value = self._summed(tuple(flat), summed)
        else:
            value = flat[0]
            for factor in flat[1:]:
                value = self.times(value, factor)
        if count != 1:
            after.append(("*.", self.number(float(count))))
        for function, number in after:
            value = self.map(function, *([value] if number < 0 else [value, number]))
        return value

    def _split(self, factors: Sequence[int]) -> tuple[list[int], list[tuple[str, int]]]:
        """Return the factors of a product that have labels, and what is applied to their sum: functions, with
        the other value or -1.
        """
        graph, flat, after = self.graph, list[int](), list[tuple[str, int]]()
        stack = list(reversed(factors))
        while stack:
            value = stack.pop()
            node, dtype = graph.nodes[value], graph.dtypes[value]
            if not graph.labels[value]:
                after.append(("*.", value))
                continue
            match node:
                case Map(".-", (inner,)) if is_inexact(dtype):
                    after.append((".-", -1))
                    stack.append(inner)
                case Map("*.", (left, right)) if self._is_split(value, left, right):
                    stack += [right, left]
                case Map("/.", (left, right)) if self._divides(right) and graph.dtypes[left] == dtype:
                    after.append(("/.", right))
                    stack.append(left)
                case _:
                    flat.append(value)
        return flat, after

    def _divides(self, value: int) -> bool:
        number = self.number_in(value)
        return bool(number) and not isinstance(number, complex) and isfinite(number or 0)

    def _is_split(self, value: int, left: int, right: int) -> bool:
        """Return whether a sum splits a product: it was made for this sum, one factor is a number, or
        each varies along fewer labels.
        """
        graph, own = self.graph, set(self.graph.labels[value])
        numbers = [self.number_in(side) for side in (left, right)]
        others = [side for side, number in zip((left, right), numbers, strict=True) if number is None]
        if any(graph.dtypes[side] != graph.dtypes[value] for side in others) or value in self.kept:
            return False
        if len(others) < 2:  # noqa: PLR2004  a number
            return self._divides(left if left not in others else right)
        is_outer = all(set(graph.labels[side]) != own for side in others)
        return is_outer or value in self.made

    def _summed(self, factors: tuple[int, ...], labels: Labels) -> int:
        values, graph = self.values, self.graph
        every = dict.fromkeys([label for factor in factors for label in graph.labels[factor]])
        kept = tuple([label for label in every if label not in labels])
        dtypes = values.strong_dtypes(factors)
        chosen = values.arithmetic.choose(dtypes, values.arithmetic.promoted(dtypes), "sum")
        node = Reduction("sum", factors, labels, chosen.compute, chosen.result)
        value = graph.add(node, kept, values.reduced_dtype("sum", factors, self.span))
        return value if values.gradients is None else values.gradients.pairs(values, value)
