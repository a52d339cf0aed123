"""The picture of a tensor network: a box for each operand, a line for each label.

Labels of the result go up and end in arrows, drawn solid; labels that are contracted run between tensors or
below them, dashed, and end in a bar if only one tensor has them. Three or more ends meet in a dot. Lines are
as thick as the logarithm of the size.

The tensors form a row. A tensor is as wide as the words of its own legs need, and a leg that joins tensors
has its word in the gap right of the first one, which no other leg crosses vertically. Words therefore never
overlap, for any number of legs. Between neighbours a leg with two ends runs straight; all others run on
tracks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nameexpr.pictures.data import Leg, Tensor, TensorNetwork
from nameexpr.pictures.files import Picture
from nameexpr.pictures.sheet import MARGIN, Move, Sheet, thickness
from nameexpr.pictures.web import draw_web, legend
from nameexpr.pictures.words import DIM_COLUMNS, dim_words, flat, pixels, short

PORT = 18
LINE = 24
STUB = 26
GAP = 36
PAD = 12
IN_A_ROW = 8
"""The number of tensors that are drawn in one row; more of them are drawn in two dimensions."""
MADE = "made"
"""The source that is drawn for dims that only the result has."""


@dataclass
class TensorBox:
    """The text of a tensor, and its position."""

    words: tuple[str, str]
    left: int = 0
    wide: int = 0


@dataclass
class LegPlace:
    """A leg, its text, and its route; `ports` are the x of its ends.

    Between neighbours it takes a `line` of their gap, along the row of tensors a `track`, else neither.
    """

    leg: Leg
    words: str
    line: int | None = None
    track: int | None = None
    ports: list[int] = field(default_factory=list)


@dataclass
class NetworkLayout:
    """The places of a network: `lines` counts the legs between neighbours, `above` and `below` the tracks."""

    boxes: list[TensorBox]
    legs: list[LegPlace]
    lines: Counter[tuple[int, ...]]
    above: int
    below: int

    def gap(self, leg: Leg) -> tuple[int, int]:
        """Return the start and end of the gap to the right of a leg's first tensor."""
        box, following = self.boxes[leg.ends[0]], self.boxes[leg.ends[0] + 1]
        return box.left + box.wide, following.left


def draw_network(network: TensorNetwork) -> Picture:
    """Draw a network; dims that only the result has come from a separate tensor."""
    if not all(leg.ends for leg in network.legs):
        made = Tensor(MADE, "by repeating")
        legs = tuple(replace(leg, ends=leg.ends or (len(network.tensors),)) for leg in network.legs)
        network = replace(network, tensors=(*network.tensors, made), legs=legs)
    if len(network.tensors) > IN_A_ROW:
        return draw_web(network, [_fate(network, leg) for leg in network.legs], _description(network))
    drawing = _Drawing(network)
    for place in drawing.layout.legs:
        drawing.leg(place)
    for box, tensor in zip(drawing.layout.boxes, network.tensors, strict=True):
        drawing.tensor(box, tensor)
    legend(drawing.sheet, network, drawing.legend_top, "gone")
    return drawing.sheet.svg()


def _fate(network: TensorNetwork, leg: Leg) -> str:
    if not leg.is_open:
        return f"contracted ({network.reducer})"
    return "in the result" + (f", shared by {len(leg.ends)}" if len(leg.ends) > 1 else "")


def _description(network: TensorNetwork) -> str:
    parts = []
    for number, tensor in enumerate(network.tensors):
        labels = [leg.label for leg in network.legs for end in leg.ends if end == number]
        parts.append(f"{tensor.title} has {', '.join(labels) or 'no dims'}")
    parts += [f"{flat(leg.label)} of size {leg.size} is {_fate(network, leg)}" for leg in network.legs]
    return ". ".join([*parts, f"The result is {network.result or 'a scalar'}"]) + "."


