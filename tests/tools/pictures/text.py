"""What the tests of pictures read from SVG: where words are, whether they meet, and what a reader hears.

Widths are estimated here anew: 0.61 of the font's size for a column, two columns for a wide character.
"""

from __future__ import annotations

import unicodedata
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
    """Return what is wrong with a picture: words that meet or are outside, characters that may harm."""
    root = ElementTree.fromstring(picture)
    _, _, wide, high = map(float, root.get("viewBox", "").split())
    found = [f"{one!r} is outside" for one in words(picture) if not _is_inside(one, wide, high)]
    there = words(picture)
    for place, one in enumerate(there):
        for other in there[place + 1 :]:
            apart = one.right <= other.left or other.right <= one.left
            if not (apart or one.bottom <= other.top or other.bottom <= one.top):
                found.append(f"{one.text!r} and {other.text!r} meet")
    found += [f"{one!r} is shown" for one in set(picture) if one != "\n" and not one.isprintable()]
    return found


def _is_inside(word: Word, wide: float, high: float) -> bool:
    return min(word.left, word.top) >= 0 and word.right <= wide and word.bottom <= high


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
