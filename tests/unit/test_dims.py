"""The ground rules of names: match, unify, unify from the right, and what can be a name."""

from __future__ import annotations

import itertools
import keyword
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nameexpr.dims import (
    Clash,
    Dim,
    Names,
    dims_of,
    duplicate,
    find,
    match,
    name_fault,
    names_of,
    nearest_name,
    normalised,
    shape_of,
    unify,
    unify_from_right,
)

name_lists = st.lists(st.sampled_from(["A", "B", "C", None]), max_size=4).map(tuple)


def test_names_match_when_equal_or_when_one_is_none() -> None:
    assert match("N", "N")
    assert match("N", None)
    assert match(None, "N")
    assert match(None, None)
    assert not match("N", "C")


def test_unify_keeps_the_named_side() -> None:
    assert unify("N", None) == unify(None, "N") == unify("N", "N") == "N"
    assert unify(None, None) is None


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [
        (("N", None), (None, "C"), ("N", "C")),
        (("N", "C"), ("C",), ("N", "C")),
        (("C",), ("N", "C"), ("N", "C")),
        ((), ("N",), ("N",)),
        ((None, None), ("N", "C"), ("N", "C")),
        (("N", None), ("N", None), ("N", None)),
        (("N", "C"), ("N",), Clash("mismatch", -1, -1)),
        (("N", "C"), ("A", "C"), Clash("mismatch", -2, -2)),
        (("N", None), ("N",), Clash("misaligned", -2, -1)),
        (("N",), ("N", None), Clash("misaligned", -1, -2)),
        (("A", None, "C"), ("C", None), Clash("misaligned", -1, -2)),
    ],
)
def test_names_unify_from_the_right(left: Names, right: Names, result: Names | Clash) -> None:
    assert unify_from_right(left, right) == result


def _page(left: Names, right: Names) -> Names | None:
    """Apply the rule in the words of PyTorch's page, at every position; None is a refusal."""
    rank = max(len(left), len(right))
    a, b = ((None,) * (rank - len(names)) + names for names in (left, right))
    for x, y in zip(a, b, strict=True):
        if x and y and x != y:
            return None
        if (x and not y and x in right) or (y and not x and y in left):
            return None
    return tuple(x or y for x, y in zip(a, b, strict=True))


def _distinct(names: Names) -> bool:
    return duplicate(names) is None


def test_unify_from_right_is_the_rule_of_the_page_for_all_short_lists() -> None:
    lists = [names for rank in range(4) for names in itertools.product(["A", "B", None], repeat=rank)]
    for left, right in itertools.product(filter(_distinct, lists), repeat=2):
        result = unify_from_right(left, right)
        assert (None if isinstance(result, Clash) else result) == _page(left, right), (left, right)


@given(name_lists.filter(_distinct), name_lists.filter(_distinct))
def test_a_clash_points_at_the_names_it_is_about(left: Names, right: Names) -> None:
    clash = unify_from_right(left, right)
    if not isinstance(clash, Clash):
        return
    a, b = left[clash.left], right[clash.right]
    if clash.kind == "mismatch":
        assert clash.left == clash.right
        assert a != b
        assert None not in (a, b)
    else:
        assert clash.left != clash.right
        assert a == b
        assert a is not None


@given(name_lists.filter(_distinct), name_lists.filter(_distinct))
def test_unify_from_right_does_not_care_about_sides(left: Names, right: Names) -> None:
    one, other = unify_from_right(left, right), unify_from_right(right, left)
    if isinstance(one, Clash):
        assert other == Clash(one.kind, one.right, one.left)
    else:
        assert one == other


def test_find_and_duplicate_give_positions() -> None:
    assert find(("N", None, "C"), "C") == 2
    assert find(("N",), "C") is None
    assert duplicate(("N", None, "C", None, "N", "C")) == ("N", 0, 4)
    assert duplicate(("N", None, None)) is None


def test_dims_come_apart_into_names_and_sizes() -> None:
    dims = dims_of(("N", None), (2, 3))
    assert dims == (Dim("N", 2), Dim(None, 3))
    assert names_of(dims) == ("N", None)
    assert shape_of(dims) == (2, 3)


@pytest.mark.parametrize(
    "name",
    [
        *("N", "x_1", "_a", "__", "class", "None_", "K9", "seq'", "x''", *keyword.kwlist),
        *("é", "größe", "β''", "温度", "कि", "a٣", "ﬁ", "e\u0301"),
    ],
)
def test_identifiers_keywords_and_primed_names_are_names(name: str) -> None:
    assert name_fault(name) is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "it is empty"),
        ("'", "it is nothing but primes"),
        ("_", "'_' stands for a dim without a name"),
        ("1a", "it starts with a digit"),
        ("a b", "it holds white space"),
        ("a\n", "it holds white space"),
        ("a-b", "'-' is not a letter, a digit or an underscore"),
        ("*", "'*' is not a letter, a digit or an underscore"),
        ("a'b", "primes are allowed only at its end"),
        ("'a", "primes are allowed only at its end"),
        ("٣a", "it starts with a digit"),
        ("\u0301e", "'\u0301' cannot be its first character"),
        ("x²", "'²' is not a letter, a digit or an underscore"),
        ("größe höhe", "it holds white space"),
        ("größe\u3000höhe", "it holds white space"),
        ("x\u202e", "'\\u202e' is not a letter, a digit or an underscore"),
        ("\ud800", "'\\ud800' is not a letter, a digit or an underscore"),
        ("a\0", "'\\x00' is not a letter, a digit or an underscore"),
    ],
)
def test_a_bad_name_has_a_reason(name: str, reason: str) -> None:
    assert name_fault(name) == reason


@given(st.text(max_size=8))
def test_every_string_is_a_name_or_has_a_reason_and_a_valid_alternative(text: str) -> None:
    is_name = text.rstrip("'").isidentifier() and text != "_"
    assert (name_fault(text) is None) == is_name
    assert name_fault(nearest_name(text)) is None


@given(st.text(max_size=8))
def test_a_name_stays_one_when_it_is_normalised(text: str) -> None:
    if name_fault(text) is None:
        assert name_fault(normalised(text)) is None
        assert normalised(text) == unicodedata.normalize("NFKC", text)
