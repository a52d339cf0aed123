"""Arrange boxes and the words on their links in the plane, without overlaps and not too wide.

`stress` places points; here they get the room that they need. If most links are level or upright, the boxes
are put into rows and columns, like those of a lattice or a ladder. A drawing that is too wide even if drawn
tight is folded, as a river meanders: every other strip runs backwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from nameexpr.pictures.apart import GAP, MOST, Body, Placed, centre, keep_apart, width_of
from nameexpr.pictures.stress import Edge, Point, leveled, stress_layout, uprightness

UNIT, WIDE_UNIT = 105, 150
"""The pixels of a link of length 1 without overlaps: in a lattice, and otherwise."""
FLAT = 0.8
"""The vertical unit, in horizontal units."""
SPARE = 1.5
"""The ratio of the area of a drawing to that of its boxes and words."""
WIDEST = 1800
WISHED = 1300
"""The width above which a drawing is made tighter, or folded."""
TIGHTER = (1.0, 0.7, 0.45, 0.25, 0.02)
SLOPE = 0.45
STRAIGHT = 0.75
"""The share of nearly level or upright links from which a drawing is a lattice."""
NEAR = 0.2
"""The smallest distance between a link and a box that it does not join, in units of a link; else it is routed
around.
"""
MOST_NEAR = 400
"""The number of boxes up to which this is examined."""


@dataclass(frozen=True, slots=True)
class Link:
    """A line between two boxes, with words on its middle, if `words` is a body."""

    one: int
    other: int
    length: float
    words: Body | None = None


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The middles of boxes, and those of the words on links, in whole pixels."""

    boxes: tuple[Point, ...]
    words: tuple[Point, ...]


def arrange(bodies: Sequence[Body], links: Sequence[Link]) -> Arrangement:
    """Arrange boxes, one connected part after the other."""
    boxes: dict[int, Point] = {}
    words: dict[int, Point] = {}
    left = top = bottom = 0.0
    for part in _parts(len(bodies), links):
        inside = [number for number, link in enumerate(links) if link.one in part]
        places, middles = _Piece(bodies, links, sorted(part), inside).arranged()
        areas = [(place, bodies[number]) for number, place in places.items()]
        areas += [(place, links[number].words or Body(0, 0, 0, 0)) for number, place in middles.items()]
        x0, y0 = min(x - body.left for (x, _), body in areas), min(y - body.up for (_, y), body in areas)
        x1, y1 = max(x + body.right for (x, _), body in areas), max(y + body.down for (_, y), body in areas)
        if left and left + x1 - x0 > WISHED:
            left, top = 0.0, bottom + 3 * GAP
        boxes |= {number: (x - x0 + left, y - y0 + top) for number, (x, y) in places.items()}
        words |= {number: (x - x0 + left, y - y0 + top) for number, (x, y) in middles.items()}
        left, bottom = left + x1 - x0 + 4 * GAP, max(bottom, top + y1 - y0)
    return Arrangement(
        tuple(boxes[number] for number in range(len(bodies))),
        tuple(words[number] for number in range(len(links))),
    )


def _parts(count: int, links: Sequence[Link]) -> list[set[int]]:
    """Return the connected parts, in the order of their first boxes."""
    of = [{number} for number in range(count)]
    for link in links:
        if of[link.one] is not of[link.other]:
            small, large = sorted((of[link.one], of[link.other]), key=len)
            large |= small
            for number in small:
                of[number] = large
    return list({id(part): part for part in of}.values())


