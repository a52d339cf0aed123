"""What the tests of pictures read from SVG: where words are, whether they meet, and what a reader hears.

Widths are estimated here again: 0.61 of the font's size for a column, two columns for a wide character.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>alert(1)</script>",
    "]]>&amp;<!--",
    "\"'>",
    "\x1b[31mred\x07",
    "\u202eabc\u2066",
    "\ud800\ufffe\x00",
    "end",
    "a\nb",
    "x" * 300,
    "字幕" * 200,
    "\\",
    '\\"',
    "%%{init: {}}%%",
    "`**b**`",
    "#quot;",
)


class Word(NamedTuple):
    """A line of text in a picture: its box and what it says."""

    left: float
    right: float
    top: float
    bottom: float
    text: str


def columns(text: str) -> int:
    """Return how many columns a text takes."""
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1
        for one in text
    )


def words(picture: str) -> list[Word]:
    """Return the lines of text of a picture."""
    found = []
    for element in ElementTree.fromstring(picture).iter(f"{SVG}text"):
        size, x, y = (float(element.get(key, "nan")) for key in ("font-size", "x", "y"))
        text = element.text or ""
        wide = columns(text) * size * 0.61
        left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[element.get("text-anchor", "")]
        found.append(Word(left, left + wide, y - 0.75 * size, y + 0.2 * size, text))
    return found


def faults(picture: str) -> list[str]:
    """Return what is wrong with a picture: words that meet, things outside, characters that may harm."""
    root = ElementTree.fromstring(picture)
    left, top, wide, high = map(float, root.get("viewBox", "").split())
    places = [(one.text, (one.left, one.top, one.right, one.bottom)) for one in words(picture)]
    found = [
        f"{what!r} at {area} is outside"
        for what, area in [*places, *shapes(root)]
        if area[0] < left or area[1] < top or area[2] > left + wide or area[3] > top + high
    ]
    there = words(picture)
    for place, one in enumerate(there):
        for other in there[place + 1 :]:
            apart = one.right <= other.left or other.right <= one.left
            if not (apart or one.bottom <= other.top or other.bottom <= one.top):
                found.append(f"{one.text!r} and {other.text!r} meet")
    found += [f"{one!r} is shown" for one in set(picture) if one != "\n" and not one.isprintable()]
    return found


def shapes(root: ElementTree.Element) -> Iterator[tuple[str, tuple[float, float, float, float]]]:
    """Yield every shape that is drawn with its area, half of its line's width included."""
    hidden = {part for kind in ("defs", "mask") for one in root.iter(SVG + kind) for part in one.iter()}
    for element in root.iter():
        if element in hidden:
            continue
        x, y, wide, high, r = (float(element.get(key, "0")) for key in ("x", "y", "width", "height", "r"))
        half = float(element.get("stroke-width", "1")) / 2
        name = element.tag.removeprefix(SVG)
        if name == "rect":
            half = 0 if element.get("class", "").endswith("-back") else half
            yield name, (x - half, y - half, x + wide + half, y + high + half)
        elif name == "circle":
            x, y = float(element.get("cx", "nan")), float(element.get("cy", "nan"))
            yield name, (x - r, y - r, x + r, y + r)
        elif name == "path":
            across, down = _points(element.get("d", ""))
            yield name, (min(across) - half, min(down) - half, max(across) + half, max(down) + half)


def _points(path: str) -> tuple[list[float], list[float]]:
    """Return the x and the y of points along a path of absolute commands."""
    across, down = [0.0], [0.0]
    parts = re.findall(r"([A-Z])([^A-Z]*)", path)
    assert "".join(map("".join, parts)) == path
    for name, text in parts:
        numbers = list(map(float, text.split()))
        if name == "H":
            numbers.append(down[-1])
        elif name == "V":
            numbers.insert(0, across[-1])
        assert name in "MLHVCQZ"
        for values, own in ((across, numbers[::2]), (down, numbers[1::2])):
            values += _along([values[-1], *own]) if name in "CQ" else own
    return across[1:], down[1:]


def _along(controls: list[float]) -> list[float]:
    """Return an axis of a Bezier curve at 41 points, by de Casteljau's rule."""
    found = []
    for step in range(41):
        values = controls
        while len(values) > 1:
            values = [a + (b - a) * step / 40 for a, b in pairwise(values)]
        found += values
    return found


def described(picture: str) -> str:
    """Return what a screen reader is told."""
    root = ElementTree.fromstring(picture)
    assert root.get("role") == "img"
    title, desc = (root.find(f"{SVG}{part}") for part in ("title", "desc"))
    assert title is not None
    assert desc is not None
    assert root.get("aria-labelledby") == f"{title.get('id')} {desc.get('id')}"
    return f"{title.text}\n{desc.text}"


def kinds(picture: str) -> list[str]:
    """Return the classes of all shapes, without the prefix that is the picture's own."""
    root = ElementTree.fromstring(picture)
    prefix = root.get("class", "")
    names = [element.get("class", "") for element in root.iter() if element is not root]
    assert all(name.startswith(f"{prefix}-") for name in names if name)
    return [name.removeprefix(f"{prefix}-") for name in names if name]
