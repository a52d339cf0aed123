"""The picture of a network of many tensors, in two dimensions: a grid looks like a grid, an MPS like a
ladder.

A tensor is a box with its number, and so is a label that joins three places and more. Other labels that two
tensors share are lines between them, interrupted in the middle by the name. Labels that one tensor has leave
it at the top and end on its right: in an arrow if they are in the result, else in a bar. Sizes are written if
they differ from the most common one, which the legend shows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import log2

from nameexpr.pictures.apart import Body
from nameexpr.pictures.data import Leg, TensorNetwork
from nameexpr.pictures.files import Picture
from nameexpr.pictures.plane import Link, arrange
from nameexpr.pictures.sheet import MARGIN, Area, Move, Sheet, thickness
from nameexpr.pictures.stress import Point
from nameexpr.pictures.words import dim_words, pixels, short

COLUMNS = 14
SIZE = 11
ROW = 14
HIGH = 24
STUB = 12
SHORT = 0.7
"""The length of a link to a label that joins several, relative to links between two tensors."""
USUAL = 0.5
"""The share of labels from which their common size is only written in the legend."""
FAINTEST = 0.5
APART = 6
"""The number of pixels between the lines of labels that join the same tensors."""


@dataclass
class _Box:
    """A tensor or a shared label, with the legs that only it has."""

    words: str
    kind: str
    title: str
    tips: list[Leg] = field(default_factory=list)
    place: Point = (0, 0)

    @property
    def half(self) -> float:
        """Half of its width."""
        return max(30, pixels(self.words, 12) + 14) / 2


def draw_web(network: TensorNetwork, fates: Sequence[str], description: str) -> Picture:
    """Draw a network in two dimensions; `fates` are the tooltips about the role of each leg."""
    web = _Web(network, fates)
    sheet = Sheet(network, "Tensor network", network.title, description)
    web.draw(sheet)
    return sheet.svg()


class _Web:
    """Boxes, and the bundles of legs between two of them."""

    def __init__(self, network: TensorNetwork, fates: Sequence[str]) -> None:
        self.network = network
        self.fates = {id(leg): fate for leg, fate in zip(network.legs, fates, strict=True)}
        self.usual = _usual_size(network)
        self.largest = max((leg.size for leg in network.legs), default=1)
        self.boxes = [
            _Box(tensor.mark or short(tensor.title, COLUMNS), "box", f"{tensor.title} {tensor.note}".strip())
            for tensor in network.tensors
        ]
        self.bundles: defaultdict[tuple[int, int], list[Leg]] = defaultdict(list)
        for leg in network.legs:
            self._add(leg)

    def _add(self, leg: Leg) -> None:
        places = sorted(set(leg.ends))
        if len(places) == 1:
            self.boxes[places[0]].tips.append(leg)
        elif not leg.is_hyperedge:
            self.bundles[places[0], places[1]].append(leg)
        else:
            kind = "shared" if leg.is_open else "joined"
            self.boxes.append(_Box(self.words(leg), kind, self.told(leg), [leg] if leg.is_open else []))
            for end in leg.ends:
                self.bundles[end, len(self.boxes) - 1].append(leg)

    def words(self, leg: Leg) -> str:
        """Return the text at a leg."""
        return (
            short(leg.label, COLUMNS) if leg.size == self.usual else dim_words(leg.label, leg.size, COLUMNS)
        )

    def told(self, leg: Leg) -> str:
        """Return the tooltip of a leg."""
        return f"{leg.label}: size {leg.size}, {self.fates[id(leg)]}"

    def body(self, box: _Box) -> Body:
        """Return the extent of a box with its tips."""
        tips = [0 if box.kind != "box" else pixels(self.words(leg), SIZE) + 4 for leg in box.tips]
        beyond = max((STUB + 6 + wide for wide in tips), default=0)
        return Body(box.half, HIGH / 2 + ROW * len(tips), box.half + beyond, HIGH / 2, box.half)

    def block(self, pair: tuple[int, int]) -> Body | None:
        """Return the extent of the words of a bundle."""
        if pair[1] >= len(self.network.tensors):
            return None
        legs = self.bundles[pair]
        half = max(pixels(self.words(leg), SIZE) for leg in legs) / 2 + 2
        return Body(half, ROW * len(legs) / 2, half, ROW * len(legs) / 2)

    def draw(self, sheet: Sheet) -> None:
        """Draw everything on a sheet."""
        links = [Link(*pair, 1 if self.block(pair) else SHORT, self.block(pair)) for pair in self.bundles]
        found = arrange([self.body(box) for box in self.boxes], links)
        top = sheet.top + 8
        for box, (x, y) in zip(self.boxes, found.boxes, strict=True):
            box.place = (x + MARGIN, y + top)
        middles = {
            pair: (x + MARGIN, y + top) for pair, (x, y) in zip(self.bundles, found.words, strict=True)
        }
        areas = [
            (x - b.half, y - HIGH / 2, x + b.half, y + HIGH / 2) for b in self.boxes for x, y in [b.place]
        ]
        blocks = {pair: self._area(pair, middle) for pair, middle in middles.items() if self.block(pair)}
        lines = [line for pair, middle in middles.items() for line in self._lines(pair, middle)]
        whole = _around([*areas, *blocks.values(), *(area for _, _, area in lines)])
        sheet.begin_spared([*areas, *blocks.values()], whole)
        for leg, moves, _ in lines:
            self._line(sheet, leg, moves)
        sheet.end()
        for pair, area in blocks.items():
            for row, leg in enumerate(self.bundles[pair]):
                x, y = (area[0] + area[2]) / 2, area[1] + ROW * row + SIZE
                sheet.text(x, y, self.words(leg), size=SIZE)
        for box in self.boxes:
            self._box(sheet, box)
        self._legend(sheet, sheet.bottom + 26)

    def _area(self, pair: tuple[int, int], middle: Point) -> Area:
        block = self.block(pair)
        assert block is not None
        x, y = middle
        return (x - block.left, y - block.up, x + block.right, y + block.down)

    def _lines(self, pair: tuple[int, int], middle: Point) -> Iterator[tuple[Leg, list[Move], Area]]:
        """Yield the lines of a bundle: through its words, next to each other."""
        (x, y), (a, b) = (self.boxes[end].place for end in pair)
        wide, high = a - x, b - y
        length = (wide * wide + high * high) ** 0.5 or 1
        legs = self.bundles[pair]
        for number, leg in enumerate(legs):
            far = (number - (len(legs) - 1) / 2) * APART
            dx, dy = far * high / length, -far * wide / length
            p, q = 2 * middle[0] - (x + a) / 2 + dx, 2 * middle[1] - (y + b) / 2 + dy
            bent = abs(middle[0] - (x + a) / 2) + abs(middle[1] - (y + b) / 2) > APART
            curve: Move = ("Q", p, q, a + dx, b + dy) if bent else ("L", a + dx, b + dy)
            across, down = (x, middle[0], a), (y, middle[1], b)
            area = (min(across) - 40, min(down) - 40, max(across) + 40, max(down) + 40)
            yield leg, [("M", x + dx, y + dy), curve], area

    def _line(self, sheet: Sheet, leg: Leg, moves: Sequence[Move]) -> None:
        share = log2(max(1, leg.size)) / (log2(max(2, self.largest)))
        sheet.begin(self.told(leg))
        kind = "shared" if leg.is_open else "joined"
        sheet.path(moves, kind, thickness(leg.size), round(FAINTEST + (1 - FAINTEST) * share, 2))
        sheet.end()

    def _box(self, sheet: Sheet, box: _Box) -> None:
        (x, y), half = box.place, box.half
        for number, leg in enumerate(box.tips):
            self._tip(sheet, box, number, leg)
        sheet.begin(box.title)
        is_tensor = box.kind == "box"
        sheet.rect(x - half, y - HIGH / 2, 2 * half, HIGH, box.kind, 5 if is_tensor else HIGH // 2)
        sheet.text(x, y + 4, box.words, "strong" if is_tensor else "", size=12 if is_tensor else SIZE)
        sheet.end()

    def _tip(self, sheet: Sheet, box: _Box, number: int, leg: Leg) -> None:
        """Draw a leg of one box: up from it and to the right, the first one inside the next ones."""
        x, y = box.place[0] + box.half, box.place[1] - HIGH / 2
        level, foot = y - ROW * number - ROW / 2 + 1, x - 6 - min(4 * number, 2 * box.half - 12)
        kind, end = ("shared", x + STUB - 5) if leg.is_open else ("joined", x + STUB)
        sheet.begin(self.told(leg))
        is_own = box.kind == "box"
        for away in range(0, 3 * (len(leg.ends) if is_own else 1), 3):  # a diagonal has two ends
            sheet.path(
                [("M", foot - away, y), ("V", level - away), ("H", end)], kind, min(4, thickness(leg.size))
            )
        if leg.is_open:
            tip: list[Move] = [("M", x + STUB + 2, level), ("L", end, level - 4), ("V", level + 4), ("Z",)]
            sheet.path(tip, "tip")
        else:
            sheet.path([("M", end, level - 5), ("V", level + 5)], "bar")
        if is_own:
            sheet.text(x + STUB + 5, level + 4, self.words(leg), anchor="start", size=SIZE)
        sheet.end()

    def _legend(self, sheet: Sheet, y: float) -> None:
        """Explain below what the lines and the numbers mean."""
        rows = ["a number is an operand, counted from 0"]
        if self.usual is not None:
            rows[0] += f"; labels without a size have size {self.usual}"
        legend(sheet, self.network, y, "joined", rows)


def legend(sheet: Sheet, network: TensorNetwork, y: float, gone: str, more: Sequence[str] = ()) -> None:
    """Explain below a network the lines that occur, and the result; `gone` is the class of
    contracted ones.
    """
    if any(leg.is_open for leg in network.legs):
        sheet.path([("M", MARGIN + 4, y - 4), ("H", MARGIN + 24)], "open", 2)
        x = MARGIN + 22
        sheet.path([("M", x + 10, y - 4), ("L", x, y - 9), ("V", y + 1), ("Z",)], "tip")
        sheet.text(MARGIN + 40, y, "in the result: " + short(network.result, 40), "muted", "start", 11)
        y += 18
    if any(not leg.is_open for leg in network.legs):
        sheet.path([("M", MARGIN + 4, y - 4), ("H", MARGIN + 32)], gone, 2)
        sheet.text(MARGIN + 40, y, f"contracted: {network.reducer}", "muted", "start", 11)
        y += 18
    for words in more:
        sheet.text(MARGIN + 4, y, words, "muted", "start", 11)
        y += 18


def _usual_size(network: TensorNetwork) -> int | None:
    """Return the size that most labels have."""
    counted = Counter(leg.size for leg in network.legs)
    size, count = max(counted.items(), key=lambda row: (row[1], -row[0]), default=(0, 0))
    return size if count > USUAL * len(network.legs) else None


def _around(areas: Sequence[Area]) -> Area:
    left, top, right, bottom = zip(*areas, strict=True)
    return (min(left), min(top), max(right), max(bottom))
