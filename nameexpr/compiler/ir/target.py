"""What the compiler is told of the library, and of the machine, that will run its programs.

A backend makes a `Target` and hands it in: nothing in the compiler knows a library of arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from nameexpr.records import record

Sizes = Mapping[str, int]
"""Sizes by label."""
Steps = Mapping[str, int]
"""Strides by label, in cells."""


class Costs(Protocol):
    """What calls cost, in nanoseconds: by these the lowering chooses among strategies."""

    def call_cost(self, call: str) -> float:
        """Return the cost of a call whatever its arrays are: "view", "dot", or "parts" for a view of complex
        numbers as reals, and back.
        """

    def cast_cost(self, cells: int, dtype: str) -> float:
        """Return the cost of a cast of an array to this dtype."""

    def copy_cost(self, sizes: Sizes, steps: Steps, order: Sequence[str], dtype: str) -> float:
        """Return the cost of a row-major copy with the axes in this order."""

    def read_cost(self, cells: int, ends: Sequence[int], dtype: str) -> float:
        """Return what is lost on a matrix or vector whose axes have these steps, none of them 1, perhaps."""

    def product_cost(
        self, count: int, rows: int, inner: int, columns: int, dtype: str, *, is_by_dots: bool
    ) -> float:
        """Return the cost of `count` products of matrices (rows, inner) and (inner, columns).

        `is_by_dots` says of a product with a vector whether it is made of inner products, for the matrix lies
        along the inner axis; else it adds up columns.
        """

    def vecdot_cost(self, count: int, inner: int, dtype: str) -> float:
        """Return the cost of the inner products of so many pairs of rows."""

    def loop_cost(self, sizes: Sizes, operands: Sequence[Steps], result: Sequence[str], dtype: str) -> float:
        """Return the cost of one pass of a loop over one or two operands."""

    def sum_cost(self, sizes: Sizes, steps: Steps, dtype: str) -> float:
        """Return the cost of a sum over some axes of an array."""

    def maximum_cost(self, sizes: Sizes, steps: Steps, dtype: str) -> float:
        """Return the cost of a maximum over some axes of an array."""

    def slices_cost(self, count: int, cells: int, dtype: str, *, is_near: bool) -> float:
        """Return the cost of combining `count` slices of so many cells one after the other."""


@record
class Target:
    """What programs are compiled for: what calls cost, and from where on something else is quicker.

    Attributes
    ----------
    costs : Costs
        What calls cost.
    loop_axes : int
        Axes that the library's own loop takes.
    any_layout_cells : int
        Cells of a value up to which its strides are not looked at.
    near_bytes : int
        Bytes of which a copy in any order stays in the nearest cache.
    float_products, real_products : int
        Multiplications from which integers go through floats, and real times complex through reals.
    parts_products : int
        Multiplications for each complex number from which a copy of it is little.
    tiny_product, many_products : int
        Multiplications of one product of matrices up to which the loop may be quicker than so many products.
    outer_cells : int
        Cells of a batched outer product from which the loop is quicker than broadcasting.
    scaled_bytes, scaled_runs : int, range
        Bytes of a product with a vector from which the loop is quicker, where its runs have so many cells.
    pairwise_cells, least_cells : int
        Cells of a contiguous sum up to which its order is free, and of the smallest block of a longer one.
    summed_bytes : int
        Bytes of a cast value up to which it is made in order to add up more quickly.
    sliced_cells : int
        Cells of a sum or maximum up to which it is made of slices.
    block_cells, block_rows : int
        Cells of a block of pointwise functions, and rows of it that share what is read along its columns.
    run_cells : int
        Cells reduced together from which it is quicker to have them last in memory.
    fused_cells, chain_length : int
        Cells of a value from which blocks pay, and functions that are quicker on the whole of it.
    huge_cells, huge_chain_length : int
        Cells of a value that no cache holds, and functions that are quicker on the whole of it.
    apart_reads, copied_reads : int
        How many times more cells blocks have than a value from which that is made once before them, and
        from which it may be copied to lie well in memory.
    tiled_bytes, tile_cells : int
        Bytes of a value that is no longer built from which slices pay, and cells of the smallest slice.
    cached_cells : int
        Cells of a slice that stays in the cache with what is computed from it.
    held_cells, held_growth : int
        Cells of a value of bound operands that is always held from call to call, for it stays in the cache,
        and how many times more than its operands it may have whatever it costs to compute.
    held_work, held_bytes : int
        Scalar operations per cell from which a larger value is held, for reading a cell costs as much as a
        few, and the bytes that it may take.
    copied_work : int
        Scalar operations per cell from which a result that is held is copied and not computed anew.
    step_flops, placed_flops : float
        Flops in the time that one more call takes with its views, however small it is, and in that which a
        cell takes that is added to what other blocks gave.
    """

    costs: Costs
    loop_axes: int
    any_layout_cells: int
    near_bytes: int
    float_products: int
    real_products: int
    parts_products: int
    tiny_product: int
    many_products: int
    outer_cells: int
    scaled_bytes: int
    scaled_runs: range
    pairwise_cells: int
    least_cells: int
    summed_bytes: int
    sliced_cells: int
    block_cells: int
    block_rows: int
    run_cells: int
    fused_cells: int
    chain_length: int
    huge_cells: int
    huge_chain_length: int
    apart_reads: int
    copied_reads: int
    tiled_bytes: int
    tile_cells: int
    cached_cells: int
    held_cells: int
    held_growth: int
    held_work: int
    held_bytes: int
    copied_work: int
    step_flops: float
    placed_flops: float
