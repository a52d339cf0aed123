"""The shortest way of a call: what it remembers, what its functions are good for, and what they reject."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.runtime import cache
from nameexpr.runtime.tuning import autotune

RNG = np.random.default_rng(2)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    ne.cache_clear()
    yield
    ne.cache_clear()


def test_a_text_leads_to_the_function_of_its_last_operands() -> None:
    assert "a b, b c -> a c" not in cache.calls
    ne.einsum("a b, b c -> a c", np.ones((2, 3)), np.ones((3, 4)))
    first = cache.calls["a b, b c -> a c"]
    ne.einsum("a b, b c -> a c", np.ones((2, 3), "f4"), np.ones((3, 4), "f4"))
    assert cache.calls["a b, b c -> a c"] is not first
    ne.cache_clear()
    assert not cache.calls
    assert not cache.calls_with_options
    assert len(cache.templates) == 0


def test_a_product_of_matrices_is_one_function_for_all_sizes() -> None:
    for rows, inner, columns in ((2, 3, 4), (5, 1, 6), (0, 3, 2), (1, 7, 1)):
        x, y = RNG.random((rows, inner)), RNG.random((inner, columns))
        np.testing.assert_allclose(ne.einsum("a b, b c -> a c", x, y), x @ y)
        assert ne.einsum("a b -> b a", x).shape == (inner, rows)
    assert ne.cache_info().programs == 2


def test_a_chain_has_a_function_for_each_order_that_its_sizes_want() -> None:
    for sizes in ((2, 30, 3, 40), (30, 2, 40, 3)):
        x, y, z = (RNG.random(pair) for pair in itertools.pairwise(sizes))
        np.testing.assert_allclose(ne.einsum("a b, b c, c d -> a d", x, y, z), x @ y @ z)
    assert ne.cache_info().programs == 2


def test_sizes_that_do_not_fit_that_function_are_refused_as_always() -> None:
    ne.einsum("rows inner, inner columns -> rows columns", np.ones((2, 3)), np.ones((3, 4)))
    with pytest.raises(ne.SizeError, match="'inner' is 3 in operand 0 and 1 in operand 1") as caught:
        ne.einsum("rows inner, inner columns -> rows columns", np.ones((2, 3)), np.ones((1, 4)))
    assert "operand 1  (1, 4)" in str(caught.value)
    with pytest.raises(ne.SizeError):
        ne.einsum("rows inner, inner columns -> rows columns", np.ones((2, 3)), np.ones((4, 3)))


def test_a_function_for_all_sizes_is_not_made_where_sizes_are_given() -> None:
    assert ne.einsum("a b -> b a", np.ones((2, 3)), a=2).shape == (3, 2)
    with pytest.raises(ne.SizeError):
        ne.einsum("a b -> b a", np.ones((4, 3)), a=2)
    assert ne.einsum("a=2 b -> b a", np.ones((2, 3))).shape == (3, 2)
    with pytest.raises(ne.SizeError):
        ne.einsum("a=2 b -> b a", np.ones((4, 3)))


def test_texts_that_say_the_same_share_their_code_and_not_their_errors() -> None:
    x, y = np.ones((2, 3)), np.ones((3, 4))
    ne.einsum("a b, b c -> a c : sum", x, y)
    kept = len(cache.templates)
    ne.einsum("time chan, chan out -> time out : sum", x, y)
    assert len(cache.templates) == kept
    ne.einsum("time chan, chan out -> out time : sum", x, y)
    assert len(cache.templates) == kept + 1
    with pytest.raises(ne.SizeError, match="'chan' is 3 in operand 0 and 4 in operand 1"):
        ne.einsum("time chan, chan out -> time out : sum", x, y.T)


def test_functions_of_equal_source_have_code_of_their_own() -> None:
    """CPython keeps what it learns from running a function in its code."""
    for text in ("a b, b c -> a c", "i j, j k -> i k"):
        ne.einsum(text, np.ones((2, 3)), np.ones((3, 4)))
    first, second = cache.calls.values()
    assert first.__code__ is not second.__code__
    assert first.__code__ == second.__code__


def test_options_are_told_apart_by_kind_as_well() -> None:
    x = np.arange(6.0).reshape(2, 3)
    assert ne.einsum("a (b c) -> a b c", x, b=1).shape == (2, 1, 3)
    for wrong in (True, 1.0):
        with pytest.raises(ne.OptionError, match="not a size"):
            ne.einsum("a (b c) -> a b c", x, b=wrong)
    assert ne.einsum("a b -> b a", x, order="C").flags.c_contiguous
    assert not ne.einsum("a b -> b a", x).flags.c_contiguous
    assert ne.einsum("a b -> a : sum", x, dtype="f4").dtype == np.float32
    assert ne.einsum("a b -> a : sum", x).dtype == np.float64
    assert ne.einsum("a b -> b a", x, sizes={"a": 2}).shape == (3, 2)  # a dict is not a key


def test_options_may_alternate() -> None:
    x = np.arange(6.0)
    for _ in range(3):
        for options in ({"a": 2}, {"a": 3}, {"b": 2}, {"b": 2, "a": 3}, {"order": "C", "a": 2}, {}):
            if not options:
                with pytest.raises(ne.SizeError):
                    ne.einsum("(a b) -> b a", x)
                continue
            rows = options.get("a", 3)
            made = ne.einsum("(a b) -> b a", x, **options)
            np.testing.assert_array_equal(made, x.reshape(rows, -1).T)
            assert made.flags.c_contiguous == ("order" in options)


def test_text_and_array_swapped_are_told_apart_with_options_too() -> None:
    for options in ({}, {"a": 2}, {"order": "C"}, {"out": np.ones((3, 2))}):
        with pytest.raises(ne.OperandError, match="text and array are swapped"):
            ne.einsum(np.ones((2, 3)), "a b -> b a", **options)


def test_what_is_remembered_is_bounded() -> None:
    for number in range(cache.TEXTS + 50):
        ne.einsum(f"a{number} -> a{number}", [1.0])
        ne.einsum(f"(a b{number}) -> a b{number}", [1.0], a=1)
    assert len(cache.calls) <= cache.TEXTS
    assert len(cache.calls_with_options) <= cache.TEXTS
    assert cache.latest_options.keys() <= {text for text, *_ in cache.calls_with_options}


def test_an_array_whose_dtype_is_another_object_is_the_same_to_it() -> None:
    x = np.ones((2, 3))
    ne.einsum("a b, b c -> a c", x, x.T)
    strange = pickle.loads(pickle.dumps(x, protocol=2))
    function = cache.calls["a b, b c -> a c"]
    np.testing.assert_array_equal(ne.einsum("a b, b c -> a c", strange, strange.T), x @ x.T)
    assert cache.calls["a b, b c -> a c"] is function


def test_numbers_and_truth_values_of_numpy_are_options_too() -> None:
    x = np.ones((4, 5))
    assert ne.einsum("a b -> a : sum", x, memory_limit=np.int64(10**6), tune=np.bool_(True)).shape == (4,)
    with pytest.raises(ne.LimitError):
        ne.einsum("a b -> b a", x, order="C", memory_limit=np.uint8(100))


class Counter:
    """An integer that changes, as a 0-d tensor is one, and still equals nothing but itself."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


