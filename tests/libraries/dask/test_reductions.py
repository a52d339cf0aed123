"""Reductions and functions along dims that are cut into chunks, at sizes where blocks are tiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nameexpr as ne

da = pytest.importorskip("dask.array")

X = np.random.default_rng(0).standard_normal((2000, 400))
W = np.random.default_rng(1).standard_normal((400, 60))
TEXTS = [
    "y[n c] = (x[n c] - mean[c](x[n c])) / sqrt(var[c](x[n c]) + 1e-5)\nz[c] = sum[n](y[n c] * y[n c])",
    "y[n c] = softmax[c](x[n c])",
    "y[n c] = log_softmax[n](x[n c] * 2)",
    "y[c] = std[n](x[n c])",
    "y = logsumexp[n c](x[n c])",
    "y[n] = argmax[c](exp(x[n c]))",
    "y[c] = argmin[n](x[n c] * x[n c])",
    "y[n k] = sum[c](x[n c] * w[c k])\nz[k] = max[n](y[n k])\nq[n] = norm[k](y[n k] - z[k])",
    "y[n] = median[c](x[n c])",
    "y[n c] = cumsum[n](x[n c])",
    "y[k] = mean[n](exp(sum[c](x[n c] * w[c k] / 50)))",
    "s[n m] = sum[c](x[n c] * x[m c])\ny[n k] = sum[m](softmax[m](s[n m]) * sum[c](x[m c] * w[c k]))",
    "h[(1 + T) c] = 0, 0.5 * h[_@(T) c] + x[T c]",
]


@pytest.mark.parametrize("limit", [None, 3_000_000])
@pytest.mark.parametrize("text", TEXTS)
def test_results_agree_with_numpy(text: str, limit: int | None) -> None:
    x, w = da.from_array(X, chunks=(500, 150)), da.from_array(W, chunks=(150, 60))
    given: dict[str, Any] = {"memory_limit": limit} if limit else {}
    result = ne.evaluate(text, x=x, **({"w": w} if "w[" in text else {}), **given)
    expected = ne.evaluate(text, x=X, **({"w": W} if "w[" in text else {}))
    found = result.compute(scheduler="synchronous")
    assert found.dtype == expected.dtype == result.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("reducer", ["argmax", "argmin", "max", "min"])
def test_nan_and_ties_are_as_on_numpy_arrays(reducer: str) -> None:
    x = np.array([[1.0, 3, 3, 2, 0, 0], [1, np.nan, 5, np.nan, 0, 0]])
    for chunks in (1, 2, (1, 4), -1):
        for text in (f"a b -> a : {reducer}", f"a b -> : {reducer}", f"a b -> b : {reducer}"):
            found = ne.einsum(text, da.from_array(x, chunks=chunks)).compute()
            np.testing.assert_array_equal(found, ne.einsum(text, x))


def test_variances_keep_their_digits_far_from_zero() -> None:
    x = 1e8 + np.random.default_rng(3).random(10_000)
    found = ne.einsum("n -> : var", da.from_array(x, chunks=1000)).compute()
    np.testing.assert_allclose(found, x.var(), rtol=1e-7)


def test_the_graph_of_many_chunks_is_small() -> None:
    x = da.ones((10_000, 10_000), chunks=100)
    assert len(dict(ne.einsum("i k, k j -> i j", x, x).__dask_graph__())) < 25_000


def test_what_several_chunks_would_compute_is_computed_once() -> None:
    x = da.ones((4000, 4000), chunks=1000)
    plan = ne.compile("i j, j k, k l -> i l").plan(x, x, x)
    assert len(plan.steps) == 2, "a task of the second product would compute the first again"


def test_factors_without_dims_of_their_own_are_multiplied_in_one_task() -> None:
    x, u = da.ones((100, 100, 100), chunks=50), da.ones((100, 5), chunks=50)
    assert len(ne.compile("i j k, j r, k r -> i r").plan(x, u, u).steps) == 1


@pytest.mark.parametrize("text", ["y[n c] = softmax[c](x[n c])", "y[n c] = x[n c] - mean[c](x[n c])"])
def test_dims_of_arrays_larger_than_a_worker_are_not_gathered(text: str) -> None:
    program = ne.compile(text, memory_limit=8_000_000)
    small = program.plan(x=da.ones((100, 20_000), chunks=(100, 1000)))
    large = program.plan(x=da.ones((100, 200_000), chunks=(100, 1000)))
    assert not any(step.name.startswith("partial") for step in small.steps)
    assert any(step.name.startswith("partial") for step in large.steps)
    assert large.steps[-1].chunks == ((100,), (1000,) * 200)


def test_sums_over_dims_of_arrays_larger_than_a_worker_are_trees() -> None:
    x = da.ones((16_000, 16_000), chunks=1000)
    plan = ne.compile("i k, k j -> i j").plan(x, x)
    assert min(map(max, plan.steps[0].chunks)) >= 1000, "blocks of whole rows would be thin"


def test_what_is_multiplied_with_several_chunks_is_computed_once() -> None:
    x, w = da.ones((1000, 400), chunks=(500, 400)), da.ones(4000, chunks=1000)
    plan = ne.compile("s[n] = sum[c](exp(x[n c]))\ny[n m] = s[n] * w[m]").plan(x=x, w=w)
    assert [step.dims for step in plan.steps] == ["n", "n m"]
