"""Where the values of a flow go: layer upon layer, from the operands at the top to the result at the bottom.

A value stands one layer above the highest of those that are made of it, so most lines are short; a line that
passes layers gets a place in each of them, so that it runs beside boxes and not behind them. Within a layer
the order is that of a walk up from the results, which keeps trees free of crossings, then bettered by
barycentres (Sugiyama, Tagawa, Toda, 1981). Boxes are moved to the mean of their neighbours as far as order
and widths allow, which is a regression that keeps an order (Ayer et al., 1955).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nameexpr.pictures.data import Flow

GAP = 18
BEND = 14
"""Width of the place of a passing line."""
SWEEPS = 4
SHIFTS = 6
MOST_PLACES = 4000
"""Places up to which orders are bettered; beyond, the picture is too large to be looked at anyway."""


MOST_BENDS = 20_000
"""Layers that all lines pass together up to which they run beside the boxes; an operand of 3,000 statements
passes 3,000 layers 3,000 times.
"""


@dataclass(frozen=True, slots=True)
class Layout:
    """Layers from the top down, each a row of places; a place is a node or, above their count, a bend.

    `middles` are the x of all places. `lines` are the places that each line goes through, from the top.
    """

    layers: tuple[tuple[int, ...], ...]
    middles: Mapping[int, int]
    lines: tuple[tuple[int, ...], ...]


def lay_out(flow: Flow, widths: Sequence[int]) -> Layout:
    """Return the places of the nodes of a flow, whose boxes are so wide."""
    depths = _depths(flow)
    order = _walk(flow)
    layers: list[list[int]] = [[] for _ in range(max(depths, default=-1) + 1)]
    for node in order:
        layers[depths[node]].append(node)
    pairs = [(source, node) for node in order for source in dict.fromkeys(flow.nodes[node].sources)]
    is_bent = sum(depths[source] - depths[node] - 1 for source, node in pairs) <= MOST_BENDS
    lines = _lines(pairs, depths, layers) if is_bent else pairs
    links = _links(lines)
    room = {place: BEND for row in layers for place in row} | dict(enumerate(widths))
    if is_bent and len(room) <= MOST_PLACES:
        _better(layers, links)
    middles = _middles(layers, links, room)
    layers.reverse()
    return Layout(tuple(map(tuple, layers)), middles, tuple(lines))


def _depths(flow: Flow) -> list[int]:
    """Return for each node how far it is from the last layer."""
    depths = [0] * len(flow.nodes)
    for number in reversed(range(len(flow.nodes))):
        for source in flow.nodes[number].sources:
            depths[source] = max(depths[source], depths[number] + 1)
    return depths


def _walk(flow: Flow) -> list[int]:
    """Return all nodes, each behind what it is made of, from left to right."""
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
    """Return the places of every line, and put its bends into the layers."""
    bend, lines = len(depths), []
    for source, node in pairs:
        line = [source]
        for depth in range(depths[source] - 1, depths[node], -1):
            layers[depth].append(bend)
            line.append(bend)
            bend += 1
        lines.append((*line, node))
    return lines


def _links(lines: Sequence[Sequence[int]]) -> dict[int, tuple[list[int], list[int]]]:
    """Return for each place those that it is joined to: above, and below."""
    links: dict[int, tuple[list[int], list[int]]] = {}
    for line in lines:
        for upper, lower in pairwise(line):
            links.setdefault(upper, ([], []))[1].append(lower)
            links.setdefault(lower, ([], []))[0].append(upper)
    return links


Links = Mapping[int, tuple[Sequence[int], Sequence[int]]]
_NONE: tuple[Sequence[int], Sequence[int]] = ((), ())


def _better(layers: list[list[int]], links: Links) -> None:
    """Sort each layer by the mean position of its neighbours, to and fro, as long as lines cross less."""
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
        found = _crossings(layers, links)
        if found < best:
            best, kept = found, [list(row) for row in layers]
    layers[:] = kept


def _mean(links: Links, place: int, side: int, at: Mapping[int, int], default: float) -> float:
    places = links.get(place, _NONE)[side]
    return sum(at[one] for one in places) / len(places) if places else default


def _crossings(layers: Sequence[Sequence[int]], links: Links) -> int:
    """Return how often lines between neighbouring layers cross."""
    total = 0
    for upper, lower in zip(layers[1:], layers, strict=False):
        at = {place: x for x, place in enumerate(lower)}
        ends: list[int] = []
        for place in upper:
            here = sorted(at[one] for one in links.get(place, _NONE)[1])
            total += sum(end > mine for mine in here for end in ends)
            ends += here
    return total


def _middles(layers: Sequence[Sequence[int]], links: Links, room: Mapping[int, int]) -> dict[int, int]:
    """Return the x of all places: packed to the left first, then drawn to their neighbours."""
    middles: dict[int, int] = {}
    for row in layers:
        _place(row, dict.fromkeys(row, 0.0), room, middles)
    for shift in range(SHIFTS):
        is_up = shift % 2 == 0
        for row in layers if is_up else reversed(layers):
            wish = {place: _wished(links, place, int(is_up), middles) for place in row}
            _place(row, wish, room, middles)
    # Once more from the operands down, so that a value stands in the middle below what it is made of.
    for row in reversed(layers):
        _place(row, {place: _wished(links, place, 0, middles) for place in row}, room, middles)
    left = min((middles[place] - room[place] // 2 for place in middles), default=0)
    return {place: x - left for place, x in middles.items()}


def _wished(links: Links, place: int, side: int, middles: Mapping[int, int]) -> float:
    return _mean(links, place, side, middles, middles[place])


def _place(
    row: Sequence[int], wish: Mapping[int, float], room: Mapping[int, int], middles: dict[int, int]
) -> None:
    """Set the x of a row: as near to what is wished as order and widths allow, in least squares."""
    offsets, offset = [], 0.0
    for position, place in enumerate(row):
        if position:
            offset += (room[row[position - 1]] + room[place]) / 2 + GAP
        offsets.append(offset)
    blocks: list[tuple[float, int]] = []  # of places that touch: their mean, and how many they are
    for place, offset in zip(row, offsets, strict=True):
        mean, count = wish[place] - offset, 1
        while blocks and blocks[-1][0] > mean:
            other, more = blocks.pop()
            mean, count = (mean * count + other * more) / (count + more), count + more
        blocks.append((mean, count))
    starts = [mean for mean, count in blocks for _ in range(count)]
    for place, offset, start in zip(row, offsets, starts, strict=True):
        middles[place] = round(start + offset)
