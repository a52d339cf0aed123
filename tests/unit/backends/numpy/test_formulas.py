"""softmax and log_softmax, against sums of Python's floats."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from nameexpr.backends.numpy import normalising
from nameexpr.backends.numpy.formulas import log_softmax, softmax
from nameexpr.compiler.ir import normalising as blocks

INF, NAN = math.inf, math.nan
TOLERANCE = {np.float16: 2e-3, np.float32: 1e-6, np.float64: 1e-14}

numbers = np.random.default_rng(11)


def slow_softmax(row: list[float]) -> list[float]:
    if not row or any(math.isnan(one) or one == INF for one in row) or max(row) == -INF:
        return [NAN] * len(row)
    powers = [math.exp(one - max(row)) for one in row]
    return [one / math.fsum(powers) for one in powers]


def slow_log_softmax(row: list[float]) -> list[float]:
    if not row or any(math.isnan(one) or one == INF for one in row) or max(row) == -INF:
        return [NAN] * len(row)
    rest = math.log(math.fsum(math.exp(one - max(row)) for one in row))
    return [one - max(row) - rest for one in row]


PAIRS = [(softmax, slow_softmax), (log_softmax, slow_log_softmax)]


def by_row(slow, x: np.ndarray, axis: int) -> np.ndarray:
    result = np.empty(x.shape)
    rows, target = np.moveaxis(x, axis, -1), np.moveaxis(result, axis, -1)
    for place in np.ndindex(rows.shape[:-1]):
        target[place] = slow([float(one) for one in rows[place]])
    return result


@pytest.mark.parametrize(("fast", "slow"), PAIRS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(5,), (1,), (3, 4), (2, 3, 4), (0, 3), (3, 0), (0,)])
def test_it_agrees_with_plain_loops(fast, slow, dtype, shape) -> None:
    x = (numbers.normal(size=shape) * 5).astype(dtype)
    for axis in range(len(shape)):
        kept = x.copy()
        found = fast(x, axis)
        assert type(found) is np.ndarray and (found.dtype, found.shape) == (dtype, shape)
        np.testing.assert_array_equal(x, kept)
        assert not np.shares_memory(found, x)
        tolerance = TOLERANCE[dtype]
        np.testing.assert_allclose(found, by_row(slow, x, axis), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("fast", "slow"), PAIRS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_infinities_and_nan_stay_in_their_slice(fast, slow, dtype) -> None:
    x = np.array(
        [
            [0, -INF, 1],
            [-INF, -INF, -INF],
            [INF, 0, 1],
            [INF, -INF, INF],
            [NAN, 0, 1],
            [-INF, NAN, -INF],
            [-INF, 5, -INF],
            [1, 2, 3],
        ],
        dtype,
    )
    tolerance = TOLERANCE[dtype]
    with np.errstate(all="raise"):
        found, turned = fast(x, 1), fast(x.T, 0)
    np.testing.assert_allclose(found, by_row(slow, x, 1), rtol=tolerance)
    np.testing.assert_array_equal(turned.T, found)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_large_values_do_not_overflow(dtype) -> None:
    big = float(np.finfo(dtype).max)
    with np.errstate(all="raise"):
        assert softmax(np.array([big, big, -big], dtype), 0).tolist() == [0.5, 0.5, 0.0]
        found = log_softmax(np.array([big, 0], dtype), 0)
    assert found.tolist() == [0.0, -big]


def test_log_softmax_is_finite_where_softmax_is_zero() -> None:
    x = np.array([0.0, -2000.0])
    assert softmax(x, 0)[1] == 0
    assert log_softmax(x, 0)[1] == -2000


def test_float16_sums_beyond_its_own_range() -> None:
    x = np.zeros(2**17, np.float16)
    np.testing.assert_array_equal(softmax(x, 0), np.float16(2.0**-17))
    np.testing.assert_allclose(log_softmax(x, 0), -17 * math.log(2), rtol=1e-3)


def test_softmax_sums_to_one() -> None:
    x = numbers.normal(size=(50, 7, 3)) * 100
    for axis in range(3):
        np.testing.assert_allclose(softmax(x, axis).sum(axis), 1, rtol=1e-14)


ALL_AXES: list[tuple[int, ...]] = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]


@pytest.mark.parametrize("axes", ALL_AXES)
@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_of_large_arrays(
    axes: tuple[int, ...], order: tuple[int, ...], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (normalising, blocks):
        monkeypatch.setattr(module, "BLOCK", 24)
    monkeypatch.setattr(blocks, "LEAST", 2)
    x = numbers.normal(size=(5, 7, 6)).transpose(order).copy().transpose(np.argsort(order))
    x[0, 0, 0], x[1, 1, 1], x[2, 2, 2] = np.inf, np.nan, -np.inf
    kept = [axis for axis in range(3) if axis not in axes]
    for function, rule in PAIRS:
        found = function(x, axes, threads=threads)
        for index in np.ndindex(*[x.shape[axis] for axis in kept]):
            one: list[Any] = [slice(None)] * 3
            for axis, place in zip(kept, index, strict=True):
                one[axis] = place
            row = x[tuple(one)].ravel()
            np.testing.assert_allclose(found[tuple(one)].ravel(), rule(row.tolist()), rtol=1e-12)
        for narrow in (np.float16, np.float32):
            close = {np.float16: 2e-3, np.float32: 2e-6}[narrow]
            np.testing.assert_allclose(function(x.astype(narrow), axes), found, rtol=close, atol=close)
        inside = x.copy(order="K")
        assert function(inside, axes, inside) is inside
        np.testing.assert_array_equal(inside, found)
