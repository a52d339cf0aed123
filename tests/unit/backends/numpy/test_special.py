"""erf, erfc, erfinv and digamma, with SciPy and without, against series summed in decimals of sixty digits
and more.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from nameexpr.backends.numpy import formulas, special

FUNCTIONS = [special.erf, special.erfc, special.erfinv, special.digamma]
ODD = [0.0, -0.0, 1.0, -1.0, -2.0, 0.5, -0.5, 2.0, 5e-324, -5e-324, 1e300, -1e300]
NOT_FINITE = [math.inf, -math.inf, math.nan]

LONG = [special.LONG + 3, 2 * special.LONG]
numbers = np.random.default_rng(7)


@pytest.fixture(autouse=True, params=["SciPy", "no SciPy"])
def _library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test with SciPy and without."""
    if request.param == "SciPy":
        assert special.scipy_special() is not None
    else:
        monkeypatch.setattr(special, "scipy_special", lambda: None)


def decimal_atan_of_one_over(n: int) -> Decimal:
    total, term, k = Decimal(0), Decimal(1) / n, 0
    while abs(term) > Decimal(10) ** -900:
        total += term / (2 * k + 1)
        term, k = -term / (n * n), k + 1
    return total


@cache
def decimal_pi() -> Decimal:
    with localcontext(prec=900):
        return 16 * decimal_atan_of_one_over(5) - 4 * decimal_atan_of_one_over(239)


def decimal_erf(x: float) -> Decimal:
    """Sum the Taylor series with as many digits as its alternating terms and 1 - erf(x) eat up."""
    with localcontext(prec=80 + int(x * x)):
        exact = Decimal(x)
        total, term, n = Decimal(0), exact, 0
        while term and abs(term) >= abs(exact) * Decimal(10) ** -(80 + int(x * x)):
            total += term / (2 * n + 1)
            n += 1
            term *= -exact * exact / n
        return total * 2 / decimal_pi().sqrt()


def decimal_erfc(x: float) -> Decimal:
    with localcontext(prec=80 + int(x * x)):
        return 1 - decimal_erf(x)


@cache
def bernoulli(n: int) -> Fraction:
    """Give B(n) by the recurrence that sums binomials times the ones before."""
    if n == 0:
        return Fraction(1)
    return -sum((math.comb(n + 1, k) * bernoulli(k) for k in range(n)), Fraction(0)) / (n + 1)


def decimal_digamma(x: float) -> Decimal:
    """Climb to 60 from either side of zero (no reflection), then sum the asymptotic series."""
    with localcontext(prec=70):
        exact, below = Decimal(x), Decimal(0)
        while exact < 60:
            below += 1 / exact
            exact += 1
        series = sum(
            Decimal(part.numerator) / part.denominator / (n * exact**n)
            for n in range(2, 50, 2)
            for part in [bernoulli(n)]
        )
        return exact.ln() - 1 / (2 * exact) - series - below


def worst(found: np.ndarray, truth: list[Decimal], floor: float = 0.0) -> float:
    """Give the largest error relative to the truth, or to `floor` where that is larger."""
    with localcontext(prec=70):
        return max(
            float(abs(Decimal(float(y)) - t) / max(abs(t), Decimal(floor)))
            for y, t in zip(found, truth, strict=True)
        )


def test_decimal_truths_give_known_constants() -> None:
    assert float(decimal_pi()) == math.pi
    assert str(decimal_erf(1.0)).startswith("0.84270079294971486934122063508")
    assert str(decimal_erfc(5.0)).startswith("1.537459794428034850188343485")
    assert str(decimal_digamma(1.0)).startswith("-0.57721566490153286060651209008")
    assert bernoulli(12) == Fraction(-691, 2730)


def test_erf_is_right_to_the_last_digits() -> None:
    x = np.concatenate([numbers.normal(size=60) * 2, 10 ** numbers.uniform(-300, 0, 20), [0.5, 5.9, -3.0]])
    assert worst(special.erf(x), [decimal_erf(one) for one in x]) < 4e-16


def test_erfc_keeps_its_digits_far_out() -> None:
    x = np.concatenate([numbers.uniform(-6, 6, 40), [0.0, 0.5, 10.0, 20.0, 26.0]])
    assert worst(special.erfc(x), [decimal_erfc(one) for one in x]) < 3e-15
    assert special.erfc(np.array([30.0, -30.0])).tolist() == [0.0, 2.0]


