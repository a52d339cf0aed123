"""`reduce=` with a callable: what it is given, and whose error is raised when it, or anything else, fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nameexpr as ne

X = np.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])
NAMED = ne.tensor(X, names="N C")


def sort(array: np.ndarray, axis: int) -> np.ndarray:
    array.sort(axis)
    return np.asarray(array[..., 0])


def divide(array: np.ndarray, axis: int) -> np.ndarray:
    raise ZeroDivisionError("of the caller's")


@pytest.mark.parametrize("text", ["i k -> i", "k i -> i", "i k, i k -> i", "(a i) k -> a i"])
@pytest.mark.parametrize("kind", ["array", "tensor", "bound"])
def test_a_reducer_cannot_write_to_what_it_is_given(text: str, kind: str) -> None:
    x = X.copy()
    operands: list[Any] = [ne.tensor(x) if kind == "tensor" else x] * (1 + text.count(","))
    function: Any = ne.compile(text, reduce=sort, **({"a": 1} if "a" in text else {}))
    if kind == "bound":
        function = function.bind({0: operands.pop()})
    with pytest.raises(ValueError, match="read-only") as caught:
        function(*operands)
    assert not isinstance(caught.value, ne.NameExprError)
    np.testing.assert_array_equal(x, X)
    assert x.flags.writeable


def test_a_result_that_views_what_it_was_given_is_fresh() -> None:
    x = X.copy()
    first = ne.einsum("i k -> i", x, reduce=lambda array, axis: array[..., 0])
    first += 1
    np.testing.assert_array_equal(x, X)


def test_masked_arrays_with_nothing_masked_are_taken() -> None:
    result = ne.einsum("i k -> i", X, reduce=lambda array, axis: np.ma.median(array, axis=axis))
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, [2, 5])


@pytest.mark.parametrize("text", ["N C -> N", "-> N"])
def test_the_reducers_own_error_is_raised(text: str) -> None:
    for function in (ne.compile(text, reduce=divide), lambda x: ne.einsum(text, x, reduce=divide)):
        with pytest.raises(ZeroDivisionError, match="of the caller's"):
            function(NAMED)


@pytest.mark.parametrize("text", ["N C -> N C", "-> N C"])
def test_too_little_memory_is_told_with_the_inputs_left_out(text: str) -> None:
    with pytest.raises(ne.LimitError, match="not enough memory") as caught:
        ne.einsum(text + " K", NAMED, K=10**13)
    assert caught.value.code == "NE707"


@pytest.mark.parametrize("text", ["N C -> N : prod", "-> N : prod"])
def test_floating_point_errors_that_the_caller_asked_for_are_raised(text: str) -> None:
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        ne.einsum(text, NAMED * 1e200)


@pytest.mark.parametrize("text", ["N C -> N : max", "-> N : max"])
def test_elements_that_cannot_be_compared_are_named(text: str) -> None:
    x = ne.from_numpy(np.array([[1, "a"]], dtype=object), names="N C")
    with pytest.raises(ne.NameExprError, match="elements of dtype object cannot be combined by max"):
        ne.einsum(text, x)
