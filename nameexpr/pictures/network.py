"""The picture of a tensor network: a box for each operand, a line for each label.

Labels of the result go up and end in arrows, drawn in full; labels that are contracted run between tensors or
below them, dashed, and end in a bar where only one tensor has them. Where three and more meet, they meet in
a dot. Lines are as thick as the logarithm of the size.

The tensors stand in a row. A tensor is as wide as the words of its own legs need, and a leg that joins
tensors has its word in the gap right of the first one, where no other leg passes from above to below. So no
words ever meet, however many legs there are. Between neighbours a leg with two ends runs straight; all others
run on tracks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nameexpr.pictures.data import Leg, Tensor, TensorNetwork
from nameexpr.pictures.sheet import MARGIN, Picture, Sheet, thickness
from nameexpr.pictures.words import DIM_COLUMNS, dim_words, flat, pixels, short

PORT = 18
LINE = 24
STUB = 26
GAP = 36
PAD = 12
MADE = "made"
"""What is drawn as the source of dims that only the result has."""
Port = tuple[int, int]  # an end of a leg: the number of the leg, and which end of it


@dataclass
class TensorBox:
    """What is written in a tensor, where it is, and the x of each end of a leg above and below it."""

    words: tuple[str, str]
    left: int = 0
    wide: int = 0
    ports: dict[Port, int] = field(default_factory=dict)


@dataclass
class NetworkLayout:
    """The places of a network.

    `words` are what is written at each leg. `straight` gives for legs between neighbours which line of the
    gap they take, `above` and `below` for those that run along the row which track.
    """

    words: list[str]
    boxes: list[TensorBox]
    straight: dict[int, int]
    above: dict[int, int]
    below: dict[int, int]
    high: int


def draw_network(network: TensorNetwork) -> Picture:
    """Draw a network; dims that only the result has come from a tensor of their own."""
    if not all(leg.ends for leg in network.legs):
        made = Tensor(MADE, "by repeating")
        legs = tuple(replace(leg, ends=leg.ends or (len(network.tensors),)) for leg in network.legs)
        network = replace(network, tensors=(*network.tensors, made), legs=legs)
    drawing = _Drawing(network)
    for number, leg in enumerate(network.legs):
        drawing.leg(number, leg)
    for box, tensor in zip(drawing.layout.boxes, network.tensors, strict=True):
        drawing.tensor(box, tensor)
    drawing.legend()
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
        self.tips = self.sheet.top + (20 if has_open else 4)
        self.top = self.tips + (STUB if has_open else 0) + _count(self.layout.above) * LINE
        self.bottom = self.top + self.layout.high
        has_lone = any(not leg.is_open and len(leg.ends) == 1 for leg in network.legs)
        self.first_track = self.bottom + (STUB + 16 if has_lone else 10) + LINE // 2
        self.legend_top = self.first_track + (_count(self.layout.below) - 1) * LINE + 34

    def tensor(self, box: TensorBox, tensor: Tensor) -> None:
        """Draw the box of a tensor."""
        middle, centre = box.left + box.wide / 2, (self.top + self.bottom) / 2
        title, note = box.words
        self.sheet.begin(f"{tensor.title} {tensor.note}".strip())
        kind = "held" if tensor.title == MADE else "box"
        self.sheet.rect(box.left, self.top, box.wide, self.layout.high, kind)
        self.sheet.text(middle, centre - (4 if note else -4), title, "strong")
        if note:
            self.sheet.text(middle, centre + 12, note, "muted", size=11)
        self.sheet.end()

    def leg(self, number: int, leg: Leg) -> None:
        """Draw one label, in the way that its ends ask for."""
        self.sheet.begin(f"{leg.label}: size {leg.size}, {_fate(self.network, leg)}")
        thick = thickness(leg.size)
        if number in self.layout.straight:
            self._straight(number, leg, thick)
        else:
            ends = [self.layout.boxes[end].ports[number, which] for which, end in enumerate(leg.ends)]
            if leg.is_open:
                self._open(number, ends, thick)
            elif len(ends) == 1:  # that goes away: it ends in a bar
                y = self.bottom + STUB - 6
                self.sheet.path(f"M{ends[0]} {self.bottom}V{y}", "gone", thick)
                self.sheet.path(f"M{ends[0] - 8} {y}h16", "bar")
                self.sheet.text(ends[0], y + 16, self.layout.words[number])
            else:
                self._below(number, leg, ends, thick)
        self.sheet.end()

    def _straight(self, number: int, leg: Leg, thick: float) -> None:
        start, end = self._gap(leg)
        lines = sum(self.network.legs[beside].ends == leg.ends for beside in self.layout.straight)
        line = self.layout.straight[number] - (lines - 1) / 2
        y = round((self.top + self.bottom) / 2 + line * LINE + 5)
        self.sheet.path(f"M{start} {y}H{end}", "gone", thick)
        self.sheet.text((start + end) / 2, y - thick / 2 - 4, self.layout.words[number])

    def _gap(self, leg: Leg) -> tuple[int, int]:
        """Return where the gap right of a leg's first tensor begins and ends."""
        box, following = self.layout.boxes[leg.ends[0]], self.layout.boxes[leg.ends[0] + 1]
        return box.left + box.wide, following.left

    def _open(self, number: int, ends: list[int], thick: float) -> None:
        """Draw a leg up to its arrow, and along the row where several tensors have it."""
        tip, sheet = self.tips, self.sheet
        half = round(4 + thick / 2)
        sheet.path(f"M{ends[0]} {self.top}V{tip + 8}", "open", thick)
        sheet.path(f"M{ends[0]} {tip}l{half} 10h{-2 * half}z", "tip")
        sheet.text(ends[0], tip - 5, self.layout.words[number])
        if number in self.layout.above:
            y = self.top - 12 - self.layout.above[number] * LINE
            for x in ends[1:]:
                sheet.path(f"M{x} {self.top}V{y}", "open", thick)
            sheet.path(f"M{min(ends)} {y}H{max(ends)}", "open", thick)
            for x in ends:
                sheet.circle(x, y, round(3 + thick / 2), "tip")

    def _below(self, number: int, leg: Leg, ends: list[int], thick: float) -> None:
        """Draw a label that runs below the tensors."""
        y = self.first_track + self.layout.below[number] * LINE
        last = max(ends)
        self.sheet.path(f"M{ends[0]} {self.bottom}V{y}H{last}V{self.bottom}", "gone", thick)
        for x in ends[1:]:
            if x != last:
                self.sheet.path(f"M{x} {self.bottom}V{y}", "gone", thick)
        for x in ends if leg.is_hyperedge else ():
            self.sheet.circle(x, y, round(3 + thick / 2), "dot")
        between = self._gap(leg) if leg.ends[-1] != leg.ends[0] else ends[:2]
        self.sheet.text(sum(between) / 2, y - thick / 2 - 4, self.layout.words[number])
        self.sheet.reaches(last, y + 8)

    def legend(self) -> None:
        """Say below what the lines mean, as far as there are such, and what comes out."""
        sheet, network, y = self.sheet, self.network, self.legend_top
        if any(leg.is_open for leg in network.legs):
            sheet.path(f"M{MARGIN + 4} {y - 4}h20", "open", 2)
            sheet.path(f"M{MARGIN + 32} {y - 4}l-10 -5v10z", "tip")
            sheet.text(MARGIN + 40, y, "in the result: " + short(network.result, 40), "muted", "start", 11)
            y += 18
        if any(not leg.is_open for leg in network.legs):
            sheet.path(f"M{MARGIN + 4} {y - 4}h28", "gone", 2)
            sheet.text(MARGIN + 40, y, f"contracted: {network.reducer}", "muted", "start", 11)


