"""Products of many tiny matrices, compared with `numpy.matmul` on copies, in every layout."""

from __future__ import annotations

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.backends.numpy.tiny import tiny_matmul
from nameexpr.compiler.ir import tiny

RNG = np.random.default_rng(8)
SIZES = (
    (7, 3, 3, 3),
    (40, 1, 2, 1),
    (40, 1, 5, 1),
    (33, 2, 3, 1),
    (33, 1, 2, 4),
    (5, 1, 2, 1),
    (0, 2, 2, 2),
    (1, 4, 3, 2),
)


def whole(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    made = RNG.integers(-4, 5, shape)
    return (made + 1j * RNG.integers(-4, 5, shape) if dtype[0] == "c" else made).astype(dtype)


def layouts(x: np.ndarray) -> list[np.ndarray]:
    """Return the same values in other layouts: by columns, backwards, with gaps."""
    gaps = np.zeros((2 * x.shape[0], *x.shape[1:]), x.dtype)
    gaps[::2] = x
    return [x, np.asfortranarray(x), x[::-1, :, ::-1].copy()[::-1, :, ::-1], gaps[::2]]


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8"])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("most", [1, 300, 1 << 19])
def test_products_of_tiny_matrices(
    sizes: tuple[int, int, int, int], dtype: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiny, "BYTES", most)
    count, rows, inner, columns = sizes
    x, y = whole((count, rows, inner), dtype), whole((count, inner, columns), dtype)
    expected = np.matmul(x, y)
    for left in layouts(x):
        for right in layouts(y):
            found = tiny_matmul(left, right)
            assert found.dtype == x.dtype and found.flags.writeable
            assert count < 2 or found.strides[0] == found.itemsize
            np.testing.assert_array_equal(found, expected)
    repeated = np.broadcast_to(x[:1], x.shape) if count else x
    np.testing.assert_array_equal(tiny_matmul(repeated, y), np.matmul(repeated, y))


@pytest.mark.parametrize("shape", [(9, 3, 3), (9, 2, 3), (9, 1, 3), (9, 3, 2)])
def test_matrices_times_themselves(shape: tuple[int, ...]) -> None:
    """Only a matrix that is transposed in the same memory is copied once."""
    for x in layouts(whole(shape, "f8")):
        turned = x.transpose(0, 2, 1)
        np.testing.assert_array_equal(tiny_matmul(x, turned), np.matmul(x.copy(), turned.copy()))
        if shape[1] == shape[2]:
            np.testing.assert_array_equal(tiny_matmul(x, x), np.matmul(x.copy(), x.copy()))
    wide = whole((9, 4, 4), "f8")
    left, right = wide[:, :3], wide[:, 1:].transpose(0, 2, 1)
    np.testing.assert_array_equal(tiny_matmul(left, right), np.matmul(left.copy(), right.copy()))


def test_infinities_and_nan_stay_in_their_products() -> None:
    x, y = np.ones((50, 2)), np.ones((50, 2))
    x[3, 1], x[4, 0], y[5, 1] = np.inf, np.nan, -np.inf
    expected = x[:, 0] * y[:, 0] + x[:, 1] * y[:, 1]
    np.testing.assert_array_equal(tiny_matmul(x[:, None], y[:, :, None])[:, 0, 0], expected)


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("n c, n c -> n", ((9000, 2), (9000, 2))),
        ("n i j, n j k -> n i k", ((5000, 3, 3), (5000, 3, 3))),
        ("n i j, n k j -> k n i", ((5000, 2, 3), (5000, 2, 3))),
        ("n i j, n j -> n i", ((5000, 3, 3), (5000, 3))),
    ],
)
def test_expressions_use_it(text: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    operands = [whole(shape, "f8") for shape in shapes]
    assert "tiny.tiny_matmul(" in ne.compile(text).plan(*operands).code
    for given in (operands, [operands[0], operands[0][: len(operands[1])]]):
        if given[1].shape == operands[1].shape:
            expected = np.einsum(text.replace(" ", ""), given[0], given[1].copy())
            np.testing.assert_array_equal(ne.einsum(text, *given), expected)
