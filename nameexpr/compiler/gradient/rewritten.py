"""Products and sums of products of a complete graph, with as few operations as possible.

What a derivative multiplies comes from many rules, and is first written in their order: large arrays are
multiplied by numbers, by -1 and by small arrays, one after the other. Here each product that only one other
product or sum reads becomes a part of it. Its numbers are applied where there are fewest elements, its
smallest factors are multiplied first, and sums are planned again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import inf, sqrt

from nameexpr.compiler.gradient.diagonals import on_diagonal
from nameexpr.compiler.gradient.pairs import PAIR, in_pairs
from nameexpr.compiler.gradient.parts import Factored, combined, is_product, is_sum, parts_of
from nameexpr.compiler.gradient.symmetric import Half, halves, root
from nameexpr.compiler.ir.axes import Labels
from nameexpr.compiler.ir.graph import Graph, labels_of, readers_of, use_counts, with_sources
from nameexpr.compiler.ir.nodes import Map, Node, Reduction, sources_of
from nameexpr.compiler.planning.path import Optimize
from nameexpr.records import field, record, replace

FEWER = 2
"""How many times smaller than a product a factor must be for a number to be applied to it."""
MANY = 1 << 12
"""The number of elements of a multiple from which multiplying something smaller in each reader is faster."""
LONG = 1 << 31
"""Numbers that are smaller are written as integers where they are."""


@record(frozen=False)
class Rewriting:
    """A graph whose values are rewritten in the order of their numbers.

    `named` are the values of statements, which stay as they are. `own` are the parts of each product and sum
    by itself, `inside` the products that are parts of others; `terms` has the factors of other products and
    of sums, and the numbers that are left to multiply these by, `scales` the numbers that sums are multiplied
    by instead of what reads them. `numbers` has what takes the place of each value, `orders` the order of
    labels by the set of them.
    """

    graph: Graph
    optimize: Optimize
    named: Collection[int]
    results: Sequence[int]
    readers: Mapping[int, Sequence[int]] = field(default_factory=dict)
    own: dict[int, Factored] = field(default_factory=dict)
    inside: set[int] = field(default_factory=set)
    scales: dict[int, list[float]] = field(default_factory=dict)
    terms: dict[int, Factored] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)
    orders: dict[frozenset[str], Labels] = field(default_factory=dict)

    def run(self) -> Mapping[int, int]:
        """Return for each value that the results need the one that takes its place."""
        graph, needed = self.graph, sorted(use_counts(self.graph, self.results))
        self.readers = readers_of(graph, needed)
        for number in needed:
            if is_product(graph, number) or is_sum(graph, number):
                self.own[number] = parts_of(graph, number)
        self.inside = {number for number in self.own if self._is_part(number)}
        for number in reversed(self.own):
            if number not in self.inside:
                self._find_terms(number)
        for number in needed:
            if number not in self.inside:
                self.numbers[number] = self._rewritten(number)
                labels = graph.labels[number]
                self.orders.setdefault(frozenset(labels), labels)
        return self.numbers

    def _is_sum(self, number: int) -> bool:
        return number in self.own and isinstance(self.graph.nodes[number], Reduction)

    def _is_part(self, number: int) -> bool:
        """Return whether a product is a part of what reads it: of one value, or of several if it is a
        multiple, and each of them has something smaller to multiply.
        """
        readers, own, parts = self.readers.get(number, ()), self.own, self.own[number]
        if number in self.named or number in self.results or self._is_sum(number):
            return False
        if not all(
            reader in own and sources_of(self.graph.nodes[reader]).count(number) == 1 for reader in readers
        ):
            return False
        is_multiple = len(parts.factors) == 1 and not parts.divisors and self._cells(number) >= MANY
        return len(readers) == 1 or (
            is_multiple and all(self._has_smaller(reader, number) for reader in readers)
        )

    def _has_smaller(self, reader: int, number: int) -> bool:
        """Return whether a product or sum, or one of its factors, is smaller than the factor `number`."""
        return min(map(self._cells, (reader, *self.own[reader].factors))) * FEWER <= self._cells(number)

    def _is_own(self, source: int) -> bool:
        """Return whether only one value reads a source."""
        is_free = source not in self.named and source not in self.results
        return is_free and len(self.readers.get(source, ())) == 1

    def _find_terms(self, number: int) -> None:
        """Record the factors of a product or sum, and where its numbers are applied."""
        parts = self._parts(number)
        parts.numbers = combined([*parts.numbers, *self.scales.pop(number, ())])
        inner = self._within(number, parts.factors) if parts.numbers else -1
        if inner >= 0:
            self.scales[inner], parts.numbers = parts.numbers, []
        self.terms[number] = parts

    def _parts(self, number: int) -> Factored:
        """Return the parts of a product or sum."""
        found, stack = Factored(), [(number, False)]
        while stack:
            value, divides = stack.pop()
            if value != number and value not in self.inside:
                (found.divisors if divides else found.factors).append(value)
                continue
            parts = self.own[value]
            found.numbers += [1 / one if divides else one for one in parts.numbers]
            stack += [(one, not divides) for one in reversed(parts.divisors)]
            stack += [(one, divides) for one in reversed(parts.factors)]
        return found

    def _within(self, number: int, factors: Sequence[int]) -> int:
        """Return the factor that is a sum with the smallest factor of all; -1 if no sum has it."""
        best, least = -1, min(self._cells(one) for one in (number, *factors)) if len(factors) > 1 else inf
        for factor in factors:
            if self._is_sum(factor) and self._is_own(factor):
                inside = min(self._cells(one) for one in (factor, *self._parts(factor).factors))
                if inside < least:
                    best, least = factor, inside
        return best

    def _cells(self, value: int) -> int:
        return self.graph.cells(self.graph.labels[value])

    def _rewritten(self, number: int) -> int:
        """Return what takes the place of a value."""
        graph, node = self.graph, self.graph.nodes[number]
        if number in self.terms:
            if isinstance(node, Reduction):
                return self._sum(number, node)
            if self.terms[number].numbers != self.own[number].numbers or self._is_nested(node):
                return self.product(*self._undivided(number))
        changed, labels, dtype = node, graph.labels[number], graph.dtypes[number]
        if any(self.numbers[source] != source for source in sources_of(node)):
            changed = with_sources(node, self.numbers)
            labels = labels_of(graph, changed, labels)
        if (diagonal := on_diagonal(graph, changed, labels, dtype)) is not None:
            return diagonal
        if isinstance(changed, Map):
            if number in self.own and self._is_outer(number, changed):
                return graph.add(Reduction("sum", changed.arguments, (), dtype, dtype), labels, dtype)
            changed = _without_signs(graph, changed, dtype)
            labels = self._labels(changed.arguments) if changed != node else labels
        return number if changed == node else graph.add(changed, labels, dtype)

    def _is_outer(self, number: int, node: Map) -> bool:
        """Return whether a value is a product of two others that each have dims of their own, and is not read
        by pointwise functions: the loop of a contraction is faster then.
        """
        readers = [self.graph.nodes[reader] for reader in self.readers.get(number, ())]
        if node.function != "*." or any(isinstance(reader, Map) for reader in readers):
            return False
        left, right = (set(self.graph.labels[argument]) for argument in node.arguments)
        return bool(left - right and right - left)

    def _is_nested(self, node: Node) -> bool:
        return not self.inside.isdisjoint(sources_of(node))

    def _undivided(self, number: int) -> tuple[list[int], list[float]]:
        """Return the factors and numbers of a product or sum, and in place of its divisors their reciprocals
        if they are smaller; otherwise a factor is divided.
        """
        graph, parts = self.graph, self.terms[number]
        factors = [self.numbers[factor] for factor in parts.factors]
        divisors = [self.numbers[divisor] for divisor in parts.divisors]
        every, dtype = graph.cells(self._labels([*factors, *divisors])), graph.dtypes[number]
        for divisor in divisors:
            place = max(range(len(factors)), key=lambda place: self._cells(factors[place]), default=-1)
            if place < 0 or self._cells(divisor) * FEWER <= every:
                node = Map("/.", (graph.scalar(1), divisor))
                factors.append(graph.add(node, graph.labels[divisor], dtype))
            else:
                pair = factors[place], divisor
                factors[place] = graph.add(Map("/.", pair), self._labels(pair), dtype)
        return factors, parts.numbers

    def product(self, factors: Sequence[int], numbers: Sequence[float]) -> int:
        """Return the product of values and numbers, small ones first."""
        graph, left = self.graph, list(factors)
        every = graph.cells(self._labels(left))
        least = min(range(len(left)), key=lambda place: self._cells(left[place]))
        if self._cells(left[least]) * FEWER <= every:
            left[least], numbers = self._times(left[least], numbers), []
        while len(left) > 1:
            pairs = [(one, other) for one in range(len(left)) for other in range(one + 1, len(left))]
            one, other = min(pairs, key=lambda pair: graph.cells(self._labels([left[at] for at in pair])))
            left[one] = self._multiplied(left[one], left.pop(other))
        return self._times(left[0], numbers)

    def _multiplied(self, left: int, right: int) -> int:
        pair, labels = self._ordered((left, right))
        return self.graph.add(Map("*.", pair), labels, self.graph.dtypes[left])

    def _times(self, value: int, numbers: Sequence[float]) -> int:
        graph, own = self.graph, (self.graph.labels[value], self.graph.dtypes[value])
        for number in numbers:
            scale = graph.scalar(int(number) if abs(number) < LONG and number.is_integer() else number)
            node = Map(".-", (value,)) if number == -1 else Map("*.", (value, scale))
            value = graph.add(node, *own)
        return value

    def _labels(self, values: Sequence[int], summed: Labels = ()) -> Labels:
        every = dict.fromkeys([label for value in values for label in self.graph.labels[value]])
        return tuple([label for label in every if label not in summed])

    def _ordered(self, pair: tuple[int, ...], summed: Labels = ()) -> tuple[tuple[int, ...], Labels]:
        """Return two factors in the order in which their product has its labels as earlier values have them,
        and those labels.
        """
        labels = self._labels(pair, summed)
        wanted = self.orders.get(frozenset(labels), labels)
        if labels != wanted == self._labels(pair[::-1], summed):
            return pair[::-1], wanted
        return pair, labels

    def _sum(self, number: int, node: Reduction) -> int:
        """Return the value of a sum of products."""
        graph = self.graph
        factors, numbers = self._undivided(number)
        cells, own = self._cells(number), halves(graph, factors, node.labels, graph.labels[number])
        if own is None:
            factors, numbers = self._scaled(factors, numbers, cells)
        else:
            half, numbers = self._half(own, numbers, cells)
            factors = [own.renamed(graph, half), half]
        made = self._added(replace(node, factors=tuple(factors)), number)
        value = in_pairs(graph, made, self.optimize)
        last = graph.nodes[value]
        if value != made and isinstance(last, Reduction):
            value = self._added(last, number)
        return self._times(value, numbers)

    def _added(self, node: Reduction, number: int) -> int:
        """Return the sum that takes the place of a value, with labels in the order of earlier values if
        pointwise functions read it.
        """
        factors, labels = node.factors, self._labels(node.factors, node.labels)
        readers = [self.graph.nodes[reader] for reader in self.readers.get(number, ())]
        if len(factors) == PAIR and any(isinstance(reader, Map) for reader in readers):
            factors, labels = self._ordered(factors, node.labels)
        return self.graph.add(replace(node, factors=factors), labels, self.graph.dtypes[number])

    def _half(self, own: Half, numbers: list[float], cells: int) -> tuple[int, list[float]]:
        """Return the product of half of the factors of a sum with as many elements as `cells`, and the
        numbers that are left.
        """
        factors = list(own.factors)
        if own.rest:
            factors.append(root(self.graph, self.product(own.rest, ())))
        least = min([self._cells(factor) for factor in factors])
        if least >= cells or min(numbers, default=1.0) <= 0:
            return self.product(factors, ()), numbers
        return self.product(factors, [sqrt(number) for number in numbers]), []

    def _scaled(self, factors: list[int], numbers: list[float], cells: int) -> tuple[list[int], list[float]]:
        """Return the factors of a sum with as many elements as `cells`, the smallest of them multiplied by
        the numbers if it is smaller than the sum; and the numbers that are left.
        """
        least = min(range(len(factors)), key=lambda place: self._cells(factors[place]))
        if not numbers or self._cells(factors[least]) >= cells:
            return factors, numbers
        factors[least] = self._times(factors[least], numbers)
        return factors, []


def _without_signs(graph: Graph, node: Map, dtype: str) -> Map:
    """Return a sum or difference that subtracts and adds instead of negating."""
    if node.function not in {"+.", "-."} or any(graph.dtypes[one] != dtype for one in node.arguments):
        return node
    left, right = node.arguments
    match graph.nodes[right], graph.nodes[left]:
        case Map(".-", (inner,)), _:
            return Map("-." if node.function == "+." else "+.", (left, inner))
        case _, Map(".-", (inner,)) if node.function == "+.":
            return Map("-.", (right, inner))
    return node
