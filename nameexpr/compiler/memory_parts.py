"""What single instructions need while they run, beside their results: temporaries of kernels, copies of
operands that BLAS cannot take as they are, the values of a block.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.compiler.dtypes import ITEM_BYTES
from nameexpr.compiler.program import AlongAxes, Dot, Fused, Pointwise, Reduce
from nameexpr.compiler.render_blocks import WHERE, buffers
from nameexpr.compiler.strides import Shape, Strides, is_dense

REDUCER_COPIES = {"var": 1, "std": 1, "logsumexp": 1, "norm": 1, "median": 1}
"""How often a reducer's kernel has the array that it reduces in memory, besides the array itself."""
COMPLEX_COPIES = {"var": 2, "std": 2, "norm": 1}
"""The same for complex arrays, whose squares are sums of two; one more temporary is half as large."""
ELIDED = 1 << 18
"""Bytes of a temporary beyond which NumPy writes over it, rather than make another."""
ONE_AXIS = frozenset({"argmax", "argmin", "median"})
"""Reducers that copy an array whose last axis is not in one piece."""
POINTWISE_COPIES = {"sigmoid": 2, "silu": 2, "gelu": 1, "round": 2, "imag": 1, "clip": 1}
"""How often a pointwise kernel has its result in memory while it runs, besides the result itself."""
IN_FLOAT64 = frozenset({"erf", "erfc", "gelu"})
"""Pointwise kernels that compute in float64 whatever they are given, with two arrays at a time."""
WIDE = 8
"""Bytes of a float64."""
NORMALISING = frozenset({"softmax", "log_softmax"})
RUNNING = frozenset({"cumsum", "cumprod"})
ROWS = 1 << 16
"""Cells of the rows that `nameexpr.backends.numpy.rows` handles together."""
MASK = 4 << 15
"""Bytes of a mask that `formulas.where_over` negates at once."""
BUFFER = 8192
"""Cells of the buffer through which NumPy's iterator passes what it casts, or reads across."""
BUFFERED = frozenset({"var", "std", "logsumexp"})
BLAS = frozenset({"float32", "float64", "complex64", "complex128"})
MATRIX = 2
RUN = 512
"""Bytes of a run of cells that is repeated in one copy over all axes (`nameexpr.backends.numpy.copies`)."""


def item_bytes(dtype: str) -> int:
    """Return the bytes of an element; of a dtype that is not known, 8."""
    return ITEM_BYTES.get(dtype, 8)


def pointwise_bytes(one: Pointwise, dtype: str) -> int:
    """Return what a pointwise function needs besides its result."""
    if one.call == WHERE and one.over is not None:
        return prod(one.shape) if one.constants[-1] is None else min(prod(one.shape), MASK)
    return _kernel_bytes(one.call, prod(one.shape), item_bytes(dtype))


def _kernel_bytes(call: str, cells: int, item: int) -> int:
    """Return the bytes that a pointwise kernel needs besides its result."""
    name = call.removeprefix("formulas.")
    wide = cells * max(0, 2 * WIDE - item) if name in IN_FLOAT64 and item < WIDE else 0
    return POINTWISE_COPIES.get(name, 0) * cells * item + wide


def along_bytes(one: AlongAxes, size: int, dtype: str) -> int:
    """Return the bytes that a function along axes needs besides its result of `size` bytes.

    float16 is computed in float32, to and fro; what has another dtype is cast first.
    """
    if one.function in NORMALISING and dtype == "float16":
        return 3 * size if one.over else 4 * size
    if one.function in RUNNING and dtype == "float16":
        return 2 * size
    return 0 if one.keeps_dtype else size


