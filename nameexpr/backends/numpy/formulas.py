"""Functions for the generated code of formulas that are not a single NumPy call: activations, functions along
axes, and arithmetic of weak numbers.

Functions along axes take an array and one or several axes; `out`, of the result's shape and dtype, receives
the result, and may be the array itself. Those that normalise do so in blocks that stay in the cache; a sum
may be rounded differently from one over the whole array.
"""

from __future__ import annotations

from math import copysign
from typing import Any

import numpy as np

from nameexpr.backends.numpy import special
from nameexpr.backends.numpy.arrays import Array
from nameexpr.backends.numpy.normalising import log_softmax, softmax
from nameexpr.backends.numpy.numbers import as_array, fold, integer
from nameexpr.backends.numpy.reductions import running

__all__ = ["as_array", "fold", "integer", "log_softmax", "softmax"]  # and the functions that are defined here

BITS = {"f": np.int32, "d": np.int64}
FLOATS = frozenset("efdg")
BLOCK = 1 << 17
"""The number of elements of a block."""


def round(x: Array) -> Any:  # noqa: A001  the function's name
    """Return each element rounded to the nearest whole number, halves to the even one."""
    kind = np.asarray(x).dtype.kind
    # NumPy before 2.3 returns integers unchanged, not as a new array.
    return np.array(x) if kind in "iu" else np.rint(x) if kind in "fc" else np.round(x)


def to_int(x: Any) -> Any:
    """Return each element without its fraction, as an integer of 64 bits; ValueError if there is none.

    >>> to_int(np.array([2.7, -2.7]))
    array([ 2, -2])
    """
    if isinstance(x, int):
        return int(x)
    x = np.asarray(x)
    if x.dtype.kind == "c":
        raise TypeError("not defined for complex numbers")
    if x.size and (x.dtype.kind == "f" or x.dtype == np.uint64):
        low, high = x.min().item(), x.max().item()
        if not -(2**63) <= low <= high < 2**63:  # which nan is not, either
            wrong = low if high < 2**63 else high
            raise ValueError(f"int(...) of {wrong}, which 64 bits do not hold")
    return x.astype(np.int64)


def real(x: Array) -> Any:
    """Return the real part as a new array."""
    return np.array(np.real(x))


def imag(x: Array) -> Any:
    """Return the imaginary part as a new array."""
    return np.array(np.imag(x))


def _floats(x: Any) -> Array:
    """Return floats of the dtype that exp returns; complex numbers are rejected."""
    if isinstance(x, np.ndarray) and x.dtype.char in FLOATS and x.dtype.isnative:
        return x
    if np.iscomplexobj(x):
        raise TypeError("not defined for complex numbers")
    return np.asarray(x, np.exp(np.zeros((), np.asarray(x).dtype)).dtype)


def relu(x: Array, out: Array | None = None) -> Any:
    """Return each element, or 0 where it is negative."""
    if np.iscomplexobj(x):
        raise TypeError("not defined for complex numbers")
    return np.maximum(x, 0, out=out)


def sigmoid(x: Array, out: Array | None = None) -> Any:
    """Return 1 / (1 + exp(-x)), without overflow."""
    return special.sigmoid(_floats(x), out)


def silu(x: Array, out: Array | None = None) -> Any:
    """Return x * sigmoid(x); `out` does not share memory with `x`."""
    return special.silu(_floats(x), out)


def softplus(x: Array) -> Any:
    """Return log(1 + exp(x)), without overflow."""
    return np.logaddexp(_floats(x), 0)


def erf(x: Array) -> Any:
    """Return the error function."""
    return special.erf(_floats(x))


def erfc(x: Array) -> Any:
    """Return one minus the error function."""
    return special.erfc(_floats(x))


def gelu(x: Array) -> Any:
    """Return x times the normal cumulative distribution function of x, exactly (not the approximation by
    tanh).
    """
    return special.gelu(_floats(x))


def clip(x: Any, low: Any, high: Any, out: Array | None = None) -> Any:
    """Return x between bounds, the upper one if they cross; `out` shares no memory with the arguments."""
    are_numbers = type(low) in (int, float) and type(high) in (int, float)
    if are_numbers and type(x) is np.ndarray and x.ndim and x.dtype.kind == "f":
        above = np.maximum(x, low, out=out)
        return np.minimum(above, high, out=above)
    dtype = np.result_type(x, low, high)
    x, low, high = (value if np.ndim(value) else np.asarray(value, dtype) for value in (x, low, high))
    above = np.maximum(x, low, dtype=dtype)
    is_whole = np.ndim(above) > 0 and np.shape(above) == np.broadcast(above, high).shape
    return np.minimum(above, high, out=above if out is None and is_whole else out, dtype=dtype)


