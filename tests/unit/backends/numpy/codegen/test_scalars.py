"""Numbers among floats are bound with the dtype of these: values and dtypes are those of Python's numbers."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.runtime.evaluate import find_formula

X = np.array([-2.5, -0.0, 0.0, 1.0, 3.0, np.inf, np.nan])


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", ">f4", "complex64", "int8", "int64", "uint8", "bool"]
)
def test_values_and_dtypes_are_those_of_numbers(dtype: str) -> None:
    with np.errstate(all="ignore"):
        x = np.nan_to_num(X).clip(0, 3).astype(dtype) if np.dtype(dtype).kind in "iub" else X.astype(dtype)
        for text, rule in [
            ("x[N] * 0.1", lambda x: x * 0.1),
            ("2 - x[N]", lambda x: 2 - x),
            ("1 / (x[N] + 0.0)", lambda x: 1 / (x + 0.0)),
            ("1 / (x[N] * -0.0) + (x * 0.0)", lambda x: 1 / (x * -0.0) + x * 0.0),
            ("x[N] / 3 + 1e-40", lambda x: x / 3 + 1e-40),
        ]:
            if np.dtype(dtype).kind == "b" and text.startswith("2"):
                continue
            found, expected = ne.evaluate(text, x=x), rule(x)
            assert found.dtype == expected.dtype.newbyteorder("=")
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(np.signbit(found.real), np.signbit(expected.real))


def test_a_number_is_bound() -> None:
    ne.evaluate("x[N] * 0.125 + 3", x=X)
    bound = find_formula("x[N] * 0.125 + 3").call.__globals__
    assert sorted(float(v) for v in bound.values() if isinstance(v, np.ndarray)) == [0.125, 3.0]


def test_numbers_are_bound_with_the_dtype_that_they_have_in_each_statement() -> None:
    x, y = X.astype("float32"), X.astype("float64")
    with np.errstate(all="ignore"):
        found = ne.evaluate("a = x[N] * 0.1; b = y[N] * 0.1", x=x, y=y, outputs=("a", "b"))
        for one, expected in zip(found, (x * 0.1, y * 0.1), strict=True):
            assert one.dtype == expected.dtype
            np.testing.assert_array_equal(one, expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_mean_of_a_power_of_two_keeps_its_dtype(dtype: str) -> None:
    x = np.arange(32, dtype=dtype).reshape(4, 8)
    found = ne.evaluate("mean[b](x[a b])", x=x)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, x.mean(1))


@pytest.mark.parametrize("number", ["1e39", "1e-46", "3e38"])
def test_numbers_at_the_ends_of_a_dtype_warn_as_numpy_does(number: str) -> None:
    x = np.ones(3, "float32")
    with np.errstate(all="ignore"):
        found, expected = ne.evaluate(f"x[N] * {number}", x=x), x * float(number)
    np.testing.assert_array_equal(found, expected)
