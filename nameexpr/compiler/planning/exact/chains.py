"""Chains and rings, exactly: the best way to make a stretch of operands is the best place to cut it.

This is the textbook's matrix chain, with labels of the output at any operand, and with the ends joined for a
ring. Outer products are not tried: in a chain or ring of matrices none can win.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from nameexpr.compiler.planning.cost import WRITING
from nameexpr.compiler.planning.network import HUGE, Network, bits, hyperedges
from nameexpr.compiler.planning.pairs import Pairs, unfold


class Line(NamedTuple):
    """Operands in a row; `bonds` are the cells of the labels between one and the next, `legs` those of the
    output's labels, both twice over, so that stretches may run past the end of a ring.
    """

    operands: Sequence[int]
    bonds: Sequence[float]
    legs: Sequence[float]
    is_ring: bool


def read_line(network: Network) -> Line | None:
    """Return the chain or ring that a network is, or None if it is neither."""
    terms, output, cells = network
    if hyperedges(terms, output):
        return None
    owners: dict[int, list[int]] = {}
    near: list[set[int]] = [set() for _ in terms]
    for position, term in enumerate(terms):
        for label in bits(term & ~output):
            owners.setdefault(label, []).append(position)
    for one, other in owners.values():
        near[one].add(other)
        near[other].add(one)
    ends = [position for position, found in enumerate(near) if len(found) == 1]
    if len(ends) not in (0, 2) or max(map(len, near)) > 2:  # noqa: PLR2004
        return None
    order = [min(ends, default=0)]
    while len(order) < len(terms):
        following = near[order[-1]].difference(order[-2:])
        if not following:
            return None
        order.append(min(following))
    if len(set(order)) < len(order):
        return None  # two rings
    pairs = zip(order, [*order[1:], order[0]], strict=True)
    bonds = [cells[terms[one] & terms[other] & ~output] for one, other in pairs]
    legs = [cells[terms[one] & output] for one in order]
    return Line(order, bonds * 2, legs * 2, not ends)


class Table(NamedTuple):
    """What stretches cost: those that start at a place and those that end there, by their length, and the
    cells of the values that they make.
    """

    starts: list[list[float]]
    ends: list[list[float]]
    cells: dict[tuple[int, int], float]


def best_cuts(line: Line) -> Pairs:
    """Return the order that costs least."""
    count = len(line.operands)
    table = _table(line)

    def split(stretch: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]] | int:
        first, length = stretch
        if length == 1:
            return line.operands[first]
        if length == count and line.is_ring:
            first, cut = _halves(line, table)
        else:
            costs = _costs(line, table, first, length)
            cut = costs.index(min(costs)) + 1
        return (first, cut), ((first + cut) % count, length - cut)

    return unfold((0, count), split, count)


def _table(line: Line) -> Table:
    count = len(line.operands)
    table = Table([[] for _ in range(count)], [[] for _ in range(count)], {})
    legs = [1.0] * count
    for length in range(1, count + (not line.is_ring)):
        for first in range(count if line.is_ring else count - length + 1):
            last = first + length - 1
            legs[first] = min(legs[first] * line.legs[last], HUGE)
            table.cells[first, length] = legs[first] * line.bonds[first - 1] * line.bonds[last]
            cost = 0.0
            if length > 1:
                cost = min(_costs(line, table, first, length)) + WRITING * table.cells[first, length]
            table.starts[first].append(cost)
            table.ends[last % count].append(cost)
    return table


def _costs(line: Line, table: Table, first: int, length: int) -> list[float]:
    """Return what a stretch costs for each place to cut it."""
    last = first + length - 1
    flops = 2 * table.cells[first, length]
    lefts = table.starts[first][: length - 1]
    rights = table.ends[last % len(line.operands)][length - 2 :: -1]
    return [
        left + right + flops * bond
        for left, right, bond in zip(lefts, rights, line.bonds[first:last], strict=True)
    ]


def _halves(line: Line, table: Table) -> tuple[int, int]:
    """Return where the first of the two parts of a ring that are joined last begins, and its length."""
    count = len(line.operands)
    best = (inf, 0, 1)
    for first in range(count):
        before = line.bonds[first - 1]
        for length in range(1, count - first):
            rest = (first + length) % count
            cost = table.starts[first][length - 1] + table.starts[rest][count - length - 1]
            both = table.cells[first, length] * table.cells[rest, count - length]
            cost += 2 * both / before / line.bonds[first + length - 1]
            best = min(best, (cost, first, length))
    return best[1:]
