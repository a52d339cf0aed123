"""A profile decides: one made up to prefer a strategy makes it chosen, on every machine."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.backends.numpy import target
from nameexpr.backends.numpy.costs import GENERIC, Profile
from nameexpr.records import replace
from nameexpr.runtime.machine import profile_in_use

DEAR, FREE = 1e6, 1e-6
CHEAP_LOOP = {name: FREE for name in Profile.__match_args__ if name.startswith("loop_")}
DEAR_LOOP = {"loop_call": 1e9}
CHEAP_BLAS = {"gemm": FREE, "flop": FREE, "packed_cell": FREE, "matrix": FREE, "dot_call": FREE}
CHEAP_COPIES = {"copy_call": FREE, "copy_run": FREE, "copy_cell": FREE, "strided_cell": FREE}
DEAR_COPIES = {"copy_run": DEAR, "copy_cell": DEAR, "strided_cell": DEAR}

CASES: dict[str, tuple[str, tuple[tuple[int, ...], ...], dict[str, float], str]] = {
    "the C loop": ("n i j, n j -> n i", ((50, 40, 30), (50, 30)), CHEAP_LOOP, "np.einsum("),
    "matmul": ("n i j, n j -> n i", ((9, 4, 3), (9, 3)), DEAR_LOOP | CHEAP_BLAS, "np.matmul("),
    "vecdot": ("n j, n j -> n", ((90, 30), (90, 30)), {**DEAR_LOOP, "vecdot": FREE}, "np.vecdot("),
    "no vecdot": ("n j, n j -> n", ((90, 30), (90, 30)), {**CHEAP_LOOP, "vecdot": DEAR}, "np.einsum("),
    "a copy and one product": (
        "a i b, i c -> a b c",
        ((9, 30, 8), (30, 20)),
        DEAR_LOOP | CHEAP_COPIES | {"matrix": DEAR, "far_cell": FREE, "strided_bytes": FREE},
        ".dot(",
    ),
    "products of views": (
        "a i b, i c -> a b c",
        ((9, 30, 8), (30, 20)),
        DEAR_LOOP | DEAR_COPIES,
        "np.matmul(",
    ),
    "a product with a matrix along the summed axis": (
        "a b i, c d i -> a b c d",
        ((20, 3, 40), (5, 6, 40)),
        DEAR_LOOP,
        ".dot(",
    ),
    "products with vectors instead": (
        "a b i, c d i -> a b c d",
        ((20, 3, 40), (5, 6, 40)),
        DEAR_LOOP | {"gemm": DEAR},
        "np.matmul(",
    ),
    "a sum by the C loop": ("a b c -> b : sum", ((30, 20, 4),), CHEAP_LOOP, "np.einsum("),
    "a sum by slices": (
        "a b -> a : sum",
        ((900, 4),),
        DEAR_LOOP | {"slice_far": FREE, "dot_call": DEAR, "matmul_call": DEAR, "reduce_call": DEAR},
        "kernels.slices(",
    ),
    "a sum by a product with ones": (
        "a b -> a : sum",
        ((900, 4),),
        DEAR_LOOP | {"slice_far": DEAR, "gemv": FREE, "streamed_cell": FREE, "reduce_call": DEAR},
        "dot(",
    ),
    "a sum by reduce": (
        "a b -> a : sum",
        ((900, 4),),
        DEAR_LOOP
        | {"slice_far": DEAR, "dot_call": DEAR, "matmul_call": DEAR, "reduce_call": FREE, "sum_run": FREE},
        "np.add.reduce(",
    ),
    "an outer product by the C loop": (
        "n a, n b -> n a b",
        ((9, 8), (9, 7)),
        {"outer_cells": 1},
        "np.einsum(",
    ),
    "an outer product by broadcasting": (
        "n a, n b -> n a b",
        ((9, 80), (9, 70)),
        {"outer_cells": 1 << 30},
        "np.multiply(",
    ),
    "scaling by the C loop": (
        "a b, a -> a b",
        ((90, 80), (90,)),
        {"scaled_bytes": 1, "least_scaled_run": 1},
        "np.einsum(",
    ),
    "scaling by broadcasting": (
        "a b, a -> a b",
        ((900, 800), (900,)),
        {"scaled_bytes": 1 << 40},
        "np.multiply(",
    ),
}


def code_for(text: str, shapes: Any, figures: dict[str, float]) -> str:
    with profile_in_use(replace(GENERIC, **figures)):
        return ne.compile(text).plan(*shapes).code


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_profile_that_prefers_a_strategy_makes_it_chosen(name: str) -> None:
    text, shapes, figures, call = CASES[name]
    assert call in code_for(text, shapes, figures)
    values = [np.random.default_rng(7).standard_normal(shape) for shape in shapes]
    with profile_in_use(replace(GENERIC, **figures)):
        result = ne.einsum(text, *values)
    np.testing.assert_allclose(result, ne.einsum(text, *values), rtol=1e-12, atol=1e-12)


def test_a_small_cache_makes_blocks_and_a_large_one_whole_arrays() -> None:
    text, shapes = "y[i] = sum[j](exp(x[i j]) * w[j])", {"x": (300, 200), "w": (200,)}
    codes = []
    for size in (1 << 12, 1 << 30):
        with profile_in_use(replace(GENERIC, second_cache=size)):
            codes.append(ne.compile(text).plan(**shapes).code)
    assert "for " in codes[0] and "for " not in codes[1]


def test_times_are_those_of_the_profile() -> None:
    seconds = []
    for flop in (0.01, 0.1):
        with profile_in_use(replace(GENERIC, flop=flop)):
            seconds.append(ne.compile("a b, b c -> a c").plan((900, 900), (900, 900)).seconds)
    assert 8 < seconds[1] / seconds[0] < 11


def test_another_profile_leaves_no_function_of_the_former_one_in_the_caches() -> None:
    text, values = "n i j, n j -> n i", (np.ones((50, 40, 30)), np.ones((50, 30)))
    ne.einsum(text, *values)
    with profile_in_use(replace(GENERIC, **CHEAP_LOOP)):
        assert ne.cache_info().texts == 0
        ne.einsum(text, *values)
        assert "np.einsum(" in ne.compile(text).plan(*values).code
    assert ne.cache_info().texts == 0
    assert target.current().profile == GENERIC


def test_a_pickled_function_is_compiled_for_the_profile_where_it_is_loaded() -> None:
    text, shapes = "n i j, n j -> n i", ((50, 40, 30), (50, 30))
    with profile_in_use(replace(GENERIC, **CHEAP_LOOP)):
        function = ne.compile(text)
        function(*map(np.ones, shapes))
        packed = pickle.dumps(function)
    with profile_in_use(replace(GENERIC, **DEAR_LOOP)):
        assert "np.einsum(" not in pickle.loads(packed).plan(*shapes).code


@pytest.mark.parametrize(
    ("figures", "first"),
    [
        ({"matrix": 1e5}, {"b", "i", "j"}),  # then one product of matrices
        ({"copy_cell": 1.0, "loop_both": 9.0, "spilled_byte": 1.0}, {"k", "i", "b"}),
    ],
    ids=["dear matrices", "dear outer products"],
)
def test_of_orders_with_equal_flops_the_one_whose_calls_are_cheap_is_chosen(
    figures: dict[str, float], first: set[str]
) -> None:
    values = [np.random.default_rng(7).standard_normal(shape) for shape in ((30, 20), (10, 20, 25), (30, 25))]
    text = "b i, k i j, b j -> b k"
    with profile_in_use(replace(GENERIC, **figures)):
        plan = ne.compile(text).plan(*values)
        result = ne.einsum(text, *values)
    made = next(step.names.partition("-> ")[2] for step in plan.steps if step.flops)
    assert set(made.replace("·", " ").split()) == first
    np.testing.assert_allclose(result, np.einsum("bi,kij,bj->bk", *values), rtol=1e-12)
