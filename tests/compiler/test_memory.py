"""Memory predicted for single functions, beside what tracemalloc measures."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import nameexpr as ne

KERNELS = ("sigmoid", "silu", "gelu", "erf", "erfc", "softplus", "relu", "imag", "real", "exp")
REDUCERS = ("logsumexp", "var", "std", "norm", "max", "sum")


def measured_and_predicted(text: str, dtype: str) -> tuple[int, int]:
    x = (np.random.default_rng(2).random((400, 500)) + 0.5).astype(dtype)
    formula = ne.compile(text)
    formula(x=x)
    tracemalloc.start()
    formula(x=x)
    measured = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return measured, formula.plan(x=x).peak_bytes


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("name", KERNELS)
def test_temporaries_of_pointwise_kernels_are_predicted(name: str, dtype: str) -> None:
    measured, predicted = measured_and_predicted(f"{name}(x[i j])", dtype)
    assert measured / 1.1 - 50_000 <= predicted <= 1.1 * measured


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_a_softmax_of_half_numbers_is_computed_in_single_ones(name: str) -> None:
    measured, predicted = measured_and_predicted(f"{name}[j](x[i j])", "float16")
    assert measured / 1.3 <= predicted <= 1.3 * measured


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("text", ["{}[j](x[i j])", "{}[j](-x[i j])"])
def test_running_sums_of_half_numbers_are_computed_in_single_ones(name: str, text: str) -> None:
    measured, predicted = measured_and_predicted(text.format(name), "float16")
    assert measured / 1.1 <= predicted + ITERATOR
    assert predicted <= 1.1 * measured


ITERATOR = 8192 * 8
"""Bytes of the buffer that NumPy's iterator may have for a moment, in some of its releases."""


@pytest.mark.parametrize("name", REDUCERS)
def test_temporaries_of_reducers_inside_blocks_are_predicted(name: str) -> None:
    measured, predicted = measured_and_predicted(f"{name}[j](exp(x[i j]))", "float64")
    assert measured / 1.1 - ITERATOR <= predicted <= 1.5 * measured