def reduce_bytes(one: Reduce, shape: Shape, strides: Strides, dtype: str) -> int:
    """Return what a reducer of an array needs besides its result."""
    cells, item = prod(shape), item_bytes(dtype)
    if one.reducer == "count_nonzero":
        return 0 if dtype == "bool" else cells
    is_moved = one.reducer in ONE_AXIS and not is_dense(shape, strides)
    if one.reducer not in REDUCER_COPIES:
        return cells * item * is_moved
    copies = REDUCER_COPIES[one.reducer] + is_moved
    is_whole = len(shape) == one.count or strides[0] < max(strides)
    copied = (cells if is_whole else _cells_at_once(shape)) * item
    if dtype.startswith("complex") and one.reducer in COMPLEX_COPIES:
        copied = copied * COMPLEX_COPIES[one.reducer] + (copied // 2 if copied // 2 <= ELIDED else 0)
    else:
        copied *= copies
    return copied + (min(cells, BUFFER) * item if one.reducer in BUFFERED else 0)


def _cells_at_once(shape: Shape) -> int:
    """Return how many cells a kernel that works by rows looks at together."""
    cells = prod(shape)
    return cells if cells <= 2 * ROWS else max(1, ROWS * shape[0] // cells) * (cells // shape[0])


def repeat_bytes(shape: Shape, wanted: Shape, item: int) -> int:
    """Return what repeating along several axes, one after the other, needs besides the result."""
    own = (1,) * (len(wanted) - len(shape)) + tuple(shape)
    axes = [axis for axis, size in enumerate(wanted) if own[axis] != size]
    if len(axes) < 2 or item * prod(wanted[axes[-1] + 1 :]) >= RUN:  # noqa: PLR2004  one axis is one copy
        return 0
    return prod(wanted) // max(1, wanted[axes[0]]) * item


def dot_bytes(one: Dot, shapes: Sequence[Shape], strides: Sequence[Strides], dtype: str) -> int:
    """Return the bytes of the copies that BLAS's dot makes of matrices without an axis in one piece."""
    if dtype not in BLAS:
        return 0
    pairs = dict(zip((one.left, one.right), zip(shapes, strides, strict=True), strict=True)).values()
    return sum(prod(shape) for shape, steps in pairs if _is_copied(shape, steps)) * item_bytes(dtype)


def _is_copied(shape: Shape, strides: Strides) -> bool:
    return len(shape) == MATRIX and 1 not in strides and 1 not in shape


def integer_bytes(shapes: Sequence[Shape], result: Shape) -> int:
    """Return what a product of integers needs that goes through float64."""
    return WIDE * max(sum(map(prod, shapes)), prod(result))


def block_bytes(one: Fused, shapes: Sequence[Shape]) -> int:
    """Return the bytes of the values inside a block, made one after the other, block after block.

    Names keep the values of the block before until they get new ones, as the loop in
    `nameexpr.compiler.render_blocks` has it.
    """
    varies, overs, home = buffers(one, shapes)
    count, final = len(shapes), len(one.steps) - 1
    lies: dict[int, int] = {}
    sizes: dict[int, int] = {}
    peak = 0
    cuts = range(len(one.shape))
    is_once = all(one.tiles[axis] >= one.shape[axis] for axis in cuts)
    for turn in range(1 if is_once else 2):
        for number, step in enumerate(one.steps):
            over = overs[number]
            cells = prod(min(one.tiles[axis], one.shape[axis]) for axis in varies[count + number] or ())
            is_placed = number == home or (
                one.reducer is None and number == final and home is None
                and step.is_ufunc and step.dtype == one.dtype
            )  # fmt: skip
            if is_placed:
                buffer = -1
            elif over is not None:
                buffer = lies[over - count]
            else:
                buffer = turn * len(one.steps) + number
                sizes[buffer] = cells * item_bytes(step.dtype)
            own = _kernel_bytes(step.call, cells, item_bytes(step.dtype))
            alive = {*lies.values(), buffer} - {-1}
            peak = max(peak, sum(sizes[one] for one in alive) + own)
            lies[number] = buffer
    cells = prod(min(one.tiles[axis], one.shape[axis]) for axis in cuts)
    held = sum(sizes[one] for one in {*lies.values()} - {-1})
    return max(peak, held + _reduced_bytes(one, cells))


def _reduced_bytes(one: Fused, cells: int) -> int:
    """Return what the reducer of a block needs: its kernel's copies, and twice what it gives."""
    if one.reducer is None:
        return 0
    kept = prod(min(one.tiles[a], one.shape[a]) for a in range(len(one.shape)) if a not in one.reduced)
    copies = REDUCER_COPIES.get(one.reducer, 0) * item_bytes(one.dtype) + (one.reducer == "count_nonzero")
    buffer = min(cells, BUFFER) * item_bytes(one.dtype) if one.reducer in BUFFERED else 0
    return copies * cells + 2 * kept * item_bytes(one.dtype) + buffer
