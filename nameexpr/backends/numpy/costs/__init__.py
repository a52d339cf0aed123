"""The costs of NumPy calls in nanoseconds: `calls` for choosing strategies, `program` for reporting times.

All of them read what varies from machine to machine from a `Profile`, which describes a processor, the
kernels that its BLAS runs and the number of their threads. Everything that hardly varies (how many calls a
kernel makes, what a function costs in comparison with another) is a constant.

`GENERIC` was fitted to about 20,000 timed calls (500 random pairs of operands, every strategy of each, in
float64 and float32) on one thread of an AMD EPYC with OpenBLAS' Haswell kernels and NumPy's AVX-512 loops;
`backends/numpy/target.py` finds the profile of the machine at hand.

Elements are of 8 bytes, unless their dtype is named; others take time in proportion to their size.
"""

from __future__ import annotations

from nameexpr.records import record

UFUNC_CALL, ADDED_CELL = 270.0, 0.12
"""The figures `ufunc_call` and `added_cell` of the processor on which all constants were measured."""


@record
class Profile:
    """The figures of a machine: times in nanoseconds, sizes in bytes.

    Attributes
    ----------
    threads : int
        The number of threads that the BLAS uses.
    handed_over : float
        Handing work to another thread, and waiting until it has done nothing.
    near_cache, second_cache, last_cache : int
        The caches of one core, and the last one: a value of at most this size stays there.
    ufunc_call, copy_call, dot_call, matmul_call, loop_call, reduce_call : float
        A call regardless of its arrays: of `numpy.add`, of a copy, `numpy.dot`, `numpy.matmul`, the C loop of
        `numpy.einsum`, and `numpy.add.reduce`. Calls of other functions take time in proportion to the first.
    added_cell : float
        One addition of two elements in the nearest cache. Other functions take time in proportion to it.
    copy_run, copy_cell : float
        Starting a run of a copy (elements that are contiguous in the copy, and at one stride in the source),
        and one element of it.
    strided_cell, strided_bytes : float
        Copying one element that is not adjacent to the previous one: regardless of its size, and for 8 bytes.
    far_cell : float
        The extra cost of an element that is alone in its cache line, for products and copies.
    streamed_byte : float
        One byte that products, loops and copies read or write beyond the second cache.
    spilled_byte : float
        One byte of a new array that exceeds the second cache, written and read.
    cast_cell : float
        Casting one element.
    unpacked_cell : float
        Converting one element to a layout that BLAS accepts, which `numpy.matmul` does by itself.
    matrix : float
        One product of a batch, regardless of its kind.
    gemm, flop, packed_cell, result_cell : float
        Starting a product of matrices, one multiplication and addition in it, one element of its operands,
        which BLAS packs, and one of its result.
    direct_product : int
        The number of multiplications up to which BLAS reads matrices where they are.
    direct, direct_cell : float
        Starting such a product, and one element of its operands.
    gemv, streamed_cell, vector_cell : float
        Starting a product of a matrix and a vector, one element of the matrix, and one of the vector.
    vecdot, inner_cell, left_cell : float
        Starting one inner product of `numpy.vecdot`, one element of an inner product, and the extra cost of
        one that is left over from the blocks that BLAS adds together.
    generic_flop : float
        One multiplication and addition of a dtype that BLAS does not support.
    loop_run, loop_nest : float
        One run of the C loop, and one iteration of the loop around its sums.
    loop_sum, loop_dot, loop_axpy, loop_both, loop_strided, loop_gather : float
        One element of a run of the C loop: of a contiguous operand that is added up; of an inner product of
        two; of one that varies and one that does not, written to a contiguous result; of two that vary; with
        other strides; and with other strides, added up.
    sum_run, sum_cell : float
        One run, and one element, of `numpy.add.reduce`.
    slice_near, slice_far : float
        One element of the sum of two slices: of contiguous ones, and of strided ones.
    pass_run, pass_strided, pass_far, pass_paged : float
        Starting a run of a pointwise function, and its extra costs of an element that is not adjacent to the
        previous one, alone in its cache line, or alone in its page.
    cached_byte, main_byte : float
        The extra cost of one byte read or written that exceeds the second cache, and the last one.
    new_byte : float
        One byte of an array so large that the system allocates new pages for it.
    outer_cells : int
        The elements of a batched outer product from which the C loop is faster than broadcasting.
    scaled_bytes, least_scaled_run, most_scaled_run : int
        The bytes of a product with a vector from which the C loop is faster, and the numbers of elements of
        the shortest and longest runs for which it is.
    """

    threads: int = 1
    handed_over: float = 20_000.0
    near_cache: int = 1 << 15
    second_cache: int = 1 << 20
    last_cache: int = 1 << 25
    ufunc_call: float = UFUNC_CALL
    copy_call: float = 600.0
    dot_call: float = 300.0
    matmul_call: float = 800.0
    loop_call: float = 850.0
    reduce_call: float = 900.0
    added_cell: float = ADDED_CELL
    copy_run: float = 2.2
    copy_cell: float = 0.15
    strided_cell: float = 0.15
    strided_bytes: float = 0.09
    far_cell: float = 0.1
    streamed_byte: float = 0.008
    spilled_byte: float = 0.06
    cast_cell: float = 0.5
    unpacked_cell: float = 0.26
    matrix: float = 6.3
    gemm: float = 24.0
    flop: float = 0.026
    packed_cell: float = 0.33
    result_cell: float = 0.05
    direct_product: int = 1
    direct: float = 14.0
    direct_cell: float = 0.06
    gemv: float = 15.0
    streamed_cell: float = 0.073
    vector_cell: float = 0.28
    vecdot: float = 5.0
    inner_cell: float = 0.0645
    left_cell: float = 0.2
    generic_flop: float = 1.2
    loop_run: float = 3.0
    loop_nest: float = 17.0
    loop_sum: float = 0.08
    loop_dot: float = 0.16
    loop_axpy: float = 0.19
    loop_both: float = 0.26
    loop_strided: float = 0.5
    loop_gather: float = 0.5
    sum_run: float = 12.0
    sum_cell: float = 0.13
    slice_near: float = 0.14
    slice_far: float = 0.45
    pass_run: float = 4.0
    pass_strided: float = 0.15
    pass_far: float = 0.3
    pass_paged: float = 1.0
    cached_byte: float = 0.004
    main_byte: float = 0.016
    new_byte: float = 0.04
    outer_cells: int = 1 << 12
    scaled_bytes: int = 1 << 19
    least_scaled_run: int = 64
    most_scaled_run: int = 4096

    @property
    def per_call(self) -> float:
        """The time of calls, relative to the processor on which their constants were measured."""
        return self.ufunc_call / UFUNC_CALL

    @property
    def per_cell(self) -> float:
        """The time of an element of pointwise functions, relative to that processor."""
        return self.added_cell / ADDED_CELL


GENERIC = Profile()
"""The figures for a machine of which nothing is known."""
