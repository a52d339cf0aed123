"""Copies by strips give the cells that NumPy's own copy gives, whatever the layout, and are row-major."""

from __future__ import annotations

import numpy as np
import pytest

from nameexpr.backends.numpy import copies

RNG = np.random.default_rng(3)
SHAPES = [
    ((256, 256), (1, 0)), ((1024, 130), (1, 0)), ((64, 64, 64), (2, 1, 0)), ((16, 784, 64), (0, 2, 1)),
    ((8, 512, 3), (1, 2, 0)), ((512, 16, 16), (2, 1, 0)), ((100, 90), (0, 1)), ((3, 2), (1, 0)), ((5,), (0,)),
    ((128, 1, 300), (2, 1, 0)), ((40, 0, 7), (2, 1, 0)), ((4, 4, 4, 1024), (3, 0, 1, 2)),
    ((130, 1024), (1, 0)), ((3, 200, 512), (0, 2, 1)), ((130, 16, 128), (2, 1, 0)),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "axes"), SHAPES, ids=[f"{shape}{axes}" for shape, axes in SHAPES])
@pytest.mark.parametrize("dtype", ["u1", "f4", "f8", "c16", "O"])
def test_contiguous_is_a_row_major_copy(shape: tuple[int, ...], axes: tuple[int, ...], dtype: str) -> None:
    source = RNG.integers(0, 100, shape).astype(dtype)
    for view in (source.transpose(axes), source[::-1].transpose(axes)):
        made = copies.contiguous(view)
        assert made.flags.c_contiguous
        assert not np.shares_memory(made, view)
        assert made.dtype == view.dtype
        np.testing.assert_array_equal(made, view)


def test_some_of_these_copies_go_by_strips() -> None:
    plans = []
    for shape, axes in SHAPES:
        view = np.empty(shape).transpose(axes)
        plans.append(copies._way(view.shape, view.strides, view.itemsize))
    assert sum(plan is not None for plan in plans) >= 4
    assert plans[0] == copies._Way(
        (256, 256), 16
    )  # strides of 2048 bytes: two places in the cache for each line
    assert plans[-3:] == [  # strides of 4096 bytes: one place
        copies._Way((1024, 130), 64, 130, 0),
        copies._Way((3, 512, 200), 64, 300, 1),
        copies._Way((128, 16, 130), 64, 128, 0),
    ]


WAYS = {
    "a line is read again for each element": ("f8", (2000, 129), 1, "strips"),
    "also by a copy that goes backwards": ("f8", (2000, 129), -1, "strips"),
    "rows that stay in the cache": ("f8", (30, 640), 1, "plain"),
    "several rows in each line": ("u1", (100_000, 4), 1, "plain"),
    "few columns": ("f8", (5000, 20), 1, "plain"),
    "large elements that do not compete": ("c16", (2000, 129), 1, "plain"),
    "large elements that compete": ("c16", (1000, 256), 1, "strips"),
    "elements that compete": ("f8", (130, 1024), 1, "buffer"),
    "elements that compete and are not adjacent": ("f8", (130, 4096), 4, "strips"),
    "too few for a buffer": ("f8", (130, 512), 1, "strips"),
    "elements that compete less": ("f8", (512, 768), 1, "strips"),
    "many that compete less": ("f8", (1024, 768), 1, "buffer"),
}


@pytest.mark.parametrize("name", WAYS)
def test_a_transposed_array_is_copied_as_its_strides_need(name: str) -> None:
    dtype, shape, step, expected = WAYS[name]
    view = np.empty(shape, dtype)[:, ::step].T
    way = copies._way(view.shape, view.strides, view.itemsize)
    assert ("plain" if way is None else "buffer" if way.rows else "strips") == expected
    if way is not None:
        assert copies.STRIP[0] <= way.width <= copies.STRIP[-1]
        assert way.rows * way.width * view.itemsize <= min(copies.BUFFER, view.nbytes // copies.SHARE)


def test_axes_that_lie_together_are_one() -> None:
    images = np.empty((4, 28, 28, 64)).transpose(0, 3, 1, 2)
    assert copies._joined(images.shape, images.strides) == [(4, 401408), (64, 8), (784, 512)]


@pytest.mark.parametrize(
    ("own", "shape"),
    [((3, 1, 4), (3, 5, 4)), ((4,), (2, 3, 4)), ((3, 1), (3, 2)), ((1, 1), (2, 3)),
     ((2, 1, 3, 1, 200), (2, 2, 3, 2, 200)),
     ((2, 1, 3, 1, 2), (2, 2, 3, 2, 2)), ((2, 3), (2, 3)), ((), (2, 2)), ((2, 1), (2, 0)), ((0, 1), (0, 3))],
)  # fmt: skip
def test_repeated_is_what_broadcasting_gives(own: tuple[int, ...], shape: tuple[int, ...]) -> None:
    source = RNG.random(own)
    for view in (source, np.asfortranarray(source), source[..., ::-1] if own else source):
        made = copies.repeated(view, shape)
        assert made.flags.c_contiguous
        assert not np.shares_memory(made, view)
        np.testing.assert_array_equal(made, np.broadcast_to(view, shape))


def test_row_major_copies_only_what_is_not() -> None:
    x = RNG.random((3, 4))
    assert copies.row_major(x) is x
    np.testing.assert_array_equal(copies.row_major(x.T), x.T)
