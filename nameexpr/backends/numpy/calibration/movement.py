"""Probes of copies, sums, casts and functions of elements."""

from __future__ import annotations

from math import prod
from random import Random

import numpy as np

from nameexpr.backends.numpy.calibration.drawing import (
    LARGEST,
    LETTERS,
    Call,
    Probe,
    array_of,
    draw_dtype,
    draw_size,
    flip,
    steps_of,
)
from nameexpr.backends.numpy.copies import contiguous
from nameexpr.backends.numpy.costs.calls import NumpyCosts, width
from nameexpr.backends.numpy.costs.passes import function_cost, pages_cost
from nameexpr.backends.numpy.costs.strided import Strided, row_major
from nameexpr.backends.numpy.kernels import slices


def copied(drawn: Random) -> Probe:
    """A row-major copy with the axes in another order."""
    dtype = draw_dtype(drawn)
    while True:
        labels = list(LETTERS[: drawn.randint(2, 4)])
        sizes = {label: draw_size(drawn, 2, 400) for label in labels}
        order = drawn.sample(labels, len(labels))
        if prod(sizes.values()) <= LARGEST // 2 and order != labels:
            break
    axes, steps = [labels.index(label) for label in order], steps_of(sizes, labels)
    shape = (prod(sizes[one] for one in order[:-1]), sizes[order[-1]])

    def make() -> Call:
        source = array_of([sizes[one] for one in labels], dtype)
        return lambda: contiguous(source.transpose(axes)).reshape(shape)

    return Probe("", make, lambda costs: costs.copy_cost(sizes, steps, order, dtype))


def summed(drawn: Random) -> Probe:
    """A sum over the last axis."""
    dtype = draw_dtype(drawn)
    rows, inner = draw_size(drawn, 2, 20_000), draw_size(drawn, 2, 2_000)
    rows = min(rows, LARGEST // 2 // inner)
    sizes = {"a": rows, "b": inner}

    def make() -> Call:
        source = array_of((rows, inner), dtype)
        return lambda: np.add.reduce(source, axis=1)

    return Probe("", make, lambda costs: costs.sum_cost(sizes, steps_of(sizes, "ab"), dtype))


def sliced(drawn: Random) -> Probe:
    """A sum, slice after slice."""
    dtype, count, cells, is_near = (
        draw_dtype(drawn),
        drawn.randint(2, 16),
        draw_size(drawn, 4, 1 << 17),
        flip(drawn),
    )
    cells = min(cells, LARGEST // 4 // count)

    def make() -> Call:
        source = array_of((count, cells) if is_near else (cells, count), dtype)
        return lambda: slices(np.add, source, (0,) if is_near else (1,))

    return Probe("", make, lambda costs: costs.slices_cost(count, cells, dtype, is_near=is_near))


def cast(drawn: Random) -> Probe:
    """A cast of integers to floats."""
    dtype, cells = draw_dtype(drawn), draw_size(drawn, 4096, LARGEST // 2)

    def make() -> Call:
        source = np.arange(cells)
        return lambda: source.astype(dtype)

    return Probe("", make, lambda costs: costs.cast_cost(cells, dtype))


def added(drawn: Random, *, most: int = LARGEST // 2, least: int = 1) -> Probe:
    """An addition of two arrays: contiguous, or with the first of one of four strides."""
    dtype, step = draw_dtype(drawn), 1 if least > 1 else drawn.choice([1, 1, 1, 2, 9, 40])
    cells = min(draw_size(drawn, least, most), max(least, 4 * LARGEST // step))
    result = row_major((cells,), dtype)
    sources = [Strided((cells,), (step if cells > 1 else 1,), dtype), result]

    def make() -> Call:
        left, right = array_of((cells * step,), dtype)[::step], array_of((cells,), dtype)
        return lambda: np.add(left, right)

    def cost(costs: NumpyCosts) -> float:
        profile = costs.profile
        own = function_cost(profile, "add", (), sources, result)
        return own + pages_cost(profile, round(cells * width(dtype) * 8))

    return Probe("", make, cost)


def added_large(drawn: Random) -> Probe:
    """An addition of arrays that exceed the caches."""
    return added(drawn, least=LARGEST, most=3 * LARGEST)


def added_by_rows(drawn: Random) -> Probe:
    """An addition of a column to the rows of a matrix: one run for each row."""
    dtype, rows, inner = draw_dtype(drawn), draw_size(drawn, 300, 20_000), draw_size(drawn, 2, 300)
    rows = min(rows, LARGEST // 2 // inner)
    whole, column = row_major((rows, inner), dtype), Strided((rows, inner), (1, 0), dtype)

    def make() -> Call:
        left, right = array_of((rows, inner), dtype), array_of((rows, 1), dtype)
        return lambda: np.add(left, right)

    return Probe("", make, lambda costs: function_cost(costs.profile, "add", (), [whole, column], whole))