def lay_out(network: TensorNetwork) -> NetworkLayout:
    """Lay out the tensors and legs of a network."""
    legs, straight = network.legs, _straight(network.legs)
    words = [dim_words(leg.label, leg.size) for leg in legs]
    boxes = [
        TensorBox((short(tensor.title, DIM_COLUMNS), short(tensor.note, DIM_COLUMNS)))
        for tensor in network.tensors
    ]
    above, below = (_tracks(legs, straight, is_open=is_open) for is_open in (True, False))
    layout = NetworkLayout(words, boxes, straight, above, below, max(48, _count(straight) * LINE + 8))
    gaps = [GAP] * len(boxes)  # right of each tensor: as much as the words there need
    for number, leg in enumerate(legs):
        if number in straight or (len(set(leg.ends)) > 1 and not leg.is_open):
            gaps[leg.ends[0]] = max(gaps[leg.ends[0]], pixels(words[number]) + 3 * PAD)
    x = MARGIN + 4
    for number, (box, gap) in enumerate(zip(boxes, gaps, strict=True)):
        _set_ports(layout, number, legs, x)
        x += box.wide + gap
    return layout


def _straight(legs: Sequence[Leg]) -> dict[int, int]:
    """Number the legs between neighbours, those of the same two tensors from 0."""
    straight: dict[int, int] = {}
    for number, leg in enumerate(legs):
        if not leg.is_open and len(leg.ends) == 2 and leg.ends[1] - leg.ends[0] == 1:  # noqa: PLR2004  an edge
            straight[number] = sum(legs[beside].ends == leg.ends for beside in straight)
    return straight


