"""Kernels of windows, in blocks so small that there are several along each axis, compared with loops."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from nameexpr.backends.numpy.reading import windows as view_of
from nameexpr.backends.numpy.rolling import rolling
from nameexpr.backends.numpy.windows import multiplied, weighed
from nameexpr.compiler.ir import rolling as blocks

RNG = np.random.default_rng(3)
Array = np.ndarray[Any, Any]


@pytest.fixture(params=[1, 40, 1 << 20])
def _sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", request.param)
    monkeypatch.setattr(blocks, "COPIED", 8 * request.param)
    monkeypatch.setattr(blocks, "RUN", 2)


def layouts(x: Array) -> list[Array]:
    back = tuple(slice(None, None, -1) for _ in x.shape)
    return [x, np.asfortranarray(x), x[back].copy()[back], np.moveaxis(np.moveaxis(x, 0, -1).copy(), -1, 0)]


@pytest.mark.usefixtures("_sizes")
@pytest.mark.parametrize("ufunc", [np.add, np.maximum])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8, 9])
@pytest.mark.parametrize(("stride", "apart"), [*product([-2, -1, 1, 2, 3], [-2, -1, 1, 2])])
def test_rolling_equals_loops(ufunc: np.ufunc, count: int, stride: int, apart: int) -> None:
    size = (26 - abs(apart) * (count - 1)) // abs(stride) + 1
    offset = (abs(stride) * (size - 1) if stride < 0 else 0) + (abs(apart) * (count - 1) if apart < 0 else 0)
    for shape, axis in [((27,), 0), ((27, 3), 0), ((3, 27), 1), ((2, 27, 5), 1)]:
        x = RNG.integers(0, 9, shape)
        windows = [[offset + stride * t + apart * d for d in range(count)] for t in range(size)]
        want = ufunc.reduce(np.take(x, windows, axis), axis=axis + 1)
        for own in layouts(x):
            shape = (*own.shape[:axis], size, *own.shape[axis + 1 :])
            got = rolling(ufunc, own, (axis,), ((offset, stride, apart, count),), shape)
            np.testing.assert_array_equal(got, want)


@pytest.mark.usefixtures("_sizes")
@pytest.mark.parametrize("strides", [(1, 1), (2, 1), (3, 2)])
@pytest.mark.parametrize("counts", [(2, 3), (9, 8), (1, 5)])
def test_rolling_along_two_axes_equals_one_after_the_other(
    strides: tuple[int, int], counts: tuple[int, int]
) -> None:
    x = RNG.integers(0, 9, (21, 2, 19))
    places = zip((21, 19), counts, strides, strict=True)
    rows, columns = ((size - count) // stride + 1 for size, count, stride in places)
    windows = [(0, stride, 1, count) for stride, count in zip(strides, counts, strict=True)]
    for own in layouts(x):
        first = rolling(np.add, own, (0,), windows[:1], (rows, 2, 19))
        want = rolling(np.add, first, (2,), windows[1:], (rows, 2, columns))
        np.testing.assert_array_equal(rolling(np.add, own, (0, 2), windows, want.shape), want)
        np.testing.assert_array_equal(rolling(np.add, own, (2, 0), windows[::-1], want.shape), want)


VIEWS = [
    (((0,), ((1, 1),), (6, 4)), (9,), 1),
    (((2,), ((2, -1),), (4, 3)), (9,), 1),
    (((0, 0, 0), ((1, 0, 1, 0, 0), (0, 2, 0, 1, 0), (0, 0, 0, 0, 1)), (5, 3, 2, 3, 3)), (6, 7, 3), 2),
    (((0, 0, 1), ((1, 0, 0, 0), (0, 1, 0, 1), (0, 0, 1, 0)), (3, 4, 2, 3)), (3, 6, 3), 3),
]


@pytest.mark.usefixtures("_sizes")
@pytest.mark.parametrize(("view", "shape", "kept"), VIEWS)
def test_products_of_windows_equal_those_of_the_view(view: Any, shape: tuple[int, ...], kept: int) -> None:
    x = RNG.integers(0, 9, shape).astype(float)
    seen = view_of(x, *view)
    axes = list(range(seen.ndim))
    inner = seen.shape[kept:]
    matrix = RNG.integers(0, 9, (int(np.prod(inner)), 5)).astype(float)
    want = np.tensordot(seen, matrix.reshape(*inner, 5), (axes[kept:], list(range(len(inner)))))
    same = RNG.integers(0, 9, (*(1,) * kept, *inner)).astype(float)
    own = RNG.integers(0, 9, seen.shape).astype(float)
    for one in layouts(x):
        np.testing.assert_array_equal(multiplied(one, matrix, view, kept), want)
        np.testing.assert_array_equal(multiplied(one, np.asfortranarray(matrix), view, kept), want)
        for weights in (same, own):
            total = (seen * weights).sum(tuple(axes[kept:]))
            np.testing.assert_array_equal(weighed(one, weights, view, kept), total)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_products_of_no_windows_or_of_empty_ones_are_zeros(shape: tuple[int, int]) -> None:
    x, view = np.ones(9, np.float32), ((0,), ((1, 1),), shape)
    assert multiplied(x, np.ones((shape[1], 2), np.float32), view, 1).tolist() == [[0, 0]] * shape[0]
    assert weighed(x, np.ones((1, shape[1]), np.float32), view, 1).tolist() == [0] * shape[0]
    assert weighed(x, np.ones((1, shape[1]), np.float32), view, 1).dtype == np.float32
