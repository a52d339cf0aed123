"""An expression of one or two steps keeps a memory limit by loops, as the same formula does."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.errors import LimitError

RNG = np.random.default_rng(2)
PYTHON = 20_000
"""Bytes of Python's own objects and of the buffers of NumPy's iterator."""
PAIRS = {
    "i p x, i q x -> p q": ((40, 40, 500), (40, 40, 500)),
    "a b c, b d c -> a d": ((300, 40, 50), (40, 200, 50)),
    "a b c d, d b e -> e a c": ((60, 20, 30, 20), (20, 20, 30)),
    "n i j, n j k -> n i k": ((20_000, 3, 3), (20_000, 3, 3)),
    "a b c, b d c, d e -> a e": ((300, 40, 50), (40, 200, 50), (200, 9)),
}


@pytest.mark.parametrize("text", PAIRS)
@pytest.mark.parametrize("part", [0.7, 0.4])
def test_few_steps_keep_a_limit(text: str, part: float) -> None:
    operands = [RNG.standard_normal(shape) for shape in PAIRS[text]]
    expected = ne.einsum(text, *operands)
    whole = ne.compile(text).plan(*operands).peak_bytes
    limit = int(expected.nbytes + part * (whole - expected.nbytes))
    run = ne.compile(text, memory_limit=limit)
    assert run.plan(*operands).peak_bytes <= limit
    np.testing.assert_allclose(run(*operands), expected)
    tracemalloc.start()
    run(*operands)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= limit + PYTHON


def test_a_limit_below_the_result_is_refused() -> None:
    x, y = RNG.random((40, 40, 50)), RNG.random((40, 40, 50))
    with pytest.raises(LimitError, match="NE709"):
        ne.einsum("i p x, i q x -> p q", x, y, memory_limit=40 * 40 * 8 - 1)


def test_a_limit_is_kept_where_programs_need_more_than_the_search_for_loops_expects() -> None:
    """What `any` allocates is known of its program alone: loops for lower limits are searched."""
    x = RNG.integers(0, 2, (9, 40, 3)).astype("uint8")
    limit = 2 * ne.compile("a c b -> c : any").plan(x).peak_bytes // 3
    run = ne.compile("a c b -> c : any", memory_limit=limit)
    assert run.plan(x).peak_bytes <= limit
    np.testing.assert_array_equal(run(x), x.any((0, 2)))


@pytest.mark.parametrize("dtype", ["int64", "float32", "bool"])
@pytest.mark.parametrize("reducer", ["sum", "mean", "prod", "max", "min", "any", "all", "count_nonzero"])
def test_a_reduced_product_in_blocks_has_the_values_and_the_dtype_of_the_whole(
    reducer: str, dtype: str
) -> None:
    x, y = (RNG.integers(0, 3, (400, 30)).astype(dtype) for _ in range(2))
    text = f"a b, a b -> b : {reducer}"
    expected, whole = ne.einsum(text, x, y), ne.compile(text).plan(x, y).peak_bytes
    found = ne.einsum(text, x, y, memory_limit=max(2 * expected.nbytes, whole // 3))
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected)
