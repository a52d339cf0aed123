"""Lay out the values of a flow: in layers, with few crossings and short lines.

A value is one layer above the highest of the values computed from it, so that most lines are short; a line
that passes layers gets a place in each of them, so that it runs between boxes and not through them. Within a
layer the initial order is that of a walk up from the results, which keeps trees free of crossings; it is then
improved by barycentres (Sugiyama, Tagawa, Toda, 1981). Boxes are moved to the mean of their neighbours as far
as order and widths allow, which is an isotonic regression (Ayer et al., 1955).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nameexpr.pictures.data import Flow

GAP = 18
BEND = 14
"""The width of the place of a passing line."""
SWEEPS = 4
ROUNDS = 3
HEAVIEST = 10**6
MOST_PLACES = 4000
"""The number of places up to which orders are improved; beyond it, the picture is too large to read anyway.
"""
MOST_BENDS = 20_000
"""The total number of layers that lines pass, up to which they get places between boxes; an operand of 3,000
statements passes 3,000 layers 3,000 times.
"""
Links = Mapping[int, tuple[list[int], list[int]]]
"""For each place those that it is connected to: above, and below."""


@dataclass(frozen=True, slots=True)
class FlowLayout:
    """Layers from the top down, each a row of places; a place is a node or, for higher numbers, a bend.

    `middles` are the x of all places. `lines` are the places that each line passes through, from the top.
    """

    layers: tuple[tuple[int, ...], ...]
    middles: Mapping[int, int]
    lines: tuple[tuple[int, ...], ...]


def lay_out(flow: Flow, widths: Sequence[int]) -> FlowLayout:
    """Lay out the nodes of a flow, whose boxes have these widths."""
    depths = [0] * len(flow.nodes)  # the distance of each from the last layer
    for number, node in reversed(list(enumerate(flow.nodes))):
        for source in node.sources:
            depths[source] = max(depths[source], depths[number] + 1)
    order = _walk(flow)
    layers: list[list[int]] = [[] for _ in range(max(depths, default=-1) + 1)]
    for number in order:
        layers[depths[number]].append(number)
    pairs = [(source, number) for number in order for source in dict.fromkeys(flow.nodes[number].sources)]
    is_bent = sum(depths[source] - depths[number] - 1 for source, number in pairs) <= MOST_BENDS
    lines = _lines(pairs, depths, layers) if is_bent else pairs
    links: Links = {place: ([], []) for row in layers for place in row}
    for line in lines:
        for upper, lower in pairwise(line):
            links[upper][1].append(lower)
            links[lower][0].append(upper)
    room = dict.fromkeys(links, BEND) | dict(enumerate(widths))
    if is_bent and len(room) <= MOST_PLACES:
        _reduce_crossings(layers, links)
    middles = _positions(layers, links, room, _weights(flow, lines))
    layers.reverse()
    return FlowLayout(tuple(map(tuple, layers)), middles, tuple(lines))


def _walk(flow: Flow) -> list[int]:
    """Return all nodes in order, each after its sources, from left to right."""
    seen: dict[int, None] = {}
    begun: set[int] = set()
    stack = [*reversed([*flow.outputs, *range(len(flow.nodes))])]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        if node in begun:
            seen[node] = None
            continue
        begun.add(node)
        stack.append(node)
        stack += [source for source in reversed(flow.nodes[node].sources) if source not in begun]
    return list(seen)


def _lines(
    pairs: Sequence[tuple[int, int]], depths: Sequence[int], layers: list[list[int]]
) -> list[tuple[int, ...]]:
    """Route every line, and put its bends into the layers."""
    bend, lines = len(depths), []
    for source, node in pairs:
        line = [source]
        for depth in range(depths[source] - 1, depths[node], -1):
            layers[depth].append(bend)
            line.append(bend)
            bend += 1
        lines.append((*line, node))
    return lines


def _reduce_crossings(layers: list[list[int]], links: Links) -> None:
    """Sort layers by their barycentres, sweeping down and up while the number of crossings decreases."""
    best, kept = _crossings(layers, links), [list(row) for row in layers]
    for sweep in range(SWEEPS):
        if not best:
            break
        is_up = sweep % 2 == 0
        rows = range(1, len(layers)) if is_up else range(len(layers) - 2, -1, -1)
        for row in rows:
            fixed = {place: x for x, place in enumerate(layers[row - 1 if is_up else row + 1])}
            own = {place: x for x, place in enumerate(layers[row])}
            layers[row].sort(key=lambda place: _mean(links, place, int(is_up), fixed, own[place]))
        crossings = _crossings(layers, links)
        if crossings < best:
            best, kept = crossings, [list(row) for row in layers]
    layers[:] = kept


def _mean(
    links: Links,
    place: int,
    side: int,
    at: Mapping[int, int],
    default: float,
    weights: Mapping[int, int] | None = None,
) -> float:
    """Return the mean place of the neighbours on one side; those above by their weights."""
    neighbours = links[place][side]
    shares = [1 if weights is None or side else weights[neighbour] for neighbour in neighbours]
    values = zip(shares, neighbours, strict=True)
    return sum(share * at[neighbour] for share, neighbour in values) / sum(shares) if neighbours else default


def _crossings(layers: Sequence[Sequence[int]], links: Links) -> int:
    total = 0
    for upper, lower in zip(layers[1:], layers, strict=False):
        at = {place: x for x, place in enumerate(lower)}
        ends: list[int] = []
        for place in upper:
            own = sorted(at[neighbour] for neighbour in links[place][1])
            total += sum(end > mine for mine in own for end in ends)
            ends += own
    return total


def _weights(flow: Flow, lines: Sequence[tuple[int, ...]]) -> dict[int, int]:
    """Return how strongly each place attracts those below it: by the number of values that its value depends
    on. A long chain therefore runs straight down, and does not give way to every operand.
    """
    weights = dict.fromkeys(range(len(flow.nodes)), 1)
    for number, node in enumerate(flow.nodes):
        weights[number] += sum(min(weights[source], HEAVIEST) for source in set(node.sources))
    return weights | {bend: weights[line[0]] for line in lines for bend in line[1:-1]}


def _positions(
    layers: Sequence[Sequence[int]], links: Links, room: Mapping[int, int], weights: Mapping[int, int]
) -> dict[int, int]:
    """Assign the x of all places: packed to the left first, then moved towards their neighbours."""
    middles: dict[int, int] = {}
    for row in layers:
        _fit_row(row, dict.fromkeys(row, 0.0), room, middles, weights)
    # Down once more at the end, so that a value is centred below its sources.
    for is_up in (*(True, False) * ROUNDS, False):
        for row in layers if is_up else reversed(layers):
            wish = {place: _mean(links, place, int(is_up), middles, middles[place], weights) for place in row}
            _fit_row(row, wish, room, middles, weights)
    for row in layers:  # values without sources move close to their readers
        wish = {
            place: middles[place] if links[place][0] else _mean(links, place, 1, middles, middles[place])
            for place in row
        }
        _fit_row(row, wish, room, middles, weights)
    left = min((middles[place] - room[place] // 2 for place in middles), default=0)
    return {place: x - left for place, x in middles.items()}


def _fit_row(
    row: Sequence[int],
    wish: Mapping[int, float],
    room: Mapping[int, int],
    middles: dict[int, int],
    weights: Mapping[int, int],
) -> None:
    """Set the x of a row: weighted least squares of the preferred positions, subject to order and widths."""
    offsets, offset = [], 0.0
    for position, place in enumerate(row):
        if position:
            offset += (room[row[position - 1]] + room[place]) / 2 + GAP
        offsets.append(offset)
    blocks: list[tuple[float, int, int]] = []  # of places that touch: mean, weight, and count
    for place, offset in zip(row, offsets, strict=True):
        mean, weight, count = wish[place] - offset, weights[place], 1
        while blocks and blocks[-1][0] > mean:
            other, heavy, more = blocks.pop()
            mean = (mean * weight + other * heavy) / (weight + heavy)
            weight, count = weight + heavy, count + more
        blocks.append((mean, weight, count))
    starts = [mean for mean, _, count in blocks for _ in range(count)]
    for place, offset, start in zip(row, offsets, starts, strict=True):
        middles[place] = round(start + offset)
