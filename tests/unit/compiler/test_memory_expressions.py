"""Peaks of expressions as plans predict them, beside what tracemalloc measures; layouts and reshapes beside
NumPy's.
"""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.layouts import OperandLayout
from nameexpr.compiler.ir.primitives import shapes_of, strides_of
from nameexpr.compiler.ir.program import Note, Program
from nameexpr.compiler.ir.strides import reshaped
from oracle.generate import instructions as ir

RNG = np.random.default_rng(0)
DTYPES = ("float64", "float32", "int64", "int8", "float16", "complex64")
BUFFERS = 140_000
"""Bytes of the buffers of NumPy's iterator, which are not predicted, and of Python's own objects."""

MOVES = {
    "a b -> b a": [(700, 900)],
    "(a b=20) c -> (a c) b": [(800, 70)],
    "a b c -> (c a) b": [(80, 90, 60)],
    "a b -> a b c=4": [(300, 400)],
    "a b -> a a b": [(90, 80)],
    "a a b -> a b": [(90, 90, 80)],
}
REDUCTIONS = {
    "a b c -> a : sum": [(80, 90, 60)],
    "a b c -> b : max": [(80, 90, 60)],
    "a b c -> a c : var": [(80, 90, 60)],
    "a b c -> a c : median": [(80, 90, 60)],
    "a b c -> c : argmax": [(80, 90, 60)],
    "a b c -> c : logsumexp": [(80, 90, 60)],
    "a b c -> a : norm": [(80, 90, 60)],
    "a b c -> c b : prod": [(80, 90, 60)],
    "a b c -> b : mean": [(80, 90, 60)],
    "a b c -> b : count_nonzero": [(80, 90, 60)],
}
PAIRS = {
    "i j, j k -> i k": [(300, 400), (400, 500)],
    "i j, k j -> k i": [(300, 400), (500, 400)],
    "b i j, b j k -> b i k": [(10, 90, 100), (10, 100, 110)],
    "i b j, j k b -> b i k": [(90, 10, 100), (100, 110, 10)],
    "b q h d, b k h d -> b h q k": [(2, 120, 4, 32), (2, 140, 4, 32)],
    "b h q k, b k h d -> b q (h d)": [(2, 4, 120, 140), (2, 140, 4, 64)],
    "i, j -> i j": [(700,), (800,)],
    "i j, j -> i j": [(700, 800), (800,)],
    "i j, j i ->": [(700, 800), (800, 700)],
    "a b c d, c e d b -> a e": [(40, 30, 10, 8), (10, 80, 8, 30)],
    "a b c d, e a f c -> (b e) d f": [(20, 30, 10, 8), (40, 20, 8, 10)],
    "a b, b c -> a : max": [(300, 30), (30, 300)],
    "n i j, n j k -> n k i": [(20_000, 3, 3), (20_000, 3, 2)],
    "n i, n i -> n": [(150_000, 3), (150_000, 3)],
    "i p x, i q x -> p q": [(40, 30, 300), (40, 30, 300)],
}
NETWORKS = {
    "a b, b c, c d -> a d": [(300, 400), (400, 500), (500, 200)],
    "a b, b c, c d, d e -> a e": [(100, 400), (400, 300), (300, 200), (200, 500)],
    "a b, b c, c a ->": [(300, 400), (400, 500), (500, 300)],
    "a b c, b d, c e, a f -> d e f": [(30, 40, 50), (40, 40), (50, 50), (30, 30)],
    "i j, k j, l j -> i k l : sum": [(40, 40), (50, 40), (60, 40)],
}
EVERY = MOVES | REDUCTIONS | PAIRS | NETWORKS


def measured_and_predicted(text: str, *operands: Any, **options: Any) -> tuple[int, int]:
    run = ne.compile(text, **options)
    predicted = run.plan(*operands).peak_bytes
    run(*operands)
    tracemalloc.start()
    run(*operands)
    measured = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return measured, predicted


