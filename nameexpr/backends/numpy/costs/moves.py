"""What moving cells takes, in nanoseconds: views, copies, and arrays that are made of nothing."""

from __future__ import annotations

from math import prod

from nameexpr.backends.numpy.costs import estimate as costs
from nameexpr.backends.numpy.costs.cells import (
    MAIN,
    MEMORY,
    Array,
    far_nanos,
    fresh,
    item_bytes,
    memory_nanos,
    pass_nanos,
)
from nameexpr.backends.numpy.costs.functions import cell_nanos
from nameexpr.compiler.ir.program import Instruction, Primitive, Shape
from nameexpr.compiler.ir.strides import is_dense, reshaped
from nameexpr.compiler.memory.scratch import RUN

VIEW = 100.0
VIEWS: dict[Primitive, float] = {"transpose": VIEW, "diagonal": 670.0, "as_real": 270.0, "as_complex": 840.0}
"""What views take."""
COPIED = 250.0
"""A call that copies; `costs` counts its neighbours in, too."""
KNOWN = 30.0
"""Reading what was made once."""
MADE, BYTE = 700.0, 0.015
"""Making an array of one value, and one byte of it."""
REPEATED, REPEATED_RUN, REPEATED_CELL = 900.0, 0.7, (0.03, 0.07)
"""Repeating along an axis, one run that is repeated, and one cell: whatever its size, and for 8 bytes."""
EMBEDDED, PLACED = 3800.0, 0.5
"""Putting an array into zeros, and one cell of it."""
NUMBER, COUNTED, COUNTED_CELL = 115.0, 260.0, 0.35


def made_nanos(one: Instruction) -> float:
    """Return the time of an array that is made of nothing."""
    match one.primitive:
        case "ones":
            return KNOWN
        case "full":
            size = prod(one.shape) * item_bytes(one.dtype)
            return MADE + BYTE * size + memory_nanos(size)
        case "arange":
            return COUNTED + COUNTED_CELL * one.shape[0]
        case _:
            return NUMBER


def move_nanos(one: Instruction, source: Array) -> float:
    """Return the time of a view or a copy."""
    match one.primitive:
        case "reshape":
            is_view = reshaped(source.shape, source.strides, one.shape) is not None
            return VIEW if is_view else copy_nanos(source)
        case "copy":
            is_kept = one.function == "row_major" and is_dense(source.shape, source.strides)
            return VIEW if is_kept else copy_nanos(source)
        case "cast":
            made = Array(source.shape, source.strides, one.dtype)
            cell = cell_nanos("cast", (source.dtype,), one.dtype)
            return COPIED + pass_nanos(source.shape, made, [source], cell)
        case "repeat":
            return _repeated(source, one.shape)
        case "embed":
            sizes = dict(zip(one.letters[1], one.shape, strict=True))
            placed = prod(sizes.values()) * PLACED
            size = prod(one.shape) * source.item
            return EMBEDDED + BYTE * size + memory_nanos(size) + placed
        case _:
            return VIEWS[one.primitive]


def copy_nanos(source: Array) -> float:
    """Return the time of a row-major copy; what lies beyond the caches is read and written more slowly."""
    axes = [str(axis) for axis in range(len(source.shape))]
    sizes, steps = dict(zip(axes, source.shape, strict=True)), dict(zip(axes, source.strides, strict=True))
    nanos = costs.copy_seconds(sizes, steps, axes, source.dtype) / costs.NANO - costs.CALL["copy"] + COPIED
    size = prod(source.shape) * source.item
    inner = next((step for length, step in _from_last(source) if length != 1), 1)
    return nanos + far_nanos(source, inner) * prod(source.shape) + main_nanos(2 * size)


def _repeated(source: Array, shape: Shape) -> float:
    """Return the time of `copies.repeated`: along one axis after the other, or in one copy."""
    own = (1,) * (len(shape) - len(source.shape)) + source.shape
    axes = [axis for axis, size in enumerate(shape) if own[axis] != size]
    run = prod(shape[axes[-1] + 1 :]) if axes else 1
    if not is_dense(source.shape, source.strides) or not axes or (len(axes) > 1 and run * source.item >= RUN):
        return REPEATED + pass_nanos(shape, fresh(shape, source.dtype), [source], costs.CELL, costs.RUN)
    nanos, sizes = 0.0, list(own)
    cell = REPEATED_CELL[0] + REPEATED_CELL[1] * costs.width(source.dtype)
    for axis in reversed(axes):
        started = prod(sizes[: axis + 1])
        sizes[axis] = shape[axis]
        made = prod(sizes)
        nanos += REPEATED + REPEATED_RUN * started + cell * made + memory_nanos(made * source.item)
    return nanos


def _from_last(source: Array) -> list[tuple[int, int]]:
    """Return size and stride of each axis, the last one first."""
    return list(zip(source.shape, source.strides, strict=True))[::-1]


def main_nanos(moved: int) -> float:
    """Return what main memory adds to calls whose constants hold for the caches."""
    most, rate = MEMORY[-1]
    return moved * (MAIN - rate) if moved > most else 0.0
