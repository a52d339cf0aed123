"""The picture of a flow of values: the contraction tree of an expression, and the values of a formula.

Operands are at the top, results at the bottom with a strong frame; each box shows the operation of a value,
its dims, and its costs. The larger the share of all flops of a step, the stronger is the colour of its box,
and the more bytes a value has, the wider are its lines. Values that are computed once and kept have a dashed
frame, those that only derivatives need a double one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2

from nameexpr.pictures.data import Flow, Node
from nameexpr.pictures.files import Picture
from nameexpr.pictures.layers import FlowLayout, lay_out
from nameexpr.pictures.sheet import MARGIN, TITLE, Move, Sheet
from nameexpr.pictures.words import bytes_text, flat, flops_text, pixels, short

COLUMNS = 40
ROW = 16
PAD = 10
BETWEEN = 34
INSET = 3
"""The distance between the two frames of a value that only derivatives need, in pixels."""
FRAMES = {"operand": "box", "held": "held"}
LINES = (1.2, 6.0)
"""The widths of lines: the smallest, and that of the largest value."""
MOST_DETAILED = 40
"""The number of operands up to which boxes show dims and bytes; in larger flows, only the tooltips do."""
LEAST_SHARE = 0.01
"""The share of all flops from which a step is coloured."""


def draw_flow(flow: Flow) -> Picture:
    """Draw a flow."""
    total = sum(node.flops or 0 for node in flow.nodes)
    is_large = sum(node.kind == "operand" for node in flow.nodes) > MOST_DETAILED
    texts = [node_lines(node, total=total, is_brief=is_large) for node in flow.nodes]
    largest = max((node.bytes or 0 for node in flow.nodes), default=0)
    widths = [max(map(pixels, lines)) + 2 * PAD for lines in texts]
    highs = [len(lines) * ROW + PAD for lines in texts]
    layout = lay_out(flow, widths)
    sheet = Sheet(flow, flow.what, flow.title, _description(flow))
    tops, bottoms = _heights(layout, highs, sheet.top + 8)
    wide = max((layout.middles[number] + widths[number] // 2 for number in range(len(widths))), default=0)
    start = MARGIN + max(0, (pixels(sheet.heading, TITLE) - wide) // 2)
    middles = {place: start + x for place, x in layout.middles.items()}
    for line in layout.lines:
        thick = _thickness(flow.nodes[line[0]].bytes, largest)
        sheet.path(_curve(line, middles, tops, bottoms), "line", thick)
    for number, node in enumerate(flow.nodes):
        kind = "result" if number in flow.outputs else FRAMES.get(node.kind, "side")
        left, top, wide = middles[number] - widths[number] // 2, tops[number], widths[number]
        sheet.begin(_summary(node))
        if total and node.flops and node.flops >= LEAST_SHARE * total:
            sheet.rect(left, top, wide, highs[number], "heat", shade=0.1 + 0.5 * node.flops / total)
        sheet.rect(left, top, wide, highs[number], kind)
        if node.is_derivative:
            sheet.rect(left + INSET, top + INSET, wide - 2 * INSET, highs[number] - 2 * INSET, "derivative")
        for row, words in enumerate(texts[number]):
            style = "strong" if row == 0 else "muted" if row > 1 else ""
            sheet.text(left + wide / 2, top + PAD / 2 + ROW * row + 12, words, style)
        sheet.end()
    legend = ["colour: share of the flops; width of a line: bytes"] if total and largest else []
    legend += (
        ["double frame: needed for derivatives alone"]
        if any(node.is_derivative for node in flow.nodes)
        else []
    )
    if legend:
        sheet.text(MARGIN, sheet.bottom + 26, "; ".join(legend), "muted", "start", 11)
    return sheet.svg()


def _thickness(size: int | None, largest: int) -> float:
    """Return the width of a line in pixels: that of the largest value, and less for every halving."""
    if not size:
        return LINES[0]
    return max(LINES[0], round(LINES[1] - log2(largest / size) / 2, 1))


def _heights(layout: FlowLayout, highs: Sequence[int], top: int) -> tuple[dict[int, int], dict[int, int]]:
    """Return the top and bottom of each place: a box is in the middle of its layer, a bend spans it."""
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


def node_lines(node: Node, columns: int = COLUMNS, total: int = 0, *, is_brief: bool = False) -> list[str]:
    """Return the lines in the box of a value: its operation, its dims, costs, a note. If `total` flops are
    given, its share of them is shown. A brief box only shows the operation and the flops.
    """
    flops = flops_text(node.flops) if node.flops else ""
    if flops and node.flops and LEAST_SHARE * total <= node.flops < total:
        flops += f" ({round(100 * node.flops / total)} %)"
    size = "" if node.bytes is None else bytes_text(node.bytes)
    if is_brief:
        return [short(line, columns) for line in (node.title, flops) if line]
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
    derivative = "for derivatives" if node.is_derivative else ""
    return ", ".join(
        flat(part) for part in (node.title, node.dims, flops, size, node.note, derivative) if part
    )


def _description(flow: Flow) -> str:
    parts = []
    for node in flow.nodes:
        sources = " and ".join(flat(flow.nodes[source].title) for source in node.sources)
        parts.append(_summary(node) + (f", from {sources}" if sources else ""))
    return ". ".join(parts) + "."
