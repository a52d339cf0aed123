"""Text in markup, and the str that is a picture."""

from __future__ import annotations

import copy
import pickle
import re
import struct
import sys
import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import nameexpr as ne
from nameexpr.pictures.files import Picture
from nameexpr.pictures.sheet import Move, Sheet
from nameexpr.pictures.words import escaped
from tools.pictures.text import HOSTILE, faults


@pytest.mark.slow
def test_every_character_comes_out_harmless_in_text_and_in_attributes() -> None:
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    safe = escaped(everything)
    safe.encode("utf-8")
    element = ElementTree.fromstring(f'<a b="{safe}">{safe}</a>')
    assert element.text == element.get("b", "").replace(" \\x0b", "\n\\x0b", 1)
    assert all(one.isprintable() or one == "\n" for one in safe)
    assert not set("<>\"'") & set(safe)


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_is_shown_as_it_was_written(text: str) -> None:
    element = ElementTree.fromstring(f"<a>{escaped(text)}</a>")
    assert len(element) == 0
    if text.isprintable():
        assert element.text == text


def test_a_picture_is_a_str_that_notebooks_show() -> None:
    picture = Picture("<svg/>")
    assert isinstance(picture, str)
    assert picture == "<svg/>" == picture._repr_svg_()
    assert type(picture._repr_svg_()) is str
    assert pickle.loads(pickle.dumps(picture)) == picture


PLAN = ne.compile("a b, b c -> a c").plan((2, 3), (3, 4))


@pytest.mark.parametrize("kind", ["network", "tree", "memory"])
def test_a_picture_is_saved_as_its_suffix_asks(kind: Any, tmp_path: Path) -> None:
    picture = PLAN.draw(kind)
    for name, start in (("a.svg", b"<svg "), ("b.PNG", b"\x89PNG\r\n"), ("c.pdf", b"%PDF-")):
        picture.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    picture.save(str(tmp_path / "a.svg"))
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == picture
    assert len(list(tmp_path.iterdir())) == 3


def test_a_saved_png_has_colours_and_words(tmp_path: Path) -> None:
    for twin in (PLAN.draw(), pickle.loads(pickle.dumps(PLAN.draw())), copy.copy(PLAN.draw())):
        wide, high, pixels = pixels_of(twin.content(".png"))
        assert (wide, high) == tuple(
            2 * int(number) for number in re.findall(r'(?:width|height)="(\d+)"', twin)[:2]
        )
        corner, colours = (
            pixels[wide * 4 * (high // 2) + 8 :][:4],
            {pixels[i : i + 3] for i in range(0, len(pixels), 4)},
        )
        assert corner == b"\xff\xff\xff\xff", "white, also for programs that show transparent as black"
        assert {bytes.fromhex("1f78c8"), bytes.fromhex("c8641e"), bytes.fromhex("1b1f24")} <= colours


def pixels_of(png: bytes) -> tuple[int, int, bytes]:
    """Return the width and height of a PNG of eight bits RGBA, and its bytes without filters."""
    place, packed = 8, b""
    wide = high = 0
    while place < len(png):
        (length,), kind = struct.unpack(">I", png[place : place + 4]), png[place + 4 : place + 8]
        content = png[place + 8 : place + 8 + length]
        if kind == b"IHDR":
            wide, high, depth, colour = struct.unpack(">IIBB", content[:10])
            assert (depth, colour) == (8, 6)
        packed += content if kind == b"IDAT" else b""
        place += 12 + length
    raw, before, lines = zlib.decompress(packed), bytearray(4 * wide), []
    for row in range(high):
        start = row * (4 * wide + 1)
        line = bytearray(raw[start + 1 : start + 1 + 4 * wide])
        for at in range(4 * wide):
            left, up, corner = (line[at - 4], before[at], before[at - 4]) if at >= 4 else (0, before[at], 0)
            guess = left + up - corner
            nearest = min((abs(guess - one), order, one) for order, one in enumerate((left, up, corner)))[2]
            line[at] = (line[at] + (0, left, up, (left + up) // 2, nearest)[raw[start]]) % 256
        lines.append(bytes(line))
        before = line
    return wide, high, b"".join(lines)


@pytest.mark.parametrize("name", ["a.gif", "a", "svg", ".svg.txt"])
def test_another_suffix_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ne.NameExprError, match=r"NE625.*\n.*\.svg, \.png or \.pdf"):
        PLAN.draw().save(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a.png", "a.pdf"])
def test_the_extra_is_named_where_it_is_not_installed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(ne.NameExprError, match=r"NE686.*\n.*nameexpr\[pictures\]"):
        PLAN.draw().save(tmp_path / name)
    PLAN.draw().save(tmp_path / "a.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["a.svg"]


@pytest.mark.parametrize(
    "moves",
    [
        [("M", 10.0, 50.0), ("Q", -300.0, 60.0, 10.0, 70.0)],
        [("M", 10.0, 50.0), ("Q", 20.0, 900.0, 60.0, 70.0)],
        [("M", 10.0, 50.0), ("Q", 2000.0, -900.0, 60.0, 70.0)],
        [("M", 10.0, 50.0), ("C", -200.0, 60.0, 900.0, 700.0, 60.0, 70.0)],
        [("M", -30.0, 50.0), ("H", 700.0), ("V", -90.0), ("L", 5.0, 800.0), ("Z",)],
    ],
)
def test_the_view_has_all_of_a_line(moves: list[Move]) -> None:
    sheet = Sheet("", "", "", "")
    sheet.path(moves, "line", 6)
    assert faults(sheet.svg()) == []
