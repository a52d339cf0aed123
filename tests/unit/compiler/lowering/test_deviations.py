"""Variances of values from which their mean is subtracted, compared with NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nameexpr as ne

RNG = np.random.default_rng(11)
SHARED = {
    "(x[a b] - mean[b](x)) / sqrt(var[b](x) + 1)": lambda x: (
        (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1)
    ),
    "v[a] = var[b](x[a b]); m = mean[b](x); y[a b] = (x - m) * v": lambda x: (
        (x - x.mean(1, keepdims=True)) * x.var(1, keepdims=True)
    ),
    "s = std[a](x[a b]); y[a b] = (x - mean[a](x)) / (s + 0.1)": lambda x: (x - x.mean(0)) / (x.std(0) + 0.1),
    "(x[a b] - mean[b a](x)) / std[a b](x)": lambda x: (x - x.mean()) / x.std(),
    "z = exp(x[a b]); y[b a] = (z - mean[b](z)) / (1 + var[b](z))": lambda x: (
        ((np.exp(x) - np.exp(x).mean(1, keepdims=True)) / (1 + np.exp(x).var(1, keepdims=True))).T
    ),
}
ALONE = [
    "y[a] = var[b](x[a b])",
    "(x[a b] - mean[a](x)) / std[b](x)",
    "(x[a b] - mean[b](x)) / std[b](x * 2)",
    "(mean[b](x[a b]) - x) / std[b](x)",
]


def used(text: str, x: Any) -> str:
    return ne.compile(text).plan(x=x).code


@pytest.mark.parametrize("text", sorted(SHARED))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_deviations_are_computed_once(text: str, dtype: str) -> None:
    x = RNG.standard_normal((30, 40)).astype(dtype)
    code = used(text, x)
    assert "kernels.var" not in code
    assert "kernels.std" not in code
    assert code.count("np.subtract") == 1
    found = ne.evaluate(text, x=x)
    assert found.dtype == dtype
    expected = SHARED[text](x.astype("float64"))
    np.testing.assert_allclose(found, expected, rtol=1e-4 if dtype == "float32" else 1e-11, atol=1e-6)


@pytest.mark.parametrize("text", ALONE)
def test_other_variances_are_left_alone(text: str) -> None:
    assert "kernels." in used(text, RNG.standard_normal((4, 5)))


@pytest.mark.parametrize("dtype", ["int64", "float16", "complex128"])
def test_dtypes_whose_deviations_are_rounded_or_squared_otherwise_are_left_alone(dtype: str) -> None:
    x = (RNG.standard_normal((4, 50)) * 100).astype(dtype)
    text = "d[a b] = x[a b] - mean[b](x); v[a] = var[b](x[a b])"
    assert "kernels.var" in ne.compile(text, outputs=["d", "v"]).plan(x=x).code
    (v,) = ne.evaluate(text, x=x, outputs=["v"])
    wide = x.astype("float64" if dtype != "complex128" else dtype)
    np.testing.assert_allclose(np.asarray(v).astype("float64"), wide.var(1), rtol=1e-2)


def test_a_large_mean_costs_no_digits_of_the_variance() -> None:
    x = RNG.standard_normal((20, 1000)) + 1e6
    text = "d = x[a b] - mean[b](x); y = d / std[b](x)"
    np.testing.assert_allclose(ne.evaluate(text, x=x).std(1), 1, rtol=1e-9)


def test_statements_that_are_returned_have_the_values_that_take_their_place() -> None:
    x = RNG.standard_normal((5, 6))
    text = "v = var[b](x[a b]); s = std[b](x); y[a b] = (x - mean[b](x)) / s"
    v, s, y = ne.evaluate(text, x=x, outputs=["v", "s", "y"])
    np.testing.assert_allclose(v, x.var(1))
    np.testing.assert_allclose(s, x.std(1))
    np.testing.assert_allclose(y, (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True))


def test_gradients_of_normalised_values_are_those_of_differences() -> None:
    text = "n[a b] = (x[a b] - mean[b](x)) / sqrt(var[b](x) + 0.1); l = sum[a b](n ** 3)"
    assert ne.check_gradient(text, x=RNG.standard_normal((4, 5)))
