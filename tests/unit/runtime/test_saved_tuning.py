"""`save_tuning` and `load_tuning`: choices outlive the process, for the same calls on the same machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.backends.numpy.costs import GENERIC
from nameexpr.records import replace
from nameexpr.runtime import tuning
from nameexpr.runtime.machine import profile_in_use

TEXT = "a b c, c a d -> b d"
X, W = np.ones((20, 3, 30)), np.ones((30, 20, 4))


@pytest.fixture(autouse=True)
def second_of_all(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Let the second strategy win every measurement, and count these."""
    counts: list[int] = []

    def best(make: Any, tried: Any) -> Any:
        counts.append(len(tried))
        return tried[1]

    monkeypatch.setattr(tuning, "_quickest", best)
    tuning.tunings.clear()
    yield counts
    tuning.tunings.clear()


def test_choices_are_saved_and_loaded_and_nothing_is_timed_again(
    tmp_path: Path, second_of_all: list[int]
) -> None:
    path = tmp_path / "tuning.json"
    expected = ne.einsum(TEXT, X, W, tune=True)
    measured = len(second_of_all)
    assert measured > 0 and ne.save_tuning(path) == 1
    tuning.tunings.clear()
    ne.cache_clear()
    assert ne.load_tuning(path) == 1
    np.testing.assert_allclose(ne.einsum(TEXT, X, W, tune=True), expected)
    assert len(second_of_all) == measured


def test_a_plan_shows_what_was_chosen(second_of_all: list[int]) -> None:
    tuned = ne.compile(TEXT, tune=True)
    assert tuned.plan(X, W).tuned == () and "tuned:" not in str(tuned.plan(X, W))
    before = tuned.plan(X, W).code
    tuned(X, W)
    plan = tuned.plan(X, W)
    assert plan.tuned[0][0] == 2 and plan.code != before
    assert str(plan).splitlines()[-1].startswith(f"tuned: strategy 2 of {plan.tuned[0][1]}")
    assert tuned.plan(X.shape, W.shape).tuned == plan.tuned
    assert tuned.plan((20, 3, 31), (31, 20, 4)).tuned == ()
    assert ne.compile(TEXT).plan(X, W).tuned == ()


def test_the_plan_of_a_formula_shows_it_too() -> None:
    formula = ne.compile("y[b d] = sum[a c](x[a b c] * w[c a d])", tune=True)
    formula(x=X, w=W)
    assert formula.plan(x=X, w=W).tuned[0][0] == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda: ne.einsum(TEXT, X.astype("float32"), W.astype("float32"), tune=True),
        lambda: ne.einsum(TEXT, X[:, ::-1], W, tune=True),
        lambda: ne.einsum(TEXT, X[:, :2], W, tune=True),
        lambda: ne.einsum(TEXT, X, W, tune=True, order="C"),
        lambda: ne.einsum("a b c, c a d -> d b", X, W, tune=True),
    ],
)
def test_other_calls_are_tuned_on_their_own(change: Any, tmp_path: Path, second_of_all: list[int]) -> None:
    ne.einsum(TEXT, X, W, tune=True)
    measured = len(second_of_all)
    change()
    assert len(second_of_all) > measured
    assert ne.save_tuning(tmp_path / "both.json") == 2


def test_choices_for_another_profile_are_ignored(tmp_path: Path) -> None:
    ne.einsum(TEXT, X, W, tune=True)
    ne.save_tuning(tmp_path / "tuning.json")
    with profile_in_use(replace(GENERIC, flop=1.0)):
        assert ne.load_tuning(tmp_path / "tuning.json") == 0
    assert ne.load_tuning(str(tmp_path / "tuning.json")) == 1


BROKEN = {
    "no JSON": "{",
    "a list": "[]",
    "lists in lists": "[" * 50_000,
    "another format": '{"format": "nameexpr profile"}',
    "another version": '{"format": "nameexpr tuning", "version": 7}',
    "no entries": '{"format": "nameexpr tuning", "version": 1}',
    "ranks as text": '{"format": "nameexpr tuning", "version": 1, "entries": [["k", ["1"], [2]]]}',
    "negative ranks": '{"format": "nameexpr tuning", "version": 1, "entries": [["k", [-1], [2]]]}',
    "a rank that is none": '{"format": "nameexpr tuning", "version": 1, "entries": [["k", [2], [2]]]}',
    "more ranks": '{"format": "nameexpr tuning", "version": 1, "entries": [["k", [0, 0], [2]]]}',
    "a bool": '{"format": "nameexpr tuning", "version": 1, "entries": [["k", [true], [2]]]}',
    "no key": '{"format": "nameexpr tuning", "version": 1, "entries": [[1, [1], [2]]]}',
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_what_is_no_file_of_tunings_is_an_error_that_names_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text(BROKEN[name], encoding="utf-8")
    with pytest.raises(ne.OptionError, match="is not a file of tunings") as raised:
        ne.load_tuning(path)
    assert raised.value.code == "NE618" and "broken.json" in str(raised.value)
    assert "ne.save_tuning" in str(raised.value)


def test_a_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ne.OptionError, match="No such file"):
        ne.load_tuning(tmp_path / "missing.json")


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "tuning.json"
    with pytest.raises(FileNotFoundError) as caught:
        ne.save_tuning(path)
    assert caught.value.filename == str(path)


