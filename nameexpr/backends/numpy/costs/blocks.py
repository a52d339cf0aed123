"""What pointwise functions take, one by one and in blocks, in nanoseconds."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.backends.numpy.costs import estimate as costs
from nameexpr.backends.numpy.costs.cells import RUN, Array, broadcast, fresh, memory_nanos, pass_nanos
from nameexpr.backends.numpy.costs.functions import PASSES, call_nanos, cell_nanos
from nameexpr.backends.numpy.costs.reductions import reduce_nanos
from nameexpr.compiler.ir.program import Instruction, Number, Shape
from nameexpr.ops import COSTS

FOLDED = 1900.0
"""A function of numbers alone."""
TURN, PART = 60.0, 130.0
"""One turn of a loop in Python, and the part of an array that it takes."""
MADE = 200.0
"""Making the array that blocks go into."""


def pointwise_nanos(one: Instruction, sources: Sequence[Array], result: Array) -> float:
    """Return the time of a pointwise function of arrays."""
    if one.is_weak:
        return FOLDED
    numbers = [constant for constant in one.constants if constant is not None]
    nanos = _function(one.function, numbers, sources, result)
    return call_nanos(one.function, len(numbers)) + nanos


def _function(call: str, numbers: Sequence[Number], sources: Sequence[Array], result: Array) -> float:
    """Return the time of the cells of a function."""
    dtypes = [source.dtype for source in sources]
    cell = cell_nanos(call, dtypes, result.dtype, is_square=call == "power" and list(numbers) == [2])
    passes = PASSES.get(COSTS.get(call, call), 1)
    nanos = pass_nanos(result.shape, result, sources, cell, RUN * passes)
    moved = (passes - 1) * 2 * prod(result.shape) * result.item
    return nanos + memory_nanos(moved)


def fused_nanos(one: Instruction, sources: Sequence[Array]) -> float:
    """Return the time of functions and a reduction, block by block."""
    tiles = tuple(min(pair) for pair in zip(one.tiles, one.shape, strict=True))
    count = prod(-(-size // tile) for size, tile in zip(one.shape, tiles, strict=True) if tile)
    cut = [axis for axis, tile in enumerate(tiles) if tile < one.shape[axis]]
    parts: list[Array] = [_part(source, tiles) for source in sources]
    nanos = TURN + sum(PART for source in sources if any(source.shape and source.shape[a] > 1 for a in cut))
    for step in one.steps:
        made = _step(step, parts)
        parts.append(made[0])
        nanos += made[1]
    factors = [parts[factor] for factor in one.factors]
    nanos += PART if not one.function else _reduced(one, factors, tiles)
    moved = sum(source.cells * source.item for source in sources)
    moved += prod(size for axis, size in enumerate(one.shape) if axis not in one.axes) * 8
    return MADE + count * nanos + memory_nanos(moved)


def _part(source: Array, tiles: Shape) -> Array:
    """Return the block of a source; a number has no axes."""
    if not source.shape:
        return source
    shape = tuple(min(pair) for pair in zip(source.shape, tiles, strict=True))
    return Array(shape, source.strides, source.dtype)


def _step(step: Instruction, parts: Sequence[Array]) -> tuple[Array, float]:
    """Return what a step of a block makes, and its time."""
    sources = [parts[source] for source in step.sources]
    numbers = [number for number in step.constants if number is not None]
    call = "cast" if step.primitive == "cast" else step.function
    made = fresh(_broadcast(sources), step.dtype)
    return made, call_nanos(call, len(numbers)) + _function(call, numbers, sources, made)


def _broadcast(sources: Sequence[Array]) -> Shape:
    shapes = [source.shape for source in sources if source.shape]
    return tuple(max(sizes) if 0 not in sizes else 0 for sizes in zip(*shapes, strict=True))


def _reduced(one: Instruction, factors: Sequence[Array], tiles: Shape) -> float:
    """Return the time of the reduction of a block: of one value, or of the product of several."""
    kept = prod(tile for axis, tile in enumerate(tiles) if axis not in one.axes)
    placing = PART + call_nanos("add") + kept * 0.1
    dtype = one.dtype or "float64"
    if len(factors) == 1:
        reducer = one.function or "sum"
        value = broadcast(factors[0], tiles) if len(factors[0].shape) != len(tiles) else factors[0]
        return placing + reduce_nanos("sum" if reducer == "mean" else reducer, value, one.axes)
    last = len(tiles) - 1
    if one.axes == (last,) and len(factors) == 2 and all(one.shape for one in factors):  # noqa: PLR2004
        return placing + costs.vecdot_seconds(kept, tiles[last], dtype) / costs.NANO
    axes = [str(axis) for axis in range(len(tiles))]
    steps = [
        {
            axis: abs(step) if size != 1 else 0
            for axis, size, step in zip(axes, part.shape, part.strides, strict=False)
        }
        for part in factors
    ]
    stays = [axis for place, axis in enumerate(axes) if place not in one.axes]
    return placing + costs.loop_seconds(dict(zip(axes, tiles, strict=True)), steps, stays, dtype) / costs.NANO
