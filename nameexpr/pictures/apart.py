"""Remove overlaps of boxes and words in two passes: from left to right, and from the top down.

In each pass an item is placed at its preferred position, or as far as earlier items push it; items of one
column, or of one row, move together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

GAP = 10
MOST = 800
"""The number of items up to which overlaps are examined; more items only move down."""
CELL = 4


@dataclass(frozen=True, slots=True)
class Body:
    """The extent of a box from its middle: to the left, up, to the right, down.

    `side` is its extent to the right where a level link leaves it.
    """

    left: float
    up: float
    right: float
    down: float
    side: float = 0


@dataclass(slots=True)
class Placed:
    """A box or words: its preferred position, and its column and row."""

    body: Body
    x: float
    y: float
    column: Hashable
    row: Hashable
    strip: int = 0


def width_of(items: Sequence[Placed]) -> float:
    """Return the total width of items."""
    return max(one.x + one.body.right for one in items) - min(one.x - one.body.left for one in items)


def centre(one: Placed, other: Placed, words: Placed, items: Sequence[Placed]) -> None:
    """Move words between the boxes of one row or column to the middle of the gap, if it is free."""
    x, y, body = words.x, words.y, words.body
    if one.row == other.row == words.row:
        left, right = sorted((one, other), key=lambda item: item.x)
        # A leg at the top of a box does not touch words of one or two lines next to it.
        side = left.body.side if body.down <= left.body.down else left.body.right
        x = (left.x + side + right.x - right.body.left + body.left - body.right) / 2
    elif one.column == other.column == words.column:
        upper, lower = sorted((one, other), key=lambda item: item.y)
        y = (upper.y + upper.body.down + lower.y - lower.body.up + body.up - body.down) / 2
    moved = Placed(body, x, y, None, None)
    if (x, y) != (words.x, words.y) and not any(_meet(moved, item) for item in items if item is not words):
        words.x, words.y = x, y


def _meet(one: Placed, other: Placed) -> bool:
    """Return whether items overlap; legs at the top of a box count to their full height."""
    across = (
        one.x - one.body.left < other.x + other.body.right
        and other.x - other.body.left < one.x + one.body.right
    )
    down = one.y - one.body.up < other.y + other.body.down and other.y - other.body.up < one.y + one.body.down
    if across and down and other.body.side:  # the free corner under its legs
        is_below = one.y - one.body.up >= other.y - other.body.down
        return not (is_below and one.x - one.body.left >= other.x + other.body.side)
    return across and down


def keep_apart(items: Sequence[Placed]) -> None:
    """Move items so that no two of them overlap."""
    _push_right(items)
    _push_down(items)


def _push_right(items: Sequence[Placed]) -> None:
    """Separate the items of one row, and others that overlap less across than down."""
    before: defaultdict[int, list[int]] = defaultdict(list)
    rows: defaultdict[Hashable, list[int]] = defaultdict(list)
    order = sorted(range(len(items)), key=lambda number: (items[number].x, number))
    for number in order:
        row = rows[items[number].row]
        before[number] += row[-1:]
        row.append(number)
    if len(items) <= MOST:
        for place, number in enumerate(order):
            one = items[number]
            for other in order[:place]:
                across, down = _overlaps(items[other], one)
                if 0 < across <= down and items[other].column != one.column:
                    before[number].append(other)
    for line in _lines_of(items, order, is_column=True):
        reached: float = max(
            (
                items[other].x + items[other].body.right + items[number].body.left + GAP
                for number in line
                for other in before[number]
                if items[other].column != items[number].column
            ),
            default=items[line[0]].x,
        )
        for number in line:
            items[number].x = round(max(reached, items[number].x))


def _overlaps(one: Placed, other: Placed) -> tuple[float, float]:
    """Return how far two items overlap across and down; the second one is on the right."""
    across = one.x + one.body.right + GAP - (other.x - other.body.left)
    upper, lower = (one, other) if one.y <= other.y else (other, one)
    return across, upper.y + upper.body.down + GAP - (lower.y - lower.body.up)


def _push_down(items: Sequence[Placed]) -> None:
    """Separate everything: each row moves below everything above it along its items."""
    skyline: dict[int, float] = {}
    order = sorted(range(len(items)), key=lambda number: (items[number].y, number))
    for line in _lines_of(items, order, is_column=False):
        spans = [_span(items[number]) for number in line]
        place = max(
            items[line[0]].y,
            *(
                max(skyline.get(cell, -1e9) for cell in span) + items[number].body.up
                for number, span in zip(line, spans, strict=True)
            ),
        )
        for number, span in zip(line, spans, strict=True):
            items[number].y = float(round(place))
            bottom = items[number].y + items[number].body.down + GAP * 0.6
            skyline |= {cell: max(bottom, skyline.get(cell, -1e9)) for cell in span}


def _span(item: Placed) -> range:
    """Return the cells that an item covers across."""
    return range(int((item.x - item.body.left) // CELL), int((item.x + item.body.right) // CELL) + 1)


def _lines_of(items: Sequence[Placed], order: Sequence[int], *, is_column: bool) -> list[list[int]]:
    """Return the items by columns or by rows, lines in the order of their means."""
    lines: Mapping[Hashable, list[int]] = defaultdict(list)
    for number in order:
        lines[items[number].column if is_column else items[number].row].append(number)
    if not is_column:
        return list(lines.values())
    return sorted(lines.values(), key=lambda line: sum(items[number].x for number in line) / len(line))
