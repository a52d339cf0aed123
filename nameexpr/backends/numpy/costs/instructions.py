"""The cost of each primitive in nanoseconds, from the arrays that it reads and the one that it creates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from nameexpr.backends.numpy.costs.calls import (
    CALL,
    COPY_CELL,
    COPY_RUN,
    cast_cost,
    copy_cost,
    loop_cost,
    product_cost,
    read_cost,
    vecdot_cost,
    width,
)
from nameexpr.backends.numpy.costs.passes import (
    Strided,
    cell_cost,
    far_cost,
    function_cost,
    main_cost,
    memory_cost,
    pass_cost,
    row_major,
    ufunc_cost,
)
from nameexpr.backends.numpy.costs.positions import AT_POSITIONS
from nameexpr.backends.numpy.costs.reductions import along_cost, reduce_cost, slices_cost
from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.placing import pieces_of
from nameexpr.compiler.ir.program import Instruction, Primitive, Shape
from nameexpr.compiler.ir.strides import broadcast, is_dense, reshaped
from nameexpr.compiler.memory.scratch import RUN

Arrays = Sequence[Strided]
VIEW, COPIED = 100.0, 250.0
"""A view, and a call that copies; the costs in `calls` include the neighbouring views."""
WINDOW = 5000.0
"""A view with given strides."""
FILL, BYTE = 700.0, 0.015
"""Creating an array of one value, and one byte of it."""
REPEATED, REPEATED_RUN, REPEATED_CELL = 900.0, 0.7, (0.03, 0.07)
"""Repeating along an axis, one run that is repeated, and one element: regardless of its size, and for 8
bytes.
"""
BOUNDS, BOUND = 5500.0 - CALL["matmul"], 0.2
"""Finding the largest magnitude of integers, and one integer of that."""
WRITTEN = 0.15
"""Writing one element of 8 bytes of a matrix product, which matters if the inner axis is short."""
FOLDED = 1900.0
"""A function of numbers alone."""
TURN, PART, MADE = 60.0, 130.0, 200.0
"""One iteration of a Python loop, slicing an array in it, and creating the array that it fills."""
EMBEDDED, PLACED = 3100.0, 0.5
"""Writing an array into zeros, not counting their creation, and one element of it."""
COUNTED, COUNTED_CELL = 260.0, 0.35
"""Creating `arange`, and one element of it."""
APPLIED = 3000.0
"""Calling a caller's reducer, which is assumed to be as fast as a sum."""
PRODUCTS = frozenset({"dot", "integer_matmul", "matmul", "multiply", "vecdot"})


def instruction_cost(instruction: Instruction, sources: Arrays, result: Strided) -> float:
    """Return the cost of one instruction other than a loop, from the arrays it reads and the one it
    creates.
    """
    if instruction.primitive in PRODUCTS and not all(array.cells for array in (*sources, result)):
        return CALL["matmul"]
    cost = COSTS.get(instruction.primitive, _one_copy)
    return cost if isinstance(cost, float) else cost(instruction, sources, result)


def _filled(size: int) -> float:
    """Return the cost of creating an array of `size` bytes with one value."""
    return FILL + BYTE * size + memory_cost(size)


def _one_copy(_: Instruction, sources: Arrays, result: Strided) -> float:
    return _row_major(sources[0]) if sources else _filled(result.cells * result.item)


def _full(instruction: Instruction, _: Arrays, __: Strided) -> float:
    return _filled(prod(instruction.shape) * ITEM_BYTES.get(instruction.dtype, 8))


def _embed(instruction: Instruction, sources: Arrays, _: Strided) -> float:
    placed = prod(dict(zip(instruction.letters[1], instruction.shape, strict=True)).values())
    return EMBEDDED + _filled(prod(instruction.shape) * sources[0].item) + placed * PLACED


def _join(instruction: Instruction, _: Arrays, result: Strided) -> float:
    cells = [prod(piece.lengths) for piece in instruction.pieces]
    moved = sum(cells) - sum(prod(pieces_of(instruction)[at].lengths) for at in instruction.factors)
    cost = _filled(result.size) if sum(cells) < result.cells else MADE
    cost += (PART + COPIED) * (len(cells) - len(instruction.factors))
    return cost + PLACED * moved + memory_cost(moved * result.item)


def _cast(instruction: Instruction, sources: Arrays, _: Strided) -> float:
    (source,) = sources
    cell = cell_cost("cast", (source.dtype,), instruction.dtype)
    return COPIED + pass_cost(source.shape, source._replace(dtype=instruction.dtype), sources, cell)


def _reshape(instruction: Instruction, sources: Arrays, _: Strided) -> float:
    (source,) = sources
    return _row_major(source) if reshaped(source.shape, source.strides, instruction.shape) is None else VIEW


