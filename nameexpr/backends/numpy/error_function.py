"""The error function, its complement and its inverse: of many numbers by NumPy's vector loops.

For x >= 0, erfc(x) = exp(-x**2) * p((x - 3) / (x + 3)) / (1 + 2 * x), where p is a polynomial: the Chebyshev
series of what is left has 25 terms above the rounding of float64 (M. M. Shepherd and J. G. Laframboise,
"Chebyshev approximation of (1 + 2x) exp(x**2) erfc x", 1981, for the form). Narrower floats need 15 terms.
Near 0, erf is its Taylor series.

The values are computed in float64, in blocks that stay in the cache: 4 to 7 ulps of float64 at most, and half
an ulp of narrower floats. One element takes about as long as in `scipy.special`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import erf, erfc, factorial, pi, sqrt

import numpy as np

from nameexpr.backends.numpy.arrays import Array, each

BLOCK = 1 << 15
"""The number of elements of a block: in shorter ones, threads wait for the interpreter between calls."""
CENTRE, TOP, NEAR = 3.0, 28.0, 0.5
"""The number at which the argument of the polynomial is 0; the one from which erfc is 0; the one up to which
the Taylor series is used.
"""
SERIES = (
    1.2530080582697296, -0.13562110612458117, -0.0475622943534492, 0.1296451587027594, -0.11927366341538638,
    0.0683080273440099, -0.02377051491717134, 0.0025293918156939696, 0.0018886903449991718,
    -0.0007798322696543306, -0.00010515971958448065, 0.0001250993424583729, 4.949196649968345e-06,
    -2.0100542268525612e-05, -7.308281468783614e-07, 3.472370944977168e-06, 3.5576086684080595e-07,
    -6.166011460398726e-07, -1.4047654315428462e-07, 1.0183620603842736e-07, 4.1064013667940355e-08,
    -1.3312919661038687e-08, -8.217595058711455e-09, 9.862533510345587e-10, 8.393734858690877e-10,
)  # fmt: skip
"""The polynomial for float64."""
SHORT = (
    1.2530080582680247, -0.13562110449402126, -0.047562294126531325, 0.12964509696901552,
    -0.11927366842664026, 0.06830870677166784, -0.023770472039728083, 0.0025260688678001345,
    0.001888505333876565, -0.0007713736760226932, -0.00010470633587194883, 0.00011324623983168478,
    4.280483022090398e-06, -1.1057230027974098e-05, -1.196096815054115e-07,
)  # fmt: skip
"""The polynomial for narrower floats."""


def _numbers(values: Sequence[float]) -> list[Array]:
    """Return numbers as arrays, which NumPy need not convert in every call, the last first."""
    return [np.array(value) for value in reversed(values)]


def _taylor(terms: int) -> list[Array]:
    """Return the coefficients of erf(x) / x in powers of x**2."""
    return _numbers([2 / sqrt(pi) * (-1) ** n / (factorial(n) * (2 * n + 1)) for n in range(terms)])


OF_WIDE, OF_NARROW = _numbers(SERIES), _numbers(SHORT)
NEAR_WIDE, NEAR_NARROW = _taylor(13), _taylor(8)
ONE, HALF, AT_NEAR = np.array(1.0), np.array(0.5), np.array(erfc(NEAR))
MINUS_ROOT = np.array(-(0.5**0.5))
# The parameter of Winitzki's closed form for erfinv. He gives 0.140 and 0.147; with this value, two steps of
# Halley's method reach the last digit everywhere.
SHAPE = 0.143
STEPS = 2


def erf_of_row(x: Array, result: Array) -> None:
    """Write erf of a row of floats into another one of its length, which may be the same."""
    _in_blocks(_erf, x, result)


def erfc_of_row(x: Array, result: Array) -> None:
    """Write erfc of a row of floats into another one of its length, which may be the same."""
    _in_blocks(_erfc, x, result)


def gelu_of_row(x: Array, result: Array) -> None:
    """Write x * erfc(-x / sqrt(2)) / 2 of a row of floats into another one of its length, with one warning
    for all blocks.
    """
    faults: list[int] = []
    with np.errstate(all="ignore", invalid="call", call=lambda _, flag: faults.append(flag)):
        _in_blocks(_gelu, x, result)
    if faults:
        np.multiply(-np.inf, 0.0)


def _in_blocks(function: Callable[[Array, bool], Array], x: Array, result: Array) -> None:
    is_wide = x.dtype.itemsize > np.dtype(np.float32).itemsize
    for start in range(0, len(x), BLOCK):
        block = slice(start, start + BLOCK)
        result[block] = function(x[block].astype(np.float64), is_wide)


def _erf(x: Array, is_wide: bool) -> Array:
    """Return erf of float64, which are overwritten."""
    magnitude = np.absolute(x)
    is_far = magnitude > NEAR
    near = np.minimum(magnitude, NEAR)
    series = _polynomial(near * near, NEAR_WIDE if is_wide else NEAR_NARROW)
    series *= near
    # The rest is added, times 0 or 1: a choice for each element would take as long as all the rest.
    rest = _of_positive(magnitude, is_wide)
    np.subtract(AT_NEAR, rest, out=rest)
    rest *= is_far
    series += rest
    return np.copysign(series, x, out=x)


def _erfc(x: Array, is_wide: bool) -> Array:
    """Return erfc of float64, which are overwritten."""
    result = _of_positive(np.absolute(x), is_wide)
    sign = np.copysign(ONE, x, out=x)
    result *= sign  # erfc(-x) = 2 - erfc(x)
    np.subtract(ONE, sign, out=sign)
    result += sign
    return result


def _gelu(x: Array, is_wide: bool) -> Array:
    """Return gelu of float64."""
    with np.errstate(all="ignore"):
        result = _erfc(x * MINUS_ROOT, is_wide)
    np.multiply(x, result, out=result)
    result *= HALF
    return result


def _of_positive(x: Array, is_wide: bool) -> Array:
    """Return erfc of float64 from 0 to infinity, which are overwritten."""
    np.minimum(x, TOP, out=x)
    ratio, result = x - CENTRE, x + CENTRE
    ratio /= result
    _polynomial(ratio, OF_WIDE if is_wide else OF_NARROW, result)
    np.add(x, x, out=ratio)
    ratio += ONE
    result /= ratio
    if not is_wide:
        x *= x
        np.negative(x, out=x)
        result *= np.exp(x, out=x)
        return result
    # The square of the upper half of x is exact: rounding x**2 would cost hundreds of ulps of exp(-x**2).
    upper = x.astype(np.float32).astype(np.float64)
    np.subtract(upper, x, out=ratio)
    x += upper
    ratio *= x
    result *= np.exp(ratio, out=ratio)
    upper *= upper
    np.negative(upper, out=upper)
    result *= np.exp(upper, out=upper)
    return result


def _polynomial(x: Array, coefficients: Sequence[Array], out: Array | None = None) -> Array:
    """Return a polynomial by Horner's rule, of which the last coefficient comes first."""
    first, second, *rest = coefficients
    result: Array = np.multiply(x, first, out=out)
    result += second
    for coefficient in rest:
        result *= x
        result += coefficient
    return result