def operands_of(text: str, dtype: str, order: str) -> list[Any]:
    made = [(RNG.random(shape) * 9).astype(dtype) for shape in EVERY[text]]
    return [np.asfortranarray(one) for one in made] if order == "F" else made


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("text", EVERY)
def test_the_peak_of_an_expression_is_predicted(text: str, dtype: str, order: str) -> None:
    if dtype == "complex64" and text.rpartition(" ")[2] in {"logsumexp", "max", "median", "argmax"}:
        return
    operands = operands_of(text, dtype, order)
    with np.errstate(all="ignore"):
        measured, predicted = measured_and_predicted(text, *operands)
    assert measured / 1.1 - BUFFERS <= predicted <= 1.1 * measured + BUFFERS


@pytest.mark.parametrize("text", [*MOVES, *PAIRS])
def test_the_peak_of_a_result_in_row_major_order_is_predicted(text: str) -> None:
    measured, predicted = measured_and_predicted(text, *operands_of(text, "float64", "C"), order="C")
    assert measured / 1.1 - BUFFERS <= predicted <= 1.1 * measured + BUFFERS


def strided(shape: list[int]) -> Any:
    """Return an array of a shape with axes in any order in memory, some of them with gaps."""
    whole = np.zeros([size * int(RNG.integers(1, 3)) for size in shape])
    return whole[tuple(slice(size) for size in shape)].transpose(RNG.permutation(len(shape)))


def in_cells(array: Any) -> tuple[int, ...]:
    return tuple(stride // array.itemsize for stride in array.strides)


def agree(predicted: tuple[int, ...], array: Any) -> bool:
    pairs = zip(predicted, in_cells(array), array.shape, strict=True)
    return all(one == other for one, other, size in pairs if size > 1)


def test_reshapes_that_copy_are_those_that_numpy_copies() -> None:
    for _ in range(2000):
        array = strided([int(size) for size in RNG.choice([1, 2, 3, 4, 6], RNG.integers(1, 5))])
        left, wanted = array.size, []
        while left > 1:
            factors = [factor for factor in range(2, left + 1) if left % factor == 0]
            wanted.append(int(RNG.choice(factors)))
            left //= wanted[-1]
        made = array.reshape(wanted)
        found = reshaped(array.shape, in_cells(array), tuple(wanted))
        assert (found is not None) == np.shares_memory(array, made)
        assert found is None or agree(found, made)


def strides_made(one: Any, arrays: list[Any]) -> tuple[int, ...]:
    program = Program(tuple(a.shape for a in arrays), (one,), (Note((), "", None),), len(arrays), False)
    return strides_of(program, shapes_of(program), [OperandLayout("float64", in_cells(a)) for a in arrays])[
        -1
    ]


def test_results_lie_in_memory_as_numpy_lays_them_out() -> None:
    for _ in range(500):
        one = strided([int(size) for size in RNG.choice([2, 3, 4, 5], 3)])
        axes = tuple(int(axis) for axis in np.flatnonzero(RNG.random(3) < 0.6)) or (0,)
        assert agree(strides_made(ir.add_up(0, axes), [one]), np.add.reduce(one, axis=axes))
        kept = RNG.random(3) < 0.7
        moved = RNG.permutation(3)
        sizes = [size if is_kept else 1 for size, is_kept in zip(one.shape, kept, strict=True)]
        other = np.zeros([sizes[axis] for axis in moved]).transpose(np.argsort(moved))
        assert agree(strides_made(ir.multiply(0, 1), [one, other]), one * other)
        right = np.zeros((one.shape[2], 4))
        assert agree(strides_made(ir.matmul(0, 1), [one, right]), np.matmul(one, right))
        order = tuple(int(letter) for letter in RNG.permutation(3))
        product = np.einsum("abc,abc->" + "".join("abc"[letter] for letter in order), one, one)
        einsum = ir.einsum((0, 1), ((0, 1, 2), (0, 1, 2)), order)
        assert agree(strides_made(einsum, [one, one]), product)


def test_bytes_are_known_of_every_dtype_that_is_computed_in() -> None:
    for dtype in DTYPES:
        assert ITEM_BYTES[dtype] == np.dtype(dtype).itemsize