@pytest.mark.parametrize("size", [40, special.SHORT, special.LONG])
@pytest.mark.parametrize(
    ("function", "truth", "most"), [(special.erf, decimal_erf, 3.0), (special.erfc, decimal_erfc, 12.0)]
)
def test_the_error_functions_are_accurate_at_any_length(
    function: Callable[..., Any], truth: Callable[[float], Decimal], most: float, size: int
) -> None:
    """In ulps: of each value near 0, near 1, far out, and on both sides of where the way changes."""
    x = np.concatenate([numbers.uniform(-3, 3, 25), numbers.uniform(3, 26, 8), [0.5, -0.5, 3.0, 28.0]])
    x = np.concatenate([x, 10 ** numbers.uniform(-300, -3, 3)])
    exact = [truth(one) for one in x]
    ulps = worst_ulps(function(np.resize(x, size))[:40], exact)
    assert ulps < most
    narrow = [truth(float(one)) for one in x.astype(np.float32)]
    with np.errstate(under="ignore"):
        assert worst_ulps(function(np.resize(x, size).astype(np.float32))[:40], narrow) < 0.51


@pytest.mark.parametrize("size", [30, special.SHORT, special.LONG])
def test_gelu_does_not_depend_on_the_way_of_its_error_function(size: int) -> None:
    x = np.linspace(-8, 8, 30)
    expected = [one * math.erfc(-one * 0.5**0.5) / 2 for one in x]
    np.testing.assert_allclose(formulas.gelu(np.resize(x, size))[:30], expected, rtol=3e-15)


def worst_ulps(found: np.ndarray, truth: list[Decimal]) -> float:
    """Give the largest error in units of the last place of the truth, or of the least number."""
    dtype = found.dtype.type
    with localcontext(prec=70):
        return max(
            float(abs(Decimal(float(y)) - t) / Decimal(float(np.spacing(abs(dtype(float(t)))))))
            for y, t in zip(found, truth, strict=True)
        )


@pytest.mark.parametrize("size", LONG)
@pytest.mark.parametrize("function", [special.erf, special.erfc])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_long_arrays_have_the_edge_cases_of_short_ones(
    function: Callable[..., Any], dtype: type, size: int
) -> None:
    with np.errstate(all="ignore"):
        x = np.array(ODD + NOT_FINITE + [26.6, 27.3, 1e-310]).astype(dtype)
        found, short = function(np.resize(x, size)), function(x)
    assert found.dtype == dtype
    np.testing.assert_array_equal(np.signbit(found)[: len(x)], np.signbit(short))
    np.testing.assert_allclose(found, np.resize(short, size), rtol=8 * np.finfo(dtype).eps, atol=1e-322)


@pytest.mark.parametrize("function", [special.erf, special.erfc])
def test_long_arrays_of_any_layout_give_the_same(function: Callable[..., Any]) -> None:
    x = numbers.normal(size=(200, 100))
    expected = function(x)
    out = np.full((100, 200), 7.0).T
    np.testing.assert_array_equal(function(np.asfortranarray(x)), expected)
    assert function(x, out) is out
    np.testing.assert_array_equal(out, expected)
    swapped = function(x.astype(">f8"))
    np.testing.assert_array_equal(swapped, expected)
    assert function(x, x) is x
    np.testing.assert_array_equal(x, expected)


def erfinv_error(x: float, y: float) -> float:
    """Give the relative error of y = erfinv(x), from how far erf(y) is from x and the slope there."""
    with localcontext(prec=100):
        exact = Decimal(y)
        slope = 2 / decimal_pi().sqrt() * (-exact * exact).exp()
        return float(abs((decimal_erf(y) - Decimal(x)) / (slope * exact)))


def test_erfinv_is_right_to_the_last_digits_everywhere() -> None:
    near_one = 1 - np.concatenate([2.0 ** -np.arange(1, 54), numbers.random(40)])
    x = np.concatenate([near_one, numbers.random(40) / 2, 10 ** numbers.uniform(-300, 0, 40)])
    x = np.concatenate([x, -x[::5], [0.5, np.nextafter(0.5, 0), 1e-160, 1e-162]])
    errors = [erfinv_error(one, float(y)) for one, y in zip(x, special.erfinv(x), strict=True)]
    assert max(errors) < 5e-16


