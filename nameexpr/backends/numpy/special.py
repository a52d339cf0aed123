"""Functions of one number that NumPy lacks: sigmoid, silu, erf, erfc, gelu, erfinv, digamma and trigamma.

Those after silu work in float64 and round once to the dtype of `x`, so that float32 and float16 results are
as accurate as possible. `out`, if given, has the shape and dtype of `x`; it may be `x`, except for silu.

SciPy, if it is installed, computes erfinv, digamma, and erf and erfc of short arrays; it is imported by the
first call that needs it. Its trigamma is slower.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import Array, each

LONG, SHORT = 8192, 512
"""The number of elements from which vector loops are as fast as SciPy, and as the standard library."""
FAR_OUT = 3.0
"""The number from which SciPy's erfc loses digits of float64: hundreds of ulps, because x**2 is rounded."""

BLOCK, MANY = 1 << 15, 1 << 17
"""The number of elements of a block, in shorter ones of which threads would wait for the interpreter between
calls; and that from which there are blocks.
"""
BOUNDS: Mapping[str, tuple[Array, Array]] = {
    char: (np.array(11 if char == "e" else 80, char), np.ones((), char)) for char in "efdg"
}
"""A number from which sigmoid is 1 in a dtype, and whose exp is finite; and one, as arrays, which ufuncs take
faster than numbers.
"""

# The argument from which digamma's asymptotic series is accurate in float64, and the series in 1 / x**2:
# Bernoulli numbers divided by their index, B(2k) / 2k (Abramowitz and Stegun, 6.3.18).
FAR = 10.0
SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
# Of trigamma: the Bernoulli numbers B(2k) themselves (6.4.12).
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)


def sigmoid(x: Array, out: Array | None = None) -> Any:
    """Return 1 / (1 + exp(-x)), which never overflows, and whose small results keep all digits.

    It is e / (1 + e), where e = exp(x), with a bound on x from which the result is 1 anyway; for complex
    numbers it is computed by means of exp(-x) where the real part is not negative. `out`, if given, has the
    shape and dtype of the result, and may be `x` itself.

    Many numbers are computed in blocks that stay in the cache: four passes over an array that does not fit
    there take up to twice as long, and as much memory again as the result.
    """
    if x.dtype.kind == "c":
        return _of_complex(x, out)
    if _is_in_blocks(x, out):
        return _by_blocks(x, out, is_silu=False)
    most, one = BOUNDS.get(x.dtype.char, (80, 1))
    result = np.asarray(np.minimum(x, most, out=out))
    np.exp(result, result)
    return np.true_divide(result, np.add(result, one), result)


def silu(x: Array, out: Array | None = None) -> Any:
    """Return x * sigmoid(x) of real numbers; `out` does not share memory with `x`."""
    if _is_in_blocks(x, out):
        return _by_blocks(x, out, is_silu=True)
    result = sigmoid(x, out)
    return np.multiply(x, result, result)


def _of_complex(x: Array, out: Array | None) -> Any:
    # Without names for arrays in between, which would keep their memory until the end.
    small = np.asarray(np.exp(np.where(x.real >= 0, -x, x)))
    result = np.where(x.real >= 0, x.dtype.type(1), small)
    return np.divide(result, np.add(small, 1, out=small), out=result if out is None else out)


def _is_in_blocks(x: Array, out: Array | None) -> bool:
    """Return whether floats are many, and in one piece each."""
    is_row = x.size >= MANY and x.flags.c_contiguous and x.dtype.isnative and x.dtype.char in BOUNDS
    return is_row and (out is None or (out.flags.c_contiguous and out.dtype == x.dtype))


def _by_blocks(x: Array, out: Array | None, *, is_silu: bool) -> Array:
    most, one = BOUNDS[x.dtype.char]
    result = np.empty(x.shape, x.dtype) if out is None else out
    row, written, totals = np.asarray(x).reshape(-1), result.reshape(-1), np.empty(BLOCK, x.dtype)
    for start in range(0, x.size, BLOCK):
        block, into = row[start : start + BLOCK], written[start : start + BLOCK]
        np.minimum(block, most, out=into)
        np.exp(into, into)
        np.true_divide(into, np.add(into, one, totals[: len(into)]), into)
        if is_silu:
            np.multiply(block, into, into)
    return result