def positive_erfinv(magnitude: Array) -> Array:
    """Return erfinv of float64 from 0 on.

    A closed form accurate to 0.5 % (S. Winitzki, "A handy approximation for the error function and its
    inverse", 2008) is refined by Halley's method.
    """
    result = _rough_erfinv(magnitude)
    for _ in range(STEPS):
        result = _halley(result, magnitude)
    result[magnitude == 1] = np.inf
    return result


def _rough_erfinv(x: Array) -> Array:
    """Return erfinv of magnitudes to 0.5 %, unless x**2 underflows: Halley's steps correct that."""
    logarithm = np.log1p(-x * x)
    half = 2 / (np.pi * SHAPE) + logarithm / 2
    rest = -logarithm / SHAPE
    # sqrt(half**2 + rest) - half, rearranged: that difference would lose all digits of a small x.
    return np.asarray(np.sqrt(rest / (np.sqrt(half * half + rest) + half)))


def _halley(y: Array, x: Array) -> Array:
    """Return a better y, for magnitudes x = erf(y), by one step of Halley's method."""
    residual = np.empty_like(y)
    # From one half on, 1 - x is exact and erfc(y) keeps the digits that erf(y) loses.
    near = x < 0.5  # noqa: PLR2004
    far = ~near
    residual[near] = each(erf, y[near]) - x[near]
    residual[far] = (1 - x[far]) - each(erfc, y[far])
    newton = residual * np.exp(y * y) * (sqrt(pi) / 2)
    return np.asarray(y - newton / (1 + y * newton))