def _tracks(legs: Sequence[Leg], straight: dict[int, int], *, is_open: bool) -> dict[int, int]:
    """Assign tracks to the legs that run along the row of tensors, short ones next to the tensors."""
    here = [
        (leg.ends[-1] - leg.ends[0], leg.ends[0], number)
        for number, leg in enumerate(legs)
        if leg.is_open == is_open and len(leg.ends) > 1 and number not in straight
    ]
    tracks: dict[int, int] = {}
    taken: list[list[tuple[int, int]]] = []
    for length, first, number in sorted(here):
        last = first + length
        free = (n for n, spans in enumerate(taken) if all(last < a or b < first for a, b in spans))
        tracks[number] = next(free, len(taken))
        if tracks[number] == len(taken):
            taken.append([])
        taken[tracks[number]].append((first, last))
    return tracks


def _count(lines: dict[int, int]) -> int:
    return max(lines.values(), default=-1) + 1


def _set_ports(layout: NetworkLayout, tensor: int, legs: Sequence[Leg], left: int) -> None:
    """Place a tensor and the ports of its legs, each with the room that its word needs.

    Those above are in the order of the text. Those below are in the one that crosses fewest legs.
    """
    rows: dict[bool, list[tuple[Port, int]]] = {True: [], False: []}
    for number, leg in enumerate(legs):
        for which, end in enumerate(leg.ends):
            if end == tensor and number not in layout.straight:
                # Words stand at the tip of an open leg, below one that only this tensor has, and between the
                # first two ends of one that it has several times.
                has_word = which == 0 if leg.is_open else len(set(leg.ends)) == 1 and which <= 1
                room = pixels(layout.words[number]) + PAD if has_word else PORT
                rows[leg.is_open].append(((number, which), room))
    rows[False].sort(key=lambda port: _side(tensor, legs[port[0][0]], layout.below.get(port[0][0], 0)))
    box = layout.boxes[tensor]
    box.left = left
    box.wide = max(64, max(map(pixels, box.words)) + 2 * PAD)
    box.wide = max(box.wide, *(sum(room for _, room in row) + PAD for row in rows.values()))
    for row in rows.values():
        spare = (box.wide - sum(room for _, room in row)) / (len(row) + 1)
        x = left + spare
        for port, room in row:
            box.ports[port] = round(x + room / 2)
            x += room + spare


def _side(tensor: int, leg: Leg, track: int) -> tuple[int, int]:
    """Return the rank of a leg below a tensor: what comes from the left, what stays or passes, what leaves to
    the right; and so that of two that come, or leave, the shorter one is inside the longer one.
    """
    first, last = leg.ends[0], leg.ends[-1]
    if first < tensor == last:
        return 0, track
    return (2, -track) if first == tensor < last else (1, 0)
