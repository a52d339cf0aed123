"""Offsets to positions of the protocol and back, with wide characters and all line breaks."""

from __future__ import annotations

import random

import pytest

from nameexpr.lint.source import Source
from nameexpr.lsp.positions import to_offset, to_position

TEXT = "é𝒳a\r\nb\rc𝒳𝒳\n\n名"
CODECS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


@pytest.mark.parametrize("encoding", CODECS)
def test_a_position_leads_back_to_its_offset(encoding: str) -> None:
    source = Source(TEXT)
    for offset in range(len(source.text) + 1):
        assert to_offset(source, *to_position(source, offset, encoding), encoding) == offset


@pytest.mark.parametrize("encoding", CODECS)
def test_columns_are_code_units(encoding: str) -> None:
    rng = random.Random(encoding)
    for _ in range(50):
        line = "".join(rng.choices("aé名𝒳 ", k=rng.randrange(12)))
        units = len(line.encode(CODECS[encoding])) // {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
        source = Source(f"x\n{line}\ny")
        assert to_position(source, 2 + len(line), encoding) == (1, units)


def test_what_is_beyond_an_end_is_that_end() -> None:
    source = Source("ab\né\n")
    places = [(0, 99), (1, 99), (2, 5), (9, 0)]
    assert [to_offset(source, *place) for place in places] == [2, 4, 5, 5]


def test_only_the_line_breaks_of_the_protocol_count() -> None:
    source = Source("a\x0cb\u2028c\r\nd")
    assert to_position(source, 6) == (1, 0)
