"""Text in markup, and the str that is a picture."""

from __future__ import annotations

import pickle
import sys
from xml.etree import ElementTree

import pytest

from nameexpr.pictures.sheet import Picture
from nameexpr.pictures.words import escaped
from tools.pictures.text import HOSTILE


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
