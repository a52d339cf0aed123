"""Contributions of blocks, combined in trees of any shape, against NumPy's reductions of everything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nameexpr.backends.dask.partials import combined, finished, parts_of, position_in_all

X = np.random.default_rng(0).standard_normal((7, 3))


def contribution(reducer: str | None, block: np.ndarray[Any, Any]) -> Any:
    """Return what a block contributes, with the reduced dim last and of size 1."""
    if reducer in ("var", "std"):
        mean = block.mean(0)[:, None]
        return float(len(block)), mean, ((block.T - mean) ** 2).sum(1)[:, None]
    kernels: dict[str | None, Any] = {None: np.sum, "mean": np.sum, "max": np.max, "prod": np.prod}
    return kernels[reducer](block, axis=0)[:, None]


@pytest.mark.parametrize("reducer", [None, "mean", "max", "prod", "var", "std"])
@pytest.mark.parametrize("cuts", [[7], [3, 4], [1, 1, 1, 1, 1, 2], [2, 2, 3]])
def test_contributions_add_up_to_the_reduction(reducer: str | None, cuts: list[int]) -> None:
    blocks = np.split(X, np.cumsum(cuts)[:-1])
    parts = [contribution(reducer, block) for block in blocks]
    kernels: dict[str | None, Any] = {None: np.sum, "mean": np.mean, "max": np.max, "prod": np.prod}
    expected = kernels.get(reducer, getattr(np, reducer or "sum"))(X, axis=0)
    half = len(parts) // 2
    tree = [combined(part, reducer=reducer) for part in (parts[:half], parts[half:]) if part]
    for nested in (parts, tree, [parts[:1], parts[1:]] if half else parts):
        found = finished(nested, (1,), reducer=reducer, dtype=X.dtype, count=len(X))
        np.testing.assert_allclose(found, expected)


def test_contributions_are_not_written_to() -> None:
    parts = [np.ones((3, 1)) for _ in range(3)]
    combined(parts, reducer="sum")
    assert all((part == 1).all() for part in parts)


def test_the_first_of_equal_values_and_nan_win() -> None:
    parts = [
        (np.array([[2.0], [2]]), np.array([[5], [5]])),
        (np.array([[2.0], [np.nan]]), np.array([[1], [7]])),
    ]
    for order in (parts, parts[::-1]):
        found = finished(order, (1,), reducer="argmax", dtype=np.dtype(int), count=8)
        np.testing.assert_array_equal(found, [1, 7])


def test_positions_count_in_all_blocks() -> None:
    found = position_in_all(np.array([0, 3]), (2, 4), (2, 2), (6, 8))
    np.testing.assert_array_equal(found, np.ravel_multi_index(([2, 3], [4, 5]), (6, 8)))


def test_parts_in_nested_lists_come_in_order() -> None:
    assert list(parts_of([[(1,), [(2,)]], (3,)])) == [(1,), (2,), (3,)]
