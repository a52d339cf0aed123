"""The memory that windows take while they are reduced, multiplied or weighed: that of one block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from nameexpr.compiler.ir.program import Instruction, Shape
from nameexpr.compiler.ir.rolling import (
    Move,
    copied_cells,
    doubles,
    is_one_run,
    move_of,
    row_of,
    tiles_of,
    weighed_tiles,
)
from nameexpr.compiler.ir.strides import of_window
from nameexpr.compiler.memory.arrays import Array, fresh, integer_bytes, ufunc_bytes


def rolling_bytes(instruction: Instruction, sources: Sequence[Array], result: Array) -> int:
    """Return the bytes of a block that is reduced along one axis after the other."""
    if not result.cells:
        return 0
    moves = dict(zip(instruction.axes, map(move_of, instruction.letters), strict=True))
    tiles, part = list(tiles_of(result.shape, sources[0].strides, moves)), sources[0]
    shape = list(tiles)
    for axis, (stride, apart, count) in moves.items():
        shape[axis] = stride * (tiles[axis] - 1) + apart * (count - 1) + 1
    part, held, most = part.part(tuple(shape)), 0, 0
    for number, (axis, move) in enumerate(moves.items(), 1):
        shape[axis] = tiles[axis]
        made = fresh(tuple(shape), result.dtype, [part]) if number < len(moves) else result.part(tuple(tiles))
        own = made.size if number < len(moves) else 0
        most, held = max(most, held + own + _folded_bytes(part, made, axis, move)), own
        part = made
    return most


def _folded_bytes(part: Array, made: Array, axis: int, move: Move) -> int:
    """Return the bytes of the buffers for the windows along one axis, and of those of ufuncs."""
    stride, _, count = move
    steps = (*part.strides[:axis], stride * part.strides[axis], *part.strides[axis + 1 :])
    seen = Array(made.shape, steps, part.dtype, part.item, part.is_swapped, part.is_uneven)
    combining = ufunc_bytes(made.shape, [seen, seen], made.dtype, made) if count > 1 else 0
    if not doubles(stride, count, made.shape[axis]):
        return combining
    wide = fresh(part.shape, made.dtype, [part])
    return 2 * wide.size + max(combining, ufunc_bytes(part.shape, [part, part], made.dtype, wide))


def multiplied_bytes(instruction: Instruction, sources: Sequence[Array], result: Array) -> int:
    """Return the bytes of a block of windows that is copied for a product."""
    if not result.cells:
        return 0
    cells, inner = copied_cells(instruction.shape, instruction.kept, result.item), sources[1].shape[0]
    if result.dtype not in ("int64", "uint64") or not cells:
        return result.item * cells
    rows = cells // inner
    block, made = fresh((rows, inner), result.dtype), (rows, sources[1].shape[1])
    return block.size + result.item * prod(made) + integer_bytes([block, sources[1]], made)


def weighed_bytes(instruction: Instruction, sources: Sequence[Array], result: Array) -> int:
    """Return the bytes of a block of products of windows and weights."""
    (source, weights), kept, dtype = sources, len(result.shape), result.dtype
    steps = of_window(instruction, [(source.shape, source.strides)], instruction.shape)
    if dtype in ("float32", "float64") and is_one_run(instruction.shape, steps, weights.shape, 1):
        return 0
    tiles: Shape = weighed_tiles(result.shape, steps[:kept])
    part, row = Array(tiles, steps[:kept], dtype, result.item), row_of(tiles, steps, weights.shape[:kept])
    factors = Array(tuple(map(min, tiles, weights.shape)), weights.strides[:kept], dtype, result.item)
    if prod(row) > 1:
        factors = fresh(row, dtype, [result.part(row)])
    buffers = ufunc_bytes(tiles, [part, factors], dtype, result.part(tiles))
    return result.item * (prod(tiles) + prod(row)) + buffers


BYTES: Mapping[str, Callable[[Instruction, Sequence[Array], Array], int]] = {
    "window_multiply": multiplied_bytes,
    "window_reduce": rolling_bytes,
    "window_weigh": weighed_bytes,
}
"""The bytes that each primitive needs besides its result."""
