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


def unaligned(count: int) -> np.ndarray:
    return np.zeros(count, [("tag", "u1"), ("cells", "f8")])["cells"]


FEW = np.arange(40.0)
CUBE = np.random.default_rng(3).random((8, 2, 17, 74, 8, 7))
LAID_OUT: dict[str, tuple[str, dict[str, np.ndarray]]] = {
    "a choice of unaligned cells": ("y[i] = where(x[i] < x, x, 2)", {"x": unaligned(200_000)}),
    "a choice by a number": (
        "y[i k] = sin(where(-2, w[i], x[k]))",
        {"w": np.arange(2591), "x": FEW.astype("f2")},
    ),
    "blocks at an edge of rows": (
        "y[i j k] = tanh((x[i j k] + 1) * x / (x + 2))",
        {"x": np.ones((9, 162, 448), "f4")[:, ::2, ::2]},
    ),
    "parts at an edge of a softmax": ("y[i j k] = softmax[i](-x[i j k])", {"x": np.ones((40, 298, 29))}),
    "sums of three parts of a softmax": ("y[i k] = softmax[i](-x[i k])", {"x": np.ones((48, 1 << 14))}),
    "sums of three parts of its logarithm": (
        "y[i k] = log_softmax[i](-x[i k])",
        {"x": np.ones((1 << 14, 48)).T},
    ),
    "argmin across rows": ("y[i j k l m] = argmin[n](x[i j k l m n])", {"x": CUBE.transpose()[..., ::-1]}),
    "half numbers of a block": (
        "y[i j k] = logsumexp[...](where(x[i j ...] != w[k], t[...], -inf))",
        {"x": np.ones((80, 50)), "w": np.arange(149.0), "t": np.array(2, np.float16)},
    ),
    "a median of foreign byte order": ("median[i](x[i])", {"x": np.arange(200_000, dtype=">f4")}),
    "a median of few rows": (
        "y[i k] = median[j](x[i j k])",
        {"x": np.ones((8, 30, 478), "f4")},
    ),
    "a norm of nothing": ("y[i k] = norm[j](x[i j k])", {"x": np.ones((500, 0, 400))}),
    "a sum of one cell again and again": (
        "sum[i](x[i]) * sum[i](w[i])",
        {"x": np.broadcast_to(np.float32(2), (300_000,)), "w": np.ones(300_000)},
    ),
    "a row that is cast for all others": (
        "y[i k] = x[i k] * w[k]",
        {"x": np.ones((15, 2609)), "w": np.ones(2609, ">f8")},
    ),
    "slices of an array that is turned round": (
        "y = sum[b k](x[b k] * max[c](w[k b c]))",
        {"x": np.ones((300, 400)), "w": np.ones((2, 300, 400)).transpose(2, 1, 0)},
    ),
    "a norm of complex numbers across strides": (
        "y[i] = norm[j k](x[i j k])",
        {"x": np.ones((9, 200, 300), complex)[:, ::-2, ::2]},
    ),
    "a median of narrow floats": ("y[i] = median[j](x[i j])", {"x": np.ones((20_000, 3), "f4")}),
    "half numbers that are multiplied in single ones": (
        "y[i j] = prod[k](sin(x[i k] + w[k j]))",
        {"x": np.ones((375, 8), "f2"), "w": np.ones((8, 56), "f2")},
    ),
    "a copy that a function writes over": (
        "y[(j i) k] = erf(cumprod[k](sin(x[i j k])))",
        {"x": np.random.default_rng(1).random((150, 15, 87))},
    ),
}


@pytest.mark.parametrize("case", LAID_OUT)
def test_what_numpy_needs_for_a_layout_is_predicted(case: str) -> None:
    text, operands = LAID_OUT[case]
    formula = ne.compile(text)
    formula(**operands)
    tracemalloc.start()
    formula(**operands)
    measured = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    predicted = formula.plan(**operands).peak_bytes
    assert measured - OBJECTS <= predicted <= 1.1 * measured


@pytest.mark.parametrize("text", ["i -> 2 i", "i -> i 3", "i -> 2 i 3"])
def test_a_read_only_array_is_repeated_without_a_copy_of_it(text: str) -> None:
    x = np.arange(60_000.0)
    x.flags.writeable = False
    repeat = ne.compile(text)
    result = repeat(x)
    tracemalloc.start()
    repeat(x)
    measured = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert measured <= repeat.plan(x).peak_bytes + OBJECTS
    np.testing.assert_array_equal(
        result, np.broadcast_to(x.reshape(-1, 1) if "3" in text else x, result.shape)
    )


OBJECTS = 8_000
"""Bytes of Python's own objects during a call."""
