"""The picture of a flow of values: the contraction tree of an expression, and what a formula is made of.

Operands stand at the top, results at the bottom with a strong frame; each box says what makes the value, its
dims, and what that costs. What is computed only once and kept has a dashed frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.pictures.data import Flow, Node
from nameexpr.pictures.flow_layout import Layout, lay_out
from nameexpr.pictures.markup import Picture
from nameexpr.pictures.sheet import MARGIN, TITLE, Sheet
from nameexpr.pictures.words import bytes_text, flat, flops_text, pixels, short

COLUMNS = 32
ROW = 16
PAD = 10
BETWEEN = 34
FRAMES = {"operand": "box", "held": "held"}


def draw_flow(flow: Flow) -> Picture:
    """Return the picture of a flow."""
    texts = [node_lines(node) for node in flow.nodes]
    widths = [max(map(pixels, lines)) + 2 * PAD for lines in texts]
    highs = [len(lines) * ROW + PAD for lines in texts]
    layout = lay_out(flow, widths)
    heading = f"{flow.what} of {flow.title}" if flow.title else ""
    sheet = Sheet(flow, heading, _told(flow))
    tops, bottoms = _heights(layout, highs, sheet.top + 8)
    wide = max((layout.middles[number] + widths[number] // 2 for number in range(len(widths))), default=0)
    start = MARGIN + max(0, (pixels(sheet.heading, TITLE) - wide) // 2)
    middles = {place: start + x for place, x in layout.middles.items()}
    for line in layout.lines:
        sheet.path(_curve(line, middles, tops, bottoms), "line", 1.5)
    for number, node in enumerate(flow.nodes):
        kind = "result" if number in flow.outputs else FRAMES.get(node.kind, "side")
        left = middles[number] - widths[number] // 2
        _draw_node(sheet, node, texts[number], (left, tops[number], widths[number], highs[number]), kind)
    return sheet.svg()


def _heights(layout: Layout, highs: Sequence[int], top: int) -> tuple[dict[int, int], dict[int, int]]:
    """Return where each place begins and ends: a box in the middle of its layer, a bend along all of it."""
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
    """Return what is written in the box of a value: what makes it, its dims, costs, a note."""
    costs = []
    if node.flops is not None:
        costs.append(flops_text(node.flops))
    if node.bytes is not None:
        costs.append(bytes_text(node.bytes))
    lines = (node.title, node.dims, ", ".join(costs), node.note)
    return [short(line, columns) for line in lines if line]


def _draw_node(
    sheet: Sheet, node: Node, lines: list[str], place: tuple[int, int, int, int], kind: str
) -> None:
    left, top, wide, high = place
    sheet.begin(_said(node))
    sheet.rect(left, top, wide, high, kind)
    for row, line in enumerate(lines):
        style = "strong" if row == 0 else "muted" if row > 1 else ""
        sheet.text(left + wide / 2, top + PAD / 2 + ROW * row + 12, line, style)
    sheet.end()


def _curve(
    line: tuple[int, ...], middles: Mapping[int, int], tops: dict[int, int], bottoms: dict[int, int]
) -> str:
    """Return the path of a line: straight past layers, bent between them."""
    x, y = middles[line[0]], bottoms[line[0]]
    shape = f"M{x} {y}"
    for place in line[1:]:
        there, top = middles[place], tops[place]
        half = (y + top) // 2
        shape += f"C{x} {half} {there} {half} {there} {top}" if there != x else f"V{top}"
        x, y = there, bottoms[place]
        if place != line[-1]:
            shape += f"V{y}"
    return shape


def _said(node: Node) -> str:
    """Return everything about a value, with counts in full."""
    parts = [node.title, node.dims]
    if node.flops is not None:
        parts.append(f"{node.flops:,} flops")
    if node.bytes is not None:
        parts.append(f"{node.bytes:,} bytes")
    return ", ".join(flat(part) for part in (*parts, node.note) if part)


def _told(flow: Flow) -> str:
    """Return the flow in words."""
    told = []
    for node in flow.nodes:
        sources = " and ".join(flat(flow.nodes[source].title) for source in node.sources)
        told.append(_said(node) + (f", from {sources}" if sources else ""))
    return ". ".join(told) + "."
