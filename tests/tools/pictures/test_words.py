"""Widths, shortened names, counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nameexpr.pictures.words import bytes_text, counted, flat, flops_text, pixels, short
from tools.pictures.text import HOSTILE, columns


@given(st.text(max_size=200), st.integers(12, 60))
def test_a_shortened_text_fits_and_is_on_one_line(text: str, most: int) -> None:
    shown = short(text, most)
    assert columns(shown) <= most
    assert len(shown) <= 3 * most + 1
    assert all(one.isprintable() for one in shown)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_shortened_too(text: str) -> None:
    assert columns(short(text, 20)) <= 20


def test_a_text_that_fits_stays_as_it_is() -> None:
    assert short("batch chan -> batch", 19) == "batch chan -> batch"
    assert short("batch chan -> batch", 18) != "batch chan -> batch"


def test_long_words_are_shortened_before_short_ones_are_left_out() -> None:
    assert short("N " + "x" * 300 + " C", 40) == "N xxxxxxxx…xxxx C"


def test_names_that_differ_at_the_end_stay_apart() -> None:
    assert short("channel_of_the_left_image_a", 20) != short("channel_of_the_left_image_b", 20)


def test_lines_become_one_line() -> None:
    assert flat(" y = x\n\n  z = y ") == "y = x; z = y"


def test_wide_characters_take_two_columns() -> None:
    assert pixels("字") == pixels("ab")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (99_999, "99,999"),
        (100_000, "100 k"),
        (999_499, "999 k"),
        (999_999, "999 k"),
        (1_000_000, "1 M"),
        (1_234_567_890, "1.23 G"),
        (5 * 10**14, "500 T"),
        (999_999_999_999_999, "999 T"),
        (10**15, "10^15"),
        (123 * 10**30, "1.23 × 10^32"),
        (10**400, "10^400"),
    ],
)
def test_counts_are_short(value: int, text: str) -> None:
    assert counted(value) == text


def test_units_follow_their_letter() -> None:
    assert (bytes_text(64), bytes_text(10**6)) == ("64 B", "1 MB")
    assert (flops_text(48), flops_text(10**9)) == ("48 flops", "1 Gflops")
