"""Names are Python identifiers, normalised as Python does; what looks alike is told apart or rejected."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nameexpr as ne
from nameexpr.dims import normalised
from nameexpr.errors import ParseError
from nameexpr.syntax.ast import Label
from nameexpr.syntax.lexer.names import check_names
from nameexpr.syntax.parser.expression import parse


def code_of(text: str) -> str:
    try:
        parse(text)
    except ParseError as fault:
        return fault.code
    return ""


@settings(max_examples=500)
@given(st.text(st.characters(exclude_characters="#"), min_size=1, max_size=4))
def test_names_are_pythons_identifiers(name: str) -> None:
    if name.isidentifier() and name != "_":
        (term,) = parse(name).inputs
        assert term.items == (Label(unicodedata.normalize("NFKC", name)),)
    elif not name.isascii() and not any(character.isspace() for character in name):
        assert code_of(name) or not name.rstrip("'").isidentifier() or name.endswith("'")


def test_a_superscript_is_no_number_that_is_too_long() -> None:
    assert code_of("batch channel, channel ¹ -> batch ¹") == "NE111"


@pytest.mark.parametrize("name", ["seq'", "x''", "é'", "温度'''"])
def test_primes_may_follow_a_name(name: str) -> None:
    assert parse(name).inputs[0].items == (Label(name),)


@pytest.mark.parametrize(
    ("text", "start", "hint"),
    [
        ("a → b", 2, "->"),
        ("a ⇒ b", 2, "->"),
        ("a → b, c", 2, "->"),
        ("… a", 0, "..."),
        ("a×b", 1, "(h w)"),
        ("seq′", 3, "seq'"),
        ("a，b", 1, "comma"),
        ("C＝3", 1, "equals"),
        ("a −> b", 2, "->"),
        ("a —> b", 2, "->"),
        ("a\u200bb", 1, "zero-width"),
        ("\ufeffa", 0, "byte order mark"),
        ("a½", 1, "letters"),
        ("²a", 0, "letters"),
        ("\U0001f408", 0, "letters"),
    ],
)
def test_a_character_that_no_name_holds_is_marked_with_what_was_meant(
    text: str, start: int, hint: str
) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert caught.value.code == "NE111"
    assert [(span.start, span.end) for span in caught.value.spans] == [(start, start + 1)]
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    "text", ["ﬁ fi", "fi ﬁ", "K \u212a", "é e\u0301", "𝐚 a", "ﬁ, b -> fi", "𝐚... 𝑎...", "𝐚=3 a", "x=𝐚 a"]
)
def test_two_spellings_of_one_name_are_refused(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert caught.value.code == "NE112"
    first, second = (text[span.start : span.end] for span in caught.value.spans)
    assert first != second and normalised(first.rstrip(".")) == normalised(second.rstrip("."))


def test_letters_that_only_look_alike_are_different_names() -> None:
    cyrillic = "\u0430"
    assert parse(f"a {cyrillic}").inputs[0].items == (Label("a"), Label(cyrillic))


def test_comments_may_hold_anything() -> None:
    check_names("a # → × ﬁ fi \u200b\n -> a")
    assert parse("fi # ﬁ → (\n").inputs[0].items == (Label("fi"),)


def test_a_size_keyword_is_normalised_like_the_text() -> None:
    assert ne.einsum("a -> a ﬁ", np.ones(2), fi=3).shape == (2, 3)
    assert ne.einsum("a -> a fi", np.ones(2), sizes={"ﬁ": 3}).shape == (2, 3)
