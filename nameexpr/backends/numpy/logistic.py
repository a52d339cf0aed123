"""sigmoid and silu of many numbers, in blocks that stay in the cache.

Four passes over an array that does not fit there take up to twice as long, and as much memory again as the
result.
"""

from __future__ import annotations

import numpy as np

from nameexpr.backends.numpy.arrays import Array
from nameexpr.backends.numpy.special import BOUNDS

BLOCK = 1 << 15
"""The number of elements of a block: in shorter ones, threads wait for the interpreter between calls."""


def sigmoid_of_row(x: Array, result: Array) -> None:
    """Write sigmoid of a row of floats into another one of its length, which may be the same."""
    totals = np.empty(BLOCK, result.dtype)
    for start in range(0, len(x), BLOCK):
        _write_sigmoid(x[start : start + BLOCK], result[start : start + BLOCK], totals)


def silu_of_row(x: Array, result: Array) -> None:
    """Write x * sigmoid(x) of a row of floats into another one of its length, which is apart from it."""
    totals = np.empty(BLOCK, result.dtype)
    for start in range(0, len(x), BLOCK):
        block = result[start : start + BLOCK]
        _write_sigmoid(x[start : start + BLOCK], block, totals)
        np.multiply(x[start : start + BLOCK], block, block)


def _write_sigmoid(x: Array, result: Array, totals: Array) -> None:
    """Write e / (1 + e), where e = exp(min(x, most)), as `nameexpr.backends.numpy.special.sigmoid` does."""
    most, one = BOUNDS[result.dtype.char]
    np.minimum(x, most, out=result)
    np.exp(result, result)
    np.true_divide(result, np.add(result, one, totals[: len(x)]), result)
