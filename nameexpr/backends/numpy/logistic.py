"""sigmoid and silu, in blocks that stay in the cache if there are many numbers: four passes over an array that
does not fit there take up to twice as long, and as much memory again as the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import Array

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


def sigmoid(x: Array, out: Array | None = None) -> Any:
    """Return 1 / (1 + exp(-x)), which never overflows, and whose small results keep all digits.

    It is e / (1 + e), where e = exp(x), with a bound on x from which the result is 1 anyway; for complex
    numbers it is computed by means of exp(-x) where the real part is not negative. `out`, if given, has the
    shape and dtype of the result, and may be `x` itself.
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
