"""The calls that calibration times, each with what the cost model expects, so that figures can be fitted.

A probe is drawn at random; equal seeds draw equal probes on every machine. `FAMILIES` has one function for
each kind of call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from math import exp, log, prod
from random import Random
from typing import Any, NamedTuple

import numpy as np

from nameexpr.backends.numpy.copies import contiguous
from nameexpr.backends.numpy.costs.calls import NumpyCosts, width
from nameexpr.backends.numpy.costs.passes import Strided, function_cost, pages_cost, row_major
from nameexpr.backends.numpy.kernels import c_einsum, slices

Call = Callable[[], Any]
Cost = Callable[[NumpyCosts], float]
LARGEST = 1 << 21
"""The largest number of elements of an operand or result."""
WORK = 4_000_000
"""The largest number of multiplications of a probe."""
LEAST = 1000
"""The least number of iterations of a C loop."""
USED = 0.75
"""The probability that an operand of a C loop has a label."""
LETTERS = "abcdef"


class Probe(NamedTuple):
    """A call to time: `make` creates its operands and returns it, `cost` is what it should take in ns."""

    family: str
    make: Callable[[], Call]
    cost: Cost


def draw(seed: int, count: int) -> list[Probe]:
    """Return `count` random probes of each family."""
    drawn = Random(seed)
    return [family(drawn)._replace(family=name) for _ in range(count) for name, family in FAMILIES.items()]


def _size(drawn: Random, least: int, most: int) -> int:
    """Return a number whose logarithm is drawn evenly."""
    return round(exp(drawn.uniform(log(least), log(most))))


def _flip(drawn: Random, probability: float = 0.5) -> bool:
    return drawn.random() < probability


def _dtype(drawn: Random) -> str:
    return drawn.choice(["float64", "float64", "float32"])


def _array(shape: Sequence[int], dtype: str, order: Sequence[int] | None = None) -> Any:
    """Return an array whose axes are in this order in memory."""
    order = range(len(shape)) if order is None else order
    made = np.ones([shape[axis] for axis in order], dtype)
    return made.transpose(np.argsort(list(order)))


def _steps(sizes: Mapping[str, int], memory: Sequence[str]) -> dict[str, int]:
    """Return the strides of an array whose axes are in this order in memory."""
    steps = list(
        accumulate([sizes[label] for label in reversed(memory)], lambda one, size: one * size, initial=1)
    )
    return dict(zip(reversed(memory), steps, strict=False))


def _dot(drawn: Random) -> Probe:
    dtype = _dtype(drawn)
    while True:
        rows, inner, columns = (_size(drawn, 2, 600) for _ in range(3))
        if rows * inner * columns <= WORK:
            break
    turned = _flip(drawn)

    def make() -> Call:
        left, right = (
            _array((rows, inner), dtype),
            _array((inner, columns), dtype, (1, 0) if turned else None),
        )
        return lambda: left.dot(right)

    return Probe("", make, lambda costs: costs.product_cost(1, rows, inner, columns, dtype, is_by_dots=False))


def _matmul(drawn: Random) -> Probe:
    dtype = _dtype(drawn)
    while True:
        count, rows, inner, columns = _size(drawn, 2, 20_000), *(_size(drawn, 1, 80) for _ in range(3))
        cells = count * max(rows * inner, inner * columns, rows * columns)
        if count * rows * inner * columns <= WORK and cells <= LARGEST and rows * columns > 1:
            break
    turned, is_row = _flip(drawn), rows == 1
    is_by_dots = turned if is_row else True

    def make() -> Call:
        left = _array((count, rows, inner), dtype)
        right = _array((count, inner, columns), dtype, (0, 2, 1) if turned else None)
        return lambda: np.matmul(left, right)

    return Probe(
        "", make, lambda costs: costs.product_cost(count, rows, inner, columns, dtype, is_by_dots=is_by_dots)
    )


def _vector(drawn: Random) -> Probe:
    dtype, is_by_dots = _dtype(drawn), _flip(drawn)
    while True:
        rows, inner = _size(drawn, 2, 20_000), _size(drawn, 2, 20_000)
        if rows * inner <= LARGEST // 2:
            break

    def make() -> Call:
        matrix, vector = _array((rows, inner), dtype, None if is_by_dots else (1, 0)), _array((inner,), dtype)
        return lambda: matrix.dot(vector)

    return Probe("", make, lambda costs: costs.product_cost(1, rows, inner, 1, dtype, is_by_dots=is_by_dots))


def _inner(drawn: Random) -> Probe:
    dtype, count, inner = _dtype(drawn), _size(drawn, 2, 20_000), _size(drawn, 2, 4_000)
    count = min(count, LARGEST // 2 // inner)

    def make() -> Call:
        left, right = _array((count, inner), dtype), _array((count, inner), dtype)
        return lambda: np.vecdot(left, right)

    return Probe("", make, lambda costs: costs.vecdot_cost(count, inner, dtype))


def _unpacked(drawn: Random) -> Probe:
    """A batch of products of which one operand has the batch last in memory: `matmul` copies it."""
    dtype = _dtype(drawn)
    while True:
        count, rows, inner, columns = _size(drawn, 2, 100), *(_size(drawn, 2, 60) for _ in range(3))
        if count * rows * inner * columns <= WORK:
            break

    def make() -> Call:
        left = _array((count, rows, inner), dtype, (1, 2, 0))
        right = _array((count, inner, columns), dtype)
        return lambda: np.matmul(left, right)

    def cost(costs: NumpyCosts) -> float:
        read = costs.read_cost(count * rows * inner, [inner * count, count], dtype)
        return read + costs.product_cost(count, rows, inner, columns, dtype, is_by_dots=False)

    return Probe("", make, cost)


def _loop(drawn: Random) -> Probe:
    """The C loop over one or two operands, with labels in any order."""
    dtype, count = _dtype(drawn), drawn.choice([1, 2, 2, 2])
    while True:
        labels = LETTERS[: drawn.randint(2, 5)]
        sizes = {label: drawn.choice([2, 3, 5, 8, 16, 24, 40, 64, 100, 300, 1000]) for label in labels}
        terms = [[one for one in labels if count == 1 or _flip(drawn, USED)] for _ in range(count)]
        for term in terms:
            drawn.shuffle(term)
        kept = [one for one in labels if _flip(drawn)]
        drawn.shuffle(kept)
        used = {one for term in terms for one in term}
        if all(terms) and used == set(labels) and LEAST <= prod(sizes.values()) <= WORK // 4:
            break
    text = ",".join("".join(term) for term in terms) + "->" + "".join(kept)

    def make() -> Call:
        operands = [_array([sizes[one] for one in term], dtype) for term in terms]
        return lambda: c_einsum(text, *operands)

    steps = [_steps(sizes, term) for term in terms]
    return Probe("", make, lambda costs: costs.loop_cost(sizes, steps, kept, dtype))


def _copy(drawn: Random) -> Probe:
    dtype = _dtype(drawn)
    while True:
        labels = list(LETTERS[: drawn.randint(2, 4)])
        sizes = {label: _size(drawn, 2, 400) for label in labels}
        order = drawn.sample(labels, len(labels))
        if prod(sizes.values()) <= LARGEST // 2 and order != labels:
            break
    axes, steps = [labels.index(label) for label in order], _steps(sizes, labels)
    shape = (prod(sizes[one] for one in order[:-1]), sizes[order[-1]])

    def make() -> Call:
        source = _array([sizes[one] for one in labels], dtype)
        return lambda: contiguous(source.transpose(axes)).reshape(shape)

    return Probe("", make, lambda costs: costs.copy_cost(sizes, steps, order, dtype))


def _sum(drawn: Random) -> Probe:
    dtype = _dtype(drawn)
    rows, inner = _size(drawn, 2, 20_000), _size(drawn, 2, 2_000)
    rows = min(rows, LARGEST // 2 // inner)
    sizes = {"a": rows, "b": inner}

    def make() -> Call:
        source = _array((rows, inner), dtype)
        return lambda: np.add.reduce(source, axis=1)

    return Probe("", make, lambda costs: costs.sum_cost(sizes, _steps(sizes, "ab"), dtype))


def _slices(drawn: Random) -> Probe:
    dtype, count, cells, is_near = (
        _dtype(drawn),
        drawn.randint(2, 16),
        _size(drawn, 4, 1 << 17),
        _flip(drawn),
    )
    cells = min(cells, LARGEST // 4 // count)

    def make() -> Call:
        source = _array((count, cells) if is_near else (cells, count), dtype)
        return lambda: slices(np.add, source, (0,) if is_near else (1,))

    return Probe("", make, lambda costs: costs.slices_cost(count, cells, dtype, is_near=is_near))


def _cast(drawn: Random) -> Probe:
    dtype, cells = _dtype(drawn), _size(drawn, 16, LARGEST // 2)

    def make() -> Call:
        source = np.arange(cells)
        return lambda: source.astype(dtype)

    return Probe("", make, lambda costs: costs.cast_cost(cells, dtype))


def _pass(drawn: Random, *, most: int = LARGEST // 2, least: int = 1) -> Probe:
    """An addition of two arrays: contiguous, or with the first of one of four strides."""
    dtype, step = _dtype(drawn), 1 if least > 1 else drawn.choice([1, 1, 1, 2, 9, 600])
    cells = max(1, min(_size(drawn, least, most), max(least, 4 * LARGEST // step)))
    result = row_major((cells,), dtype)
    sources = [Strided((cells,), (step if cells > 1 else 1,), dtype), result]

    def make() -> Call:
        left, right = _array((cells * step,), dtype)[::step], _array((cells,), dtype)
        return lambda: np.add(left, right)

    def cost(costs: NumpyCosts) -> float:
        profile = costs.profile
        own = function_cost(profile, "add", (), sources, result)
        return own + pages_cost(profile, round(cells * width(dtype) * 8))

    return Probe("", make, cost)


def _rows(drawn: Random) -> Probe:
    """An addition of a column to the rows of a matrix: one run for each row."""
    dtype, rows, inner = _dtype(drawn), _size(drawn, 2, 20_000), _size(drawn, 2, 300)
    rows = min(rows, LARGEST // 2 // inner)
    whole, column = row_major((rows, inner), dtype), Strided((rows, inner), (1, 0), dtype)

    def make() -> Call:
        left, right = _array((rows, inner), dtype), _array((rows, 1), dtype)
        return lambda: np.add(left, right)

    return Probe("", make, lambda costs: function_cost(costs.profile, "add", (), [whole, column], whole))


def _large(drawn: Random) -> Probe:
    """An addition of arrays that exceed the caches."""
    return _pass(drawn, least=LARGEST, most=3 * LARGEST)


def _integers(drawn: Random) -> Probe:
    """A product of matrices that BLAS does not support."""
    rows, inner, columns = (_size(drawn, 4, 100) for _ in range(3))

    def make() -> Call:
        left, right = _array((rows, inner), "int64"), _array((inner, columns), "int64")
        return lambda: np.matmul(left, right)

    return Probe(
        "", make, lambda costs: costs.product_cost(1, rows, inner, columns, "int64", is_by_dots=False)
    )


FAMILIES: Mapping[str, Callable[[Random], Probe]] = {
    "products of matrices": _dot,
    "batches of products": _matmul,
    "products with vectors": _vector,
    "inner products": _inner,
    "products that copy": _unpacked,
    "the C loop": _loop,
    "more of the C loop": _loop,
    "copies": _copy,
    "sums": _sum,
    "sums of slices": _slices,
    "casts": _cast,
    "functions": _pass,
    "functions by rows": _rows,
    "functions of large arrays": _large,
    "products without BLAS": _integers,
}
