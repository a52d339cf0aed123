"""The picture of memory over time."""

from __future__ import annotations

import re

import pytest

from nameexpr.pictures.data import Memory, Moment
from nameexpr.pictures.memory import SCALE, draw_memory
from tools.pictures.text import HOSTILE, described, faults, kinds, words

MOMENTS = (Moment("1 dot", "a b, b c -> a c", 600, 200), Moment("2 sum", "a c ->", 800, 800, depth=1))


def shown(memory: Memory) -> list[str]:
    """Return the words of a picture."""
    return [word.text for word in words(draw_memory(memory))]


def bars(picture: str, kind: str) -> list[int]:
    """Return the widths of the bars of a kind, the legend's left out."""
    found = re.findall(rf'class="\w+-{kind}" x="\d+" y="\d+" width="(\d+)" height="16"', picture)
    return [int(width) for width in found]


def test_bars_are_as_long_as_their_bytes() -> None:
    picture = draw_memory(Memory("t", 400, MOMENTS, None))
    assert bars(picture, "kept") == [SCALE // 4, SCALE]
    assert bars(picture, "passing") == [SCALE // 2]
    assert bars(picture, "given") == [SCALE // 2]


def test_the_peak_is_said() -> None:
    assert "800 B peak" in shown(Memory("t", 0, MOMENTS, None))
    assert "The peak is 800 bytes" in described(draw_memory(Memory("t", 0, MOMENTS, None)))


def test_the_limit_is_a_line_with_its_bytes() -> None:
    memory = Memory("t", 0, MOMENTS, 1000)
    assert "limit 1,000 B" in shown(memory)
    assert kinds(draw_memory(memory)).count("limit") == 1
    assert "limit" not in kinds(draw_memory(Memory("t", 0, MOMENTS, None)))


def test_a_step_over_the_limit_says_so() -> None:
    assert [text for text in shown(Memory("t", 0, MOMENTS, 700)) if "over" in text] == [
        "800 B over the limit"
    ]


def test_a_limit_far_away_is_said_and_not_drawn() -> None:
    memory = Memory("t", 0, MOMENTS, 10**12)
    assert "limit 1 TB →" in shown(memory)
    assert "limit" not in kinds(draw_memory(memory))


def test_operands_far_larger_than_the_rest_are_cut_off() -> None:
    few, many = draw_memory(Memory("t", 400, MOMENTS, None)), draw_memory(Memory("t", 10**9, MOMENTS, None))
    assert bars(many, "given") == [SCALE]
    assert many.count("<path") > few.count("<path")


@pytest.mark.parametrize("operands", [0, 1, 10**15])
@pytest.mark.parametrize("limit", [None, 0, 1, 10**15])
def test_words_never_meet(operands: int, limit: int | None) -> None:
    assert faults(draw_memory(Memory("t", operands, MOMENTS, limit))) == []
    assert faults(draw_memory(Memory("t", operands, (), limit))) == []


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_harmless(name: str) -> None:
    assert faults(draw_memory(Memory(name, 5, (Moment(name, name, 3, 2, 4),), 6))) == []


def test_the_peak_of_a_timeline_is_looked_for_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    own = Memory.peak.fget  # type: ignore[attr-defined]
    monkeypatch.setattr(Memory, "peak", property(lambda memory: looked.append(1) or own(memory)))
    moments = tuple(Moment(f"{k} add", "i", 8 * k, 8) for k in range(100))
    draw_memory(Memory("", 0, moments, None))
    assert len(looked) < 5
