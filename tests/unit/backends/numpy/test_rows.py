"""softmax, log-softmax and log-sum-exp of rows, against sums of Python's floats."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nameexpr.backends.numpy.formulas import log_softmax, softmax
from nameexpr.backends.numpy.kernels import logsumexp
from nameexpr.backends.numpy.rows import MOST, log_of_sum, starts_of

SHAPES = [(2,), (4, 8), (2, 3, 5, 4), (1000, 2), (40, 100), (41, 100), (3, 4096), (20, MOST // 16), (0, 4)]
SPECIAL = [math.inf, -math.inf, math.nan]


def by_row(rule: Callable[[list[float], float, float], Any], x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a rule of each row, of its largest element, and of the logarithm of its sum of exponentials."""
    rows = []
    for row in x.reshape(-1, x.shape[-1]).tolist():
        top = max(row) if not any(map(math.isnan, row)) else math.nan
        far = not math.isfinite(top)
        total = top if far else top + math.log(math.fsum(math.exp(one - top) for one in row))
        rows.append(rule(row, top, total))
    return np.array(rows).reshape(x.shape if rows and isinstance(rows[0], list) else x.shape[:-1])


def log_parts(row: list[float], top: float, total: float) -> list[float]:
    return [math.nan if not math.isfinite(top) else one - total for one in row]


def parts(row: list[float], top: float, total: float) -> list[float]:
    return [math.exp(one) for one in log_parts(row, top, total)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["plain", "huge", "special"])
def test_rows_agree_with_plain_loops(shape: tuple[int, ...], dtype: str, kind: str) -> None:
    generator = np.random.default_rng(3)
    x = (generator.normal(size=shape) * (1e30 if kind == "huge" else 5)).astype(dtype)
    if kind == "special" and x.size:
        places = generator.integers(0, x.size, (4, 3))
        x.reshape(-1)[places] = SPECIAL
        x[-1] = -math.inf
    before, tolerance = x.copy(), 2e-6 if dtype == "float32" else 1e-13
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for fast, rule in ((softmax, parts), (log_softmax, log_parts)):
            expected = by_row(rule, x) if x.size else x
            found = fast(x, x.ndim - 1)
            np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
            np.testing.assert_array_equal(fast(np.broadcast_to(x, x.shape), x.ndim - 1), found)  # read-only
            over = x.copy()
            assert fast(over, x.ndim - 1, out=over) is over
            np.testing.assert_array_equal(over, found)
    np.testing.assert_array_equal(x, before)
    with np.errstate(invalid="ignore"):
        total = logsumexp(x, x.ndim - 1)
    assert (total.dtype, total.shape) == (x.dtype, x.shape[:-1])
    if x.size:
        np.testing.assert_allclose(
            total, by_row(lambda row, top, total: total, x), rtol=tolerance, atol=tolerance
        )


def test_integers_and_kept_axes_are_summed_as_floats_are() -> None:
    x = np.array([[3, 1, 2], [0, 0, 5]])
    expected = np.log(np.exp(x).sum(1))
    for given in (x, x.astype(float), np.asfortranarray(x, float)):
        np.testing.assert_allclose(log_of_sum(given, 1), expected)
        np.testing.assert_allclose(log_of_sum(given, 1, keepdims=True), expected[:, None])


def test_the_last_axis_is_found_however_it_is_given() -> None:
    x = np.ones((4, 8))
    assert all(starts_of(x, axes) is not None for axes in (1, -1, (1,)))
    assert all(starts_of(x, axes) is None for axes in (0, -2, (0,), (0, 1)))