class _Drawing:
    """A sheet with a network on it; `tips` is the height of the arrows, `top` that of the tensors."""

    def __init__(self, network: TensorNetwork) -> None:
        self.network, self.layout = network, lay_out(network)
        self.sheet = Sheet(network, "Tensor network", network.title, _description(network))
        has_open = any(leg.is_open for leg in network.legs)
        self.high = max(48, max(self.layout.lines.values(), default=0) * LINE + 8)
        self.tips = self.sheet.top + (20 if has_open else 4)
        self.top = self.tips + (STUB if has_open else 0) + self.layout.above * LINE
        self.bottom = self.top + self.high
        has_lone = any(not leg.is_open and len(leg.ends) == 1 for leg in network.legs)
        self.first_track = self.bottom + (STUB + 16 if has_lone else 10) + LINE // 2
        self.legend_top = self.first_track + (self.layout.below - 1) * LINE + 34

    def tensor(self, box: TensorBox, tensor: Tensor) -> None:
        """Draw the box of a tensor."""
        middle, centre = box.left + box.wide / 2, (self.top + self.bottom) / 2
        title, note = box.words
        self.sheet.begin(f"{tensor.title} {tensor.note}".strip())
        kind = "held" if tensor.title == MADE else "box"
        self.sheet.rect(box.left, self.top, box.wide, self.high, kind)
        self.sheet.text(middle, centre - (4 if note else -4), title, "strong")
        if note:
            self.sheet.text(middle, centre + 12, note, "muted", size=11)
        self.sheet.end()

    def leg(self, place: LegPlace) -> None:
        """Draw one label, depending on its ends."""
        leg, sheet, thick = place.leg, self.sheet, thickness(place.leg.size)
        sheet.begin(f"{leg.label}: size {leg.size}, {_fate(self.network, leg)}")
        if leg.is_open:
            self._open(place, thick)
        elif place.line is not None:
            start, end = self.layout.gap(leg)
            line = place.line - (self.layout.lines[leg.ends] - 1) / 2
            y = round((self.top + self.bottom) / 2 + line * LINE + 5)
            sheet.path([("M", start, y), ("H", end)], "gone", thick)
            sheet.text((start + end) / 2, y - thick / 2 - 4, place.words)
        elif place.track is not None:
            self._below(place, thick, self.first_track + place.track * LINE)
        else:  # one end that is reduced: a bar
            x, y = place.ports[0], self.bottom + STUB - 6
            sheet.path([("M", x, self.bottom), ("V", y)], "gone", thick)
            sheet.path([("M", x - 8, y), ("H", x + 8)], "bar")
            sheet.text(x, y + 16, place.words)
        sheet.end()

    def _open(self, place: LegPlace, thick: float) -> None:
        """Draw a leg up to its arrow, and along the row if several tensors have it."""
        tip, sheet, ends = self.tips, self.sheet, place.ports
        half = round(4 + thick / 2)
        sheet.path([("M", ends[0], self.top), ("V", tip + 8)], "open", thick)
        sheet.path(
            [("M", ends[0], tip), ("L", ends[0] + half, tip + 10), ("H", ends[0] - half), ("Z",)], "tip"
        )
        sheet.text(ends[0], tip - 5, place.words)
        if place.track is not None:
            y = self.top - 12 - place.track * LINE
            for x in ends[1:]:
                sheet.path([("M", x, self.top), ("V", y)], "open", thick)
            sheet.path([("M", min(ends), y), ("H", max(ends))], "open", thick)
            for x in ends:
                sheet.circle(x, y, round(3 + thick / 2), "tip")

    def _below(self, place: LegPlace, thick: float, y: int) -> None:
        """Draw a label that runs below the tensors."""
        leg, ends, last = place.leg, place.ports, max(place.ports)
        around: list[Move] = [("M", ends[0], self.bottom), ("V", y), ("H", last), ("V", self.bottom)]
        self.sheet.path(around, "gone", thick)
        for x in ends[1:]:
            if x != last:
                self.sheet.path([("M", x, self.bottom), ("V", y)], "gone", thick)
        for x in ends if leg.is_hyperedge else ():
            self.sheet.circle(x, y, round(3 + thick / 2), "dot")
        between = self.layout.gap(leg) if leg.ends[-1] != leg.ends[0] else ends[:2]
        self.sheet.text(sum(between) / 2, y - thick / 2 - 4, place.words)


