"""Networks of operands, orders of their contraction, and their costs, which all searches share.

A network is the input of a search: sets of labels are the bits of integers. Labels that cannot change which
order is best are removed before: those of size 1 (and of size 0, where every order costs nothing), those that
only one operand has, those in every operand, and all but one of those that always occur together, whose sizes
are multiplied.

An order is a list of pairs of values, which are numbered as they are created, operands first. Its cost is in
flops: a step visits the elements of all its labels, twice if it sums, and each element that it writes costs
`WRITING` more. The number of steps is the same for all orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

Pairs: TypeAlias = list[tuple[int, int]]
Key = TypeVar("Key")

HUGE = 1e300
"""Larger numbers of elements are clipped to it: they cannot be computed, and floats overflow soon after."""
WRITING = 4.0
"""The cost of writing an element of an intermediate, often copying it into another order, and reading it
again: 24 bytes or more, at about 10 GB/s if it leaves the caches, and next to nothing if it does not. Run
times of whole networks hardly distinguish values from 0 to 16, because orders with few flops also have few
elements; among orders with equal flops it favours less memory.
"""
FLOPS = 5e9
"""Flops per second of one thread, for products of medium size."""
CALL = 1.5e-6
"""The seconds of the smallest step."""
SHARE = 0.1
"""The fraction of the time of one run that the search for its order may take."""
LEAST = 6e-4
"""The seconds per operand that it may always take: a quarter of the time of 128 greedy orders."""
SHORTEST, CALLS = 0.2, 4.0
"""The part of this time for orders that cost next to nothing, and the number of times that all calls may take
as long as the work of an order that is searched for all of it.
"""
MOST = 1.3
"""The most seconds that it may take."""


class Cells(dict[int, float]):
    """The number of elements of a set of labels, cached."""

    def __init__(self, sizes: Sequence[float]) -> None:
        super().__init__()
        self[0] = 1.0
        for position, size in enumerate(sizes):
            self[1 << position] = size

    def __missing__(self, labels: int) -> float:
        cells, left = 1.0, labels
        while left:
            lowest = left & -left
            cells *= self[lowest]
            left ^= lowest
        self[labels] = cells = min(cells, HUGE)
        return cells


class Network(NamedTuple):
    """Operands to be contracted: their labels, those of the result, and the number of elements of each set of
    labels.
    """

    terms: tuple[int, ...]
    output: int
    cells: Cells


def bits(labels: int) -> Iterator[int]:
    """Yield each label of a set, as a set."""
    while labels:
        lowest = labels & -labels
        yield lowest
        labels ^= lowest


def read_network(
    terms: Sequence[frozenset[str]], output: frozenset[str], sizes: Mapping[str, int]
) -> Network:
    """Return the network of operands with named labels, with only the labels that matter.

    Examples
    --------
    >>> terms = [frozenset("ijk"), frozenset("jkl"), frozenset("lm")]
    >>> network = read_network(terms, frozenset("im"), dict(i=2, j=3, k=5, l=1, m=7))
    >>> network.terms, network.output, network.cells[0b10]
    ((3, 2, 4), 5, 15.0)
    """
    places: dict[str, int] = {}
    for position, term in enumerate(terms):
        for label in term:
            places[label] = places.get(label, 0) | 1 << position
    everywhere = (1 << len(terms)) - 1
    groups: dict[tuple[int, bool], float] = {}
    for label in sorted(places):  # not in the order of a set, which differs from process to process
        where, size = places[label], sizes[label]
        is_kept = label in output
        if size > 1 and where != everywhere and (is_kept or where & (where - 1)):
            groups[where, is_kept] = min(groups.get((where, is_kept), 1.0) * min(size, HUGE), HUGE)
    masks = [0] * len(terms)
    result = 0
    for position, (where, is_kept) in enumerate(groups):
        result |= is_kept << position
        for operand in bits(where):
            masks[operand.bit_length() - 1] |= 1 << position
    return Network(tuple(masks), result, Cells(list(groups.values())))


def hyperedges(terms: Sequence[int], output: int) -> dict[int, int]:
    """Return the labels that can outlive a contraction of two operands that have them, each with the set of
    its operands: those in three operands or more, and those in two and in the output (which then belongs to
    the set as one more operand).
    """
    once = twice = more = 0
    for term in (*terms, output):
        more |= twice & term
        twice |= once & term
        once |= term
    owners = {}
    for label in bits(more):
        owners[label] = sum(1 << position for position, term in enumerate((*terms, output)) if term & label)
    return owners


def surviving_labels(labels: int, operands: int, lasting: Mapping[int, int]) -> int:
    """Return the lasting labels that are still needed outside a set of operands."""
    kept = 0
    while labels:
        lowest = labels & -labels
        if lasting[lowest] & ~operands:
            kept |= lowest
        labels ^= lowest
    return kept


def linearize(whole: Key, split: Callable[[Key], tuple[Key, Key] | int], count: int) -> Pairs:
    """Return the pairs that compute a value, given for each value its two parts, or its operand.

    Examples
    --------
    >>> linearize("abc", lambda key: "abc".index(key) if len(key) == 1 else (key[:1], key[1:]), 3)
    [(1, 2), (0, 3)]
    """
    order: list[tuple[Key, Key, Key]] = []
    numbers: dict[Key, int] = {}
    stack = [whole]
    while stack:
        key = stack.pop()
        parts = split(key)
        if isinstance(parts, int):
            numbers[key] = parts
        else:
            order.append((key, *parts))
            stack += parts
    pairs: Pairs = []
    for key, left, right in reversed(order):
        pairs.append((numbers[left], numbers[right]))
        numbers[key] = count + len(pairs) - 1
    return pairs


def splice(pairs: Pairs, values: Sequence[int], onto: Pairs, count: int) -> int:
    """Append an order of some values to an order of `count` operands; return the number of its result."""
    numbers = list(values)
    for left, right in pairs:
        onto.append((numbers[left], numbers[right]))
        numbers.append(count + len(onto) - 1)
    return numbers[-1]


def in_order(pairs: Pairs, count: int) -> Pairs:
    """Return the same order with the value of the earlier operand on the left of each pair."""
    first = list(range(count))
    ordered = []
    for left, right in pairs:
        ordered.append((left, right) if first[left] < first[right] else (right, left))
        first.append(min(first[left], first[right]))
    return ordered


def time_budget(cost: float, operands: int) -> float:
    """Return the seconds that a search may take to improve an order of this cost.

    Searches do not use a clock: they count operations, weighted by measured times, so that the same network
    gets the same order every time.

    Examples
    --------
    >>> time_budget(5e10, 10)
    1.0060015
    """
    least = LEAST * operands * importance(cost, operands)
    return min(SHARE * (cost / FLOPS + CALL * operands) + least, MOST)


def importance(cost: float, operands: int) -> float:
    """Return by how much the least time of a search is shortened, because its calls take far longer than an
    order of this cost.

    Examples
    --------
    >>> importance(2e4, 10), importance(1e6, 10)
    (1.0, 1.0)
    >>> importance(2e3, 20), importance(0, 20)
    (0.2, 0.2)
    """
    return min(1.0, max(SHORTEST, CALLS * cost / FLOPS / (CALL * operands)))
