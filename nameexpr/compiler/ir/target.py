"""What the compiler knows about the library, and the machine, that will run its programs.

A backend creates a `Target` and passes it in: nothing in the compiler knows an array library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from nameexpr.records import record

if TYPE_CHECKING:
    from nameexpr.compiler.ir.layouts import OperandLayout
    from nameexpr.compiler.ir.program import Program, Shape

OPTIONAL = frozenset(
    {"as_real", "contraction", "einsum", "integer_matmul", "ones", "over", "vecdot", "window_multiply",
     "window_reduce"}
)  # fmt: skip
"""Primitives that programs can do without. "contraction" is an `einsum` of two arrays, summed over any axes,
that adds in a wider dtype; "over" is to write a result into memory that is no longer read. A target that has
"mean", too, has it as a reducer, instead of a sum and a division.
"""
Sizes = Mapping[str, int]
"""Sizes by label."""
Steps = Mapping[str, int]
"""Strides by label, in elements."""


class Costs(Protocol):
    """The costs of calls in nanoseconds, by which the lowering chooses among strategies."""

    def call_cost(self, call: str) -> float:
        """Return the cost of a call regardless of its arrays: "view", "dot", or "parts" for a view of complex
        numbers as reals, and back.
        """

    def cast_cost(self, cells: int, dtype: str) -> float:
        """Return the cost of casting an array to this dtype."""

    def copy_cost(self, sizes: Sizes, steps: Steps, order: Sequence[str], dtype: str) -> float:
        """Return the cost of a row-major copy with the axes in this order."""

    def spill_cost(self, size: int) -> float:
        """Return the extra cost of an array of `size` bytes, written and read, that does not stay in a
        cache.
        """

    def read_cost(self, cells: int, ends: Sequence[int], dtype: str, *, is_swept: bool = False) -> float:
        """Return the extra cost of reading a matrix or vector whose axes have these steps, the summed one
        last, if none of them is 1. `is_swept` means that it is multiplied with a vector.
        """

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
        """Return the cost of `count` products of matrices (rows, inner) and (inner, columns).

        `is_by_dots` means that a product with a vector is computed as inner products, because the matrix is
        contiguous along the inner axis; otherwise it adds columns. `is_turned` means that both matrices
        are contiguous along the inner axis.
        """

    def vecdot_cost(self, count: int, inner: int, dtype: str) -> float:
        """Return the cost of the inner products of `count` pairs of rows."""

    def tiny_cost(self, count: int, rows: int, inner: int, columns: int, copied: int, dtype: str) -> float:
        """Return the cost of `count` products of tiny matrices, element by element, of whose elements
        `copied` are not adjacent to those of the next product.
        """

    def loop_cost(self, sizes: Sizes, operands: Sequence[Steps], result: Sequence[str], dtype: str) -> float:
        """Return the cost of one pass of a loop over one or two operands."""

    def sum_cost(self, sizes: Sizes, steps: Steps, dtype: str) -> float:
        """Return the cost of a sum over some axes of an array."""

    def maximum_cost(self, sizes: Sizes, steps: Steps, dtype: str) -> float:
        """Return the cost of a maximum over some axes of an array."""

    def scatter_cost(self, method: str, rows: int, columns: int, bins: int, dtype: str) -> float:
        """Return the cost of combining rows by label: "sum", one element after the other, "by_columns" or
        "by_rows".
        """

    def slices_cost(self, count: int, cells: int, dtype: str, *, is_near: bool) -> float:
        """Return the cost of combining `count` slices of `cells` elements one after the other."""


@record
class Target:
    """The target of a compilation: the costs of calls, and the thresholds at which a different method is
    faster.

    Attributes
    ----------
    costs : Costs
        What calls cost.
    program_cost : function
        Returns the cost of a program, from the shapes of its values and the layouts of its operands.
    native : frozenset of str
        The primitives that the library has and not every library does, of `OPTIONAL`.
    loop_axes : int
        The number of axes that the library's loop supports.
    any_layout_cells : int
        The number of elements of a value up to which its strides are ignored.
    near_bytes : int
        The number of bytes up to which a copy in any order stays in the nearest cache.
    float_products, real_products : int
        The number of multiplications from which integers are multiplied as floats, and real times complex as
        reals.
    parts_products : int
        The number of multiplications per complex number from which the cost of a copy is small.
    tiny_product, many_products : int
        The number of multiplications of a matrix product up to which the loop may be faster, and the number
        of products from which it may be.
    mirrored_products : int
        The number of multiplications from which a product that may be of a matrix and its own transpose is
        computed by `matmul`, which then mirrors half of it faster than `dot`. 0 if it does not.
    outer_cells : int
        The number of elements of a batched outer product from which the loop is faster than broadcasting.
    scaled_bytes, scaled_runs : int, range
        The number of bytes of a product with a vector from which the loop is faster, and the lengths of runs
        for which it is.
    pairwise_cells, least_cells : int
        The number of elements of a contiguous sum up to which its order is free, and of the smallest block of
        a longer one.
    summed_bytes : int
        The number of bytes of a cast value up to which it is created to make a sum faster.
    sliced_cells : int
        The number of elements of a sum or maximum up to which it is computed from slices.
    block_cells, block_rows : int
        The number of elements of a block of pointwise functions, and of its rows that share values along its
        columns.
    run_cells : int
        The number of elements reduced together from which it is faster to have them last in memory.
    fused_cells, chain_length : int
        The number of elements of a value from which blocks are faster, and of functions that are faster on
        whole arrays.
    huge_cells, huge_chain_length : int
        The same for a value that exceeds every cache.
    apart_reads, copied_reads : int
        The ratio of a block's reads to the elements of a value from which the value is computed once before
        the blocks, and from which it may be copied into a better layout.
    tiled_bytes, tile_cells : int
        The number of bytes of an avoided intermediate from which slices are faster, and of elements of the
        smallest slice.
    cached_cells : int
        The number of elements of a slice that stays in the cache with the values computed from it.
    held_cells, held_growth : int
        The number of elements of a value of bound operands that is always kept between calls, because it
        stays in the cache, and the ratio to its operands' elements up to which it is kept regardless of its
        cost.
    held_work, held_bytes : int
        The number of scalar operations per element from which a larger value is kept, since reading an
        element costs as much as a few operations, and the number of bytes that it may take.
    copied_work : int
        The number of scalar operations per element from which a result is kept and copied rather than
        computed again.
    step_flops, placed_flops : float
        The flops that take as long as one more call with its views, and as adding one element to the results
        of other blocks.
    """

    costs: Costs
    program_cost: Callable[[Program, Sequence[Shape], Sequence[OperandLayout]], float]
    native: frozenset[str]
    loop_axes: int
    any_layout_cells: int
    near_bytes: int
    float_products: int
    real_products: int
    parts_products: int
    tiny_product: int
    many_products: int
    mirrored_products: int
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
