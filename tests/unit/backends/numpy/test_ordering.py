"""Ranks and where they were found, against loops over one slice at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from nameexpr.backends.numpy import ordering

NAN, INF = math.nan, math.inf
FLOATS = [np.float16, np.float32, np.float64]
DTYPES = [*FLOATS, np.int8, np.int32, np.int64, np.uint8, bool]
SHAPES = [(1,), (2,), (7,), (40,), (3, 5), (1, 4), (0, 3), (2, 3, 4), (2, 0, 3), (2, 2, 1, 5)]
# Few values, so that there are ties; one row in the last is all nan now and then.
POOLS = [
    [0.0, 1.0, 2.0, 3.0, -1.0],
    [-3.0, -2.0, -1.0, 0.0, -0.0, 5.0, INF, -INF],
    [NAN, 1.0, 2.0, -4.0, INF],
    [NAN, NAN, NAN, 1.0, -INF],
    [NAN],
]


def arrays() -> Iterator[tuple[np.ndarray, int]]:
    """Give arrays of each dtype and shape, contiguous, transposed and reversed, with each of their axes."""
    numbers = np.random.default_rng(3)
    for dtype in DTYPES:
        for pool in POOLS:
            if dtype not in FLOATS and not all(map(math.isfinite, pool)):
                continue
            for shape in SHAPES:
                x = numbers.choice(pool, shape)
                x = np.abs(x).astype(dtype) if dtype is np.uint8 else x.astype(dtype)
                for layout in (x, x.T, x[..., ::-1]):
                    yield from ((layout, axis) for axis in range(x.ndim) if layout.shape[axis])


def key(value: Any) -> tuple[bool, Any]:
    """Order as NumPy does, nan last."""
    return (True, 0) if math.isnan(value) else (False, value)


def same(a: Any, b: Any) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def first(row: list[Any], value: Any) -> tuple[Any, int]:
    return value, next(place for place, one in enumerate(row) if same(one, value))


def slow_kthvalue(row: list[Any], k: int) -> tuple[Any, int]:
    return first(row, sorted(row, key=key)[k - 1])


def slow_median(row: list[Any]) -> tuple[Any, int]:
    if any(map(math.isnan, row)):
        return first(row, NAN)
    return slow_kthvalue(row, (len(row) + 1) // 2)


def slow_nanmedian(row: list[Any]) -> tuple[Any, int]:
    known = [one for one in row if not math.isnan(one)]
    return first(row, slow_median(known)[0] if known else NAN)


def slow_mode(row: list[Any]) -> tuple[Any, int]:
    best = min(row, key=lambda one: (-sum(one == other for other in row), key(one)))
    return best, max(place for place, one in enumerate(row) if same(one, best))


def slow_largest(row: list[Any]) -> tuple[Any, int]:
    return first(row, max(row, key=key))


def slow_smallest(row: list[Any]) -> tuple[Any, int]:
    return first(row, NAN if any(map(math.isnan, row)) else min(row))


def slow_cumulative(row: list[Any], better: Callable[[Any, Any], bool]) -> list[tuple[Any, int]]:
    result = [(row[0], 0)]
    for place, one in enumerate(row[1:], 1):
        before, _ = result[-1]
        wins = math.isnan(one) or (not math.isnan(before) and better(one, before))
        result.append((one, place) if wins else result[-1])
    return result


def check(found: tuple[Any, Any], x: np.ndarray, axis: int, slow: Callable[..., Any]) -> None:
    """Compare with a loop that gives one pair for each slice, or a list of them: the axis is then kept."""
    values, indices = found
    assert type(values) is type(indices) is np.ndarray
    assert (values.dtype, indices.dtype) == (x.dtype, np.int64)
    keeps = values.ndim == x.ndim
    rows = np.moveaxis(x, axis, -1)
    v, i = (np.moveaxis(one, axis, -1) if keeps else one[..., None] for one in found)
    assert v.shape == i.shape and v.shape[:-1] == rows.shape[:-1]
    for place in np.ndindex(rows.shape[:-1]):
        expected = slow(rows[place].tolist())
        expected = expected if isinstance(expected, list) else [expected]
        pairs = list(zip(v[place].tolist(), i[place].tolist(), strict=True))
        assert len(pairs) == len(expected)
        assert all(same(a, c) and b == d for (a, b), (c, d) in zip(pairs, expected, strict=True)), (
            rows[place],
            pairs,
            expected,
        )
        taken = rows[place][i[place]]
        is_zero = np.all(taken == 0)  # -0.0 equals 0.0, and either may be given
        assert is_zero or v[place].tobytes() == taken.tobytes()


@pytest.mark.parametrize("name", ["median", "nanmedian", "mode", "largest", "smallest"])
def test_a_reduction_agrees_with_plain_loops(name: str) -> None:
    slow = globals()[f"slow_{name}"]
    for x, axis in arrays():
        kept = x.tobytes()
        with np.errstate(all="raise"):
            found = getattr(ordering, name)(x, axis)
        assert found[0].ndim == x.ndim - 1
        check(found, x, axis, slow)
        assert x.tobytes() == kept


def test_kthvalue_agrees_with_plain_loops() -> None:
    for x, axis in arrays():
        for k in {1, 2, x.shape[axis] // 2, x.shape[axis]} & set(range(1, x.shape[axis] + 1)):
            with np.errstate(all="raise"):
                found = ordering.kthvalue(x, k, axis)
            check(found, x, axis, lambda row, k=k: slow_kthvalue(row, k))


def test_cumulative_extremes_agree_with_plain_loops() -> None:
    for x, axis in arrays():
        with np.errstate(all="raise"):
            up, down = ordering.cumulative_largest(x, axis), ordering.cumulative_smallest(x, axis)
        assert up[0].shape == down[0].shape == x.shape
        check(up, x, axis, lambda row: slow_cumulative(row, lambda new, old: new >= old))
        check(down, x, axis, lambda row: slow_cumulative(row, lambda new, old: new <= old))


def check_topk(x: np.ndarray, k: int, axis: int, *, largest: bool, ordered: bool) -> None:
    with np.errstate(all="raise"):
        values, indices = ordering.topk(x, k, axis, largest, ordered)
    assert type(values) is type(indices) is np.ndarray
    assert (values.dtype, indices.dtype) == (x.dtype, np.int64)
    assert values.shape == indices.shape == (*x.shape[:axis], k, *x.shape[axis + 1 :])
    rows, v, i = (np.moveaxis(one, axis, -1) for one in (x, values, indices))
    for place in np.ndindex(rows.shape[:-1]):
        expected = sorted(rows[place].tolist(), key=key, reverse=largest)[:k]
        found = v[place].tolist()
        found = found if ordered else sorted(found, key=key, reverse=largest)
        assert all(map(same, found, expected)), (rows[place], found, expected)
        assert len(set(i[place].tolist())) == k
        taken = rows[place][i[place]]
        is_zero = np.all(taken == 0)  # -0.0 equals 0.0, and either may be given
        assert is_zero or v[place].tobytes() == taken.tobytes()


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("ordered", [True, False])
def test_topk_agrees_with_plain_loops(largest: bool, ordered: bool) -> None:
    for x, axis in arrays():
        for k in {0, 1, 2, x.shape[axis] // 2, x.shape[axis]} & set(range(x.shape[axis] + 1)):
            check_topk(x, k, axis, largest=largest, ordered=ordered)


def test_topk_of_no_elements_is_empty() -> None:
    check_topk(np.zeros((3, 0)), 0, 1, largest=True, ordered=True)
    check_topk(np.zeros((3, 0)), 0, 1, largest=False, ordered=False)


def test_a_cumulative_extreme_of_no_elements_is_empty() -> None:
    for function in (ordering.cumulative_largest, ordering.cumulative_smallest):
        values, indices = function(np.zeros((3, 0), np.float32), 1)
        assert (values.shape, values.dtype) == ((3, 0), np.float32)
        assert (indices.shape, indices.dtype) == ((3, 0), np.int64)


@pytest.mark.parametrize(
    ("found", "value", "index"),
    [
        (ordering.median(np.array([3.0, 1, 2, 4]), 0), 2.0, 2),
        (ordering.median(np.array([3, 1, 2, 4]), 0), 2, 2),
        (ordering.median(np.array([True, False]), 0), False, 1),
        (ordering.median(np.array([1, NAN, 2, NAN]), 0), NAN, 1),
        (ordering.nanmedian(np.array([3.0, 1, NAN, 4]), 0), 3.0, 0),
        (ordering.nanmedian(np.array([NAN, NAN]), 0), NAN, 0),
        (ordering.mode(np.array([2, 1, 1, 2, 3]), 0), 1, 2),
        (ordering.mode(np.array([NAN, NAN, 5.0]), 0), 5.0, 2),
        (ordering.mode(np.array([NAN, NAN]), 0), NAN, 1),
        (ordering.kthvalue(np.array([NAN, 5.0, -1]), 3, 0), NAN, 0),
        (ordering.largest(np.array([1, 7, 7]), 0), 7, 1),
        (ordering.smallest(np.array([1, NAN, -INF]), 0), NAN, 1),
    ],
)
def test_one_slice_gives_0d_arrays(found: tuple[Any, Any], value: Any, index: int) -> None:
    values, indices = found
    assert type(values) is type(indices) is np.ndarray
    assert values.shape == indices.shape == ()
    assert same(values.item(), value) and type(values.item()) is type(value)
    assert indices.item() == index


def test_large_integers_stay_exact() -> None:
    x = np.array([2**62 + 1, 2**62 + 3, 2**62 + 2, -(2**63)])
    assert ordering.median(x, 0)[0] == 2**62 + 1
    assert ordering.full_nanmedian(x) == 2**62 + 1
    assert ordering.topk(x, 2, 0, largest=True, ordered=True)[0].tolist() == [2**62 + 3, 2**62 + 2]
    assert ordering.nanmedian(np.array([2**64 - 1, 2**64 - 2], np.uint64), 0)[0] == 2**64 - 2


@pytest.mark.parametrize(
    ("full", "slow"),
    [(ordering.full_median, slow_median), (ordering.full_nanmedian, slow_nanmedian)],
)
def test_a_full_median_agrees_with_plain_loops(full: Callable[..., Any], slow: Callable[..., Any]) -> None:
    for x, _ in arrays():
        if x.size:
            with np.errstate(all="raise"):
                found = full(x)
            assert type(found) is np.ndarray and found.shape == () and found.dtype == x.dtype
            assert same(found.item(), slow(x.ravel().tolist())[0])


@pytest.mark.parametrize("full", [ordering.full_median, ordering.full_nanmedian])
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_full_median_of_nothing_is_nan(full: Callable[..., Any], dtype: type) -> None:
    found = full(np.zeros((2, 0), dtype))
    assert type(found) is np.ndarray and found.shape == () and found.dtype == dtype
    assert np.isnan(found)
    assert full(np.array(2, dtype)).item() == 2