def test_a_size_that_changes_is_read_on_each_call() -> None:
    x, tensor, counter = np.ones(2), ne.tensor(3), Counter(3)
    for value in (3, 5, 4):
        tensor.fill_(value)
        counter.value = value
        for size in (tensor, counter):
            assert ne.einsum("a -> a k", x, k=size).shape == (2, value)
            assert ne.einsum("a -> a k", x, sizes={"k": size}).shape == (2, value)
            assert ne.compile("a -> a k", k=size)(x).shape == (2, value)
            assert ne.evaluate("x[a] * size[k]", x=x, sizes={"k": size}).tolist() == [value] * 2


@pytest.mark.parametrize(
    "options",
    [
        {"a": 2},
        {"a": np.int64(2)},
        {"dtype": np.float32},
        {"dtype": np.dtype("f4")},
        {"dtype": None, "order": "C"},
        {"optimize": ((0,),)},
        {"reduce": lambda array, axis: array.max(axis)},
        {"tune": True},
    ],
)
def test_options_that_cannot_change_are_looked_up(options: dict[str, Any]) -> None:
    assert ne.einsum("a b -> b" if "reduce" in options else "a b -> b a", np.ones((2, 3)), **options).size
    assert len(cache.calls_with_options) == 1


def test_row_major_results_are_new_memory() -> None:
    x = RNG.random((300, 200))
    for text in ("a b -> a b", "a b -> b a", "a b -> (b a)", "(a c) b -> c (b a)", "a b, b c -> c a"):
        operands = (x, RNG.random((200, 30))) if "," in text else (x,)
        made = ne.einsum(text, *operands, order="C", **({"c": 3} if "(a c)" in text else {}))
        assert made.flags.c_contiguous
        assert made.flags.writeable
        assert not any(np.shares_memory(made, operand) for operand in operands)
    named = ne.einsum("a b -> b a", ne.tensor(x, names="a b"), order="C")
    assert named.names == ("b", "a")
    assert named.is_contiguous()


def test_tuning_keeps_the_quickest_of_the_ways_it_tries() -> None:
    waits = {(): 3, (0,): 3, (1,): 1, (2,): 2, (1, 0): 2, (1, 1): 1}

    def make(ranks: tuple[int, ...]) -> tuple[object, tuple[int, ...]]:
        def run() -> None:
            for _ in range(20_000 * waits.get(ranks, 4)):
                pass

        return run, (3, 2)

    assert autotune(make) == ((1, 1), (3, 2))


def test_tuned_calls_give_the_same_values_and_say_what_they_do() -> None:
    x, y = RNG.random((24, 3, 40)), RNG.random((40, 5, 24, 3))
    tuned = ne.compile("a b c, c d a b -> d b", tune=True)
    np.testing.assert_allclose(tuned(x, y), np.einsum("abc,cdab->db", x, y))
    names: dict[str, object] = {}
    exec(tuned.code, names)
    np.testing.assert_allclose(names["compute"](x, y), tuned(x, y))  # type: ignore[operator]
    assert ne.einsum("a b -> : sum", x[0], tune=True) == pytest.approx(x[0].sum())
