"""The costs by which the lowering chooses (`compiler.ir.target.Costs`): products, copies and sums, by labels.

Strides are in elements; all costs are in nanoseconds, and what they are on a machine is in its profile.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod

from nameexpr.backends.numpy.costs import Profile
from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.strides import iteration_order
from nameexpr.compiler.ir.target import Sizes, Steps
from nameexpr.records import record

CALL = {"view": 150.0, "slice": 450.0, "slices": 700.0, "parts": 1400.0}
"""A call, regardless of its arrays, of those that have no figure of their own."""
OWN = {
    "copy": "copy_call", "dot": "dot_call", "matmul": "matmul_call", "loop": "loop_call",
    "reduce": "reduce_call",
}  # fmt: skip
"""The figures of the others."""
LINE, PAGE = 64, 4096
"""Bytes of a cache line, and of a page."""
FLOPS = {"float32": 0.5, "float64": 1.0, "complex64": 2.0, "complex128": 4.0}
"""A multiplication and addition, relative to float64."""
DIRECT, DIRECT_RESULT, DIRECT_INNER = frozenset({"float32", "float64"}), 1200, 32
"""The dtypes for which OpenBLAS has kernels that read small matrices where they are, and for a second matrix
that is contiguous along the inner axis the most elements of the result, and the least inner size.
"""
OTHER_DOT = 9.0
"""The extra time of one inner product of complex numbers, or of a dtype that BLAS does not support."""
COMPLEX_GEMM = 38.0
"""The most that it takes to start a packed product of complex numbers: a fit to real ones, most of which are
packed only if they are large, may exceed it.
"""
BLOCK = 16
"""The elements of 8 bytes that BLAS multiplies and adds together in an inner product."""

TINY_LOOP = 1.75
"""How many times longer the C loop takes for an element of `tiny_matmul`: it reads what it adds to."""

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


@record
class NumpyCosts:
    """What NumPy's calls cost on the machine of a profile."""

    profile: Profile

    def call_cost(self, call: str) -> float:
        """Return the cost of a call regardless of its arrays."""
        if call in OWN:
            figure: float = getattr(self.profile, OWN[call])
            return figure
        return CALL[call] * self.profile.per_call

    def copy_cost(self, sizes: Sizes, steps: Steps, order: Sequence[str], dtype: str) -> float:
        """Return the cost of a row-major copy with the axes in this order."""
        profile = self.profile
        order = [label for label in order if sizes[label] != 1]
        if not order or not all(sizes[label] for label in order):
            return profile.copy_call
        cells, run = prod(sizes[label] for label in order), 1
        last = order[-1]
        for label in reversed(order):
            if label != last and steps[label] != steps[last] * sizes[last]:
                break
            run, last = run * sizes[label], label
        scale, step = width(dtype), abs(steps[order[-1]])
        cell = profile.copy_cell * scale
        if step != 1:
            cell = profile.strided_cell + profile.strided_bytes * scale
            cell += self._refetched(sizes, steps, order, dtype)
        return profile.copy_call + cells / run * profile.copy_run + cells * cell

    def _refetched(self, sizes: Sizes, steps: Steps, order: Sequence[str], dtype: str) -> float:
        """Return the extra cost of an element of a copy if cache lines of the source are evicted before all
        of their elements are read, by the others that are read in between.
        """
        order = [label for label in order if steps[label]]
        nearest = min(order, key=lambda label: abs(steps[label]), default="")
        between = order[order.index(nearest) + 1 :] if order else ()
        step = min([abs(steps[label]) for label in between], default=0)
        lines = prod(sizes[label] for label in between) * min(LINE, round(8 * step * width(dtype)))
        if lines <= self.profile.near_cache:
            return 0.0
        return self._far(LINE, prod(sizes[label] for label in order), dtype)

    def spill_cost(self, size: int) -> float:
        """Return the extra cost of an array of `size` bytes, written and read, that does not stay in a
        cache.
        """
        return max(0, size - self.profile.second_cache) * self.profile.spilled_byte

    def cast_cost(self, cells: int, dtype: str) -> float:
        """Return the cost of casting an array to this dtype."""
        return self.profile.copy_call + cells * self.profile.cast_cell

    def read_cost(self, cells: int, ends: Sequence[int], dtype: str, *, is_swept: bool = False) -> float:
        """Return the extra cost of reading a matrix or vector whose axes have these steps, none of them 1.

        A matrix is then converted to a layout that BLAS accepts; a vector is read in place. A matrix that is
        multiplied with a vector is read along the summed axis, whose cache lines evict each other.
        """
        if min(ends, default=1) <= 1:
            return 0.0
        far = 2 * self._far(ends[-1], 2 * cells, dtype) if is_swept else self._far(min(ends), cells, dtype)
        return cells * (self.profile.unpacked_cell + far)

    def _far(self, step: int, cells: int, dtype: str) -> float:
        """Return the extra cost of an element that is alone in its cache line if the array is not in
        the cache.
        """
        item = width(dtype) * 8
        if step * item < LINE or cells * item <= self.profile.near_cache:
            return 0.0
        is_beyond = cells * item > self.profile.second_cache
        return self.profile.far_cell + (LINE - item) * self.profile.streamed_byte * is_beyond

    def product_cost(
        self,
        count: int,
        rows: int,
        inner: int,
        columns: int,
        dtype: str,
        *,
        is_by_dots: bool,
        is_turned: bool = False,
    ) -> float:
        """Return the cost of `count` products of matrices (rows, inner) and (inner, columns), inside BLAS."""
        scale, profile = width(dtype), self.profile
        if rows == 1 and columns == 1:
            each = self._inner(inner, dtype) + (0.0 if dtype in DIRECT else OTHER_DOT * profile.per_call)
        elif rows == 1 or columns == 1:
            longest = max(rows, columns)
            each = profile.gemv + inner * longest * profile.streamed_cell * scale
            each += (longest if is_by_dots else inner) * profile.vector_cell
        else:
            each = self._matrices(rows, inner, columns, dtype, is_turned=is_turned)
        call = profile.matmul_call if count > 1 else profile.dot_call
        return call + count * (profile.matrix + each)

    def _matrices(self, rows: int, inner: int, columns: int, dtype: str, *, is_turned: bool) -> float:
        """Return the cost of one product of matrices, which BLAS packs unless they are small."""
        scale, profile, work = width(dtype), self.profile, rows * inner * columns
        each = work * FLOPS.get(dtype, profile.generic_flop / profile.flop) * profile.flop
        each += rows * columns * profile.result_cell * scale
        is_suited = not is_turned or (rows * columns <= DIRECT_RESULT and inner >= DIRECT_INNER)
        if dtype in DIRECT and work <= profile.direct_product and is_suited:
            return each + profile.direct + inner * (rows + columns) * profile.direct_cell
        start = profile.gemm if dtype in DIRECT else min(profile.gemm, COMPLEX_GEMM * profile.per_call)
        return each + start + inner * (rows + columns) * profile.packed_cell * scale

    def stream_cost(self, size: int) -> float:
        """Return the extra cost of reading and writing `size` bytes of a product that are not in a cache."""
        return max(0, size - self.profile.second_cache) * self.profile.streamed_byte

    def vecdot_cost(self, count: int, inner: int, dtype: str) -> float:
        """Return the cost of `numpy.vecdot` for `count` pairs of rows."""
        profile = self.profile
        return profile.matmul_call + count * (profile.vecdot + self._inner(inner, dtype))

    def _inner(self, inner: int, dtype: str) -> float:
        """Return the cost of one inner product; BLAS adds what is left of its blocks one by one."""
        scale = width(dtype)
        left = inner % max(1, round(BLOCK / scale))
        return inner * self.profile.inner_cell * scale + left * self.profile.left_cell

    def tiny_cost(self, count: int, rows: int, inner: int, columns: int, copied: int, dtype: str) -> float:
        """Return the cost of `tiny_matmul` for `count` products of matrices (rows, inner) and
        (inner, columns), of whose elements `copied` are not adjacent to those of the next product.
        """
        from nameexpr.compiler.ir.tiny import tiny_rows

        scale, profile, work = width(dtype), self.profile, rows * inner * columns
        blocks = ceil(count / tiny_rows(count, rows, inner, columns, int(8 * scale)))
        if rows == columns == 1:
            each = inner * 2 * profile.added_cell * scale + (inner - 1) * profile.slice_far
            call = (inner + 1) * self.call_cost("slice")
            return 3 * self.call_cost("slices") + blocks * call + count * each
        each = copied * (profile.strided_cell + profile.strided_bytes * scale + profile.far_cell)
        each += work * profile.loop_both * scale * TINY_LOOP
        call = profile.loop_call + 2 * profile.copy_call + work * profile.loop_run
        return self.call_cost("slices") + blocks * call + count * each

    def loop_cost(self, sizes: Sizes, operands: Sequence[Steps], result: Sequence[str], dtype: str) -> float:
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
            return self.profile.loop_call
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
        cell = self._running(inner, made[axes[-1]], dtype)
        for steps, step in zip(operands, inner, strict=True):
            cell += self._far(abs(step), prod(sizes[label] for label in steps), dtype)
        return self._in_runs(cells, run, around, cell)

    def _in_runs(self, cells: int, run: int, around: int, cell: float) -> float:
        """Return the cost of the C loop over runs of this length, in loops of `around` iterations."""
        profile, runs = self.profile, cells / run
        return profile.loop_call + runs * profile.loop_run + runs / around * profile.loop_nest + cells * cell

    def _running(self, steps: Sequence[int], made: int, dtype: str) -> float:
        """Return the cost of one element in the innermost run.

        The C loop has special code for contiguous arrays and for operands that do not vary; otherwise it
        takes one element after the other, of any size.
        """
        profile = self.profile
        if not {made, *steps} <= {0, 1}:
            return profile.loop_strided if made else profile.loop_gather
        is_single = len(steps) == 1 or 0 in steps
        if made:
            return (profile.loop_axpy if is_single else profile.loop_both) * width(dtype)
        return (profile.loop_sum if is_single else profile.loop_dot) * width(dtype)

    def sum_cost(self, sizes: Sizes, steps: Steps, dtype: str) -> float:
        """Return the cost of `numpy.add.reduce` over some axes of an array."""
        order = sorted((label for label in steps if sizes[label] != 1), key=lambda label: -abs(steps[label]))
        cells = prod(sizes[label] for label in order)
        run, profile = sizes[order[-1]] if order else 1, self.profile
        each = cells * profile.sum_cell * width(dtype)
        return profile.reduce_call + cells / run * profile.sum_run + each

    def maximum_cost(self, sizes: Sizes, steps: Steps, dtype: str) -> float:
        """Return the cost of `numpy.maximum.reduce`, whose runs take twice those of a sum."""
        return 2 * self.sum_cost(sizes, steps, dtype) - self.profile.reduce_call

    def scatter_cost(self, method: str, rows: int, columns: int, bins: int, dtype: str) -> float:
        """Return the cost of `scattering`: one element after the other, column by column, or bin by bin."""
        cells, scale = rows * columns, self.profile.per_call
        if method == "by_rows":
            each = ROW_CELL[cells * width(dtype) > NEAR_ROWS] * width(dtype)
            return scale * (PLACED_CALL + rows * ORDERED + bins * BIN + cells * each)
        if method == "by_columns":
            near = max(1.0, min(columns, PLACED_COLUMNS) / PLACED_COLUMN)
            return scale * (PLACED_CALL * (1 + columns) / 2 + cells * COLUMN_CELL * near)
        far = PLACED_FAR if bins * columns * 8 > NEAR_BINS else 0.0
        return scale * (PLACED_CALL + cells * (PLACED_CELLS[columns > 1] + far))

    def slices_cost(self, count: int, cells: int, dtype: str, *, is_near: bool) -> float:
        """Return the cost of combining `count` slices of `cells` elements one after the other."""
        profile = self.profile
        cell = (profile.slice_near if is_near else profile.slice_far) * width(dtype)
        return self.call_cost("slices") + (count - 1) * (self.call_cost("slice") + cells * cell)
