"""The picture of a flow of values: the contraction tree of an expression, and what a formula is made of.

Operands stand at the top, results at the bottom with a strong frame; each box says what makes the value, its
dims, and what that costs. What is computed only once and kept has a dashed frame.

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

from nameexpr.pictures.data import Flow, Node
from nameexpr.pictures.files import Picture
from nameexpr.pictures.sheet import MARGIN, TITLE, Move, Sheet
from nameexpr.pictures.words import bytes_text, flat, flops_text, pixels, short

COLUMNS = 32
ROW = 16
PAD = 10
BETWEEN = 34
FRAMES = {"operand": "box", "held": "held"}
GAP = 18
BEND = 14
"""Width of the place of a passing line."""
SWEEPS = 4
ROUNDS = 3
MOST_PLACES = 4000
"""Places up to which orders are bettered; beyond, the picture is too large to be looked at anyway."""
MOST_BENDS = 20_000
"""Layers that all lines pass together up to which they run beside the boxes; an operand of 3,000 statements
passes 3,000 layers 3,000 times.
"""
Links = Mapping[int, tuple[list[int], list[int]]]
"""For each place those that it is joined to: above, and below."""


@dataclass(frozen=True, slots=True)
class FlowLayout:
    """Layers from the top down, each a row of places; a place is a node or, above their count, a bend.

    `middles` are the x of all places. `lines` are the places that each line goes through, from the top.
    """

    layers: tuple[tuple[int, ...], ...]
    middles: Mapping[int, int]
    lines: tuple[tuple[int, ...], ...]


def draw_flow(flow: Flow) -> Picture:
    """Draw a flow."""
    texts = [node_lines(node) for node in flow.nodes]
    widths = [max(map(pixels, lines)) + 2 * PAD for lines in texts]
    highs = [len(lines) * ROW + PAD for lines in texts]
    layout = lay_out(flow, widths)
    sheet = Sheet(flow, flow.what, flow.title, _description(flow))
    tops, bottoms = _heights(layout, highs, sheet.top + 8)
    wide = max((layout.middles[number] + widths[number] // 2 for number in range(len(widths))), default=0)
    start = MARGIN + max(0, (pixels(sheet.heading, TITLE) - wide) // 2)
    middles = {place: start + x for place, x in layout.middles.items()}
    for line in layout.lines:
        sheet.path(_curve(line, middles, tops, bottoms), "line", 1.5)
    for number, node in enumerate(flow.nodes):
        kind = "result" if number in flow.outputs else FRAMES.get(node.kind, "side")
        left, top, wide = middles[number] - widths[number] // 2, tops[number], widths[number]
        sheet.begin(_summary(node))
        sheet.rect(left, top, wide, highs[number], kind)
        for row, words in enumerate(texts[number]):
            style = "strong" if row == 0 else "muted" if row > 1 else ""
            sheet.text(left + wide / 2, top + PAD / 2 + ROW * row + 12, words, style)
        sheet.end()
    return sheet.svg()


def _heights(layout: FlowLayout, highs: Sequence[int], top: int) -> tuple[dict[int, int], dict[int, int]]:
    """Compute the top and bottom of each place: a box is in the middle of its layer, a bend spans it."""
    tops: dict[int, int] = {}
    bottoms: dict[int, int] = {}
    for row in layout.layers:
        high = max(highs[place] if place < len(highs) else 0 for place in row)
        for place in row:
            own = highs[place] if place < len(highs) else high
            tops[place] = top + (high - own) // 2
            bottoms[place] = tops[place] + own
        top += high + BETWEEN
    return tops, bottoms


def node_lines(node: Node, columns: int = COLUMNS) -> list[str]:
    """Format the lines in the box of a value: what makes it, its dims, costs, a note."""
    flops = "" if node.flops is None else flops_text(node.flops)
    size = "" if node.bytes is None else bytes_text(node.bytes)
    lines = (node.title, node.dims, ", ".join(filter(None, (flops, size))), node.note)
    return [short(line, columns) for line in lines if line]


def _curve(
    line: tuple[int, ...], middles: Mapping[int, int], tops: dict[int, int], bottoms: dict[int, int]
) -> list[Move]:
    """Return the path of a line: straight past layers, bent between them."""
    x, y = middles[line[0]], bottoms[line[0]]
    moves: list[Move] = [("M", x, y)]
    for place in line[1:]:
        there, top = middles[place], tops[place]
        half = (y + top) // 2
        moves.append(("C", x, half, there, half, there, top) if there != x else ("V", top))
        x, y = there, bottoms[place]
        if place != line[-1]:
            moves.append(("V", y))
    return moves


def _summary(node: Node) -> str:
    flops = "" if node.flops is None else f"{node.flops:,} flops"
    size = "" if node.bytes is None else f"{node.bytes:,} bytes"
    return ", ".join(flat(part) for part in (node.title, node.dims, flops, size, node.note) if part)


def _description(flow: Flow) -> str:
    parts = []
    for node in flow.nodes:
        sources = " and ".join(flat(flow.nodes[source].title) for source in node.sources)
        parts.append(_summary(node) + (f", from {sources}" if sources else ""))
    return ". ".join(parts) + "."


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
    middles = _positions(layers, links, room)
    layers.reverse()
    return FlowLayout(tuple(map(tuple, layers)), middles, tuple(lines))


def _walk(flow: Flow) -> list[int]:
    """Order all nodes, each behind what it is made of, from left to right."""
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
    """Sort layers by their barycentres, sweeping to and fro while lines cross less."""
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


def _mean(links: Links, place: int, side: int, at: Mapping[int, int], default: float) -> float:
    neighbours = links[place][side]
    return sum(map(at.__getitem__, neighbours)) / len(neighbours) if neighbours else default


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


def _positions(layers: Sequence[Sequence[int]], links: Links, room: Mapping[int, int]) -> dict[int, int]:
    """Assign the x of all places: packed to the left first, then drawn to their neighbours."""
    middles: dict[int, int] = {}
    for row in layers:
        _fit_row(row, dict.fromkeys(row, 0.0), room, middles)
    # Down once more at the end, so that a value stands in the middle below what it is made of.
    for is_up in (*(True, False) * ROUNDS, False):
        for row in layers if is_up else reversed(layers):
            wish = {place: _mean(links, place, int(is_up), middles, middles[place]) for place in row}
            _fit_row(row, wish, room, middles)
    left = min((middles[place] - room[place] // 2 for place in middles), default=0)
    return {place: x - left for place, x in middles.items()}


def _fit_row(
    row: Sequence[int], wish: Mapping[int, float], room: Mapping[int, int], middles: dict[int, int]
) -> None:
    """Set the x of a row: the wishes in least squares, under its order and widths."""
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
