"""What NumPy calls cost, in seconds: the model by which ways to compute the same value are compared.

The constants were fitted to some 20,000 timed calls (500 random pairs of operands, every way of each, in
float64 and float32) on one thread of an AMD EPYC with OpenBLAS' Haswell kernels. Only their ratios count for
a choice; on another processor, `tune=True` measures instead (docs/performance.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.target import Sizes, Steps

NANO = 1e-9
CALL = {
    "view": 150,
    "copy": 600,
    "dot": 300,
    "matmul": 800,
    "loop": 850,
    "reduce": 900,
    "slice": 450,
    "slices": 700,
    "parts": 1400,
}
"""Nanoseconds that a call takes whatever its arrays are."""
RUN = 2.2
"""Starting one run of a copy: cells that lie one after the other in the copy, and at one stride in
the source.
"""
CELL = 0.15
"""Copying one cell of 8 bytes."""
STRIDED = 0.15, 0.09
"""Copying one cell that does not lie beside the one before: whatever its size, and for 8 bytes."""
LINE = 0.18
"""Reading one cell, where each has a cache line of its own."""
PAGE = 0.21
"""More for copying each cell, where each has a page of its own."""
LARGE = 1 << 20
CAST = 0.5
"""Casting one cell to a dtype of 8 bytes."""
NOT_BLAS = 0.26
"""Bringing one cell into a form that BLAS takes, which `numpy.matmul` does by itself."""
MATRIX = 6.3
"""One product of a batch."""
GEMM, FLOP, PACKED = 24.0, 0.026, 0.33
"""Starting a product of matrices, one multiplication and addition in it, and one cell of its operands."""
GEMV, STREAMED, SHORT = 15.0, 0.073, 0.28
"""Starting a product of a matrix and a vector, one cell of the matrix, one of the vector that it is
built of.
"""
VECDOT = 5.0
"""Starting one inner product of `numpy.vecdot`."""
LANE, LOOP, NEST = 0.086, 3.0, 17.0
"""One cell of an inner product of vectors; one run of the C loop; one turn of the loop around its sums."""
RUNNING = {"dot": 0.16, "axpy": 0.19, "both": 0.26, "strided": 0.4, "gather": 0.65}
"""One cell in a run of the C loop, by what moves in it."""
ADDED = {"run": 12.0, "cell": 0.13}
"""One run, and one cell, of `numpy.add.reduce`."""
SLICED = {"near": 0.14, "far": 0.45}
"""One cell of the sum of two slices: of contiguous ones, and of strided ones."""
GENERIC = 1.2
"""One multiplication and addition of a dtype that BLAS does not know."""


def call_seconds(call: str) -> float:
    """Return the time of a call whatever its arrays are."""
    return CALL[call] * NANO


def width(dtype: str) -> float:
    """Return the bytes of a cell, in units of a float64."""
    return ITEM_BYTES.get(dtype, 8) / 8


def arithmetic(dtype: str) -> float:
    """Return the time of a multiplication and addition, in units of that of float64."""
    return {"float32": 0.5, "float64": 1.0, "complex64": 2.0, "complex128": 4.0}.get(dtype, GENERIC / FLOP)


def copy_seconds(sizes: Sizes, steps: Steps, order: Sequence[str], dtype: str) -> float:
    """Return the time of a row-major copy with the axes in this order."""
    order = [label for label in order if sizes[label] != 1]
    if not order or not all(sizes[label] for label in order):
        return CALL["copy"] * NANO
    cells, run = prod(sizes[label] for label in order), 1
    last = order[-1]
    for label in reversed(order):
        if label != last and steps[label] != steps[last] * sizes[last]:
            break
        run, last = run * sizes[label], label
    scale = width(dtype)
    step = abs(steps[order[-1]])
    cell = CELL * scale if step == 1 else STRIDED[0] + STRIDED[1] * scale
    apart = step * scale * 8
    if apart >= 4096 and cells * scale * 8 > LARGE:  # noqa: PLR2004  bytes of a page
        cell += PAGE
    return (CALL["copy"] + cells / run * RUN + cells * cell) * NANO


def cast_seconds(cells: int, dtype: str) -> float:
    """Return the time of a cast of an array to this dtype."""
    return (CALL["copy"] + cells * CAST * width(dtype)) * NANO


def reading_seconds(cells: int, ends: Sequence[int], dtype: str) -> float:
    """Return the time lost on a matrix or vector whose axes have these steps, none of them 1, perhaps.

    A matrix is then brought into a form that BLAS takes; a vector is read as it lies.
    """
    near = min(ends, default=1)
    if near <= 1:
        return 0.0
    apart = near * width(dtype) * 8
    is_far = apart >= 64 and cells * width(dtype) * 8 > 1 << 15  # noqa: PLR2004  bytes of a cache line
    return cells * (NOT_BLAS + (LINE if is_far else 0.0)) * NANO


def products_seconds(
    count: int, rows: int, inner: int, columns: int, dtype: str, *, is_by_dots: bool
) -> float:
    """Return the time of `count` products of matrices (rows, inner) and (inner, columns), inside BLAS.

    `is_by_dots` says of a product with a vector whether it is made of inner products, for the matrix lies
    along the inner axis; else it adds up columns.
    """
    scale = width(dtype)
    if rows == 1 and columns == 1:
        each = inner * LANE * scale
    elif rows == 1 or columns == 1:
        longest = max(rows, columns)
        each = GEMV + inner * longest * STREAMED * scale + (longest if is_by_dots else inner) * SHORT
    else:
        flops = rows * inner * columns * arithmetic(dtype)
        each = GEMM + flops * FLOP + inner * (rows + columns) * PACKED * scale
    return (CALL["matmul" if count > 1 else "dot"] + count * (MATRIX + each)) * NANO


def vecdot_seconds(count: int, inner: int, dtype: str) -> float:
    """Return the time of `numpy.vecdot` for so many pairs of rows."""
    return (CALL["matmul"] + count * (VECDOT + inner * 0.75 * LANE * width(dtype))) * NANO


def loop_seconds(sizes: Sizes, operands: Sequence[Steps], result: Sequence[str], dtype: str) -> float:
    """Return the time of one pass of NumPy's C loop over one or two operands.

    The loop nests its axes by the strides of the operands (C order where they disagree), joins those that lie
    together, and runs over the innermost.
    """
    axes = _nested(sizes, operands, result)
    cells = prod(sizes[label] for label in axes)
    if not axes or not cells:
        return CALL["loop"] * NANO
    made: dict[str, int] = {}
    step = 1
    for label in reversed(axes):
        made[label] = step if label in result else 0
        step *= sizes[label] if label in result else 1
    all_steps = [*operands, made]
    last, run, position = axes[-1], sizes[axes[-1]], len(axes) - 1
    while position and all(
        one.get(axes[position - 1], 0) == one.get(last, 0) * sizes[last] for one in all_steps
    ):
        position -= 1
        last = axes[position]
        run *= sizes[last]
    around = sizes[axes[position - 1]] if position else 1
    cell = RUNNING[_motion([one.get(axes[-1], 0) for one in operands], made[axes[-1]])] * width(dtype)
    for one in operands:
        far = abs(one.get(axes[-1], 0)) * width(dtype) * 8 >= 64  # noqa: PLR2004  bytes of a cache line
        if far and prod(sizes[label] for label in one) * width(dtype) * 8 > 1 << 15:
            cell += LINE
    runs = cells / run
    return (CALL["loop"] + runs * LOOP + runs / around * NEST + cells * cell) * NANO


def _motion(steps: Sequence[int], made: int) -> str:
    """Return what moves in the innermost run: the C loop has code of its own for these."""
    if made == 0 and all(step == 1 for step in steps):
        return "dot"
    if made == 1 and set(steps) == {0, 1}:
        return "axpy"
    if made == 1 and set(steps) == {1}:
        return "both"
    return "gather" if made == 0 and 0 not in steps else "strided"


def _nested(sizes: Sizes, operands: Sequence[Steps], result: Sequence[str]) -> list[str]:
    """Return the labels as NumPy's iterator nests them, the innermost last."""
    every = dict.fromkeys([*result, *(label for one in operands for label in one)])
    inner_first = [label for label in reversed(every) if sizes[label] != 1]
    for start in range(1, len(inner_first)):
        place = start
        for position in range(start - 1, -1, -1):
            verdict = _goes_inside(inner_first[start], inner_first[position], operands)
            if verdict is False:
                break
            if verdict:
                place = position
        inner_first.insert(place, inner_first.pop(start))
    return inner_first[::-1]


