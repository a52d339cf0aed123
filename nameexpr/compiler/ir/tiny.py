"""How many products of tiny matrices are computed at a time: what the kernel, its cost and its memory have in
common.
"""

from __future__ import annotations

BYTES = 1 << 19
"""The bytes of copies, or of the products that are added, that stay in the cache of one core."""


def tiny_rows(count: int, rows: int, inner: int, columns: int, item: int) -> int:
    """Return how many products of matrices (rows, inner) and (inner, columns) are computed at a time.

    >>> tiny_rows(100_000, 3, 3, 3, 8), tiny_rows(100_000, 1, 2, 1, 8), tiny_rows(10, 3, 3, 3, 8)
    (2427, 32768, 10)
    """
    cells = inner if rows == columns == 1 else rows * inner + inner * columns + rows * columns
    return max(1, min(count, BYTES // (cells * item)))
