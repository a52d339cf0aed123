"""The picture of a tensor network: a box for each operand, a line for each label.

Labels of the result go up and end in arrows, drawn in full; labels that are contracted run between tensors or
below them, dashed, and end in a bar where only one tensor has them. Where three and more meet, they meet in
a dot. Lines are as thick as the logarithm of the size.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log2

from nameexpr.pictures.data import Leg, Network, Tensor
from nameexpr.pictures.markup import Picture
from nameexpr.pictures.network_layout import LINE, STUB, Layout, Place, lay_out
from nameexpr.pictures.sheet import MARGIN, Sheet
from nameexpr.pictures.words import flat, short

THICKEST = 8.0
MADE = "made"
"""What is drawn as the source of dims that only the result has."""


def draw_network(network: Network) -> Picture:
    """Return the picture of a network."""
    network = _with_source(network)
    layout = lay_out(network)
    sheet = Sheet(network, f"Tensor network of {network.title}" if network.title else "", _told(network))
    above = [
        layout.tracks[number] for number, leg in enumerate(network.legs) if _is_above(layout, number, leg)
    ]
    has_open = any(leg.is_open for leg in network.legs)
    tips = sheet.top + (20 if has_open else 4)
    top = tips + (STUB if has_open else 0) + (max(above) + 1 if above else 0) * LINE
    drawing = _Drawing(sheet, network, layout, tips, top)
    for number, leg in enumerate(network.legs):
        sheet.begin(f"{leg.label}: size {leg.size}, {_fate(network, leg)}")
        drawing.leg(number, leg)
        sheet.end()
    for place, one, words in zip(layout.places, network.tensors, layout.titles, strict=True):
        drawing.tensor(place, one, words)
    drawing.legend()
    return sheet.svg()


def _with_source(network: Network) -> Network:
    """Return the network with a tensor that has the dims which only the result has."""
    if all(leg.ends for leg in network.legs):
        return network
    last = len(network.tensors)
    legs = tuple(leg if leg.ends else Leg(leg.label, leg.size, (last,), is_open=True) for leg in network.legs)
    made = Tensor(MADE, "by repeating")
    return Network(network.title, (*network.tensors, made), legs, network.result, network.reducer)


def _is_above(layout: Layout, number: int, leg: Leg) -> bool:
    return leg.is_open and number in layout.tracks


def thickness(size: int) -> float:
    """Return the width of a line for a size, in pixels: half a one more for every doubling."""
    return min(THICKEST, round(1 + log2(max(1, size)) / 2, 1))


def _fate(network: Network, leg: Leg) -> str:
    if not leg.is_open:
        return f"contracted ({network.reducer})"
    return "in the result" + (f", shared by {len(leg.ends)}" if len(leg.ends) > 1 else "")


def _told(network: Network) -> str:
    """Return the network in words."""
    tensors = (
        f"{one.title} has {', '.join(_labels_of(network, position)) or 'no dims'}"
        for position, one in enumerate(network.tensors)
    )
    legs = (f"{flat(leg.label)} of size {leg.size} is {_fate(network, leg)}" for leg in network.legs)
    return ". ".join([*tensors, *legs, f"The result is {network.result or 'a scalar'}"]) + "."


def _labels_of(network: Network, position: int) -> Iterator[str]:
    return (leg.label for leg in network.legs for end in leg.ends if end == position)


class _Drawing:
    """A sheet with a network on it; `tips` is the height of the arrows, `top` that of the tensors."""

    def __init__(self, sheet: Sheet, network: Network, layout: Layout, tips: int, top: int) -> None:
        self.sheet, self.network, self.layout, self.tips, self.top = sheet, network, layout, tips, top
        self.bottom = top + layout.high
        lone = [leg for leg in network.legs if not leg.is_open and len(leg.ends) == 1]
        self.first_track = self.bottom + (STUB + 16 if lone else 10) + LINE // 2

    def tensor(self, place: Place, one: Tensor, words: tuple[str, str]) -> None:
        """Draw the box of a tensor."""
        middle, centre = place.left + place.wide / 2, (self.top + self.bottom) / 2
        self.sheet.begin(f"{one.title} {one.note}".strip())
        kind = "held" if one.title == MADE else "box"
        self.sheet.rect(place.left, self.top, place.wide, self.layout.high, kind)
        self.sheet.text(middle, centre - (4 if words[1] else -4), words[0], "strong")
        if words[1]:
            self.sheet.text(middle, centre + 12, words[1], "muted", size=11)
        self.sheet.end()

    def leg(self, number: int, leg: Leg) -> None:
        """Draw one label, in the way that its ends ask for."""
        thick = thickness(leg.size)
        if number in self.layout.straight:
            self._straight(number, leg, thick)
            return
        ends = [self.layout.places[end].ports[number, which] for which, end in enumerate(leg.ends)]
        if leg.is_open:
            self._open(number, ends, thick)
        elif len(ends) == 1:
            self._lone(number, ends[0], thick)
        else:
            self._below(number, leg, ends, thick)

    def _straight(self, number: int, leg: Leg, thick: float) -> None:
        one, other = self.layout.places[leg.ends[0]], self.layout.places[leg.ends[1]]
        start, end = one.left + one.wide, other.left
        lines = 1 + max(
            line
            for key, line in self.layout.straight.items()
            if self.network.legs[key].ends[0] == leg.ends[0]
        )
        line = self.layout.straight[number] - (lines - 1) / 2
        y = round((self.top + self.bottom) / 2 + line * LINE + 5)
        self.sheet.path(f"M{start} {y}H{end}", "gone", thick)
        self.sheet.text((start + end) / 2, y - thick / 2 - 4, self.layout.words[number])

    def _open(self, number: int, ends: list[int], thick: float) -> None:
        """Draw a leg up to its arrow, and along the row where several tensors have it."""
        tip, sheet = self.tips, self.sheet
        sheet.path(f"M{ends[0]} {self.top}V{tip + 8}", "open", thick)
        half = round(4 + thick / 2)
        sheet.path(f"M{ends[0]} {tip}l{half} 10h{-2 * half}z", "tip")
        sheet.text(ends[0], tip - 5, self.layout.words[number])
        if number in self.layout.tracks:
            y = self.top - 12 - self.layout.tracks[number] * LINE
            for x in ends[1:]:
                sheet.path(f"M{x} {self.top}V{y}", "open", thick)
            sheet.path(f"M{min(ends)} {y}H{max(ends)}", "open", thick)
            for x in ends:
                sheet.circle(x, y, round(3 + thick / 2), "tip")

    def _lone(self, number: int, x: int, thick: float) -> None:
        """Draw a label that one tensor has and that goes away: it ends in a bar."""
        y = self.bottom + STUB - 6
        self.sheet.path(f"M{x} {self.bottom}V{y}", "gone", thick)
        self.sheet.path(f"M{x - 8} {y}h16", "bar")
        self.sheet.text(x, y + 16, self.layout.words[number])

    def _below(self, number: int, leg: Leg, ends: list[int], thick: float) -> None:
        """Draw a label that runs below the tensors."""
        y = self.first_track + self.layout.tracks[number] * LINE
        self.sheet.path(f"M{ends[0]} {self.bottom}V{y}H{max(ends)}V{self.bottom}", "gone", thick)
        for x in ends[1:]:
            if x != max(ends):
                self.sheet.path(f"M{x} {self.bottom}V{y}", "gone", thick)
        if leg.is_hyperedge:
            for x in ends:
                self.sheet.circle(x, y, round(3 + thick / 2), "dot")
        place = self.layout.places[leg.ends[0]]
        following = leg.ends[0] + 1
        middle = (ends[0] + ends[1]) / 2
        if leg.ends[-1] != leg.ends[0]:
            middle = (place.left + place.wide + self.layout.places[following].left) / 2
        self.sheet.text(middle, y - thick / 2 - 4, self.layout.words[number])
        self.sheet.reaches(max(ends), y + 8)

    def legend(self) -> None:
        """Say below what the lines mean, as far as there are such, and what comes out."""
        sheet, network = self.sheet, self.network
        below = [self.layout.tracks[key] for key in self.layout.tracks if not network.legs[key].is_open]
        y = self.first_track + max(below, default=-1) * LINE + 34
        if any(leg.is_open for leg in network.legs):
            sheet.path(f"M{MARGIN + 4} {y - 4}h20", "open", 2)
            sheet.path(f"M{MARGIN + 32} {y - 4}l-10 -5v10z", "tip")
            sheet.text(MARGIN + 40, y, "in the result: " + short(network.result, 40), "muted", "start", 11)
            y += 18
        if any(not leg.is_open for leg in network.legs):
            sheet.path(f"M{MARGIN + 4} {y - 4}h28", "gone", 2)
            sheet.text(MARGIN + 40, y, f"contracted: {network.reducer}", "muted", "start", 11)