def test_ranks_beyond_the_strategies_do_no_harm(tmp_path: Path) -> None:
    expected = ne.einsum(TEXT, X, W, tune=True)
    path = tmp_path / "tuning.json"
    ne.save_tuning(path)
    data = json.loads(path.read_text(encoding="utf-8"))
    data["entries"][0][1:] = [[99, 99, 99], [100, 100, 100]]
    path.write_text(json.dumps(data), encoding="utf-8")
    ne.cache_clear()
    assert ne.load_tuning(path) == 1
    np.testing.assert_allclose(ne.einsum(TEXT, X, W, tune=True), expected)


@pytest.mark.parametrize("function", [ne.save_tuning, ne.load_tuning])
def test_what_is_no_path_is_refused(function: Any) -> None:
    with pytest.raises(ne.NameExprError, match=r"NE618\]: 5 is not the path of a file"):
        function(5)


def test_threads_that_save_at_once_leave_a_whole_file(tmp_path: Path) -> None:
    ne.einsum(TEXT, X, W, tune=True)
    path = tmp_path / "tuning.json"

    def save(_: int) -> int:
        return [ne.save_tuning(path) for _ in range(20)][-1]

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(save, range(4))) == {1}
    assert ne.load_tuning(path) == 1
    assert [one.name for one in tmp_path.iterdir()] == ["tuning.json"]


def entry_with(**changes: Any) -> Any:
    """Return what an entry has of which its key is made."""
    options = {
        "sizes": (), "dtype_name": None, "order": None, "memory_limit": None, "outputs": None,
        "reduce": None, "optimize": True,
    }  # fmt: skip
    fixed = changes.pop("fixed", {})
    return SimpleNamespace(text=TEXT, options=SimpleNamespace(**options | changes), fixed=fixed)


@pytest.mark.parametrize(
    "changes",
    [
        {"sizes": (("a", 3),)}, {"dtype_name": "float32"}, {"order": "C"}, {"memory_limit": 1000},
        {"outputs": ("a",)}, {"reduce": "max"}, {"optimize": False}, {"fixed": {1: W}},
    ],
    ids=lambda changes: next(iter(changes)),
)  # fmt: skip
def test_choices_are_for_one_set_of_options(changes: dict[str, Any]) -> None:
    assert tuning.key_of(entry_with(**changes), (), ()) != tuning.key_of(entry_with(), (), ())


def test_choices_are_for_operands_that_are_the_same_array_in_the_same_places() -> None:
    assert tuning.key_of(entry_with(), (), (0, 0)) != tuning.key_of(entry_with(), (), (0, 1))


def test_choices_are_for_a_machine_and_a_release(monkeypatch: pytest.MonkeyPatch) -> None:
    before = tuning.machine_key()
    with monkeypatch.context() as changed:
        changed.setattr(tuning, "__version__", "0.0.1")
        assert tuning.machine_key() != before
    machine = tuning.this_machine()._replace(processor="another")
    monkeypatch.setattr(tuning, "this_machine", lambda: machine)
    assert tuning.machine_key() != before


def test_a_file_of_another_version_is_refused_whatever_is_in_it(tmp_path: Path) -> None:
    ne.einsum(TEXT, X, W, tune=True)
    ne.save_tuning(path := tmp_path / "tuning.json")
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"version": 2}), encoding="utf-8")
    with pytest.raises(ne.OptionError, match="its version is 2, and this release reads version 1"):
        ne.load_tuning(path)


def test_choices_that_are_about_to_be_dropped_are_saved(tmp_path: Path) -> None:
    ne.einsum(TEXT, X, W, tune=True)
    tuning.tunings.old, tuning.tunings.young = tuning.tunings.young, {}
    assert ne.save_tuning(tmp_path / "tuning.json") == 1


def test_a_path_with_a_null_character_is_refused() -> None:
    for function in (ne.save_tuning, ne.load_tuning):
        with pytest.raises(ne.OptionError, match="is not the path of a file"):
            function("a\0b")
