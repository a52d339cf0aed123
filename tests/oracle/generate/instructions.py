"""A function for each primitive that makes an instruction of it, for tests: `ir.transpose(source, axes)`."""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.ir.pieces import Piece
from nameexpr.compiler.ir.program import Instruction, Loop, Number, Shape, StepLoop

Letters = tuple[int, ...]
Axes = tuple[int, ...]


def cast(source: int, dtype: str) -> Instruction:
    """The array in another dtype."""
    return Instruction("cast", (source,), dtype=dtype)


def reshape(source: int, shape: Shape) -> Instruction:
    """The same cells, row-major, in another shape: a view where NumPy can give one."""
    return Instruction("reshape", (source,), shape)


def transpose(source: int, axes: Axes) -> Instruction:
    """A view with the axes in another order."""
    return Instruction("transpose", (source,), axes=axes)


def window(source: int, offsets: Shape, strides: Letters, shape: Shape) -> Instruction:
    """A view of an array that is read at positions."""
    return Instruction("window", (source,), shape, offsets, strides)


def item(source: int, number: int, shape: Shape) -> Instruction:
    """One of the arrays of a recurrence."""
    return Instruction("item", (source,), shape, axes=(number,))


def output(source: int, number: int, shape: Shape) -> Instruction:
    """One of the results of a loop."""
    return Instruction("output", (source,), shape, axes=(number,))


def recurrence(sources: tuple[int, ...], steps: StepLoop) -> Instruction:
    """A program that is run once for each step."""
    return Instruction("recurrence", sources, recurrence=steps)


def inside(source: int, size: int, number: int = 0) -> Instruction:
    """Positions, once they are found to be inside a dim."""
    return Instruction("inside", (source,), constants=(size, number))


def take(source: int, places: int, axis: int) -> Instruction:
    """An array read at positions along an axis."""
    return Instruction("take", (source, places), axes=(axis,))


def bins(source: int, shape: Shape, size: int) -> Instruction:
    """The bins that positions are in."""
    return Instruction("bins", (source,), shape, constants=(size,))


def scatter(at: int, rows: int, shape: Shape) -> Instruction:
    """The sums of the rows in each bin."""
    return Instruction("scatter", (at, rows), shape, dtype="float64", function="sum", constants=(0.0,))


def diagonal(source: int, letters: Letters) -> Instruction:
    """A view of the cells where axes of the same letter have the same index."""
    return Instruction("diagonal", (source,), letters=(letters, tuple(dict.fromkeys(letters))))


def as_real(source: int) -> Instruction:
    """A view of complex numbers with a last axis of their two parts."""
    return Instruction("as_real", (source,))


def as_complex(source: int) -> Instruction:
    """A view of pairs, which the last axis holds one after the other, as complex numbers."""
    return Instruction("as_complex", (source,))


def repeat(source: int, shape: Shape) -> Instruction:
    """A fresh array: the source broadcast to a shape."""
    return Instruction("repeat", (source,), shape)


def embed(source: int, shape: Shape, letters: Letters) -> Instruction:
    """A fresh array of zeros with the source on the diagonal of axes of the same letter."""
    return Instruction("embed", (source,), shape, letters=(tuple(dict.fromkeys(letters)), letters))


def concatenate(sources: Sequence[int], shape: Shape, pieces: Sequence[Piece], dtype: str) -> Instruction:
    """A fresh array with the sources in their pieces, and zeros elsewhere."""
    holes = (None,) * len(sources)
    return Instruction(
        "concatenate", tuple(sources), shape, dtype=dtype, constants=holes, pieces=tuple(pieces)
    )


def copy(source: int, *, is_large: bool = False, is_lax: bool = False) -> Instruction:
    """A fresh copy in row-major order.

    `is_large` says that it is worth keeping to the cache, `is_lax` that an array which is row-major will do.
    """
    return Instruction(
        "copy", (source,), function="row_major" if is_lax else "contiguous" if is_large else ""
    )


def full(shape: Shape, value: Number, dtype: str) -> Instruction:
    """A fresh array with one value everywhere."""
    return Instruction("full", (), shape, dtype=dtype, constants=(value,))


def ones(shape: Shape, dtype: str) -> Instruction:
    """An array of ones, which is made once and never written to."""
    return Instruction("ones", (), shape, dtype=dtype)


def constant(value: Number) -> Instruction:
    """A number as an array without axes."""
    return Instruction("constant", constants=(value,))


def arange(size: int) -> Instruction:
    """0, 1, ... size - 1."""
    return Instruction("arange", shape=(size,))


def slices(source: int, reducer: str, axes: Axes) -> Instruction:
    """A sum, or what another reducer makes, over axes: slice after slice."""
    return Instruction("slices", (source,), axes=axes, function=reducer)


