"""Writes rules, sums and functions along dims as values of a graph.

A sum of a product is a contraction of those factors that vary along fewer labels than the product; numbers
are applied to its result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from nameexpr.compiler.analysis.build.contractions import reduction
from nameexpr.compiler.gradient.deltas import joined, pair_of, renamed
from nameexpr.compiler.gradient.products import Products, is_inexact
from nameexpr.compiler.gradient.rules import parsed
from nameexpr.compiler.ir.axes import Labels
from nameexpr.compiler.ir.dtypes import REAL_OF, WeakDtype, strong
from nameexpr.compiler.ir.nodes import Along, Filled, Map, Reduction, SizeOf
from nameexpr.syntax import ast


class Algebra(Products):
    """Writes the values of derivatives."""

    __slots__ = ()

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

    def total(self, factors: Sequence[int], labels: Sequence[str], dtype: str = "") -> int:
        """Return the sum of a product over labels; along those that no factor has, it is multiplied. Floats
        are added up in a precision that is at least that of `dtype`.
        """
        flat, after, deltas = self._split(factors, labels)
        value = self._distributed(flat, deltas, labels, dtype) if self.basis and labels else None
        outside: Sequence[int] = ()
        if value is None:
            flat, labels, outside = self._substituted(flat, labels, deltas)
            value = self._contracted(flat, after, labels, dtype)
        for function, number in after:
            value = self.map(function, *([value] if number < 0 else [value, number]))
        return joined(self.values, outside, value, self.span) if outside else value

    def _contracted(
        self, flat: list[int], after: list[tuple[str, int]], labels: Sequence[str], dtype: str
    ) -> int:
        """Return the sum of a product; the number of elements along labels that no factor has is added to
        `after`.
        """
        graph = self.graph
        own = {label for factor in flat for label in graph.labels[factor]}
        lacking = tuple([label for label in labels if label not in own])
        summed = tuple([label for label in labels if label in own])
        if not flat:
            value = self.number(1.0)
        elif summed:
            value = self._summed(tuple(flat), summed, dtype)
        else:
            value = flat[0]
            for factor in flat[1:]:
                value = self.times(value, factor)
        if lacking:
            after.append(("*.", graph.count(lacking)))
        return value

    def _distributed(
        self, factors: Sequence[int], deltas: Sequence[int], labels: Sequence[str], dtype: str
    ) -> int | None:
        """Return the sum of a product with a factor `delta * a + b` as two sums: the one with a delta has
        fewer elements, and the other is a contraction of the factors of b. None if no factor is one.
        """
        for place, factor in enumerate(factors):
            match self.graph.nodes[factor]:
                case Map("+." | "-." as sign, parts) if any(self.apart(part)[0] for part in parts):
                    rest = [*factors[:place], *factors[place + 1 :]]
                    if deltas:
                        rest.append(joined(self.values, deltas, self.number(1.0), self.span))
                    return self.map(sign, *[self.total([part, *rest], labels, dtype) for part in parts])
        return None

    def _substituted(
        self, factors: list[int], labels: Sequence[str], deltas: Sequence[int]
    ) -> tuple[list[int], Sequence[str], Sequence[int]]:
        """Return factors, and labels and deltas that are left, with each label that is summed in a product
        with its delta renamed.
        """
        left = []
        for delta in dict.fromkeys(deltas):
            label, other = pair_of(self.graph, delta, self.basis) or ("", "")
            if label in labels:
                labels = [one for one in labels if one != label]
                factors = [renamed(self.graph, factor, {label: other}) for factor in factors]
            else:
                left.append(delta)
        return factors, labels, left

    def _split(
        self, factors: Sequence[int], labels: Sequence[str]
    ) -> tuple[list[int], list[tuple[str, int]], list[int]]:
        """Return the factors of a product that have labels, what is applied to their sum: functions, with
        the other value or -1, and deltas. What divides by the size of a dim that is summed stays in the sum,
        which may be over no elements.
        """
        graph, flat, after, deltas = self.graph, list[int](), list[tuple[str, int]](), list[int]()
        stack, last = list(reversed(factors)), list[int]()
        while stack:
            value = stack.pop()
            found, rest = self.apart(value)
            if found:
                deltas += found
                stack.append(rest)
                continue
            node, dtype = graph.nodes[value], graph.dtypes[value]
            if self._has_size(value, labels):
                last.append(value)
                continue
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
        return [*flat, *last], after, deltas

    def _has_size(self, value: int, labels: Sequence[str]) -> bool:
        """Return whether a value without dims is a quotient by the size of one of some labels; where sizes
        are numbers, whether it is not finite.
        """
        node = self.graph.nodes[value]
        if not self.graph.is_for_text:
            number = self.number_in(value)
            return bool(labels) and isinstance(number, float) and not isfinite(number)
        if self.graph.labels[value] or not isinstance(node, Map):
            return False
        sizes = [self.graph.nodes[one] for one in node.arguments[1:]] if node.function == "/." else []
        is_own = any(isinstance(size, SizeOf) and not set(labels).isdisjoint(size.labels) for size in sizes)
        return is_own or any(self._has_size(one, labels) for one in node.arguments)

    def _divides(self, value: int) -> bool:
        if isinstance(self.graph.nodes[value], SizeOf):
            return True
        number = self.number_in(value)
        return bool(number) and not isinstance(number, complex) and isfinite(number or 0)

    def _is_split(self, value: int, left: int, right: int) -> bool:
        """Return whether a sum splits a product: it was made for this sum, one factor has no
        dims, or each varies along fewer.
        """
        graph, own = self.graph, set(self.graph.labels[value])
        numbers = [self.number_in(side) for side in (left, right)]
        others = [side for side, number in zip((left, right), numbers, strict=True) if number is None]
        dtypes = [graph.dtypes[side] for side in others if not isinstance(graph.dtypes[side], WeakDtype)]
        if any(dtype != graph.dtypes[value] for dtype in dtypes) or value in self.kept:
            return False
        if len(others) < 2:  # noqa: PLR2004  a number
            return self._divides(left if left not in others else right)
        labels = [graph.labels[side] for side in others]
        is_outer = () in labels or all(set(each) != own for each in labels)
        return is_outer or value in self.made

    def _summed(self, factors: tuple[int, ...], labels: Labels, dtype: str) -> int:
        values, graph = self.values, self.graph
        every = dict.fromkeys([label for factor in factors for label in graph.labels[factor]])
        kept = tuple([label for label in every if label not in labels])
        dtypes = values.strong_dtypes(factors)
        own = values.arithmetic.promoted(dtypes)
        promoted = self._as_precise(own, dtype)
        chosen = values.arithmetic.choose(dtypes, promoted, "sum")
        node = Reduction("sum", factors, labels, chosen.compute, chosen.result)
        found = chosen.result if promoted != own else values.reduced_dtype("sum", factors, self.span)
        value = graph.add(node, kept, found)
        return value if values.gradients is None else values.gradients.pairs(values, value)

    def _as_precise(self, dtype: str, other: str) -> str:
        """Return a dtype of floats with at least the precision of another one."""
        if not (is_inexact(dtype) and is_inexact(other)) or isinstance(other, WeakDtype):
            return dtype
        return self.values.arithmetic.promoted((dtype, REAL_OF.get(other, other)))
