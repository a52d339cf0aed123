"""Where the tensors and legs of a network go: tensors in a row, what stays above, what goes away below.

A tensor is as wide as the words of its own legs need, and a leg that joins tensors has its word in the gap
right of the first one, where no other leg passes from above to below. So no words ever meet, however many
legs there are. Between neighbours a leg with two ends runs straight; all others run on tracks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from nameexpr.pictures.data import Leg, Network
from nameexpr.pictures.sheet import MARGIN
from nameexpr.pictures.words import pixels, short

COLUMNS = 20
PORT = 18
LINE = 24
STUB = 26
GAP = 36
PAD = 12
Row = list[tuple[tuple[int, int], int]]
Rows = tuple[Row, Row]
"""Ends of legs above and below a tensor, as (leg, which end of it), with the room that each needs."""


@dataclass
class Place:
    """Where a tensor is, and the x of each end of a leg above and below it, by (leg, which end of it)."""

    left: int = 0
    wide: int = 0
    ports: dict[tuple[int, int], int] = field(default_factory=dict)


@dataclass
class Layout:
    """A network with places.

    `words` are what is written at each leg. `straight` gives for legs between neighbours which line of the
    gap they take, `tracks` for those that run above or below which track.
    """

    words: list[str]
    titles: list[tuple[str, str]]
    places: list[Place]
    straight: dict[int, int]
    tracks: dict[int, int]
    high: int


def label_words(leg: Leg) -> str:
    """Return the word of a leg: its label with its size, once if the label is the size."""
    name = short(leg.label, COLUMNS)
    return name if name == str(leg.size) else f"{name}={leg.size}"


def lay_out(network: Network) -> Layout:
    """Return the places of a network's tensors and legs."""
    words = [label_words(leg) for leg in network.legs]
    titles = [(short(one.title, COLUMNS), short(one.note, COLUMNS)) for one in network.tensors]
    straight = _straight(network.legs)
    tracks = _tracks(network.legs, straight)
    places = [Place() for _ in network.tensors]
    gaps = _gaps(network.legs, words, straight, len(places))
    x = MARGIN + 4
    for position, place in enumerate(places):
        place.left = x
        rows = _rows(position, network.legs, words, straight, tracks)
        _set_ports(place, rows, titles[position])
        x += place.wide + gaps[position]
    lines = max(straight.values(), default=0) + 1
    return Layout(words, titles, places, straight, tracks, max(48, lines * LINE + 8))


def _straight(legs: Sequence[Leg]) -> dict[int, int]:
    """Return the legs between neighbours, each with its number among those of the same two."""
    found: dict[int, int] = {}
    counts: dict[int, int] = {}
    for number, leg in enumerate(legs):
        first, last = (leg.ends[0], leg.ends[-1]) if leg.ends else (0, 0)
        if not leg.is_open and len(leg.ends) == 2 and last - first == 1:  # noqa: PLR2004  an edge
            found[number] = counts.get(first, 0)
            counts[first] = found[number] + 1
    return found


def runs_on_track(leg: Leg) -> bool:
    """Whether a leg has a part that runs along the row of tensors."""
    return len(leg.ends) > 1


def _tracks(legs: Sequence[Leg], straight: dict[int, int]) -> dict[int, int]:
    """Return the track of every leg that needs one, short ones next to the tensors."""
    tracks: dict[int, int] = {}
    for is_open in (True, False):
        here = [
            number
            for number, leg in enumerate(legs)
            if leg.is_open == is_open and runs_on_track(leg) and number not in straight
        ]
        here.sort(key=lambda number: (legs[number].ends[-1] - legs[number].ends[0], legs[number].ends[0]))
        taken: list[list[tuple[int, int]]] = []
        for number in here:
            first, last = legs[number].ends[0], legs[number].ends[-1]
            free = (
                place
                for place, spans in enumerate(taken)
                if all(last < start or end < first for start, end in spans)
            )
            track = next(free, len(taken))
            if track == len(taken):
                taken.append([])
            taken[track].append((first, last))
            tracks[number] = track
    return tracks


def _gaps(legs: Sequence[Leg], words: Sequence[str], straight: dict[int, int], count: int) -> list[int]:
    """Return the room right of each tensor: as much as the words there need."""
    gaps = [GAP] * count
    for number, leg in enumerate(legs):
        is_across = len(set(leg.ends)) > 1 and not leg.is_open
        if number in straight or is_across:
            gaps[leg.ends[0]] = max(gaps[leg.ends[0]], pixels(words[number]) + 3 * PAD)
    return gaps


def _rows(
    position: int,
    legs: Sequence[Leg],
    words: Sequence[str],
    straight: dict[int, int],
    tracks: dict[int, int],
) -> Rows:
    """Return the ends of legs above and below a tensor, each with the room that its word needs.

    Those above are in the order of the text. Those below are in the one that crosses fewest legs.
    """
    above: Row = []
    below: Row = []
    for number, leg in enumerate(legs):
        for which, end in enumerate(leg.ends):
            if end == position and number not in straight:
                room = pixels(words[number]) + PAD if _has_word(leg, which) else PORT
                (above if leg.is_open else below).append(((number, which), room))
    below.sort(key=lambda port: _side(position, legs[port[0][0]], tracks.get(port[0][0], 0)))
    return above, below


def _side(position: int, leg: Leg, track: int) -> tuple[int, int]:
    """Return the rank of a leg below a tensor: what comes from the left, what stays or passes, what leaves to
    the right; and so that of two that come, or leave, the shorter one is inside the longer one.
    """
    first, last = leg.ends[0], leg.ends[-1]
    if first < position == last:
        return 0, track
    return (2, -track) if first == position < last else (1, 0)


def _set_ports(place: Place, rows: Rows, title: tuple[str, str]) -> None:
    """Set a tensor's width and the ports of its legs."""
    least = max(64, max(pixels(line) for line in title) + 2 * PAD)
    place.wide = max(least, *(sum(room for _, room in row) + PAD for row in rows))
    for row in rows:
        spare = (place.wide - sum(room for _, room in row)) / (len(row) + 1)
        x = place.left + spare
        for key, room in row:
            place.ports[key] = round(x + room / 2)
            x += room + spare


def _has_word(leg: Leg, which: int) -> bool:
    """Whether a leg's word stands at this end: at the tip of an open leg, below one that only this tensor
    has, and between the first two ends of one that a tensor has several times.
    """
    return which == 0 if leg.is_open else len(set(leg.ends)) == 1 and which <= 1
