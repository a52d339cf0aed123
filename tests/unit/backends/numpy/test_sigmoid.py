"""sigmoid and silu of a few numbers and of many, against decimals."""

from __future__ import annotations

import math
import warnings
from decimal import Decimal

import numpy as np
import pytest

from nameexpr.backends.numpy import formulas, special

numbers = np.random.default_rng(7)


@pytest.mark.parametrize(
    ("dtype", "most"), [("float16", 2), ("float32", 3.5), (">f4", 3.5), ("float64", 3), (">f8", 3)]
)
def test_sigmoid_is_accurate_from_the_smallest_result_to_one(dtype: str, most: float) -> None:
    low = math.log(float(np.finfo(dtype).tiny)) + 0.1
    x = np.concatenate([np.linspace(low, 13, 301), np.linspace(13, -2 * low, 101), [-0.0, 1e-7]]).astype(
        dtype
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = special.sigmoid(x)
    truth = [1 / (1 + (-Decimal(float(value))).exp()) for value in x]
    apart = [abs(Decimal(float(one)) - true) for one, true in zip(found, truth, strict=True)]
    ulps = [float(one) / float(np.spacing(each)) for one, each in zip(apart, found, strict=True)]
    assert found.dtype == x.dtype.newbyteorder("=")
    assert max(ulps) < most


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "longdouble"])
def test_sigmoid_of_infinities_zeros_and_nan(dtype: str) -> None:
    largest = np.finfo(dtype).max
    x = np.array([np.inf, largest, 0.0, -0.0, -largest, -np.inf, np.nan], dtype)
    found = special.sigmoid(x)
    np.testing.assert_array_equal(found, np.array([1, 1, 0.5, 0.5, 0, 0, np.nan], dtype))
    assert special.sigmoid(x, x) is x
    np.testing.assert_array_equal(x, found)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f8", "longdouble"])
@pytest.mark.parametrize("name", ["sigmoid", "silu"])
def test_many_numbers_give_what_few_do(name: str, dtype: str) -> None:
    function = getattr(formulas, name)
    x = (30 * numbers.standard_normal((3, special.MANY // 3 + 5))).astype(dtype)
    x[:, 1000:1003] = np.inf, np.nan, -np.inf
    with np.errstate(all="ignore"):
        few = np.stack([np.concatenate([function(part) for part in np.array_split(row, 9)]) for row in x])
        made = function(x)
        np.testing.assert_array_equal(made, few)
        assert made.dtype == few.dtype
        np.testing.assert_array_equal(function(np.asfortranarray(x)), few)
        np.testing.assert_array_equal(function(x[:, ::-1]), few[:, ::-1])
        for out in (np.empty(x.shape, made.dtype), np.empty((*x.shape, 2), made.dtype)[..., 0]):
            assert function(x, out=out) is out
            np.testing.assert_array_equal(out, few)


@pytest.mark.parametrize("size", [5, special.MANY + 7])
def test_sigmoid_may_be_written_over_its_argument(size: int) -> None:
    x = numbers.standard_normal(size)
    expected = special.sigmoid(x)
    assert special.sigmoid(x, x[:]) is not x
    np.testing.assert_array_equal(x, expected)


def test_sigmoid_of_complex_numbers_is_its_definition() -> None:
    z = np.array([0.5 + 2j, -2 + 0.5j, 1j, -1, 700 + 1j, -700 + 1j])
    np.testing.assert_allclose(special.sigmoid(z), np.exp(z) / (np.exp(z) + 1), rtol=1e-14)
