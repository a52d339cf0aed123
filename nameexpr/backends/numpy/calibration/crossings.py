"""Thresholds from which the C loop is faster than broadcasting, from times of both.

The threshold that is chosen loses least: the product over all calls of the chosen time over the better one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import log

import numpy as np

from nameexpr.backends.numpy.calibration.drawing import Call
from nameexpr.backends.numpy.kernels import c_einsum

OUTER = tuple((8, 1 << half, 1 << (half + odd)) for half in range(2, 7) for odd in (0, 1))
"""Shapes (n, a, b) of batched outer products."""
RUNS = (4, 16, 64, 256, 1024, 4096, 16384)
SIZES = tuple(1 << power for power in range(15, 23, 2))
SCALED = tuple((size // 8 // run, run) for size in SIZES for run in RUNS if size // 8 // run > 1)
"""Shapes of matrices whose rows are scaled."""
NEVER = 1 << 40
DIRECT, PACKED = 100, 120
"""The sizes of square matrices up to and beyond which OpenBLAS's small kernels are used, if it has any."""
JUMP = 1.15
"""How many times longer a multiplication takes beyond, at least."""


def outer_ways(count: int, rows: int, columns: int) -> tuple[Call, Call]:
    """Return `n a, n b -> n a b` by the C loop, and by broadcasting."""
    left, right = np.ones((count, rows)), np.ones((count, columns))
    return lambda: c_einsum("ab,ac->abc", left, right), lambda: np.multiply(left[:, :, None], right[:, None])


def scaled_ways(rows: int, run: int) -> tuple[Call, Call]:
    """Return `a b, a -> a b` by the C loop, and by broadcasting."""
    left, right = np.ones((rows, run)), np.ones(rows)
    return lambda: c_einsum("ab,a->ab", left, right), lambda: np.multiply(left, right[:, None])


def square_product(size: int) -> Call:
    """Return a product of square matrices."""
    matrix = np.ones((size, size))
    return lambda: matrix.dot(matrix)


def direct_product(times: Sequence[float]) -> int:
    """Return the figure of a profile from the times of products of matrices of `DIRECT` and `PACKED`."""
    direct, packed = [time / size**3 for time, size in zip(times, (DIRECT, PACKED), strict=True)]
    return DIRECT**3 if packed > JUMP * direct else 1


def thresholds(times: Sequence[tuple[float, float]]) -> dict[str, int]:
    """Return the figures of a profile from the times of the two ways of `OUTER` and `SCALED`."""
    gains = [log(broadcast / loop) for loop, broadcast in times]
    outer, scaled = gains[: len(OUTER)], gains[len(OUTER) :]
    cells = [count * rows * columns for count, rows, columns in OUTER]
    tried = [1 << power for power in range(6, 21)]
    least = min(tried, key=lambda least: _lost([one >= least for one in cells], outer))
    return {"outer_cells": least, **_scaled(scaled)}


def _scaled(gains: Sequence[float]) -> dict[str, int]:
    best: tuple[float, dict[str, int]] = (float("inf"), {})
    for size, least, most in product((*SIZES, NEVER), RUNS, RUNS):
        uses = [8 * rows * run >= size and least <= run <= most for rows, run in SCALED]
        if (lost := _lost(uses, gains)) < best[0]:
            best = lost, {"scaled_bytes": size, "least_scaled_run": least, "most_scaled_run": most}
    return best[1]


def _lost(uses: Sequence[bool], gains: Sequence[float]) -> float:
    """Return the logarithm of what the choices lose; a gain is that of the time of broadcasting over the
    loop's.
    """
    return sum(max(0.0, -gain if is_used else gain) for is_used, gain in zip(uses, gains, strict=True))
