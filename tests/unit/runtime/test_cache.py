"""What stays in memory behind calls: nothing that grows with the number of sizes that came by."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

LONG, SHORT = 300_000, 50_000
"""Rows of batches that are longer than a block of ones, and shorter."""
CASES: dict[str, tuple[str, Callable[[int], tuple[int, ...]], int]] = {
    "rows": ("b a -> a : sum", lambda rows: (rows, 2), 0),
    "means": ("b a c -> a c : mean", lambda rows: (rows, 2, 2), 0),
    "stacks": ("s b a -> s a : sum", lambda rows: (2, rows, 3), 1),
}


def kept_by(call: Callable[[int], object]) -> int:
    """Return the bytes that stay behind sixty sizes, when a first one was there already."""
    call(0)
    tracemalloc.start()
    try:
        for number in range(1, 61):
            call(number)
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("rows", [LONG, SHORT])
@pytest.mark.parametrize("case", CASES)
def test_batches_of_many_lengths_keep_no_memory(case: str, rows: int) -> None:
    text, shape, axis = CASES[case]
    function = ne.compile(text)
    whole = np.random.default_rng(7).random(shape(rows + 60))

    def call(number: int) -> None:
        x = whole[(slice(None),) * axis + (slice(rows + number),)]
        want = (np.mean if "mean" in text else np.sum)(x, axis=axis)
        np.testing.assert_allclose(function(x), want, rtol=1e-12)

    assert kept_by(call) < 2_000_000  # a vector of ones for each size: 24 or 144 MB


@pytest.mark.parametrize("is_bound", [False, True])
def test_formulas_keep_none_either(is_bound: bool) -> None:
    formula: Any = ne.compile("sum[b](x[b a]) * y[a]")
    formula = formula.bind(y=np.ones(2)) if is_bound else formula
    whole, rest = np.ones((LONG + 60, 2)), {} if is_bound else {"y": np.ones(2)}
    assert kept_by(lambda number: formula(x=whole[: LONG + number], **rest)) < 3_000_000


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", ">f8"])
@pytest.mark.parametrize("rows", [65_535, 65_536, 65_537, 131_072, 200_001])
def test_long_sums_are_those_of_their_cells(dtype: str, rows: int) -> None:
    x = (np.arange(rows * 2).reshape(rows, 2) % 7 - 3).astype(dtype)
    np.testing.assert_array_equal(ne.einsum("b a -> a : sum", x), x.astype("c16").sum(0))
    np.testing.assert_array_equal(ne.einsum("b a -> a : sum", x[::-1]), x.astype("c16").sum(0))
    turned = np.asfortranarray(x)
    np.testing.assert_array_equal(ne.einsum("b a -> a : sum", turned), x.astype("c16").sum(0))


def test_the_first_call_takes_what_is_predicted_for_the_next_ones() -> None:
    x = np.ones((LONG, 2))
    function = ne.compile("b a -> a : sum", memory_limit=100_000)
    assert function.plan(x).peak_bytes < 1_000
    function(x[1:])
    tracemalloc.start()
    function(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300_000  # the compiler itself takes some


def test_clearing_the_cache_drops_ones_too() -> None:
    from nameexpr.backends.numpy.kernels import _shared

    ne.einsum("b a -> a : sum", np.ones((SHORT, 2)))
    assert _shared.cache_info().currsize
    ne.cache_clear()
    assert not _shared.cache_info().currsize