class _Piece:
    """A connected part while it is arranged."""

    def __init__(
        self, bodies: Sequence[Body], links: Sequence[Link], own: Sequence[int], inside: Sequence[int]
    ) -> None:
        self.own, self.inside = own, inside
        self.bodies = [bodies[number] for number in own]
        number_of = {number: place for place, number in enumerate(own)}
        self.links = [links[number] for number in inside]
        self.ends = [(number_of[link.one], number_of[link.other]) for link in self.links]
        edges: list[Edge] = [(*ends, link.length) for ends, link in zip(self.ends, self.links, strict=True)]
        self.points = leveled(stress_layout(len(own), edges), self.ends)
        self.columns: list[Hashable] = [*range(len(own))]
        self.rows: list[Hashable] = [*range(len(own))]
        self.unit, self.down = self._units()
        if uprightness(self.points, self.ends, SLOPE) >= STRAIGHT:
            self.unit, self.down = UNIT, UNIT * FLAT
            self._line_up()
        self.sides = [self._detour(number) for number in range(len(self.links))]

    def _units(self) -> tuple[float, float]:
        """Return the horizontal and vertical scales of a drawing that is not a lattice, with room for all of
        it.
        """
        bodies = [*self.bodies, *(link.words for link in self.links if link.words)]
        area = SPARE * sum((b.left + b.right + GAP) * (b.up + b.down + GAP) for b in bodies)
        wide, high = (max(part) + 1 for part in zip(*self.points, strict=True))
        unit = max(WIDE_UNIT, min(WISHED / wide, (area / (FLAT * wide * high)) ** 0.5))
        return unit, max(unit * FLAT, area / (wide * unit * high))

    def _line_up(self) -> None:
        """Move boxes into rows and columns along the links that are nearly level or upright."""
        columns, rows = _Lines(len(self.own)), _Lines(len(self.own))
        order = sorted(self.ends, key=self._slope)
        for one, other in order:
            if self._slope((one, other)) <= SLOPE:
                (x, y), (a, b) = self.points[one], self.points[other]
                lines, across = (rows, columns) if abs(x - a) > abs(y - b) else (columns, rows)
                lines.join(one, other, across)
        xs, ys = (lines.means([p[axis] for p in self.points]) for axis, lines in ((0, columns), (1, rows)))
        self.points = list(zip(xs, ys, strict=True))
        self.columns, self.rows = list(columns.of), list(rows.of)

    def _slope(self, ends: tuple[int, int]) -> float:
        (x, y), (a, b) = self.points[ends[0]], self.points[ends[1]]
        wide, high = abs(x - a), abs(y - b)
        return min(wide, high) / (wide * wide + high * high or 1) ** 0.5

    def arranged(self) -> tuple[dict[int, Point], dict[int, Point]]:
        """Return the middles of the boxes and of the words by their numbers."""
        items: list[Placed] = []
        for tight in TIGHTER:
            items = self._spread(self.unit * tight)
            if width_of(items) <= (WIDEST if tight == TIGHTER[-1] else WISHED):
                break
        else:
            items = self._folded(items)
        count = len(self.own)
        places = [(item.x, item.y) for item in items]
        return dict(zip(self.own, places, strict=False)), dict(zip(self.inside, places[count:], strict=True))

    def _spread(self, unit: float) -> list[Placed]:
        """Return all items with a horizontal scale; the vertical one is that of a drawing that is not made
        tighter.
        """
        boxes = [
            Placed(body, x * unit, y * self.down, ("c", column), ("r", row))
            for body, (x, y), column, row in zip(
                self.bodies, self.points, self.columns, self.rows, strict=True
            )
        ]
        return self._settled(boxes)

    def _folded(self, tight: Sequence[Placed]) -> list[Placed]:
        """Fold a drawing into strips, every other one rotated by 180 degrees."""
        boxes = tight[: len(self.own)]
        least, whole = min(item.x for item in boxes), width_of(boxes)
        long = whole / -(-whole // WISHED) + 1
        strips: defaultdict[int, list[Placed]] = defaultdict(list)
        for item in boxes:
            strips[int((item.x - least) // long)].append(item)
        top, bottom = min(item.y - item.body.up for item in boxes), max(i.y + i.body.down for i in boxes)
        folded: dict[int, Placed] = {}
        start = 0.0
        for strip, inside in sorted(strips.items()):
            first, last = min(item.x for item in inside), max(item.x for item in inside)
            for item in inside:
                x, y = start + item.x - first, item.y - top
                if strip % 2:
                    x, y = start - (item.x - first), bottom - top - y
                y += strip * (bottom - top + 5 * GAP)
                folded[id(item)] = Placed(item.body, x, y, (strip, item.column), (strip, item.row), strip)
            start += (first - last) if strip % 2 else (last - first)
        return self._settled([folded[id(item)] for item in boxes])

    def _settled(self, boxes: Sequence[Placed]) -> list[Placed]:
        """Add the words of links, and remove overlaps."""
        words = [self._words(boxes, number) for number in range(len(self.links))]
        items = [*boxes, *(item for item, link in zip(words, self.links, strict=True) if link.words)]
        keep_apart(items)
        for number, (link, (one, other)) in enumerate(zip(self.links, self.ends, strict=True)):
            if not link.words:
                words[number] = self._words(boxes, number)
            elif len(items) <= MOST:
                centre(boxes[one], boxes[other], words[number], items)
        return [*boxes, *words]

    def _words(self, boxes: Sequence[Placed], number: int) -> Placed:
        """Return the words of a link on its middle, or next to it if it has to go around boxes."""
        one, other = (boxes[end] for end in self.ends[number])
        body = self.links[number].words or Body(0, 0, 0, 0)
        x, y = (one.x + other.x) / 2, (one.y + other.y) / 2
        column: Hashable = ("on", number)
        row: Hashable = ("on", number)
        if one.strip != other.strip:  # around the bend
            away = 2 * GAP + abs(one.y - other.y) / 6
            if max(one.strip, other.strip) % 2:
                x = max(end.x + end.body.right for end in (one, other)) + body.left + away
            else:
                x = min(end.x - end.body.left for end in (one, other)) - body.right - away
            return Placed(body, x, y, column, row)
        side = self.sides[number]
        if side:
            wide, high = other.x - one.x, other.y - one.y
            length = (wide * wide + high * high) ** 0.5 or 1
            away = side * (length / 5 + 2 * GAP)
            return Placed(body, x + away * high / length, y - away * wide / length, column, row)
        if one.row == other.row:
            row, column = one.row, ("between", *sorted(map(str, (one.column, other.column))))
        elif one.column == other.column:
            column, row = one.column, ("between", *sorted(map(str, (one.row, other.row))))
        return Placed(body, x, y, column, row)

    def _detour(self, number: int) -> int:
        """Return the side, the emptier one, on which a link goes around boxes that are in its way; else 0."""
        first, last = self.ends[number]
        (x, y), (a, b) = self.points[first], self.points[last]
        wide, high = a - x, b - y
        length = (wide * wide + high * high) ** 0.5
        if not length or len(self.points) > MOST_NEAR:
            return 0
        sides, is_met = 0.0, False
        for place, (p, q) in enumerate(self.points):
            if place in (first, last):
                continue
            along = ((p - x) * wide + (q - y) * high) / length**2
            aside = ((p - x) * high - (q - y) * wide) / length
            if 0 < along < 1:
                is_met |= abs(aside) < NEAR
                sides += 1 / (aside + (0.1 if aside >= 0 else -0.1)) if abs(aside) < 2 else 0  # noqa: PLR2004
        return (-1 if sides > 0 else 1) if is_met else 0


class _Lines:
    """Boxes on common lines: `of` is the line of each."""

    def __init__(self, count: int) -> None:
        self.of = list(range(count))
        self.members = [[number] for number in range(count)]

    def join(self, one: int, other: int, across: _Lines) -> None:
        """Put two boxes on one line, unless two boxes would then share a line in both directions."""
        here, there = self.of[one], self.of[other]
        both = self.members[here] + self.members[there]
        if here == there or len({across.of[number] for number in both}) < len(both):
            return
        self.members[here], self.members[there] = both, []
        for number in both:
            self.of[number] = here

    def means(self, values: Sequence[float]) -> list[float]:
        """Return for each box the mean of the values on its line."""
        mean = [sum(values[one] for one in line) / len(line) if line else 0 for line in self.members]
        return [mean[line] for line in self.of]
