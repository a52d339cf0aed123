"""Probes of products, by BLAS and by the C loop."""

from __future__ import annotations

from math import prod
from random import Random

import numpy as np

from nameexpr.backends.numpy.calibration.drawing import (
    LARGEST,
    LETTERS,
    WORK,
    Call,
    Probe,
    array_of,
    draw_dtype,
    draw_size,
    flip,
    steps_of,
)
from nameexpr.backends.numpy.costs.calls import NumpyCosts, width
from nameexpr.backends.numpy.kernels import c_einsum

LEAST = 1000
"""The least number of iterations of a C loop."""
USED, VECTORS = 0.75, 0.3
"""The probabilities that an operand of a C loop has a label, and that a batch of matrices is multiplied with
vectors.
"""


def streamed(costs: NumpyCosts, dtype: str, *cells: int) -> float:
    """Return the extra cost of operands and a result with these numbers of elements."""
    return costs.stream_cost(round(sum(cells) * 8 * width(dtype)))


def dot(drawn: Random) -> Probe:
    """A product of two matrices."""
    dtype = draw_dtype(drawn)
    while True:
        rows, inner, columns = (draw_size(drawn, 4, 1000) for _ in range(3))
        if rows * inner * columns <= 4 * WORK:
            break
    along = flip(drawn), flip(drawn)

    def make() -> Call:
        left = array_of((rows, inner), dtype, None if along[0] else (1, 0))
        right = array_of((inner, columns), dtype, (1, 0) if along[1] else None)
        return lambda: left.dot(right)

    return Probe(
        "",
        make,
        lambda costs: (
            costs.product_cost(1, rows, inner, columns, dtype, is_by_dots=False, is_turned=all(along))
            + streamed(costs, dtype, rows * inner, inner * columns, rows * columns)
        ),
    )


def matmul(drawn: Random) -> Probe:
    """A batch of products."""
    dtype = draw_dtype(drawn)
    while True:
        count, inner = draw_size(drawn, 2, 20_000), draw_size(drawn, 2, 80)
        rows, columns = draw_size(drawn, 1, 80), draw_size(drawn, 1, 80)
        cells = count * max(rows * inner, inner * columns, rows * columns)
        if count * rows * inner * columns <= WORK and cells <= LARGEST and rows * columns > 1:
            break
    turned, is_row = flip(drawn), rows == 1
    is_by_dots = turned if is_row else True

    def make() -> Call:
        left = array_of((count, rows, inner), dtype)
        right = array_of((count, inner, columns), dtype, (0, 2, 1) if turned else None)
        return lambda: np.matmul(left, right)

    return Probe(
        "",
        make,
        lambda costs: (
            costs.product_cost(count, rows, inner, columns, dtype, is_by_dots=is_by_dots, is_turned=turned)
            + streamed(costs, dtype, count * rows * inner, count * inner * columns, count * rows * columns)
        ),
    )


def vector(drawn: Random) -> Probe:
    """A product of a matrix and a vector."""
    dtype, is_by_dots = draw_dtype(drawn), flip(drawn)
    while True:
        rows, inner = draw_size(drawn, 2, 20_000), draw_size(drawn, 2, 20_000)
        if rows * inner <= LARGEST // 2:
            break

    def make() -> Call:
        matrix, vector = (
            array_of((rows, inner), dtype, None if is_by_dots else (1, 0)),
            array_of((inner,), dtype),
        )
        return lambda: matrix.dot(vector)

    return Probe(
        "",
        make,
        lambda costs: (
            costs.product_cost(1, rows, inner, 1, dtype, is_by_dots=is_by_dots)
            + streamed(costs, dtype, rows * inner)
        ),
    )


def inner_products(drawn: Random) -> Probe:
    """Inner products of rows."""
    dtype, count, inner = draw_dtype(drawn), draw_size(drawn, 2, 20_000), draw_size(drawn, 2, 4_000)
    count = min(count, LARGEST // 2 // inner)

    def make() -> Call:
        left, right = array_of((count, inner), dtype), array_of((count, inner), dtype)
        return lambda: np.vecdot(left, right)

    return Probe(
        "",
        make,
        lambda costs: costs.vecdot_cost(count, inner, dtype) + streamed(costs, dtype, 2 * count * inner),
    )


def unpacked(drawn: Random) -> Probe:
    """A batch of products of which one operand has the batch last in memory: `matmul` copies it."""
    dtype = draw_dtype(drawn)
    while True:
        count, rows = draw_size(drawn, 2, 100), draw_size(drawn, 2, 400)
        inner, columns = draw_size(drawn, 2, 60), 1 if flip(drawn, VECTORS) else draw_size(drawn, 2, 60)
        if count * rows * inner * columns <= WORK:
            break
    order = drawn.choice([(1, 2, 0), (2, 1, 0)])
    ends = [inner * count, count] if order[0] == 1 else [count, rows * count]

    def make() -> Call:
        left = array_of((count, rows, inner), dtype, order)
        right = array_of((count, inner, columns), dtype)
        return lambda: np.matmul(left, right)

    def cost(costs: NumpyCosts) -> float:
        read = costs.read_cost(count * rows * inner, ends, dtype, is_swept=columns == 1)
        read += streamed(costs, dtype, count * rows * inner, count * inner * columns, count * rows * columns)
        return read + costs.product_cost(count, rows, inner, columns, dtype, is_by_dots=False)

    return Probe("", make, cost)


def integers(drawn: Random) -> Probe:
    """A product of matrices that BLAS does not support."""
    rows, inner, columns = (draw_size(drawn, 4, 100) for _ in range(3))

    def make() -> Call:
        left, right = array_of((rows, inner), "int64"), array_of((inner, columns), "int64")
        return lambda: np.matmul(left, right)

    return Probe(
        "", make, lambda costs: costs.product_cost(1, rows, inner, columns, "int64", is_by_dots=False)
    )


def loop(drawn: Random) -> Probe:
    """The C loop over one or two operands, with labels in any order."""
    dtype, count = draw_dtype(drawn), drawn.choice([1, 2, 2, 2])
    while True:
        labels = LETTERS[: drawn.randint(2, 5)]
        sizes = {label: drawn.choice([2, 3, 5, 8, 16, 24, 40, 64, 100, 300, 1000]) for label in labels}
        terms = [[one for one in labels if count == 1 or flip(drawn, USED)] for _ in range(count)]
        for term in terms:
            drawn.shuffle(term)
        kept = [one for one in labels if flip(drawn)]
        drawn.shuffle(kept)
        used = dict.fromkeys(one for term in terms for one in term)
        is_view = count == 1 and len(kept) == len(labels)
        if (
            all(terms)
            and len(used) == len(labels)
            and not is_view
            and LEAST <= prod(sizes.values()) <= WORK // 4
        ):
            break
    letters = dict(zip(used, LETTERS, strict=False))  # summed axes are visited in the order of their letters
    *ins, out = ("".join([letters[one] for one in term]) for term in (*terms, kept))
    text = f"{','.join(ins)}->{out}"

    def make() -> Call:
        operands = [array_of([sizes[one] for one in term], dtype) for term in terms]
        return lambda: c_einsum(text, *operands)

    steps = [steps_of(sizes, term) for term in terms]
    cells = [prod(sizes[one] for one in term) for term in (*terms, kept)]
    return Probe(
        "", make, lambda costs: costs.loop_cost(sizes, steps, kept, dtype) + streamed(costs, dtype, *cells)
    )
