"""What is settled before a search: operands with equal labels, scalars, and parts that share no label.

Operands with the same labels are multiplied first. That is never worse: each step of any order stays, or has
fewer cells, when one of the two goes where the other is. A vector is left to the search, because what it is
best multiplied into depends on sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush

from nameexpr.compiler.planning.network import Network, bits
from nameexpr.compiler.planning.pairs import Pairs, graft


def planned_apart(network: Network, search: Callable[[Network], Pairs]) -> Pairs:
    """Return an order of a network, whose parts are ordered by a search one by one."""
    count = len(network.terms)
    pairs: Pairs = []
    values = _equals_joined(network, pairs)
    _scalar_joined(network, values, pairs)
    results: list[tuple[float, int]] = []
    for part in _components(values):
        terms = tuple(values[number] for number in part)
        output = _output(values, part, network)
        found = search(Network(terms, output, network.cells)) if len(terms) > 1 else []
        results.append((network.cells[output], graft(found, part, pairs, count)))
    heapify(results)
    while len(results) > 1:  # smallest first
        (size, one), (other_size, other) = heappop(results), heappop(results)
        pairs.append((one, other))
        heappush(results, (size * other_size, count + len(pairs) - 1))
    return pairs


def _equals_joined(network: Network, pairs: Pairs) -> dict[int, int]:
    """Return the labels of each value that is left when those with equal labels are multiplied."""
    count = len(network.terms)
    values = dict(enumerate(network.terms))
    while True:
        same: dict[int, int] = {}
        before = len(pairs)
        for number, term in list(values.items()):
            other = same.get(term)
            if other is not None:
                pairs.append((other, number))
                del values[other], values[number]
                number = count + len(pairs) - 1
                values[number] = term
            same[term] = number
        if len(pairs) == before:
            return values
        once = more = 0
        for term in values.values():
            more |= once & term
            once |= term
        needed = more | network.output
        values = {number: term & needed for number, term in values.items()}


def _scalar_joined(network: Network, values: dict[int, int], pairs: Pairs) -> None:
    """Multiply the scalar, if there is one, into the smallest operand, unless the results are smaller yet."""
    scalar = next((number for number, term in values.items() if not term), None)
    if scalar is None or len(values) == 1:
        return
    cells = network.cells
    smallest = min(
        (number for number in values if number != scalar), key=lambda number: cells[values[number]]
    )
    results = [cells[_output(values, part, network)] for part in _components(values) if part != [scalar]]
    if cells[values[smallest]] < min(results):
        pairs.append((scalar, smallest))
        values[len(network.terms) + len(pairs) - 1] = values.pop(smallest)
        del values[scalar]


def _output(values: dict[int, int], part: list[int], network: Network) -> int:
    output = 0
    for number in part:
        output |= values[number] & network.output
    return output


def _components(values: dict[int, int]) -> list[list[int]]:
    """Return the values in groups that share no label."""
    owners: dict[int, list[int]] = {}
    for number, term in values.items():
        for label in bits(term):
            owners.setdefault(label, []).append(number)
    left = dict.fromkeys(values)
    found = []
    while left:
        first, _ = left.popitem()
        part, seen = [first], 0
        for number in part:
            for label in bits(values[number] & ~seen):
                near = [other for other in owners[label] if other in left]
                part += near
                for other in near:
                    del left[other]
            seen |= values[number]
        found.append(sorted(part))
    return found[::-1]
