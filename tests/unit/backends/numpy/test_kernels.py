"""Kernels that work on some rows at a time give what they give for whole arrays, and need less memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from nameexpr.backends.numpy import formulas, kernels
from nameexpr.backends.numpy.kernels import CELLS
from nameexpr.compiler.ir.program import Instruction
from nameexpr.compiler.ir.strides import of_slices

RNG = np.random.default_rng(0)
KERNELS = ["var", "std", "median", "norm", "logsumexp"]
SHAPES = [
    ((2 * CELLS + 1, 1), (-1,)),
    ((3, CELLS), (-1,)),
    ((3, CELLS), (1,)),
    ((3, CELLS), (0,)),
    ((3, CELLS), (-2,)),
    ((3, CELLS), (0, 1)),
    ((1, 3 * CELLS), (-1,)),
    ((700, 20, 10), (-2, -1)),
    ((700, 20, 10), (1,)),
    ((700, 20, 10), (0, 2)),
    ((3 * CELLS,), (0,)),
]


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_rows_give_what_the_whole_array_gives(
    name: str, shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    kernel = getattr(kernels, name)
    for dtype in (np.float64, np.float32):
        x = RNG.standard_normal(shape).astype(dtype)
        x.flat[7] = np.nan
        before = x.copy()
        axis = axes[0] if len(axes) == 1 else axes
        found, expected = kernel(x, axis), getattr(kernel, "__wrapped__", kernel)(x, axis)
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        assert_allclose(found, expected, rtol=1e-5 if dtype is np.float32 else 1e-12)
        assert_array_equal(x, before)


@pytest.mark.parametrize("name", KERNELS)
def test_rows_need_little_memory(name: str) -> None:
    x = RNG.standard_normal((2000, 500))
    tracemalloc.start()
    getattr(kernels, name)(x, -1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < x.nbytes / 4


@pytest.mark.parametrize("shape", [(5,), (300, 1000), (1000, 300), (2, 3 * CELLS), ()])
def test_where_over_writes_in_parts_as_a_whole(shape: tuple[int, ...]) -> None:
    x = RNG.standard_normal(shape)
    for condition in (x > 0, x > 10, np.ones(shape[-1:], bool)):
        for other in (-np.inf, RNG.standard_normal(shape)):
            copy = np.array(x)
            found = formulas.where_over(condition, copy, other)
            assert found is copy
            assert_array_equal(found, np.where(condition, x, other))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4", "int32", "complex64"])
def test_where_or_zero_is_where(dtype: str) -> None:
    x = RNG.standard_normal((30, 20)).astype(dtype)
    if x.dtype.kind == "f":
        x[:3] = [[np.nan], [np.inf], [-np.inf]]
    across = np.asfortranarray(x.real > 0)
    for condition in (x.real > 0, across, x.real[0] > 0, np.bool_(True), False, (x.real > 0).astype(int)):
        for one in (x, x.T[::2].T[:, :1], x[0, 0]):
            found, wanted = formulas.where_or_zero(condition, one), np.where(condition, one, 0)
            assert_array_equal(found, wanted)
            assert not np.signbit(found.real[wanted == 0]).any()
            assert found.dtype.kind == wanted.dtype.kind and np.shape(found) == wanted.shape
    for condition in (x.real > 0, across, x.real[0] > 0, False, 1):
        copy = np.array(x)
        assert formulas.where_over(condition, copy, 0) is copy
        assert_array_equal(copy, np.where(condition, x, 0))


@pytest.mark.parametrize("kernel", ["var", "std"])
def test_a_variance_holds_the_deviations_and_one_result(kernel: str) -> None:
    """What is divided is the sum itself: predicted peaks count no second array of the result's size."""
    x = np.ones((100_000, 2, 1)).transpose(1, 0, 2).copy().transpose(1, 0, 2)  # not by rows: all at once
    tracemalloc.start()
    try:
        getattr(kernels, kernel)(x, (-2, -1))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    result = x.nbytes // 2
    assert peak <= x.nbytes + result + (1 << 14)


@pytest.mark.parametrize(
    "axes", [(0,), (3,), (0, 1), (1, 0), (3, 0, 2), (2, 0, 3), (0, 1, 2, 3), (3, 1, 2, 0)]
)
def test_slices_may_be_combined_in_any_order_of_axes(axes: tuple[int, ...]) -> None:
    x = RNG.integers(0, 9, (2, 3, 1, 4)).astype(float)
    before = x.copy()
    for ufunc in (np.add, np.maximum):
        for source in (x, np.asfortranarray(x), x.transpose(2, 3, 0, 1).copy().transpose(2, 3, 0, 1)):
            made = kernels.slices(ufunc, source, axes)
            assert_array_equal(made, ufunc.reduce(x, tuple(sorted(axes))))
            strides = tuple([stride // x.itemsize for stride in source.strides])
            known = of_slices(Instruction("slices", (0,), axes=axes), [(x.shape, strides)], made.shape)
            real = [
                (own, step)
                for size, own, step in zip(made.shape, known, made.strides, strict=True)
                if size > 1
            ]
            assert all(own * x.itemsize == step for own, step in real)
    assert_array_equal(x, before)
