"""A sheet that shapes and words are put on, and its SVG.

Coordinates are whole numbers, so that equal data give equal bytes. Classes and ids begin with a checksum of
what is drawn, so that several pictures stand in one page without touching each other. Colours come in two
sets, for light and dark; what tells things apart is never the colour alone.
"""

from __future__ import annotations

from math import log2
from zlib import crc32

from nameexpr.pictures.words import escaped, flat, pixels, short

MARGIN = 16
TITLE = 14
TITLE_COLUMNS = 76
LEAST_WIDTH = 300
THICKEST = 8.0
FONT = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"
_COLOURS = {  # on light pages, and on dark ones
    "back": ("#ffffff", "#14181d"),
    "ink": ("#1b1f24", "#e6edf3"),
    "muted": ("#57606a", "#a3afbb"),
    "box": ("#eef2f7", "#232b34"),
    "edge": ("#5b6b7c", "#8b9bab"),
    "open": ("#0a5bb5", "#79c0ff"),
    "gone": ("#a84b00", "#ffa657"),
    "limit": ("#b00020", "#ff7b72"),
}
_RULES = """
.{p} text{{font-family:{font};fill:{ink}}}
.{p} .{p}-muted{{fill:{muted}}}
.{p} .{p}-strong{{font-weight:bold}}
.{p}-back{{fill:{back}}}
.{p}-box{{fill:{box};stroke:{edge}}}
.{p}-held{{fill:{back};stroke:{edge};stroke-dasharray:4 3}}
.{p}-result{{fill:{box};stroke:{open};stroke-width:2.5}}
.{p}-side{{fill:{back};stroke:{edge}}}
.{p}-frame{{fill:none;stroke:{edge};stroke-dasharray:1 3}}
.{p}-line{{fill:none;stroke:{edge}}}
.{p}-thin{{fill:none;stroke:{edge};stroke-width:.5}}
.{p}-open{{fill:none;stroke:{open}}}
.{p}-tip{{fill:{open};stroke:none}}
.{p}-gone{{fill:none;stroke:{gone};stroke-dasharray:8 4}}
.{p}-dot{{fill:{gone};stroke:none}}
.{p}-bar{{fill:none;stroke:{gone};stroke-width:2}}
.{p}-kept{{fill:{open};stroke:{open}}}
.{p}-passing{{fill:url(#{p}-stripes);stroke:{gone}}}
.{p}-given{{fill:url(#{p}-dots);stroke:{edge}}}
.{p}-limit{{fill:none;stroke:{limit};stroke-width:2;stroke-dasharray:2 3}}
.{p} .{p}-over{{fill:{limit};font-weight:bold}}
.{p}-stripe{{fill:none;stroke:{gone};stroke-width:2}}
.{p}-speck{{fill:{edge};stroke:none}}
"""
_SIZE = 'width="6" height="6" patternUnits="userSpaceOnUse"'
_PATTERNS = (  # the fillings that tell bars apart without colour
    f'<defs><pattern id="{{p}}-stripes" {_SIZE}><path class="{{p}}-stripe" d="M-1 7L7 -1"/></pattern>'
    f'<pattern id="{{p}}-dots" {_SIZE}><circle class="{{p}}-speck" cx="3" cy="3" r="1"/></pattern></defs>'
)


