"""The costs by which the lowering chooses (`compiler.ir.target.Costs`): products, copies and sums, by labels.

Strides are in elements; all costs are in nanoseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.strides import iteration_order
from nameexpr.compiler.ir.target import Sizes, Steps

CALL = {
    "view": 150, "copy": 600, "dot": 300, "matmul": 800, "loop": 850, "reduce": 900, "slice": 450,
    "slices": 700, "parts": 1400,
}  # fmt: skip
"""A call, regardless of its arrays."""
COPY_RUN, COPY_CELL = 2.2, 0.15
"""Starting one run of a copy (elements that are contiguous in the copy, and at one stride in the source), and
one of its elements of 8 bytes.
"""
STRIDED = 0.15, 0.09
"""Copying one element that is not adjacent to the previous one: regardless of its size, and for 8 bytes."""
FAR, PAGED = 0.18, 0.21
"""The extra cost of an element that is alone in its cache line, or in its page."""
LINE, PAGE, NEAREST, LARGE = 64, 4096, 1 << 15, 1 << 20
"""Bytes of a cache line, of a page, of the nearest cache, and of the next one."""
SPILLED = 0.06
"""One byte of a new array that is too large for the caches, written and read."""
CAST = 0.5
"""Casting one element to a dtype of 8 bytes."""
UNPACKED = 0.26
"""Converting one element to a layout that BLAS accepts, which `numpy.matmul` does by itself."""
MATRIX = 6.3
"""One product of a batch."""
GEMM, FLOP, PACKED = 24.0, 0.026, 0.33
"""Starting a product of matrices, one multiplication and addition in it, and one element of its operands."""
GEMV, STREAMED, SHORT = 15.0, 0.073, 0.28
"""Starting a product of a matrix and a vector, one element of the matrix, and one of the vector.
"""
VECDOT, LANE = 5.0, 0.086
"""Starting one inner product of `numpy.vecdot`, and one element of an inner product."""
LOOP, NEST = 3.0, 17.0
"""One run of the C loop, and one iteration of the loop around its sums."""
RUNNING = {"dot": 0.16, "axpy": 0.19, "both": 0.26, "strided": 0.4, "gather": 0.65}
"""One element in a run of the C loop, by the operands that vary along it."""
SUM_RUN, SUM_CELL = 12.0, 0.13
"""One run, and one element, of `numpy.add.reduce`; of a maximum, half as much."""
SLICED = {"near": 0.14, "far": 0.45}
"""One element of the sum of two slices: of contiguous ones, and of strided ones."""
GENERIC = 1.2
"""One multiplication and addition of a dtype that BLAS does not support."""
FLOPS = {"float32": 0.5, "float64": 1.0, "complex64": 2.0, "complex128": 4.0}
"""A multiplication and addition, relative to float64."""

PLACED_CALL, PLACED_CELLS, PLACED_FAR = 4000.0, (0.9, 1.7), 0.7
"""Combining elements by label: a call, one element of a single column or of several, and one whose result is
far from that of the others.
"""
NEAR_BINS = 1 << 19
"""The bytes of results up to which they stay near."""
COLUMN_CELL, PLACED_COLUMN, PLACED_COLUMNS = 1.6, 8, 32
"""Counting one element into bins; of rows with more columns than these, up to the second number, it takes
longer in proportion.
"""
ORDERED, BIN, ROW_CELL, NEAR_ROWS = 6.0, 1000.0, (0.5, 1.0), 1 << 21
"""Sorting a row by its bin, starting a bin, and adding one element of it: in a cache, and of an array with
more elements of 8 bytes than it holds.
"""


def width(dtype: str) -> float:
    """Return the bytes of an element, relative to a float64."""
    return ITEM_BYTES.get(dtype, 8) / 8


def call_cost(call: str) -> float:
    """Return the cost of a call regardless of its arrays."""
    return CALL[call]


def copy_cost(sizes: Sizes, steps: Steps, order: Sequence[str], dtype: str) -> float:
    """Return the cost of a row-major copy with the axes in this order."""
    order = [label for label in order if sizes[label] != 1]
    if not order or not all(sizes[label] for label in order):
        return CALL["copy"]
    cells, run = prod(sizes[label] for label in order), 1
    last = order[-1]
    for label in reversed(order):
        if label != last and steps[label] != steps[last] * sizes[last]:
            break
        run, last = run * sizes[label], label
    scale, step = width(dtype), abs(steps[order[-1]])
    cell = COPY_CELL * scale if step == 1 else STRIDED[0] + STRIDED[1] * scale
    if step * scale * 8 >= PAGE and cells * scale * 8 > LARGE:
        cell += PAGED
    return CALL["copy"] + cells / run * COPY_RUN + cells * cell


def spill_cost(size: int) -> float:
    """Return the extra cost of an array of `size` bytes, written and read, that does not stay in a cache."""
    return max(0, size - LARGE) * SPILLED


def cast_cost(cells: int, dtype: str) -> float:
    """Return the cost of casting an array to this dtype."""
    return CALL["copy"] + cells * CAST * width(dtype)


def read_cost(cells: int, ends: Sequence[int], dtype: str) -> float:
    """Return the extra cost of reading a matrix or vector whose axes have these steps, none of them 1.

    A matrix is then converted to a layout that BLAS accepts; a vector is read in place.
    """
    near = min(ends, default=1)
    return cells * (UNPACKED + _far(near, cells, dtype)) if near > 1 else 0.0


def _far(step: int, cells: int, dtype: str) -> float:
    """Return the extra cost of an element that is alone in its cache line if the array is not in
    the cache.
    """
    item = width(dtype) * 8
    return FAR if step * item >= LINE and cells * item > NEAREST else 0.0


def product_cost(count: int, rows: int, inner: int, columns: int, dtype: str, *, is_by_dots: bool) -> float:
    """Return the cost of `count` products of matrices (rows, inner) and (inner, columns), inside BLAS."""
    scale = width(dtype)
    if rows == 1 and columns == 1:
        each = inner * LANE * scale
    elif rows == 1 or columns == 1:
        longest = max(rows, columns)
        each = GEMV + inner * longest * STREAMED * scale + (longest if is_by_dots else inner) * SHORT
    else:
        flops = rows * inner * columns * FLOPS.get(dtype, GENERIC / FLOP)
        each = GEMM + flops * FLOP + inner * (rows + columns) * PACKED * scale
    return CALL["matmul" if count > 1 else "dot"] + count * (MATRIX + each)


def vecdot_cost(count: int, inner: int, dtype: str) -> float:
    """Return the cost of `numpy.vecdot` for `count` pairs of rows."""
    return CALL["matmul"] + count * (VECDOT + inner * 0.75 * LANE * width(dtype))


def loop_cost(sizes: Sizes, operands: Sequence[Steps], result: Sequence[str], dtype: str) -> float:
    """Return the cost of one pass of NumPy's C loop over one or two operands.

    The loop nests its axes by the strides of the operands (C order where they disagree), joins contiguous
    ones, and runs over the innermost.
    """
    every = dict.fromkeys([*result, *(label for steps in operands for label in steps)])
    labels = [label for label in every if sizes[label] != 1]
    order = iteration_order([[steps.get(label, 0) for label in labels] for steps in operands])
    axes = [labels[axis] for axis in order]
    cells = prod(sizes[label] for label in axes)
    if not axes or not cells:
        return CALL["loop"]
    made: dict[str, int] = {}
    step = 1
    for label in reversed(axes):
        made[label] = step if label in result else 0
        step *= sizes[label] if label in result else 1
    arrays = [*operands, made]
    last, run, position = axes[-1], sizes[axes[-1]], len(axes) - 1
    while position and all(
        steps.get(axes[position - 1], 0) == steps.get(last, 0) * sizes[last] for steps in arrays
    ):
        position -= 1
        last = axes[position]
        run *= sizes[last]
    around = sizes[axes[position - 1]] if position else 1
    inner = [steps.get(axes[-1], 0) for steps in operands]
    cell = RUNNING[_motion(inner, made[axes[-1]])] * width(dtype)
    for steps, step in zip(operands, inner, strict=True):
        cell += _far(abs(step), prod(sizes[label] for label in steps), dtype)
    runs = cells / run
    return CALL["loop"] + runs * LOOP + runs / around * NEST + cells * cell


def _motion(steps: Sequence[int], made: int) -> str:
    """Return which operands vary in the innermost run: the C loop has special code for these cases."""
    if made == 0 and all(step == 1 for step in steps):
        return "dot"
    if made == 1 and set(steps) == {0, 1}:
        return "axpy"
    if made == 1 and set(steps) == {1}:
        return "both"
    return "gather" if made == 0 and 0 not in steps else "strided"


def sum_cost(sizes: Sizes, steps: Steps, dtype: str) -> float:
    """Return the cost of `numpy.add.reduce` over some axes of an array."""
    order = sorted((label for label in steps if sizes[label] != 1), key=lambda label: -abs(steps[label]))
    cells = prod(sizes[label] for label in order)
    run = sizes[order[-1]] if order else 1
    return CALL["reduce"] + cells / run * SUM_RUN + cells * SUM_CELL * width(dtype)


def maximum_cost(sizes: Sizes, steps: Steps, dtype: str) -> float:
    """Return the cost of `numpy.maximum.reduce`, whose runs take twice those of a sum."""
    return 2 * sum_cost(sizes, steps, dtype) - CALL["reduce"]


def scatter_cost(method: str, rows: int, columns: int, bins: int, dtype: str) -> float:
    """Return the cost of `scattering`: one element after the other, column by column, or bin by bin."""
    cells = rows * columns
    if method == "by_rows":
        each = ROW_CELL[cells * width(dtype) > NEAR_ROWS] * width(dtype)
        return PLACED_CALL + rows * ORDERED + bins * BIN + cells * each
    if method == "by_columns":
        near = max(1.0, min(columns, PLACED_COLUMNS) / PLACED_COLUMN)
        return PLACED_CALL * (1 + columns) / 2 + cells * COLUMN_CELL * near
    far = PLACED_FAR if bins * columns * 8 > NEAR_BINS else 0.0
    return PLACED_CALL + cells * (PLACED_CELLS[columns > 1] + far)


def slices_cost(count: int, cells: int, dtype: str, *, is_near: bool) -> float:
    """Return the cost of combining `count` slices of `cells` elements one after the other."""
    cell = SLICED["near" if is_near else "far"] * width(dtype)
    return CALL["slices"] + (count - 1) * (CALL["slice"] + cells * cell)
