"""Pointwise functions that consist of functions of the array API standard; an array brings its namespace."""

from __future__ import annotations

from math import pi
from typing import Any

from nameexpr.backends.numpy.promotion import fold_numbers

Array = Any
NEAR, TERMS, LEVELS = 2.0, 32, 50
"""Below which magnitude erf is a series, the number of its terms, and of the levels of the continued fraction
from there on: as many as float64 needs.
"""


def space(x: Array) -> Any:
    """Return the namespace of an array."""
    return x.__array_namespace__()


def fold(kernel: str, *numbers: Any) -> Any:
    """Return a pointwise function of numbers, as a number."""
    return fold_numbers(kernel, numbers)


def like(number: Any, x: Array) -> Array:
    """Return a number as an array without dims, of the dtype and on the device of another."""
    return space(x).asarray(number, dtype=x.dtype, device=x.device)


def is_kind(x: Array, kind: str) -> bool:
    """Return whether the dtype of an array is of a kind, such as "integral"."""
    found: bool = space(x).isdtype(x.dtype, kind)
    return found


def exp2(x: Array) -> Array:
    """Return 2 to the power of x."""
    return 2.0**x


def reciprocal(x: Array) -> Array:
    """Return one over x, of integers without its fraction."""
    if is_kind(x, "integral"):
        return space(x).where(x * x == 1, x, like(0, x))
    return 1.0 / x


def imag(x: Array) -> Array:
    """Return the imaginary part as a new array."""
    return space(x).imag(x) if is_kind(x, "complex floating") else space(x).zeros_like(x)


def fmod(x: Array, y: Array) -> Array:
    """Return the remainder of x / y, with the sign of x."""
    xp = space(x)
    if is_kind(x, "unsigned integer"):
        return xp.remainder(x, y)
    rest = xp.remainder(xp.abs(x), xp.abs(y))
    return xp.where(x < 0, -rest, rest) if is_kind(x, "integral") else xp.copysign(rest, x)


def relu(x: Array) -> Array:
    """Return each element, or 0 where it is negative."""
    return space(x).maximum(x, like(0, x))


def sigmoid(x: Array) -> Array:
    """Return 1 / (1 + exp(-x)) by means of exp(-|x|), which never overflows."""
    xp = space(x)
    small = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, like(1.0, x), small) / (1.0 + small)


def silu(x: Array) -> Array:
    """Return x * sigmoid(x)."""
    return x * sigmoid(x)


def softplus(x: Array) -> Array:
    """Return log(1 + exp(x)), without overflow."""
    return space(x).logaddexp(x, like(0.0, x))


def erf(x: Array) -> Array:
    """Return the error function."""
    xp, wide = space(x), _wide(x)
    near, far = _erf_and_erfc(xp.abs(wide))
    size = xp.where(xp.abs(wide) < NEAR, near, 1.0 - far)
    size = xp.where(wide == 0, wide, size)  # which may be -0.0
    return xp.astype(xp.where(wide < 0, -size, size), x.dtype)


def erfc(x: Array) -> Array:
    """Return one minus the error function, to about 1e-13 of itself for large x."""
    xp, wide = space(x), _wide(x)
    near, far = _erf_and_erfc(xp.abs(wide))
    size = xp.where(xp.abs(wide) < NEAR, 1.0 - near, far)
    return xp.astype(xp.where(wide < 0, 2.0 - size, size), x.dtype)


def gelu(x: Array) -> Array:
    """Return x times the normal cumulative distribution function of x."""
    wide = _wide(x)
    return space(x).astype(wide * erfc(wide * -(0.5**0.5)) / 2.0, x.dtype)


def _wide(x: Array) -> Array:
    """Return floats in 64 bits, if the library has them."""
    return space(x).astype(x, space(x).float64) if hasattr(space(x), "float64") else x


def _erf_and_erfc(x: Array) -> tuple[Array, Array]:
    """Return erf of magnitudes below `NEAR`, and erfc of the others, each arbitrary elsewhere.

    The first is exp(-x**2) times a series of positive terms (Abramowitz and Stegun, 7.1.6), so that nothing
    cancels, the second exp(-x**2) times a continued fraction (7.1.14). In float64 both are exact to the last
    digits.
    """
    xp = space(x)
    small = xp.where(x < NEAR, x, like(1.0, x))
    term = series = small
    for number in range(1, TERMS):
        term = term * (2.0 * small * small / (2 * number + 1))
        series = series + term
    large = xp.where(x < NEAR, like(NEAR, x), x)
    rest = xp.zeros_like(large)
    for number in range(LEVELS, 0, -1):
        rest = (number / 2) / (large + rest)
    near = 2.0 / pi**0.5 * series * xp.exp(-small * small)
    return near, xp.exp(-large * large) / pi**0.5 / (large + rest)


def clip(x: Array, low: Array, high: Array) -> Array:
    """Return x if it is between the bounds, else the nearer one; `high` if low is above high."""
    xp = space(x)
    if is_kind(x, "bool"):
        return xp.logical_and(xp.logical_or(x, low), high)
    return xp.minimum(xp.maximum(x, low), high)


def to_int(x: Array) -> Array:
    """Return each element without its fraction, as an integer of 64 bits; ValueError if there is none."""
    xp = space(x)
    if not (is_kind(x, "real floating") or x.dtype == xp.uint64):
        return xp.astype(x, xp.int64)
    is_held = x < 2**63
    if is_kind(x, "real floating"):
        is_held = xp.logical_and(x >= -(2.0**63), x < 2.0**63)
    if not bool(xp.all(is_held)):
        raise ValueError("int(...) of a number that 64 bits do not hold")
    return xp.astype(x, xp.int64)
