"""A sheet of shapes and words, and its SVG.

Coordinates are whole numbers, so that equal data give equal bytes; the viewBox contains every shape and every
word. Classes and ids begin with a checksum of the data, so that several pictures can be part of one page
without affecting each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log2
from typing import TypeAlias
from zlib import crc32

from nameexpr.pictures.colours import PLAIN, RULES, style
from nameexpr.pictures.files import Picture
from nameexpr.pictures.words import escaped, flat, pixels, short

MARGIN = 16
TITLE = 14
TITLE_COLUMNS = 76
LEAST_WIDTH = 300
THICKEST = 8.0
Move: TypeAlias = tuple[str, *tuple[float, ...]]
"""A command of a path with its numbers: `("M", x, y)`, `("H", x)`. All of them are absolute."""
Area: TypeAlias = tuple[float, float, float, float]
"""Left, top, right and bottom."""
_SIZE = 'width="6" height="6" patternUnits="userSpaceOnUse"'
_PATTERNS = (  # the fillings that distinguish bars without colour
    f'<defs><pattern id="{{p}}-stripes" {_SIZE}><path class="{{p}}-stripe" d="M-1 7L7 -1"/></pattern>'
    f'<pattern id="{{p}}-dots" {_SIZE}><circle class="{{p}}-speck" cx="3" cy="3" r="1"/></pattern></defs>'
)


class Sheet:
    """Shapes and words, in order; `svg` writes them.

    The repr of `data` determines the names of classes. The heading is `what` of `title`, and empty without a
    title; `description` is for screen readers.
    """

    def __init__(self, data: object, what: str, title: str, description: str) -> None:
        self.prefix = f"ne{crc32(repr(data).encode('utf-8', 'backslashreplace')):08x}"
        title = f"{what} of {title}" if title and what else title
        self._title, self._description = flat(title), flat(description)
        self._parts: list[str] = []
        self._area: Area = (0, 0, LEAST_WIDTH - MARGIN, 0)
        self.needs_patterns = False
        self.heading = short(title, TITLE_COLUMNS)
        if self.heading:
            self.text(MARGIN, MARGIN + TITLE, self.heading, "strong", "start", TITLE)

    @property
    def bottom(self) -> float:
        """The lowest point of all shapes."""
        return self._area[3]

    @property
    def top(self) -> int:
        """The y below the heading."""
        return MARGIN + (TITLE + 14 if self.heading else 0)

    def text(
        self, x: float, y: float, words: str, kind: str = "", anchor: str = "middle", size: int = 12
    ) -> None:
        """Add a line of text, already shortened, with its baseline at `y`."""
        long = pixels(words, size)
        # Fonts for other scripts vary in width: the width is set explicitly.
        told = "" if words.isascii() else f' textLength="{long}" lengthAdjust="spacingAndGlyphs"'
        name = f' class="{self.prefix}-{kind}"' if kind else ""
        place = f'x="{round(x)}" y="{round(y)}" font-size="{size}" text-anchor="{anchor}"'
        self._parts.append(f"<text{name} {place}{told}>{escaped(words)}</text>")
        left = {"middle": x - long / 2, "start": x, "end": x - long}[anchor]
        self.reaches(left, y - size, left + long, y + size * 0.3)

    def rect(
        self, x: float, y: float, wide: float, high: float, kind: str, corner: int = 5, shade: float = 0
    ) -> None:
        """Add a rectangle; `shade` is the intensity of a "heat" fill."""
        place = f'x="{round(x)}" y="{round(y)}" width="{round(wide)}" height="{round(high)}"'
        filled = f' fill-opacity="{shade:.2f}"' if shade else ""
        self._parts.append(f'<rect class="{self.prefix}-{kind}" {place} rx="{corner}"{filled}/>')
        self.reaches(x, y, x + wide, y + high)

    def path(self, moves: Sequence[Move], kind: str, thick: float | None = None, strong: float = 1) -> None:
        """Add a line; `thick` is its width if its class has none, `strong` its opacity."""
        shape = "".join(name + " ".join(str(round(number)) for number in place) for name, *place in moves)
        width = "" if thick is None else f' stroke-width="{thick:g}"'
        faded = "" if strong == 1 else f' stroke-opacity="{strong:.2f}"'
        self._parts.append(f'<path class="{self.prefix}-{kind}" d="{shape}"{width}{faded}/>')
        half = (thick or 2) / 2
        for x, y in _corners(moves):
            self.reaches(x - half, y - half, x + half, y + half)

    def circle(self, x: float, y: float, radius: int, kind: str) -> None:
        """Add a circle."""
        self._parts.append(
            f'<circle class="{self.prefix}-{kind}" cx="{round(x)}" cy="{round(y)}" r="{radius}"/>'
        )
        self.reaches(x - radius, y - radius, x + radius, y + radius)

    def begin(self, title: str) -> None:
        """Open a group with this tooltip."""
        self._parts.append(f"<g><title>{escaped(flat(title))}</title>")

    def begin_spared(self, areas: Sequence[Area], whole: Area) -> None:
        """Open a group whose lines leave out these areas, so that words are readable on any background."""
        p, box = self.prefix, _box(whole)
        holes = "".join(f'<rect {_box(area)} fill="#000"/>' for area in areas)
        self._parts.append(
            f'<mask id="{p}-spared" maskUnits="userSpaceOnUse" {box}><rect {box} fill="#fff"/>{holes}</mask>'
            f'<g mask="url(#{p}-spared)">'
        )

    def end(self) -> None:
        """Close the group."""
        self._parts.append("</g>")

    def reaches(self, left: float, top: float, right: float, bottom: float) -> None:
        """Extend the sheet to contain this area."""
        own = self._area
        self._area = (min(own[0], left), min(own[1], top), max(own[2], right), max(own[3], bottom))

    def svg(self) -> Picture:
        """Return the document."""
        p, (left, top, right, bottom) = self.prefix, self._area
        x, y = round(left - 0.5) - (MARGIN if left < 0 else 0), round(top - 0.5)
        wide, high = round(right + 0.5) + MARGIN - x, round(bottom + 0.5) + MARGIN - y
        box = f'width="{wide}" height="{high}"'
        head = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{p}" {box} '
            f'viewBox="{x} {y} {wide} {high}" role="img" aria-labelledby="{p}-title {p}-desc">',
            f'<title id="{p}-title">{escaped(self._title)}</title>',
            f'<desc id="{p}-desc">{escaped(self._description)}</desc>',
            "",
        ]
        back = f'<rect class="{p}-back" x="{x}" y="{y}" {box} rx="6"/>'
        patterns = [_PATTERNS.format(p=p)] if self.needs_patterns else []
        rest = ["", *patterns, back, *self._parts, "</svg>", ""]
        return Picture("\n".join(head), style(p, RULES), style(p, PLAIN), "\n".join(rest))


def _corners(moves: Sequence[Move]) -> Iterator[tuple[float, float]]:
    """Yield points whose hull contains a path."""
    x = y = 0.0
    for name, *place in moves:
        if name == "Q":  # where it turns, far from its control point
            p, q, a, b = place
            yield _turn(x, p, a), _turn(y, q, b)
        elif name == "C":
            yield from zip(place[::2], place[1::2], strict=True)
        if name != "Z":
            x = x if name == "V" else place[0] if name == "H" else place[-2]
            y = y if name == "H" else place[-1]
        yield x, y


def _turn(start: float, control: float, end: float) -> float:
    """Return the outermost value of a quadratic curve along an axis."""
    bow = start - 2 * control + end
    at = (start - control) / bow if bow else 0
    return start + 2 * at * (control - start) + at * at * bow if 0 < at < 1 else end


def _box(area: Area) -> str:
    left, top, right, bottom = map(round, area)
    return f'x="{left}" y="{top}" width="{right - left}" height="{bottom - top}"'


def thickness(size: int) -> float:
    """Return the width of a line for a size, in pixels: half a pixel more for every doubling."""
    return min(THICKEST, round(1 + log2(max(1, size)) / 2, 1))