def _goes_inside(label: str, other: str, operands: Sequence[Steps]) -> bool | None:
    """Whether a label belongs inside another one; None where no operand has both."""
    found = None
    for steps in operands:
        one, two = abs(steps.get(label, 0)), abs(steps.get(other, 0))
        if one and two:
            if two <= one:
                found = False
            elif found is None:
                found = True
    return found


def sum_seconds(sizes: Sizes, steps: Steps, dtype: str) -> float:
    """Return the time of `numpy.add.reduce` over some axes of an array."""
    return (CALL["reduce"] + _reduction(sizes, steps, dtype)) * NANO


def maximum_seconds(sizes: Sizes, steps: Steps, dtype: str) -> float:
    """Return the time of `numpy.maximum.reduce`, whose runs take twice those of a sum."""
    return (CALL["reduce"] + 2 * _reduction(sizes, steps, dtype)) * NANO


def _reduction(sizes: Sizes, steps: Steps, dtype: str) -> float:
    order = sorted((label for label in steps if sizes[label] != 1), key=lambda label: -abs(steps[label]))
    cells = prod(sizes[label] for label in order)
    run = sizes[order[-1]] if order else 1
    return cells / run * ADDED["run"] + cells * ADDED["cell"] * width(dtype)


def slices_seconds(count: int, cells: int, dtype: str, *, is_near: bool) -> float:
    """Return the time of combining `count` slices of so many cells one after the other."""
    cell = SLICED["near" if is_near else "far"] * width(dtype)
    return (CALL["slices"] + (count - 1) * (CALL["slice"] + cells * cell)) * NANO