def test_erfinv_of_subnormals_is_their_multiple() -> None:
    x = np.array([5e-324, 1e-320, -1e-310])
    np.testing.assert_array_equal(special.erfinv(x), x * (math.sqrt(math.pi) / 2))


def test_erfinv_undoes_erf() -> None:
    y = np.linspace(-3, 3, 601)
    np.testing.assert_allclose(special.erfinv(special.erf(y)), y, rtol=1e-11, atol=1e-300)


def test_erfinv_is_infinite_at_one_and_nan_beyond() -> None:
    x = np.array([1.0, -1.0, np.nextafter(1, 2), -1.5, 1e300, *NOT_FINITE])
    np.testing.assert_array_equal(special.erfinv(x), [np.inf, -np.inf, *[np.nan] * 6])


@pytest.mark.parametrize("function", [special.erf, special.erfinv])
def test_odd_functions_keep_the_sign_of_zero(function: Callable[..., Any]) -> None:
    found = function(np.array([0.0, -0.0]))
    assert found.tolist() == [0.0, 0.0]
    assert np.signbit(found).tolist() == [False, True]


def test_erf_and_erfc_have_their_limits_at_infinity() -> None:
    x = np.array([np.inf, -np.inf, np.nan])
    np.testing.assert_array_equal(special.erf(x), [1, -1, np.nan])
    np.testing.assert_array_equal(special.erfc(x), [0, 2, np.nan])


def test_digamma_gives_the_known_constants() -> None:
    x = np.array([1.0, 0.5, 0.25, 2.0])
    euler = 0.57721566490153286061
    quarter = -math.pi / 2 - 3 * math.log(2) - euler
    expected = [-euler, -euler - 2 * math.log(2), quarter, 1 - euler]
    np.testing.assert_allclose(special.digamma(x), expected, rtol=1e-15, atol=1e-15)


def test_digamma_of_positive_numbers_is_right_to_a_few_ulps() -> None:
    x = np.concatenate([numbers.uniform(0, 30, 100), 10 ** numbers.uniform(-300, 6, 60), [10.0, 9.999]])
    assert worst(special.digamma(x), [decimal_digamma(one) for one in x], floor=1.0) < 2e-15


def test_digamma_is_right_to_an_ulp_where_its_series_begins() -> None:
    x = np.linspace(10, 11, 40)
    assert worst(special.digamma(x), [decimal_digamma(one) for one in x]) < 2.5e-16


def test_digamma_of_negative_numbers_is_right_to_a_few_ulps() -> None:
    x = np.concatenate(
        [-numbers.uniform(0, 40, 100), -(10 ** numbers.uniform(-300, 0, 40)), [-0.5, -1e3 - 0.3]]
    )
    assert worst(special.digamma(x), [decimal_digamma(one) for one in x], floor=3.0) < 2e-15
    beside_a_pole = np.nextafter(-np.arange(1.0, 20), 0)
    found = special.digamma(beside_a_pole)
    assert worst(found, [decimal_digamma(one) for one in beside_a_pole]) < 1e-15


def test_digamma_is_small_at_its_root() -> None:
    assert abs(special.digamma(np.array([1.4616321449683623]))[0]) < 2e-15


def test_digamma_is_the_slope_of_lgamma() -> None:
    x, step = np.linspace(0.5, 50, 200), 1e-4
    slope = [(math.lgamma(one + step) - math.lgamma(one - step)) / (2 * step) for one in x]
    np.testing.assert_allclose(special.digamma(x), slope, rtol=1e-6, atol=1e-7)


def test_digamma_obeys_recurrence_and_reflection() -> None:
    x = numbers.uniform(-20, 20, 500)
    np.testing.assert_allclose(special.digamma(x + 1), special.digamma(x) + 1 / x, rtol=1e-9, atol=1e-10)
    reflected = special.digamma(1 - x) - special.digamma(x)
    np.testing.assert_allclose(reflected, np.pi / np.tan(np.pi * x), rtol=1e-9, atol=1e-10)


def test_digamma_at_its_poles_follows_pytorch() -> None:
    x = np.array([0.0, -0.0, -1.0, -2.0, -1e300, np.inf, -np.inf, np.nan])
    nan = np.nan
    np.testing.assert_array_equal(special.digamma(x), [-np.inf, np.inf, nan, nan, nan, np.inf, nan, nan])


