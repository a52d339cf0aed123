"""Vectors of ones, which sums are products with: made once, shared, and never longer than a block.

Functions of many texts and sizes hold them as long as they live, so each is a view of one of a few arrays.

>>> np.shares_memory(ones((2, 3), "float64"), ones((7,), "float64"))
True
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]

BLOCK = 1 << 16
"""Cells of the longest vector: 512 kB of float64."""


@cache
def _shared(cells: int, dtype: str) -> Array:
    made = np.ones(cells, dtype)
    made.flags.writeable = False
    return made


def ones(shape: tuple[int, ...], dtype: str) -> Array:
    """Return an array of ones, at most `BLOCK`, which is read-only."""
    cells = 1
    for size in shape:
        cells *= size
    return _shared(1 << max(0, cells - 1).bit_length(), dtype)[:cells].reshape(shape)


def forget() -> None:
    """Drop the arrays that no function holds."""
    _shared.cache_clear()