def _copy(instruction: Instruction, sources: Arrays, _: Strided) -> float:
    (source,) = sources
    is_kept = instruction.function == "row_major" and is_dense(source.shape, source.strides)
    return VIEW if is_kept else _row_major(source)


def _row_major(source: Strided) -> float:
    """Return the cost of a row-major copy; arrays larger than the caches are read and written more slowly."""
    axes = [str(axis) for axis in range(len(source.shape))]
    sizes, steps = dict(zip(axes, source.shape, strict=True)), dict(zip(axes, source.strides, strict=True))
    cells = prod(source.shape)
    inner = next((steps[axis] for axis in reversed(axes) if sizes[axis] != 1), 1)
    cost = copy_cost(sizes, steps, axes, source.dtype) - CALL["copy"] + COPIED
    return cost + far_cost(source, inner) * cells + main_cost(2 * cells * source.item)


def _repeat(instruction: Instruction, sources: Arrays, _: Strided) -> float:
    """Return the cost of `copies.repeated`: along one axis after the other, or in one copy."""
    (source,), shape = sources, instruction.shape
    sizes = [1] * (len(shape) - len(source.shape)) + list(source.shape)
    axes = [axis for axis, size in enumerate(shape) if sizes[axis] != size]
    run = prod(shape[axes[-1] + 1 :]) if axes else 1
    if not is_dense(source.shape, source.strides) or not axes or (len(axes) > 1 and run * source.item >= RUN):
        return REPEATED + pass_cost(shape, row_major(shape, source.dtype), [source], COPY_CELL, COPY_RUN)
    cost, cell = 0.0, REPEATED_CELL[0] + REPEATED_CELL[1] * width(source.dtype)
    for axis in reversed(axes):
        started = prod(sizes[: axis + 1])
        sizes[axis] = shape[axis]
        made = prod(sizes)
        cost += REPEATED + REPEATED_RUN * started + cell * made + memory_cost(made * source.item)
    return cost


def _matmul(_: Instruction, sources: Arrays, result: Strided) -> float:
    """Return the cost of products of matrices or vectors, over the last two axes."""
    left, right = sources
    rows = left.shape[-2] if len(left.shape) > 1 else 1
    columns = right.shape[-1] if len(right.shape) > 1 else 1
    inner, dtype = left.shape[-1], result.dtype or "float64"
    count = prod(result.shape) // (rows * columns)
    matrix = right if rows == 1 else left
    axis = -2 if matrix is right and len(right.shape) > 1 else -1
    is_by_dots = abs(matrix.strides[axis]) == 1
    cost = product_cost(count, rows, inner, columns, dtype, is_by_dots=is_by_dots)
    for array in sources:
        last = zip(array.shape[-2:], array.strides[-2:], strict=True)
        passes = count // max(1, prod(array.shape[:-2]))
        cost += passes * read_cost(prod(array.shape), [abs(step) for size, step in last if size != 1], dtype)
    written = WRITTEN * width(dtype) * result.cells if rows > 1 and columns > 1 else 0.0
    return cost + written + _beyond_caches([left, right, result])


def _integer_matmul(instruction: Instruction, sources: Arrays, result: Strided) -> float:
    """Return the cost of an exact product of integers through floats."""
    cells = sum(source.cells for source in sources)
    casts = cast_cost(cells + prod(result.shape), "float64")
    left, right, made = (array._replace(dtype="float64") for array in (*sources, result))
    return BOUNDS + BOUND * cells + casts + _matmul(instruction, [left, right], made)


def _vecdot(_: Instruction, sources: Arrays, result: Strided) -> float:
    dtype = result.dtype or "float64"
    return vecdot_cost(prod(result.shape), sources[0].shape[-1], dtype) + _beyond_caches(sources)


def _einsum(instruction: Instruction, sources: Arrays, result: Strided) -> float:
    """Return the cost of NumPy's C loop."""
    sizes: dict[str, int] = {}
    steps: list[dict[str, int]] = []
    for letters, source in zip(instruction.letters, sources, strict=False):
        steps.append({})
        for letter, size, step in zip(map(str, letters), source.shape, source.strides, strict=True):
            sizes[letter] = size
            steps[-1][letter] = steps[-1].get(letter, 0) + abs(step)
    kept = list(map(str, instruction.letters[-1]))
    return loop_cost(sizes, steps, kept, result.dtype or "float64") + _beyond_caches(sources)


def _beyond_caches(arrays: Arrays) -> float:
    """Return the extra cost of main memory if arrays are larger than the caches."""
    return main_cost(sum(array.size for array in arrays))


def _pointwise(instruction: Instruction, sources: Arrays, result: Strided) -> float:
    numbers = [number for number in instruction.constants if number is not None]
    return FOLDED if instruction.is_weak else function_cost(instruction.function, numbers, sources, result)