@cache
def scipy_special() -> Any | None:
    """Return the module scipy.special; None if SciPy cannot be imported, for any reason."""
    try:
        return import_module("scipy.special")
    except Exception:  # noqa: BLE001  an installation that does not fit NumPy fails in many ways
        return None


@np.errstate(all="ignore")
def erf(x: Array, out: Array | None = None) -> Array:
    """Return the error function, 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x.

    It is accurate to 3 ulps, whichever way it is computed.
    """
    if x.size < LONG and x.dtype.kind != "c":
        if (scipy := scipy_special()) is not None:
            return _by_scipy(scipy.erf, x, out)
        if x.size < SHORT:
            return _rounded(each(math.erf, _wide(x)), x, out)
    from nameexpr.backends.numpy.error_function import erf_of_row

    return _by_row(erf_of_row, x, out)


@np.errstate(all="ignore")
def erfc(x: Array, out: Array | None = None) -> Array:
    """Return 1 - erf(x), without loss of digits for large x: accurate to 12 ulps (4 in long arrays)."""
    if x.size < LONG and x.dtype.kind != "c":
        if (scipy := scipy_special()) is not None:
            return _by_scipy(scipy.erfc, x, out) if x.dtype.char == "f" else _short_erfc(scipy.erfc, x, out)
        if x.size < SHORT:
            return _rounded(each(math.erfc, _wide(x)), x, out)
    from nameexpr.backends.numpy.error_function import erfc_of_row

    return _by_row(erfc_of_row, x, out)


def gelu(x: Array) -> Array:
    """Return x * erfc(-x / sqrt(2)) / 2."""
    if x.size >= LONG:
        from nameexpr.backends.numpy.error_function import gelu_of_row

        return _by_row(gelu_of_row, x)
    result = erfc(np.asarray(x * -(0.5**0.5)))
    np.multiply(x, result, out=result)
    result *= 0.5
    return result


def _by_scipy(function: Callable[..., Array], x: Array, out: Array | None) -> Array:
    """Return a function of SciPy, which computes in float64 and rounds once to float32."""
    if x.dtype.char in "fd" and x.flags.c_contiguous:
        return function(x, out=np.empty_like(x) if out is None else out)
    return _rounded(function(_wide(x)), x, out)


def _short_erfc(scipy_erfc: Callable[[Array], Array], x: Array, out: Array | None) -> Array:
    """Return erfc by SciPy, and in another way where that loses digits."""
    if out is None and x.dtype.char == "d" and x.flags.c_contiguous and _is_near(x):
        return np.asarray(scipy_erfc(x))
    row = _wide(x)
    result = scipy_erfc(row)
    if not _is_near(row):
        far = (row > FAR_OUT).nonzero()[0]
        if len(far) < SHORT:
            result[far] = each(math.erfc, row[far])
        else:
            from nameexpr.backends.numpy.error_function import erfc_of_row

            erfc_of_row(row, result)
    return _rounded(result, x, out)


def _is_near(x: Array) -> bool:
    """Return whether the largest element, which `argmax` finds faster than `max`, is not far out."""
    return not x.size or x.item(x.argmax()) <= FAR_OUT


def _by_row(function: Callable[[Array, Array], None], x: Array, out: Array | None = None) -> Array:
    """Return what a function writes into a row, in the shape of `x`, and in `out` if given."""
    if x.dtype.kind == "c":
        raise TypeError(f"not defined for {x.dtype}")
    is_row = out is not None and out.flags.c_contiguous
    result = out if out is not None and is_row else np.empty(x.shape, x.dtype)
    function(x.reshape(-1), result.reshape(-1))
    if out is not None and not is_row:
        out[...] = result
        return out
    return result