def where_or_zero(condition: Any, x: Any, zero: float = 0) -> Any:
    """Return np.where(condition, x, zero) for a zero, of floats by a product of their bits.

    It takes a tenth of the time, as no branch depends on a condition; a product of floats would leave nan.

    >>> where_or_zero(np.array([True, False, False]), np.array([1.5, -np.inf, np.nan]))
    array([1.5, 0. , 0. ])
    """
    bits = _bits(condition, x)
    return np.where(condition, x, zero) if bits is None else np.multiply(bits, condition).view(x.dtype)


def _bits(condition: Any, x: Any) -> Array | None:
    """Return a view of floats as integers; None for other numbers, and for conditions that are numbers."""
    condition = np.asarray(condition)
    if not isinstance(x, np.ndarray) or not x.ndim or condition.dtype.char != "?":
        return None
    bits = BITS.get(x.dtype.char)
    if bits is None or not x.dtype.isnative or not _is_along(condition, x):
        return None
    return x.view(bits)


def _is_along(condition: Array, x: Array) -> bool:
    """Return whether a condition is contiguous, or the same, along the axis along which x is.

    Casting it is slow otherwise.
    """
    if condition.flags.c_contiguous and x.flags.c_contiguous:
        return True
    inner = min(range(x.ndim), key=lambda axis: (x.shape[axis] == 1, abs(x.strides[axis]))) - x.ndim
    return condition.ndim < -inner or condition.shape[inner] == 1 or condition.strides[inner] in {0, 1}


def where_over(condition: Array, x: Array, y: Any) -> Array:
    """Return np.where(condition, x, y), written over x."""
    if type(y) in {int, float} and y == 0 and copysign(1, y) > 0:
        bits = _bits(condition, x)
        if bits is not None:
            np.multiply(bits, condition, out=bits)
            return x
    step = BLOCK * len(x) // x.size if x.ndim and x.size else 0
    if np.shape(y) or not 0 < step < len(x) or condition.shape != x.shape:
        np.copyto(x, y, where=np.logical_not(condition), casting="unsafe")
        return x
    for start in range(0, len(x), step):  # so that the negation is never allocated as a whole
        part = slice(start, start + step)
        np.copyto(x[part], y, where=np.logical_not(condition[part]), casting="unsafe")
    return x


def cumsum(x: Array, axis: int, out: Array | None = None) -> Array:
    """Return cumulative sums along an axis: of integers in 64 bits."""
    return _running(np.add, x, axis, out)


def cumprod(x: Array, axis: int, out: Array | None = None) -> Array:
    """Return cumulative products along an axis: of integers in 64 bits."""
    return _running(np.multiply, x, axis, out)


def _running(ufunc: np.ufunc, x: Array, axis: int, out: Array | None) -> Array:
    dtype = None
    if x.dtype.kind in "iub":
        dtype = np.dtype(np.uint64 if x.dtype.kind == "u" else np.int64)
    return np.asarray(running(ufunc, x, axis, dtype, out))


def cummax(x: Array, axis: int, out: Array | None = None) -> Array:
    """Return the largest element so far along an axis, nan from the first one on."""
    return np.asarray(np.maximum.accumulate(x, axis=axis, out=out))


def cummin(x: Array, axis: int, out: Array | None = None) -> Array:
    """Return the smallest element so far along an axis, nan from the first one on."""
    return np.asarray(np.minimum.accumulate(x, axis=axis, out=out))


def argsort(x: Array, axis: int) -> Array:
    """Return where the elements are in order along an axis: equal ones in the order they have, nan last."""
    return np.argsort(x, axis=axis, kind="stable")


def sort(x: Array, axis: int, out: Array | None = None) -> Array:
    """Return the elements in order along an axis, nan last."""
    if out is None:
        return np.sort(x, axis=axis)
    if out is not x:
        out[...] = x
    out.sort(axis=axis)
    return out


def flip(x: Array, axis: int) -> Array:
    """Return the elements reversed along an axis, as a new array."""
    return np.flip(x, axis).copy()
