"""The memory that single instructions need while they run, not counting their results: temporaries of
kernels, copies of operands that NumPy cannot compute with directly, and buffers of its iterator.

Pointwise functions and blocks of them are in `nameexpr.compiler.memory.blocks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from nameexpr.compiler.ir.dtypes import REAL_OF
from nameexpr.compiler.ir.normalising import block_of
from nameexpr.compiler.ir.program import Instruction, Primitive, Shape
from nameexpr.compiler.ir.strides import compact_strides, iteration_order, one_by_one
from nameexpr.compiler.memory.arrays import (
    WIDE,
    Array,
    fresh,
    item_bytes,
    loop_bytes,
    reduce_buffers,
    ufunc_bytes,
)
from nameexpr.compiler.memory.buffers import CELLS, Passed, buffer_bytes
from nameexpr.records import replace

ELIDED = 1 << 18
"""The bytes of a temporary above which NumPy writes over it instead of creating another."""
NORMALISING = frozenset({"softmax", "log_softmax"})
RUNNING = frozenset({"cumsum", "cumprod"})
PICKING = frozenset({"argmax", "argmin"})
TRUTHS = frozenset({"any", "all"})
BY_ROWS = frozenset({"var", "std", "norm", "logsumexp", "median"})
"""Reducers whose kernels create arrays as large as the rows that they process together."""
ROWS = 1 << 16
"""The number of elements of the rows that `nameexpr.backends.numpy.kernels` handles together."""
RUN = 512
"""The bytes of a run of elements that is repeated in one copy over all axes
(`nameexpr.backends.numpy.copies`).
"""

MOVES: frozenset[Primitive] = frozenset({
    "reshape", "transpose", "diagonal", "window", "inside", "take", "as_real", "as_complex", "repeat",
    "embed", "copy",
})  # fmt: skip
"""Primitives that keep the byte order of elements."""
TURNED = frozenset({"sort", "flip"})
"""Functions along axes that keep it."""
PLACES = frozenset({"argmax", "argmin", "count_nonzero"})


def dtype_of(instruction: Instruction, sources: Sequence[Array]) -> str:
    """Return the dtype of a result without a note, "" if unknown."""
    if instruction.primitive in {"reduce", "slices"}:
        if instruction.function in TRUTHS:
            return "bool"
        return "int64" if instruction.function in PLACES else REAL_OF.get(sources[0].dtype, sources[0].dtype)
    return sources[0].dtype if instruction.primitive in MOVES else ""


def along_bytes(instruction: Instruction, source: Array, dtype: str) -> int:
    """Return the bytes that a function along axes needs besides its result.

    float16 is normalised in float32, with a cast back; an argument of another dtype is cast first.
    """
    size = source.cells * item_bytes(dtype)
    if instruction.function in NORMALISING:
        return _normalising_bytes(instruction, source, dtype)
    if instruction.function in RUNNING and dtype == "float16":
        return 2 * size
    if instruction.function in RUNNING:
        return size if source.is_odd or source.dtype != dtype else 0
    if instruction.function == "sort":
        line = source.shape[instruction.axes[0]] * source.item
        is_across = (
            source.cast(source.dtype).strides[instruction.axes[0]] != 1
            and source.shape[instruction.axes[0]] != 1
        )
        return line if source.is_swapped or is_across else 0
    return 0


def join_bytes(instruction: Instruction, sources: Sequence[Array], result: Array) -> int:
    """Return the bytes of the buffers in which elements of other dtypes are cast."""
    blocks, needed = iter(sources), [0]
    for piece, number in zip(instruction.pieces, instruction.constants, strict=True):
        source = next(blocks) if number is None else None
        if source is not None and (source.is_odd or source.dtype != result.dtype):
            passed = Passed(source.along(piece.split), result.item, is_cast=True)
            needed.append(buffer_bytes(piece.split, [passed, Passed(None, result.item)]))
    return max(needed)


def _normalising_bytes(instruction: Instruction, source: Array, dtype: str) -> int:
    """Return the bytes that a softmax, or its logarithm, needs besides its result, a part at a time."""
    cells, item = source.cells, item_bytes(dtype)
    casts = 0 if source.dtype == dtype else cells * item
    if dtype == "float16":
        casts, item = casts + (4 if instruction.over is not None else 8) * cells, 4
    wide = "float32" if dtype == "float16" else dtype
    whole = source if source.dtype == wide else source.cast(wide)
    block = block_of(whole.shape, whole.strides, instruction.axes)
    sizes = [{step, size % step} - {0} for size, step in zip(whole.shape, block, strict=True) if size]
    is_whole = all(block[axis] == whole.shape[axis] for axis in instruction.axes)
    parts = [whole.part(shape) for shape in product(*sizes)] if cells else []
    return casts + max([_part_bytes(instruction, part, item, wide, is_whole) for part in parts], default=0)


def _part_bytes(instruction: Instruction, part: Array, item: int, dtype: str, is_whole: bool) -> int:
    """Return the bytes that normalising a block needs; those of several are kept if not whole."""
    kept = _reduced(part, instruction.axes)
    from_all = ufunc_bytes(part.shape, [part, kept], dtype, part)
    others = 0 if is_whole else kept.size
    if instruction.function == "log_softmax":
        each = part.cells * item + ufunc_bytes(part.shape, [part], dtype)
        return others + 2 * kept.size + max(from_all, each)
    return others + kept.size + max(kept.size + from_all, ufunc_bytes(part.shape, [part], dtype, part))


def _kept_dims(shape: Shape, axes: Sequence[int]) -> Shape:
    return tuple(1 if axis in axes else size for axis, size in enumerate(shape))


def reduce_bytes(instruction: Instruction, source: Array) -> int:
    """Return the bytes that a reducer of the last axes of an array needs besides its result."""
    ndim = len(source.shape)
    return reducer_bytes(instruction.function, source, [axis % ndim for axis in instruction.axes])


def reducer_bytes(reducer: str, source: Array, axes: Sequence[int]) -> int:
    """Return the bytes that a reducer of some axes of an array needs besides its result."""
    if not source.cells and reducer not in BY_ROWS:
        return 0
    if reducer in TRUTHS:
        return reduce_buffers(source, axes, "bool")
    if reducer == "count_nonzero":
        truths = fresh(source.shape, "bool", [source])
        made = 0 if source.dtype == "bool" else source.cells
        return made + reduce_buffers(truths, axes, "int64")
    if reducer in PICKING:
        return 0 if source.is_row_major and not source.is_swapped else _pieces(source)
    if reducer in BY_ROWS:
        return _rows_bytes(reducer, source, axes)
    return reduce_buffers(source, axes, source.dtype)


def _pieces(source: Array) -> int:
    """Return the bytes copied at a time in the search for the largest or smallest value, and the bytes of the
    results for these parts.
    """
    if source.cells <= 2 * ROWS:
        return source.size
    if len(source.shape) == 1:
        return ROWS * source.item
    count = ROWS * source.shape[0] // source.cells
    shape = source.shape[1:] if count <= 1 else (count, *source.shape[1:])
    return _pieces(source.part(shape)) + WIDE * prod(shape[:-1])


def _rows_bytes(reducer: str, source: Array, axes: Sequence[int]) -> int:
    """Return the bytes that a kernel needs for the rows that it processes together."""
    steps = [step for size, step in zip(source.shape, source.strides, strict=True) if size != 1]
    is_whole = 0 in axes or source.cells <= 2 * ROWS or source.strides[0] < max(steps, default=0)
    if is_whole:
        kept = prod(size for axis, size in enumerate(source.shape) if axis not in axes)
        result = kept * _real_item(source)
        return max(0, _kernel_bytes(reducer, source, axes) - result)
    return _kernel_bytes(reducer, source.part(_at_once(source.shape)), axes)


def _kernel_bytes(reducer: str, x: Array, axes: Sequence[int]) -> int:
    """Return the most bytes that are alive in a kernel, including its result.

    `copy` are the bytes of all elements, `kept` those of the reduced elements.
    """
    copy, cells = x.size, prod(size for axis, size in enumerate(x.shape) if axis not in axes)
    kept = cells * _real_item(x)
    if reducer == "median":  # NumPy divides the mean of narrow floats in float64
        dividing = 2 * WIDE * min(cells, CELLS) if x.item < WIDE else 0
        return copy + kept + max(kept + cells, dividing)
    is_complex = x.dtype.startswith("complex")
    again = kept if kept <= ELIDED else 0
    if reducer == "norm":
        buffers = ufunc_bytes(x.shape, [x, x], x.dtype)
        return max(_squares_bytes(x) if is_complex else copy + max(buffers, kept), 2 * kept)
    means = _reduced(x, axes)
    centring = means.size + copy + ufunc_bytes(x.shape, [x, means], x.dtype)
    if reducer == "logsumexp":
        return max(centring, copy + 3 * kept)
    return max(centring, copy + (_squares_bytes(x) if is_complex else kept + again), 2 * kept)


def _real_item(x: Array) -> int:
    return x.item // 2 if x.dtype.startswith("complex") else x.item


def _reduced(x: Array, axes: Sequence[int]) -> Array:
    """Return the result of a reduction of an array that keeps the axes, with size 1."""
    shape = _kept_dims(x.shape, axes)
    steps = tuple(0 if axis in axes else step for axis, step in enumerate(x.along(x.shape)))
    return Array(shape, compact_strides(shape, iteration_order([steps])), x.dtype, x.item)


def _squares_bytes(x: Array) -> int:
    """Return the bytes alive while complex numbers are squared: those of both parts, and of their sum."""
    copy, real = x.size, REAL_OF.get(x.dtype, x.dtype)
    part = Array(x.shape, tuple(2 * step for step in x.strides), real, x.item // 2)
    summing = copy + (copy // 2 if copy // 2 <= ELIDED else 0)
    return max(summing, copy + ufunc_bytes(x.shape, [part], real))


def _at_once(shape: Shape) -> Shape:
    """Return the shape of the rows that a kernel processes together."""
    return (max(1, ROWS * shape[0] // max(1, prod(shape))), *shape[1:])


def slices_bytes(instruction: Instruction, source: Array) -> int:
    """Return the bytes that adding slices needs besides its result: those of the sums over the
    earlier axes.
    """
    shape, sources, held, peak = list(source.shape), [source, source], 0, 0
    for axis in one_by_one(instruction.axes):
        count = shape.pop(axis)
        made = prod(shape) * source.item if count > 1 else 0
        buffers = ufunc_bytes(tuple(shape), _slices(sources, axis), source.dtype) if count > 1 else 0
        peak = max(peak, held + made + buffers)
        if made:
            held, sources = made, [fresh(tuple(shape), source.dtype)]
        else:
            sources = _slices(sources, axis)
    return max(0, peak - prod(shape) * source.item)


def _slices(sources: Sequence[Array], axis: int) -> list[Array]:
    """Return two slices of an array across an axis."""
    return [
        Array(
            (*one.shape[:axis], *one.shape[axis + 1 :]), (*one.strides[:axis], *one.strides[axis + 1 :]),
            one.dtype, one.item, one.is_swapped, one.is_uneven,
        )
        for one in (sources[0], sources[0])
    ]  # fmt: skip


def tiny_bytes(sources: Sequence[Array], result: Array) -> int:
    """Return the bytes of the products, or the copies, of the tiny matrices that are multiplied together."""
    from nameexpr.compiler.ir.tiny import tiny_rows

    (count, rows, columns), inner = result.shape, sources[0].shape[2]
    step = tiny_rows(count, rows, inner, columns, result.item)
    if rows == columns == 1:
        return step * inner * result.item
    parts = [fresh((*source.shape[1:], step), result.dtype) for source in sources]
    copied = [part for part, source in zip(parts, sources, strict=True) if source.strides[0] != 1]
    made = replace(result, shape=(rows, columns, step), strides=(columns * count, count, 1))
    buffers = loop_bytes(((0, 1, 3), (1, 2, 3)), (0, 2, 3), parts, made)
    return sum(part.size for part in copied) + buffers


def window_bytes(instruction: Instruction, sources: Sequence[Array], result: Array) -> int:
    """Return the bytes of a block of windows that is reduced, multiplied or weighed."""
    from nameexpr.compiler.memory.windows import BYTES

    return BYTES[instruction.primitive](instruction, sources, result)


def repeat_bytes(source: Array, wanted: Shape) -> int:
    """Return the bytes that repeating along several axes, one after the other, needs besides the result."""
    own = (1,) * (len(wanted) - len(source.shape)) + tuple(source.shape)
    axes = [axis for axis, size in enumerate(wanted) if own[axis] != size]
    if not source.is_row_major or len(axes) < 2:  # noqa: PLR2004  one copy
        return 0
    if source.item * prod(wanted[axes[-1] + 1 :]) >= RUN:
        return 0
    return prod(wanted) // max(1, wanted[axes[0]]) * source.item