def window_multiply(
    source: int, matrix: int, window: tuple[Axes, tuple[Axes, ...]], shape: Shape, kept: int
) -> Instruction:
    """Windows (where they begin, and how they go on), whose axes but the first `kept` are summed, times a
    matrix.
    """
    return Instruction("window_multiply", (source, matrix), shape, *window, constants=(kept,))


def window_weigh(
    source: int, weights: int, window: tuple[Axes, tuple[Axes, ...]], shape: Shape, kept: int
) -> Instruction:
    """Windows times weights, which have the same axes, summed over all but the first `kept`."""
    return Instruction("window_weigh", (source, weights), shape, *window, constants=(kept,))


def window_reduce(
    source: int, reducer: str, axes: Axes, windows: tuple[Axes, ...], shape: Shape
) -> Instruction:
    """A reducer over windows along axes: for each where they begin, their distance, that of their elements,
    and how many these are.
    """
    return Instruction("window_reduce", (source,), shape, axes, windows, function=reducer)


def add_up(source: int, axes: Axes, dtype: str = "") -> Instruction:
    """The sum over axes; `dtype` if it is summed in another one than the array's."""
    return Instruction("sum", (source,), axes=axes, dtype=dtype)


def reduce(source: int, reducer: str, count: int, dtype: str = "") -> Instruction:
    """One of the language's reducers over the last `count` axes, which act as one; `dtype` if it is another
    than NumPy would give.
    """
    return Instruction("reduce", (source,), axes=tuple(range(-count, 0)), dtype=dtype, function=reducer)


def apply(source: int) -> Instruction:
    """The caller's `reduce=` over the last axis."""
    return Instruction("apply", (source,))


def divide(source: int, count: int) -> Instruction:
    """The array divided by a number of cells."""
    return Instruction("divide", (source,), constants=(count,))


def multiply(left: int, right: int, dtype: str = "") -> Instruction:
    """The product of two arrays, broadcast from the right; `dtype` if it is another than theirs gives."""
    return Instruction("multiply", (left, right), dtype=dtype)


def dot(left: int, right: int) -> Instruction:
    """`left.dot(right)` for arrays of one or two axes."""
    return Instruction("dot", (left, right))


def tiny_matmul(left: int, right: int) -> Instruction:
    return Instruction("tiny_matmul", (left, right))


def vecdot(left: int, right: int) -> Instruction:
    """Inner products of real vectors along the last axis, broadcast over the others."""
    return Instruction("vecdot", (left, right))


def matmul(left: int, right: int) -> Instruction:
    """Matrix products over the last two axes, broadcast over the others."""
    return Instruction("matmul", (left, right))


def integer_matmul(left: int, right: int, dtype: str) -> Instruction:
    """A matmul of integers in 64 bits, through float64 where the values at hand make that exact."""
    return Instruction("integer_matmul", (left, right), dtype=dtype)


def einsum(sources: tuple[int, ...], letters: Sequence[Letters], result: Letters) -> Instruction:
    """One pass of NumPy's C loop over one or two arrays; letters name the axes."""
    return Instruction("einsum", sources, letters=(*letters, result))


def pointwise(
    function: str,
    sources: tuple[int, ...],
    constants: tuple[Number | None, ...],
    shape: Shape,
    dtype: str,
    over: int | None = None,
) -> Instruction:
    """A function of arrays, which are broadcast, and of numbers."""
    return Instruction(
        "pointwise", sources, shape, dtype=dtype, function=function, constants=constants, over=over
    )


def along_axes(function: str, source: int, axes: Axes, dtype: str = "") -> Instruction:
    """A function along axes, which stay: softmax, cumsum, sort; `dtype` if it makes another one."""
    return Instruction("along_axes", (source,), axes=axes, dtype=dtype, function=function)


def fused(
    sources: tuple[int, ...],
    shape: Shape,
    tiles: Shape,
    steps: tuple[Instruction, ...],
    factors: tuple[int, ...],
    dtype: str,
    reducer: str = "",
    reduced: Axes = (),
) -> Instruction:
    """Pointwise functions, and a reduction of the product of some of their values, block by block.

    The sources have all axes of `shape`, with size 1 where they do not vary, or none; `reduced` are the axes
    that go away.
    """
    return Instruction(
        "fused", sources, shape, reduced, (), dtype, reducer, tiles=tiles, steps=steps, factors=factors
    )


def loop(sources: tuple[int, ...], parameters: Loop, dtype: str) -> Instruction:
    """A program run for one part of its sources at a time."""
    return Instruction("loop", sources, dtype=dtype, loop=parameters)
