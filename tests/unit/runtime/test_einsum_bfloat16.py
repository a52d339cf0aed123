"""Expressions of bfloat16, which go by way of float32 wherever they compute; formulas reject it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

BFLOAT16: Any = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
REDUCERS = (
    *("sum", "mean", "prod", "max", "min", "any", "all", "var", "std", "median", "logsumexp", "norm"),
    *("argmax", "argmin", "count_nonzero"),
)
SHAPES = ((3, 5), (1, 4), (5000, 2), (2, 5000), (40, 300))
PRODUCTS = (
    *(
        "a b, b c -> a c",
        "a b, b c -> : sum",
        "a b, b c -> a b c",
        "a b, b c -> a c : max",
        "a b, b c -> a c : prod",
    ),
    *("a b, b c -> c : argmax", "a b, b c -> a : norm"),
)


def operand(shape: tuple[int, ...], seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(30, 10, shape).astype(BFLOAT16)


def assert_rounded(text: str, *operands: Any, **options: Any) -> None:
    """Check a result against that of the same text in float32, rounded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where float32 overflows
        wide = ne.einsum(text, *(one.astype(np.float32) for one in operands), **options)
        found = ne.einsum(text, *operands, **options)
    expected = wide.astype(BFLOAT16) if wide.dtype == np.float32 else wide
    assert found.dtype == expected.dtype
    ulp = 2.0**-7 if expected.dtype == BFLOAT16 else 0  # of float32 sums in another order
    np.testing.assert_allclose(found.astype(float), expected.astype(float), rtol=ulp)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reducer", REDUCERS)
def test_reductions_are_those_of_float32(reducer: str, shape: tuple[int, int]) -> None:
    for result in ("a", "b", ""):
        assert_rounded(f"a b -> {result} : {reducer}", operand(shape))


@pytest.mark.parametrize("text", PRODUCTS)
def test_products_are_those_of_float32(text: str) -> None:
    assert_rounded(text, operand((30, 200)), operand((200, 20), 1))


@pytest.mark.parametrize("reducer", ["sum", "max", "prod", "norm"])
def test_a_memory_limit_changes_no_value_of_bfloat16(reducer: str) -> None:
    assert_rounded(
        f"a b, b c -> a c : {reducer}", operand((60, 90)), operand((90, 50), 1), memory_limit=200_000
    )


def test_sums_do_not_stall() -> None:
    ones = np.ones(70_000, BFLOAT16)
    assert ne.einsum("i -> : sum", ones) == ne.einsum("i, i ->", ones, ones) == 70_144
    assert ne.einsum("i -> : max", np.array([1, np.nan, 3], BFLOAT16)) != 3


def test_cells_that_are_only_moved_are_bfloat16() -> None:
    x = operand((3, 4))
    for text in ("a b -> b a", "a b -> (b a)", "a b -> a b 3", "a b -> a a b"):
        found = ne.einsum(text, x)
        assert found.dtype == BFLOAT16
        np.testing.assert_array_equal(
            found.astype(np.float32), ne.einsum(text, x.astype(np.float32)).astype(np.float32)
        )


def test_promotion_beside_bfloat16() -> None:
    x = operand((3,))
    assert ne.einsum("a, -> a", x, 2.5).dtype == ne.einsum("a, -> a", x, 2).dtype == BFLOAT16
    assert ne.einsum("a, a -> a", x, np.ones(3, np.int8)).dtype == BFLOAT16
    assert ne.einsum("a, a -> a", x, np.ones(3, np.float32)).dtype == np.float32
    with pytest.raises(ne.OperandError) as caught:
        ne.einsum("a, a -> a", x, np.ones(3, np.int64))
    assert caught.value.code == "NE505"


def test_a_reducer_of_the_caller_is_given_bfloat16() -> None:
    given: list[Any] = []

    def largest(x: Any, axis: int) -> Any:
        given.append(x.dtype)
        return x.max(axis)

    x = operand((3, 4))
    ne.einsum("a b -> a", x, reduce=largest)
    ne.einsum("a b, b -> a", x, x[0].copy(), reduce=largest)
    assert given == [BFLOAT16, BFLOAT16]


@pytest.mark.parametrize("text", ["sum[i](x[i j])", "2.0 * x[i j]", "x[i j] < 2", "x[i j]"])
def test_formulas_refuse_bfloat16_by_its_name(text: str) -> None:
    x = ne.ones(3, 4, names="i j").bfloat16()
    for given in (x, x.numpy()):
        with pytest.raises(ne.OperandError) as caught:
            ne.evaluate(text, x=given)
        assert caught.value.code == "NE525"
        assert "bfloat16" in str(caught.value)
