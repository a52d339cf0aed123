"""Up to which size BLAS reads small matrices where they are, from times of products of two sizes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nameexpr.backends.numpy.calibration.drawing import Call

DIRECT, PACKED = 100, 120
"""The sizes of square matrices up to and beyond which OpenBLAS's small kernels are used, if it has any."""
JUMP = 1.15
"""How many times longer a multiplication takes beyond, at least."""


def square_product(size: int) -> Call:
    """Return a product of square matrices."""
    matrix = np.ones((size, size))
    return lambda: matrix.dot(matrix)


def direct_product(times: Sequence[float]) -> int:
    """Return the figure of a profile from the times of products of matrices of `DIRECT` and `PACKED`."""
    direct, packed = [time / size**3 for time, size in zip(times, (DIRECT, PACKED), strict=True)]
    return DIRECT**3 if packed > JUMP * direct else 1