def test_digamma_of_huge_numbers_is_their_logarithm() -> None:
    x = np.array([1e20, 1e300, 5e-324, -5e-324])
    np.testing.assert_array_equal(special.digamma(x), [math.log(1e20), math.log(1e300), -np.inf, np.inf])


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_narrow_dtypes_hold_the_wide_result_rounded_once(function: Callable[..., Any], dtype: type) -> None:
    x = np.concatenate([numbers.normal(size=200), np.array(ODD[:8] + NOT_FINITE)]).astype(dtype)
    found = function(x)
    assert found.dtype == dtype
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_array_equal(found, function(x.astype(np.float64)).astype(dtype))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_nothing_warns_whatever_the_number(function: Callable[..., Any], dtype: type) -> None:
    with np.errstate(all="ignore"):
        x = np.array(ODD + NOT_FINITE + [1e-7, 6e4, -6e4, 6e-8]).astype(dtype)
    with np.errstate(all="raise"):
        function(x)
        function(x, np.empty_like(x))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0), (2, 3), (2, 1, 4)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_shape_and_dtype_are_those_of_the_operand(
    function: Callable[..., Any], shape: tuple[int, ...], dtype: type
) -> None:
    x = np.asarray(numbers.random(shape)).astype(dtype)
    kept = x.copy()
    x.flags.writeable = False
    found = function(x)
    assert type(found) is np.ndarray
    assert (found.shape, found.dtype) == (shape, dtype)
    assert not np.shares_memory(found, x)
    np.testing.assert_array_equal(x, kept)
    each = [function(np.array([one])).item() for one in x.ravel()]
    np.testing.assert_array_equal(found, np.array(each, dtype).reshape(shape))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_any_layout_gives_the_same(function: Callable[..., Any]) -> None:
    x = numbers.random((6, 4))
    np.testing.assert_array_equal(function(x.T[::2]), function(x.T[::2].copy()))
    np.testing.assert_array_equal(function(x[::-1]), function(x)[::-1])


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_out_is_filled_and_returned(function: Callable[..., Any], dtype: type) -> None:
    x = numbers.random((4, 3)).astype(dtype)
    expected = function(x)
    for out in (np.full((4, 3), 7, dtype), np.full((3, 4), 7, dtype).T, np.full((8, 3), 7, dtype)[::2]):
        assert function(x, out) is out
        np.testing.assert_array_equal(out, expected)
    assert function(x, out=x) is x
    np.testing.assert_array_equal(x, expected)
    single = np.array(0.25, dtype)
    assert function(single, single) is single
    assert single != 0.25


@pytest.mark.parametrize("function", FUNCTIONS)
def test_unaligned_numbers_give_what_aligned_ones_do(function: Callable[..., Any]) -> None:
    records = np.zeros(5, [("flag", "u1"), ("x", "f8")])
    records["x"] = values = [0.0, 0.5, -0.25, 0.9, -0.0]
    unaligned = records["x"]
    assert not unaligned.flags.aligned
    np.testing.assert_array_equal(function(unaligned), function(np.array(values)))
    function(unaligned, out=unaligned)
    np.testing.assert_array_equal(unaligned, function(np.array(values)))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_of_real_numbers_refuse_complex_ones(function: Callable[..., Any]) -> None:
    with pytest.raises(TypeError):
        function(np.array([1 + 1j]))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_gelu_of_many_numbers_is_rounded_once_and_warns_once(dtype: str, order: str) -> None:
    x = np.linspace(-9, 9, 40_000).reshape(400, 100).astype(dtype, order=order)
    x[0, 0] = x[-1, -1] = -math.inf  # which are in two blocks
    expected = np.array([value * math.erfc(-value / math.sqrt(2)) / 2 for value in x.ravel().tolist()])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        made = formulas.gelu(x)
    assert [str(one.message) for one in found] == ["invalid value encountered in multiply"]
    assert (made.dtype, made.flags.c_contiguous) == (x.dtype, True)
    tolerance = {"float16": 1e-3, "float32": 1.2e-7, "float64": 2e-14}[dtype]
    least = float(np.finfo(dtype).tiny)
    np.testing.assert_allclose(made.ravel(), expected.astype(dtype), rtol=tolerance, atol=least)
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="in multiply"):
        formulas.gelu(x)
