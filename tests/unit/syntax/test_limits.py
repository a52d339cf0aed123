"""Limits hold before a tree is built, can be set, and are put back."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import nameexpr as ne
from nameexpr.errors import LimitError, OptionError
from nameexpr.syntax.limits import Limits, check_limits, limits, set_limits
from nameexpr.syntax.parser.expression import parse

DEFAULTS = Limits(text=65_536, nesting=200, operands=1_024, dims=64)


def code_of(text: str) -> str:
    try:
        check_limits(text)
    except LimitError as fault:
        return fault.code
    return ""


def test_the_defaults_are_those_of_the_design() -> None:
    assert limits() == DEFAULTS


def test_setting_returns_what_held_before() -> None:
    assert set_limits(text=100, operands=3) == DEFAULTS
    assert limits() == Limits(100, 200, 3, 64)
    assert set_limits() == Limits(100, 200, 3, 64)


def test_a_limit_that_is_refused_changes_nothing() -> None:
    with pytest.raises(OptionError):
        set_limits(text=5, dims=65)
    assert limits() == DEFAULTS


@pytest.mark.parametrize(
    "wrong",
    [{"text": 0}, {"nesting": -1}, {"operands": 1.5}, {"dims": "64"}, {"dims": 65}, {"nesting": 401}],
    ids=str,
)
def test_what_is_no_limit_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(OptionError) as caught:
        set_limits(**wrong)
    assert caught.value.code == "NE601"
    assert f"{next(iter(wrong))}=" in str(caught.value)


def test_each_limit_holds_at_its_number_and_not_below() -> None:
    set_limits(text=40, nesting=3, operands=4)
    assert (code_of("a" * 40), code_of("a" * 41)) == ("", "NE701")
    assert (code_of("((()))"), code_of("(((())))")) == ("", "NE702")
    assert (code_of(",,,"), code_of(",,,,")) == ("", "NE703")
    assert (code_of("9" * 18), code_of("9" * 19)) == ("", "NE704")


def test_brackets_that_close_do_not_nest() -> None:
    set_limits(nesting=2)
    assert code_of("() (()) () ()") == ""
    assert code_of(")))) (()") == ""


def test_comments_do_not_count() -> None:
    set_limits(nesting=2, operands=2)
    assert code_of("a # ((((((( ,,,,,, 99999999999999999999999999\n -> a") == ""
    assert code_of("a # x\n ((()))") == "NE702"


def test_digits_of_a_name_do_not_count() -> None:
    assert code_of(f"a{'9' * 30} -> a{'9' * 30}") == ""
    assert code_of(f"é{'9' * 30}") == ""
    assert parse(f"a{'9' * 30}").inputs[0].items


def test_a_limit_on_dims_holds_for_operands_and_results() -> None:
    set_limits(dims=2)
    assert ne.einsum("a b -> b a", [[1, 2]]).shape == (2, 1)
    for text, operand in (("a b c -> c b a", [[[1]]]), ("a b -> a b 1", [[1]]), ("(a b c) ->: sum", [1])):
        with pytest.raises(LimitError) as caught:
            ne.einsum(text, operand)
        assert caught.value.code == "NE705"


def test_a_text_compiled_before_still_runs_under_a_lower_limit() -> None:
    swap = ne.compile("a b -> b a")
    set_limits(text=3)
    assert swap([[1, 2]]).shape == (2, 1)
    with pytest.raises(LimitError):
        ne.compile("a b c -> c b a")


def test_threads_that_set_one_limit_each_lose_none() -> None:
    values = {"text": 5_000, "nesting": 100, "operands": 500, "dims": 32}

    def set_one(name: str) -> None:
        for _ in range(3_000):
            set_limits(**{name: values[name]})
            assert getattr(limits(), name) == values[name]
            set_limits(**{name: getattr(DEFAULTS, name)})

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(len(values)) as pool:
            list(pool.map(set_one, values))
    finally:
        sys.setswitchinterval(interval)
    assert limits() == DEFAULTS
