"""clip with numbers and with arrays as bounds, into a new array and into a given one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nameexpr.backends.numpy import formulas


def one_by_one(x: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return the elements of x between bounds, the upper one where they cross, nan where x is nan."""
    found = [value if math.isnan(value) else min(max(value, low), high) for value in x.ravel().tolist()]
    return np.array(found, x.dtype.newbyteorder("=")).reshape(x.shape)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f8", "i4"])
@pytest.mark.parametrize(("low", "high"), [(-1, 1), (-0.5, 1), (0.5, 1.5), (1, -1), (2.5, -2.5)])
def test_numbers_and_arrays_bound_alike(dtype: str, low: float, high: float) -> None:
    x = np.array([[-3, -1, -0.25, 0.0], [0.25, 1, 3, 7]]).astype(dtype)
    if dtype == "i4" and (low % 1 or high % 1):
        x = x.astype(float)
    if x.dtype.kind == "f":
        x[0, 0], x[1, 3] = np.nan, np.inf
    expected = one_by_one(x, low, high)
    for given in (x, x[::-1][::-1], np.asfortranarray(x)):
        made = formulas.clip(given, low, high)
        np.testing.assert_array_equal(made, expected)
        assert made.dtype == expected.dtype
        bounds = np.full((2, 1), low, x.dtype), np.full(4, high, x.dtype)
        np.testing.assert_array_equal(formulas.clip(given, *bounds), expected)
        for out in (np.empty(x.shape, expected.dtype), np.empty((*x.shape, 2), expected.dtype)[..., 1]):
            for limits in ((low, high), bounds):
                assert formulas.clip(given, *limits, out=out) is out
                np.testing.assert_array_equal(out, expected)
    assert formulas.clip(x[1, 1], low, high) == expected[1, 1]
    assert formulas.clip(np.array(x[1, 1]), low, high) == expected[1, 1]


def test_numpy_numbers_promote_as_arrays_do() -> None:
    x = np.ones(3, np.float32)
    assert formulas.clip(x, np.float64(0.1), 2).dtype == np.float64
    assert formulas.clip(x, 0.1, 2).dtype == np.float32