def _fused(block: Instruction, sources: Arrays, _: Strided) -> float:
    """Return the cost of functions and a reduction, block by block."""
    tiles = tuple(min(pair) for pair in zip(block.tiles, block.shape, strict=True))
    count = prod(-(-size // tile) for size, tile in zip(block.shape, tiles, strict=True) if tile)
    cut = [axis for axis, tile in enumerate(tiles) if tile < block.shape[axis]]
    cost = TURN + sum(PART for source in sources if any(source.shape and source.shape[a] > 1 for a in cut))
    # A number has no axes, so that all of it is part of every block.
    parts = [source._replace(shape=tuple(map(min, source.shape, tiles))) for source in sources]
    for step in block.steps:
        arrays = [parts[source] for source in step.sources]
        numbers = [number for number in step.constants if number is not None]
        made = row_major(broadcast(*[array.shape for array in arrays]), step.dtype)
        cost += function_cost(step.function or step.primitive, numbers, arrays, made)
        parts.append(made)
    cost += _reduced(block, [parts[factor] for factor in block.factors], tiles) if block.function else PART
    moved = sum(source.size for source in sources)
    moved += prod(size for axis, size in enumerate(block.shape) if axis not in block.axes) * 8
    return MADE + count * cost + memory_cost(moved)


def _reduced(block: Instruction, factors: Arrays, tiles: Shape) -> float:
    """Return the cost of the reduction of a block: of one value, or of the product of several."""
    axes = range(len(tiles))
    kept = [axis for axis in axes if axis not in block.axes]
    cells = prod(tiles[axis] for axis in kept)
    placing = PART + ufunc_cost("add") + cells * 0.1
    dtype = block.dtype or "float64"
    if len(factors) == 1:
        value = factors[0] if len(factors[0].shape) == len(tiles) else factors[0].over(tiles)
        return placing + reduce_cost("sum" if block.function == "mean" else block.function, value, block.axes)
    if block.axes == (axes[-1],) and len(factors) == 2 and all(factor.shape for factor in factors):  # noqa: PLR2004
        return placing + vecdot_cost(cells, tiles[-1], dtype)
    sizes = {str(axis): tiles[axis] for axis in axes}
    steps = [
        {str(axis): abs(factor.strides[axis]) if size != 1 else 0 for axis, size in enumerate(factor.shape)}
        for factor in factors
    ]
    return placing + loop_cost(sizes, steps, list(map(str, kept)), dtype)


def _divide(instruction: Instruction, sources: Arrays, result: Strided) -> float:
    return function_cost("true_divide", instruction.constants, sources, result)


def _sum(instruction: Instruction, sources: Arrays, _: Strided) -> float:
    return reduce_cost("sum", sources[0], instruction.axes, instruction.dtype)


def _reduce(instruction: Instruction, sources: Arrays, _: Strided) -> float:
    ndim = len(sources[0].shape)
    return reduce_cost(instruction.function, sources[0], [axis % ndim for axis in instruction.axes])


def _windows(instruction: Instruction, sources: Arrays, result: Strided) -> float:
    from nameexpr.backends.numpy.costs.windows import COSTS

    return COSTS[instruction.primitive](instruction, sources, result)


def _apply(_: Instruction, sources: Arrays, __: Strided) -> float:
    return APPLIED + reduce_cost("sum", sources[0], (len(sources[0].shape) - 1,))


COSTS: Mapping[Primitive, float | Callable[[Instruction, Arrays, Strided], float]] = {
    **AT_POSITIONS,
    "along_axes": lambda instruction, sources, _: along_cost(instruction, sources[0]),
    "apply": _apply,
    "arange": lambda instruction, *_: COUNTED + COUNTED_CELL * instruction.shape[0],
    "as_complex": 840.0,
    "as_real": 270.0,
    "cast": _cast,
    "constant": 115.0,
    "copy": _copy,
    "diagonal": 670.0,
    "divide": _divide,
    "dot": _matmul,
    "einsum": _einsum,
    "embed": _embed,
    "full": _full,
    "fused": _fused,
    "integer_matmul": _integer_matmul,
    "concatenate": _join,
    "item": 30.0,
    "matmul": _matmul,
    "multiply": lambda _, sources, made: function_cost("multiply", (), sources, made),
    "ones": 30.0,
    "output": 30.0,
    "pointwise": _pointwise,
    "reduce": _reduce,
    "repeat": _repeat,
    "reshape": _reshape,
    "slices": lambda instruction, sources, _: slices_cost(instruction, sources[0]),
    "sum": _sum,
    "transpose": VIEW,
    "vecdot": _vecdot,
    "window": WINDOW,
    **dict.fromkeys(("window_multiply", "window_reduce", "window_weigh"), _windows),
}
"""The cost of each primitive: a constant, or a function of its arrays; without a row, that of a copy."""