class Picture(str):
    """An SVG document: a str to be written to a file, which notebooks show as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        """Return the document itself, for notebooks."""
        return str(self)


class Sheet:
    """Shapes and words, in order; `svg` writes them.

    The repr of `data` decides the names of classes. The heading says `what` of `title` it is, and nothing
    where there is no title; `description` is for who cannot see it.
    """

    def __init__(self, data: object, what: str, title: str, description: str) -> None:
        self.prefix = f"ne{crc32(repr(data).encode('utf-8', 'backslashreplace')):08x}"
        title = f"{what} of {title}" if title and what else title
        self._title, self._description = flat(title), flat(description)
        self._parts: list[str] = []
        self._right = 0
        self._bottom = 0
        self.needs_patterns = False
        self.heading = short(title, TITLE_COLUMNS)
        if self.heading:
            self.text(MARGIN, MARGIN + TITLE, self.heading, "strong", "start", TITLE)

    @property
    def top(self) -> int:
        """Where there is room below the heading."""
        return MARGIN + (TITLE + 14 if self.heading else 0)

    def text(
        self, x: float, y: float, words: str, kind: str = "", anchor: str = "middle", size: int = 12
    ) -> None:
        """Put a line of text, already shortened, with its baseline at `y`."""
        long = pixels(words, size)
        # A font for other scripts is as wide as it likes: it is told how wide to be.
        told = "" if words.isascii() else f' textLength="{long}" lengthAdjust="spacingAndGlyphs"'
        name = f' class="{self.prefix}-{kind}"' if kind else ""
        place = f'x="{round(x)}" y="{round(y)}" font-size="{size}" text-anchor="{anchor}"'
        self._parts.append(f"<text{name} {place}{told}>{escaped(words)}</text>")
        left = {"middle": x - long / 2, "start": x, "end": x - long}[anchor]
        self.reaches(left + long, y + size * 0.3)

    def rect(self, x: float, y: float, wide: float, high: float, kind: str, corner: int = 5) -> None:
        """Put a rectangle."""
        place = f'x="{round(x)}" y="{round(y)}" width="{round(wide)}" height="{round(high)}"'
        self._parts.append(f'<rect class="{self.prefix}-{kind}" {place} rx="{corner}"/>')
        self.reaches(x + wide, y + high)

    def path(self, shape: str, kind: str, thick: float | None = None) -> None:
        """Put a line, by SVG's path commands in whole numbers; `thick` is its width if its class has none."""
        width = "" if thick is None else f' stroke-width="{thick:g}"'
        self._parts.append(f'<path class="{self.prefix}-{kind}" d="{shape}"{width}/>')

    def circle(self, x: float, y: float, radius: int, kind: str) -> None:
        """Put a circle."""
        self._parts.append(
            f'<circle class="{self.prefix}-{kind}" cx="{round(x)}" cy="{round(y)}" r="{radius}"/>'
        )
        self.reaches(x + radius, y + radius)

    def begin(self, title: str) -> None:
        """Open a group, which says this when it is pointed at."""
        self._parts.append(f"<g><title>{escaped(flat(title))}</title>")

    def end(self) -> None:
        """Close the group."""
        self._parts.append("</g>")

    def reaches(self, x: float, y: float) -> None:
        """Make the sheet at least so large."""
        self._right, self._bottom = max(self._right, round(x + 0.5)), max(self._bottom, round(y + 0.5))

    def svg(self) -> Picture:
        """Write the document."""
        p, wide, high = self.prefix, max(LEAST_WIDTH, self._right + MARGIN), self._bottom + MARGIN
        light, dark = (
            _RULES.format(p=p, font=FONT, **{name: pair[page] for name, pair in _COLOURS.items()})
            for page in (0, 1)
        )
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{p}" width="{wide}" height="{high}" '
            f'viewBox="0 0 {wide} {high}" role="img" aria-labelledby="{p}-title {p}-desc">'
        )
        lines = [
            head,
            f'<title id="{p}-title">{escaped(self._title)}</title>',
            f'<desc id="{p}-desc">{escaped(self._description)}</desc>',
            f"<style>{light}@media (prefers-color-scheme:dark){{{dark}}}\n</style>",
            *([_PATTERNS.format(p=p)] if self.needs_patterns else []),
            f'<rect class="{p}-back" width="{wide}" height="{high}" rx="6"/>',
            *self._parts,
            "</svg>",
        ]
        return Picture("\n".join(lines) + "\n")


def thickness(size: int) -> float:
    """Compute the width of a line for a size, in pixels: half a pixel more for every doubling."""
    return min(THICKEST, round(1 + log2(max(1, size)) / 2, 1))