@np.errstate(all="ignore")
def erfinv(x: Array, out: Array | None = None) -> Array:
    """Return the y with erf(y) == x: infinite at 1 and -1, nan beyond, signed zeros kept."""
    if (scipy := scipy_special()) is not None:
        return _rounded(np.copysign(scipy.erfinv(_wide(x)), _wide(x)), x, out)
    from nameexpr.backends.numpy.error_function import positive_erfinv

    return _rounded(np.copysign(positive_erfinv(np.abs(_wide(x))), _wide(x)), x, out)


@np.errstate(all="ignore")
def digamma(x: Array, out: Array | None = None) -> Array:
    """Return the derivative of log(gamma(x)): -inf at 0.0, inf at -0.0, nan at negative integers and -inf.

    In float64 it is accurate to a few ulps, or to about 1e-15 near its roots, where larger terms cancel.
    """
    wide = _wide(x)
    mirrored = wide < 0
    result = _positive_digamma(np.where(mirrored, 1 - wide, wide))
    # The tangent has period 1 here; x - rint(x) is exact, whereas pi * x would not be.
    left = wide[mirrored]
    fraction = left - np.rint(left)
    result[mirrored] -= np.where(fraction == 0, np.nan, np.pi / np.tan(np.pi * fraction))
    zero = wide == 0
    result[zero] = np.copysign(np.inf, -wide[zero])
    return _rounded(result, x, out)


@np.errstate(all="ignore")
def trigamma(x: Array, out: Array | None = None) -> Array:
    """Return the derivative of digamma: inf at 0 and at negative integers."""
    wide = _wide(x)
    mirrored = wide < 0
    result = _positive_trigamma(np.where(mirrored, 1 - wide, wide))
    left = wide[mirrored]
    sine = np.sin(np.pi * (left - np.rint(left)))
    result[mirrored] = np.where(sine == 0, np.inf, (np.pi / sine) ** 2) - result[mirrored]
    return _rounded(result, x, out)


def _positive_trigamma(x: Array) -> Array:
    """Return trigamma for x >= 0 by its series, shifted by `FAR` if x is smaller."""
    near = x < FAR
    climbed = np.where(near, x + FAR, x)
    square = 1 / (climbed * climbed)
    series = np.zeros_like(x)
    for coefficient in reversed(BERNOULLI):
        series = square * (coefficient + series)
    result = 1 / climbed + square / 2 + series / climbed
    for step in reversed(range(int(FAR))):
        result[near] += 1 / (x[near] + step) ** 2
    return np.asarray(result)


def _wide(x: Array) -> Array:
    """Return the values as one row of aligned float64, possibly `x` itself: it is not written to.

    Complex numbers are a TypeError: the functions of this module are for real ones.
    """
    if x.dtype.kind == "c":
        raise TypeError(f"not defined for {x.dtype}")
    row = x.reshape(-1).astype(np.float64, copy=False)
    return row if row.flags.aligned else row.copy()  # `data` of others is not a row of floats


def _rounded(result: Array, x: Array, out: Array | None) -> Array:
    """Return a row of float64 in the shape and dtype of `x`, in `out` if given."""
    shaped = result.reshape(x.shape)
    if out is None:
        return shaped.astype(x.dtype, copy=False)
    out[...] = shaped
    return out


def _positive_digamma(x: Array) -> Array:
    """Return digamma for x >= 0: SciPy's, or by its series, shifted by `FAR` if x is smaller."""
    if (scipy := scipy_special()) is not None:
        return np.asarray(scipy.digamma(x))
    near = x < FAR
    climbed = np.where(near, x + FAR, x)
    square = 1 / (climbed * climbed)
    series = np.zeros_like(x)
    for coefficient in reversed(SERIES):
        series = square * (coefficient + series)
    result = np.log(climbed) - 0.5 / climbed - series
    result[near] -= _climb(x[near])
    return np.asarray(result)


def _climb(x: Array) -> Array:
    """Return digamma(x + FAR) - digamma(x): the sum of 1 / (x + step), the smallest first."""
    total = np.zeros_like(x)
    for step in reversed(range(int(FAR))):
        total += 1 / (x + step)
    return total
