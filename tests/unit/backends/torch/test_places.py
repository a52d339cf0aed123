"""Reading and writing at positions on PyTorch, compared with NumPy's kernels and with loops."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from nameexpr.backends.numpy import joining, reading, scattering  # noqa: E402
from nameexpr.backends.torch import places  # noqa: E402

WINDOWS = (
    ((6,), (1,), ((2, 1),), (2, 3)),
    ((6,), (5,), ((-1,),), (6,)),
    ((6,), (0,), ((1, 2, 1),), (2, 2, 2)),
    ((6,), (4,), ((-2, 1),), (2, 2)),
    ((6, 5), (1, 0), ((1, 0), (0, 2)), (5, 3)),
    ((6, 5), (1, 2), ((0, 1), (1, 0)), (3, 4)),
    ((5, 5), (0, 0), ((1,), (1,)), (5,)),
    ((5, 5), (4, 0), ((-1, 0), (1, 1)), (4, 2)),
    ((6, 5), (2, 0), ((0,), (1,)), (5,)),
    ((6,), (0,), ((1, 0),), (6, 2)),
    ((6,), (0,), ((1,),), (0,)),
)


@pytest.mark.parametrize(("size", "offsets", "rows", "shape"), WINDOWS)
def test_windows_are_numpys(size: Any, offsets: Any, rows: Any, shape: Any) -> None:
    x = np.arange(float(np.prod(size))).reshape(size)
    found = places.window(torch.from_numpy(x), offsets, rows, shape)
    np.testing.assert_array_equal(found.numpy(), reading.windows(x, offsets, rows, shape))


@pytest.mark.parametrize("letters", [(0, 0), (0, 1, 0), (1, 0, 1, 0), (0, 0, 0), (0, 1), (2, 0, 2, 1)])
def test_diagonals_and_their_embedding_are_inverse(letters: tuple[int, ...]) -> None:
    sizes = (2, 3, 4)
    shape = tuple(sizes[letter] for letter in letters)
    x = torch.arange(float(np.prod(shape))).reshape(shape)
    distinct = tuple(dict.fromkeys(letters))
    found = places.diagonal(x, letters)
    for index in itertools.product(*(range(sizes[letter]) for letter in distinct)):
        at = dict(zip(distinct, index, strict=True))
        assert found[index] == x[tuple(at[letter] for letter in letters)]
    embedded = places.embed(found, shape, distinct, letters)
    torch.testing.assert_close(places.diagonal(embedded, letters), found)
    assert embedded.count_nonzero() == found.count_nonzero()


def test_positions_outside_are_found_by_pytorch() -> None:
    positions = places.inside(torch.tensor([[0, 2], [-1, 3]]), 3, 1 << 31)
    assert positions.tolist() == [[0, 2], [1 << 31, 1 << 31]]
    x = torch.arange(12).reshape(3, 4)
    assert places.take(x, torch.tensor([[0, 2], [1, 1]]), 1).shape == (3, 2, 2)
    assert places.take(x, torch.tensor(2), 0).tolist() == [8, 9, 10, 11]
    assert places.index(x, torch.tensor(2), torch.tensor(1)).tolist() == 9
    assert places.index(x, torch.tensor([2, 0]), torch.tensor(1)).tolist() == [9, 1]
    with pytest.raises(IndexError):
        places.index(x, positions[1], torch.tensor(1))


@pytest.mark.parametrize("method", ["sum", "prod", "max", "min"])
def test_rows_are_combined_as_numpys(method: str) -> None:
    at, rows = np.array([2, 0, 2, 3, 0]), np.arange(10.0).reshape(5, 2) - 4
    empty = {"sum": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}[method]
    ufunc = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[method]
    found = places.scatter(torch.from_numpy(at), torch.from_numpy(rows), 3, method, empty)
    np.testing.assert_array_equal(found.numpy(), scattering.combined(ufunc, at, rows, 3, empty))


def test_counts_and_flags_are_numpys() -> None:
    at, rows = np.array([2, 0, 2, 3]), np.array([[True], [False], [False], [True]])
    tensors = torch.from_numpy(at), torch.from_numpy(rows)
    assert places.scatter(tensors[0], None, 3, "count", 0.0).tolist() == scattering.count(at, 3).tolist()
    for method in ("any", "all"):
        for given in (None, rows):
            expected = scattering.flags(at, given, 3, method == "all")
            found = places.scatter(tensors[0], None if given is None else tensors[1], 3, method, 0.0)
            np.testing.assert_array_equal(found.numpy(), expected)


def test_bins_are_numpys() -> None:
    first, other = np.array([[0, 2, -1], [1, 3, 0]]), np.array([1, 0, 4])
    expected = scattering.bins((3, 4), (2, 3), first, other)
    found = places.bins((3, 4), (2, 3), torch.from_numpy(first), torch.from_numpy(other))
    np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize(
    ("shape", "pieces"),
    [
        ((6, 2), (((0, 0), (1, 2), (1, 2)), ((2, 0), (4, 2), (2, 2, 2)))),
        ((5, 4), (((0, 0), (2, 4), (2, 4)), ((3, 1), (2, 2), (2, 2)))),
        ((2, 2), (((0, 0), (2, 2), (2, 2)),)),
        ((3, 0), (((0, 0), (3, 0), (3, 0)),)),
    ],
)
def test_parts_are_joined_as_numpys(shape: Any, pieces: Any) -> None:
    values = [np.full(split[-1:], number + 1.5) for number, (_, _, split) in enumerate(pieces)]
    expected = joining.joined(shape, "float32", pieces, *values)
    found = places.joined("cpu", shape, torch.float32, pieces, *map(torch.from_numpy, values))
    np.testing.assert_array_equal(found.numpy(), expected)
    assert places.joined("cpu", (2,), None, (((0,), (1,), (1,)),), 7).tolist() == [7, 0]
