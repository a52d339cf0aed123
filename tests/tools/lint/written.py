"""Texts written into Python files in every style there is, with the place of one piece kept on the way.

The places are counted on the file as it grows, by nothing of the package.
"""

from __future__ import annotations

import random
import unicodedata
from itertools import pairwise
from typing import NamedTuple

PIECE = "maen"
"""The mistake: a reducer that nobody has."""
NAMES = ["a", "batch", "C2", "é", "höhe", "Ω", "seq'", "ж", "名前", "x_1"]
STYLES = ["'", '"', "'''", '"""']


class Written(NamedTuple):
    """A file, and where the piece begins and ends in it: lines and columns from 1."""

    file: str
    start: tuple[int, int]
    end: tuple[int, int]
    is_plain: bool


class _File:
    def __init__(self) -> None:
        self.text = ""

    def put(self, text: str) -> None:
        self.text += text

    def place(self) -> tuple[int, int]:
        return self.text.count("\n") + 1, len(self.text) - self.text.rfind("\n")


def random_text(rng: random.Random) -> str:
    """Return an expression over several lines whose only mistake is its reducer, `PIECE`."""
    names = rng.sample(NAMES, rng.randint(1, 5))
    blank = [" ", "  ", "\t ", "\n", " # why\n  "]
    term = rng.choice(blank).join(names)
    tail = rng.choice(["", " ", "\n", "  # end"])
    return (
        f"{rng.choice(['', *blank])}{term}{rng.choice(blank)}->{rng.choice(blank)}{names[0]} : {PIECE}{tail}"
    )


def written(rng: random.Random) -> Written:
    """Return a file with one call of `einsum` that is given a random text."""
    text, file = random_text(rng), _File()
    file.put(rng.choice(["import nameexpr as ne\n", "'é𝒳'\nimport nameexpr as ne\n\n"]))
    indent = rng.choice(["", "if 1:\n\t", "def f():\n    é = '名前'; "])
    file.put(indent + rng.choice(["ne.einsum(", "y = (ne . einsum( # 'é'\n  ", "ne.einsum('''''' "]))
    start = text.index(PIECE)
    places = _pieces(rng, file, text, {start: "start", start + len(PIECE): "end"})
    file.put(", x)" + (")" if "y = (" in file.text else "") + "\n")
    first, last = places["start"], places["end"]
    lines = file.text.split("\n")
    is_plain = first[0] == last[0] and lines[first[0] - 1][first[1] - 1 : last[1] - 1] == PIECE
    return Written(file.text, first, last, is_plain)


def _pieces(rng: random.Random, file: _File, text: str, wanted: dict[int, str]) -> dict[str, tuple[int, int]]:
    """Write the text as one or more strings, and return the places of the characters that are wanted.

    The end of the piece is the place behind its last character, even if another string goes on after it.
    """
    cuts = sorted({0, len(text), *(rng.randrange(len(text) + 1) for _ in range(rng.choice([0, 0, 1, 3])))})
    places: dict[str, tuple[int, int]] = {}
    for start, end in pairwise(cuts):
        if start:
            file.put(rng.choice([" ", "\n    ", "  # 'c'\n ", " \\\n"]))
        quote = rng.choice(STYLES)
        is_raw = rng.random() < 0.3 and "\n" not in text[start:end]
        is_raw = is_raw and quote[0] not in text[start:end]
        file.put(rng.choice(["r", "R"] if is_raw else ["", "", "u", "U"]) + quote)
        for place in range(start, end):
            if wanted.get(place) == "start":
                places["start"] = file.place()
            file.put(text[place] if is_raw else _character(rng, text[place], quote))
            if wanted.get(place + 1) == "end":
                places["end"] = file.place()
        file.put(quote)
    return places


def _character(rng: random.Random, character: str, quote: str) -> str:
    """Return one of the ways to write a character."""
    code, ways = ord(character), []
    if character == "\n":
        ways = [r"\n", r"\x0a", r"\012", *(["\n"] * 3 if len(quote) == 3 else [])]
    elif character == "'" and "'" in quote:
        ways = [r"\'", r"\x27"]
    else:
        ways = [character] * 12
        ways += [f"\\x{code:02x}", f"\\{code:03o}"] if code < 256 else []
        ways += [f"\\u{code:04x}"] if code < 65536 else []
        ways += [f"\\U{code:08X}"]
        ways += [f"\\N{{{unicodedata.name(character)}}}"] if unicodedata.name(character, "") else []
    return rng.choice(ways)