def lay_out(network: TensorNetwork) -> NetworkLayout:
    """Lay out the tensors and legs of a network."""
    legs = [LegPlace(leg, dim_words(leg.label, leg.size)) for leg in network.legs]
    boxes = [
        TensorBox((short(tensor.title, DIM_COLUMNS), short(tensor.note, DIM_COLUMNS)))
        for tensor in network.tensors
    ]
    lines: Counter[tuple[int, ...]] = Counter()
    gaps = [GAP] * len(boxes)  # right of each tensor: as wide as the words there
    for place in legs:
        leg = place.leg
        if not leg.is_open and len(set(leg.ends)) > 1:
            gaps[leg.ends[0]] = max(gaps[leg.ends[0]], pixels(place.words) + 3 * PAD)
            if leg.ends == (leg.ends[0], leg.ends[0] + 1):
                place.line = lines[leg.ends]
                lines[leg.ends] += 1
    above, below = (_set_tracks(legs, is_open=is_open) for is_open in (True, False))
    x = MARGIN + 4
    for number, (box, gap) in enumerate(zip(boxes, gaps, strict=True)):
        _set_ports(box, number, legs, x)
        x += box.wide + gap
    return NetworkLayout(boxes, legs, lines, above, below)


def _set_tracks(legs: Sequence[LegPlace], *, is_open: bool) -> int:
    """Assign tracks to the legs along the row of tensors, short ones next to it; return their number."""
    along = [
        (place.leg.ends[-1] - place.leg.ends[0], place.leg.ends[0], number)
        for number, place in enumerate(legs)
        if place.leg.is_open == is_open and len(place.leg.ends) > 1 and place.line is None
    ]
    taken: list[list[tuple[int, int]]] = []
    for length, first, number in sorted(along):
        last = first + length
        free = (n for n, spans in enumerate(taken) if all(last < a or b < first for a, b in spans))
        legs[number].track = track = next(free, len(taken))
        if track == len(taken):
            taken.append([])
        taken[track].append((first, last))
    return len(taken)


def _set_ports(box: TensorBox, tensor: int, legs: Sequence[LegPlace], left: int) -> None:
    """Place a tensor and the ports of its legs, each with room for its word.

    Those above are in the order of the text. Those below are in the order with the fewest crossings.
    """
    rows: dict[bool, list[tuple[LegPlace, int]]] = {True: [], False: []}
    for place in legs:
        leg = place.leg
        for which, end in enumerate(leg.ends):
            if end == tensor and place.line is None:
                # Words are at the tip of an open leg, below one that only this tensor has, and between the
                # first two ends of one that it has several times.
                has_word = which == 0 if leg.is_open else len(set(leg.ends)) == 1 and which <= 1
                rows[leg.is_open].append((place, pixels(place.words) + PAD if has_word else PORT))
    rows[False].sort(key=lambda port: _side(tensor, port[0].leg, port[0].track or 0))
    box.left = left
    box.wide = max(64, max(map(pixels, box.words)) + 2 * PAD)
    box.wide = max(box.wide, *(sum(room for _, room in row) + PAD for row in rows.values()))
    for row in rows.values():
        spare = (box.wide - sum(room for _, room in row)) / (len(row) + 1)
        x = left + spare
        for place, room in row:
            place.ports.append(round(x + room / 2))
            x += room + spare


def _side(tensor: int, leg: Leg, track: int) -> tuple[int, int]:
    """Return the rank of a leg below a tensor: legs from the left, then local and passing ones, then legs to
    the right; of two from or to the same side, the shorter one is inside the longer one.
    """
    first, last = leg.ends[0], leg.ends[-1]
    if first < tensor == last:
        return 0, track
    return (2, -track) if first == tensor < last else (1, 0)
