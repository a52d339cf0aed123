"""The cost of functions and a reduction that are computed block by block, in nanoseconds."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.backends.numpy.costs.calls import NumpyCosts
from nameexpr.backends.numpy.costs.passes import function_cost, memory_cost, ufunc_cost
from nameexpr.backends.numpy.costs.reductions import reduce_cost
from nameexpr.backends.numpy.costs.strided import Strided, row_major
from nameexpr.compiler.ir.program import Instruction, Shape
from nameexpr.compiler.ir.strides import broadcast

Arrays = Sequence[Strided]
TURN, PART, MADE = 60.0, 130.0, 200.0
"""One iteration of a Python loop, slicing an array in it, and creating the array that it fills."""


def fused_cost(costs: NumpyCosts, block: Instruction, sources: Arrays, _: Strided) -> float:
    """Return the cost of functions and a reduction, block by block."""
    tiles = tuple(min(pair) for pair in zip(block.tiles, block.shape, strict=True))
    count = prod(-(-size // tile) for size, tile in zip(block.shape, tiles, strict=True) if tile)
    cut = [axis for axis, tile in enumerate(tiles) if tile < block.shape[axis]]
    profile = costs.profile
    cost = TURN + sum(PART for source in sources if any(source.shape and source.shape[a] > 1 for a in cut))
    cost, part = cost * profile.per_call, PART * profile.per_call
    # A number has no axes, so that all of it is part of every block.
    parts = [source._replace(shape=tuple(map(min, source.shape, tiles))) for source in sources]
    for step in block.steps:
        arrays = [parts[source] for source in step.sources]
        numbers = [number for number in step.constants if number is not None]
        made = row_major(broadcast(*[array.shape for array in arrays]), step.dtype)
        cost += function_cost(profile, step.function or step.primitive, numbers, arrays, made)
        parts.append(made)
    factors = [parts[factor] for factor in block.factors]
    cost += _reduced(costs, block, factors, tiles) if block.function else part
    moved = sum(source.size for source in sources)
    moved += prod(size for axis, size in enumerate(block.shape) if axis not in block.axes) * 8
    return MADE * profile.per_call + count * cost + memory_cost(profile, moved)


def _reduced(costs: NumpyCosts, block: Instruction, factors: Arrays, tiles: Shape) -> float:
    """Return the cost of the reduction of a block: of one value, or of the product of several."""
    axes = range(len(tiles))
    kept = [axis for axis in axes if axis not in block.axes]
    cells = prod(tiles[axis] for axis in kept)
    profile = costs.profile
    placing = PART * profile.per_call + ufunc_cost(profile, "add") + cells * 0.1 * profile.per_cell
    dtype = block.dtype or "float64"
    if len(factors) == 1:
        value = factors[0] if len(factors[0].shape) == len(tiles) else factors[0].over(tiles)
        reducer = "sum" if block.function == "mean" else block.function
        return placing + reduce_cost(costs, reducer, value, block.axes)
    if block.axes == (axes[-1],) and len(factors) == 2 and all(factor.shape for factor in factors):  # noqa: PLR2004
        return placing + costs.vecdot_cost(cells, tiles[-1], dtype)
    sizes = {str(axis): tiles[axis] for axis in axes}
    steps = [
        {str(axis): abs(factor.strides[axis]) if size != 1 else 0 for axis, size in enumerate(factor.shape)}
        for factor in factors
    ]
    return placing + costs.loop_cost(sizes, steps, list(map(str, kept)), dtype)
