"""The cost of each primitive in nanoseconds, from the arrays that it reads and the one that it creates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from nameexpr.backends.numpy.costs import Profile
from nameexpr.backends.numpy.costs.blocks import MADE, PART, fused_cost
from nameexpr.backends.numpy.costs.calls import NumpyCosts, width
from nameexpr.backends.numpy.costs.passes import (
    cell_cost,
    far_cost,
    function_cost,
    main_cost,
    memory_cost,
    pass_cost,
)
from nameexpr.backends.numpy.costs.positions import AT_POSITIONS, Rule
from nameexpr.backends.numpy.costs.reductions import along_cost, reduce_cost, slices_cost
from nameexpr.backends.numpy.costs.strided import Strided, row_major
from nameexpr.compiler.ir.dtypes import ITEM_BYTES, exact_reciprocal
from nameexpr.compiler.ir.placing import pieces_of
from nameexpr.compiler.ir.program import Instruction, Primitive
from nameexpr.compiler.ir.strides import is_dense, reshaped
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
BOUNDS, BOUND = 4700.0, 0.2
"""Finding the largest magnitude of integers, and one integer of that."""
FOLDED = 1900.0
"""A function of numbers alone."""
EMBEDDED, PLACED = 3100.0, 0.5
"""Writing an array into zeros, not counting their creation, and one element of it."""
COUNTED, COUNTED_CELL = 260.0, 0.35
"""Creating `arange`, and one element of it."""
APPLIED = 3000.0
"""Calling a caller's reducer, which is assumed to be as fast as a sum."""
PRODUCTS = frozenset({"dot", "integer_matmul", "matmul", "multiply", "tiny_matmul", "vecdot"})


def instruction_cost(costs: NumpyCosts, instruction: Instruction, sources: Arrays, result: Strided) -> float:
    """Return the cost of one instruction other than a loop, from the arrays it reads and the one it
    creates.
    """
    if instruction.primitive in PRODUCTS and not all(array.cells for array in (*sources, result)):
        return costs.profile.matmul_call
    rule = COSTS.get(instruction.primitive, _one_copy)
    if isinstance(rule, float):
        return rule * costs.profile.per_call
    return rule(costs, instruction, sources, result)


def _filled(profile: Profile, size: int) -> float:
    """Return the cost of creating an array of `size` bytes with one value."""
    return FILL * profile.per_call + BYTE * profile.per_cell * size + memory_cost(profile, size)


def _one_copy(costs: NumpyCosts, _: Instruction, sources: Arrays, result: Strided) -> float:
    if sources:
        return _row_major(costs, sources[0])
    return _filled(costs.profile, result.cells * result.item)


def _full(costs: NumpyCosts, instruction: Instruction, _: Arrays, __: Strided) -> float:
    return _filled(costs.profile, prod(instruction.shape) * ITEM_BYTES.get(instruction.dtype, 8))


def _embed(costs: NumpyCosts, instruction: Instruction, sources: Arrays, _: Strided) -> float:
    placed = prod(dict(zip(instruction.letters[1], instruction.shape, strict=True)).values())
    profile = costs.profile
    filled = _filled(profile, prod(instruction.shape) * sources[0].item)
    return EMBEDDED * profile.per_call + filled + placed * PLACED * profile.per_call


def _join(costs: NumpyCosts, instruction: Instruction, _: Arrays, result: Strided) -> float:
    profile, cells = costs.profile, [prod(piece.lengths) for piece in instruction.pieces]
    moved = sum(cells) - sum(prod(pieces_of(instruction)[at].lengths) for at in instruction.factors)
    cost = _filled(profile, result.size) if sum(cells) < result.cells else MADE * profile.per_call
    cost += (PART + COPIED) * profile.per_call * (len(cells) - len(instruction.factors))
    return cost + PLACED * profile.per_call * moved + memory_cost(profile, moved * result.item)


def _cast(costs: NumpyCosts, instruction: Instruction, sources: Arrays, _: Strided) -> float:
    (source,), profile = sources, costs.profile
    cell, made = cell_cost(profile, "cast", (source.dtype,), instruction.dtype), instruction.dtype
    moved = pass_cost(profile, source.shape, source._replace(dtype=made), sources, cell)
    return COPIED * profile.per_call + moved


def _reshape(costs: NumpyCosts, instruction: Instruction, sources: Arrays, _: Strided) -> float:
    (source,) = sources
    if reshaped(source.shape, source.strides, instruction.shape) is None:
        return _row_major(costs, source)
    return VIEW * costs.profile.per_call


def _copy(costs: NumpyCosts, instruction: Instruction, sources: Arrays, _: Strided) -> float:
    (source,) = sources
    is_kept = instruction.function == "row_major" and is_dense(source.shape, source.strides)
    return VIEW * costs.profile.per_call if is_kept else _row_major(costs, source)


def _row_major(costs: NumpyCosts, source: Strided) -> float:
    """Return the cost of a row-major copy; arrays larger than the caches are read and written more slowly."""
    axes = [str(axis) for axis in range(len(source.shape))]
    sizes, steps = dict(zip(axes, source.shape, strict=True)), dict(zip(axes, source.strides, strict=True))
    cells = prod(source.shape)
    inner = next((steps[axis] for axis in reversed(axes) if sizes[axis] != 1), 1)
    profile = costs.profile
    cost = costs.copy_cost(sizes, steps, axes, source.dtype) - profile.copy_call + COPIED * profile.per_call
    return cost + far_cost(profile, source, inner) * cells + main_cost(profile, 2 * cells * source.item)


def _repeat(costs: NumpyCosts, instruction: Instruction, sources: Arrays, _: Strided) -> float:
    """Return the cost of `copies.repeated`: along one axis after the other, or in one copy."""
    (source,), shape, profile = sources, instruction.shape, costs.profile
    call = REPEATED * profile.per_call
    sizes = [1] * (len(shape) - len(source.shape)) + list(source.shape)
    axes = [axis for axis, size in enumerate(shape) if sizes[axis] != size]
    run = prod(shape[axes[-1] + 1 :]) if axes else 1
    if not is_dense(source.shape, source.strides) or not axes or (len(axes) > 1 and run * source.item >= RUN):
        made = row_major(shape, source.dtype)
        return call + pass_cost(profile, shape, made, [source], profile.copy_cell, profile.copy_run)
    cost, cell = 0.0, (REPEATED_CELL[0] + REPEATED_CELL[1] * width(source.dtype)) * profile.per_cell
    for axis in reversed(axes):
        started = prod(sizes[: axis + 1])
        sizes[axis] = shape[axis]
        cells = prod(sizes)
        cost += call + REPEATED_RUN * profile.per_call * started + cell * cells
        cost += memory_cost(profile, cells * source.item)
    return cost


def _matmul(costs: NumpyCosts, _: Instruction, sources: Arrays, result: Strided) -> float:
    """Return the cost of products of matrices or vectors, over the last two axes."""
    left, right = sources
    rows = left.shape[-2] if len(left.shape) > 1 else 1
    columns = right.shape[-1] if len(right.shape) > 1 else 1
    inner, dtype = left.shape[-1], result.dtype or "float64"
    count = prod(result.shape) // (rows * columns)
    matrix = right if rows == 1 else left
    axis = -2 if matrix is right and len(right.shape) > 1 else -1
    is_by_dots = abs(matrix.strides[axis]) == 1
    is_turned = len(right.shape) > 1 and abs(right.strides[-2]) == 1 == abs(left.strides[-1])
    cost = costs.product_cost(count, rows, inner, columns, dtype, is_by_dots=is_by_dots, is_turned=is_turned)
    reads = [
        _reading(costs, left, (-2, -1), count, dtype, is_swept=columns == 1),
        _reading(costs, right, (-1, -2), count, dtype, is_swept=rows == 1),
    ]
    cost += max(reads) if rows == columns == 1 else sum(reads)
    return cost + _beyond_caches(costs, [left, right, result])


def _reading(
    costs: NumpyCosts, array: Strided, axes: Sequence[int], count: int, dtype: str, *, is_swept: bool
) -> float:
    """Return the extra cost of reading the matrices or vectors of an array, whose summed axis is the last of
    `axes`.
    """
    passes = count // max(1, prod(array.shape[:-2]))
    real = [axis for axis in axes if -axis <= len(array.shape) and array.shape[axis] != 1]
    ends = [abs(array.strides[axis]) for axis in real]
    return passes * costs.read_cost(prod(array.shape), ends, dtype, is_swept=is_swept)


def _integer_matmul(costs: NumpyCosts, instruction: Instruction, sources: Arrays, result: Strided) -> float:
    """Return the cost of an exact product of integers through floats."""
    cells = sum(source.cells for source in sources)
    casts = costs.cast_cost(cells + prod(result.shape), "float64")
    left, right, made = (array._replace(dtype="float64") for array in (*sources, result))
    bounds = BOUNDS * costs.profile.per_call + BOUND * costs.profile.per_cell * cells
    return bounds + casts + _matmul(costs, instruction, [left, right], made)


def _vecdot(costs: NumpyCosts, _: Instruction, sources: Arrays, result: Strided) -> float:
    dtype = result.dtype or "float64"
    cost = costs.vecdot_cost(prod(result.shape), sources[0].shape[-1], dtype)
    return cost + _beyond_caches(costs, sources)


def _tiny_matmul(costs: NumpyCosts, _: Instruction, sources: Arrays, result: Strided) -> float:
    (count, rows, columns), inner = result.shape, sources[0].shape[2]
    copied = sum(prod(source.shape[1:]) for source in sources if abs(source.strides[0]) != 1)
    cost = costs.tiny_cost(count, rows, inner, columns, copied, result.dtype or "float64")
    return cost + _beyond_caches(costs, [*sources, result])


def _einsum(costs: NumpyCosts, instruction: Instruction, sources: Arrays, result: Strided) -> float:
    """Return the cost of NumPy's C loop."""
    sizes: dict[str, int] = {}
    steps: list[dict[str, int]] = []
    for letters, source in zip(instruction.letters, sources, strict=False):
        steps.append({})
        for letter, size, step in zip(map(str, letters), source.shape, source.strides, strict=True):
            sizes[letter] = size
            steps[-1][letter] = steps[-1].get(letter, 0) + abs(step)
    kept = list(map(str, instruction.letters[-1]))
    cost = costs.loop_cost(sizes, steps, kept, result.dtype or "float64")
    return cost + _beyond_caches(costs, sources)


def _beyond_caches(costs: NumpyCosts, arrays: Arrays) -> float:
    """Return the extra cost of memory if arrays are larger than the caches."""
    size = sum(array.size for array in arrays)
    return costs.stream_cost(size) + main_cost(costs.profile, size)


def _pointwise(costs: NumpyCosts, instruction: Instruction, sources: Arrays, result: Strided) -> float:
    numbers = [number for number in instruction.constants if number is not None]
    if instruction.is_weak:
        return FOLDED * costs.profile.per_call
    return function_cost(costs.profile, instruction.function, numbers, sources, result)


def _divide(costs: NumpyCosts, instruction: Instruction, sources: Arrays, result: Strided) -> float:
    factor = exact_reciprocal(instruction.constants[0], instruction.dtype)
    kernel = "true_divide" if factor is None else "multiply"
    return function_cost(costs.profile, kernel, instruction.constants, sources, result)


def _sum(costs: NumpyCosts, instruction: Instruction, sources: Arrays, _: Strided) -> float:
    return reduce_cost(costs, "sum", sources[0], instruction.axes, instruction.dtype)


def _reduce(costs: NumpyCosts, instruction: Instruction, sources: Arrays, _: Strided) -> float:
    ndim = len(sources[0].shape)
    return reduce_cost(costs, instruction.function, sources[0], [axis % ndim for axis in instruction.axes])


def _windows(costs: NumpyCosts, instruction: Instruction, sources: Arrays, result: Strided) -> float:
    from nameexpr.backends.numpy.costs.windows import COSTS

    return COSTS[instruction.primitive](costs, instruction, sources, result)


def _apply(costs: NumpyCosts, _: Instruction, sources: Arrays, __: Strided) -> float:
    own = reduce_cost(costs, "sum", sources[0], (len(sources[0].shape) - 1,))
    return APPLIED * costs.profile.per_call + own


COSTS: Mapping[Primitive, float | Rule] = {
    **AT_POSITIONS,
    "along_axes": lambda costs, instruction, sources, _: along_cost(costs, instruction, sources[0]),
    "apply": _apply,
    "arange": lambda costs, instruction, *_: (
        (COUNTED + COUNTED_CELL * instruction.shape[0]) * costs.profile.per_call
    ),
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
    "fused": fused_cost,
    "integer_matmul": _integer_matmul,
    "concatenate": _join,
    "item": 30.0,
    "matmul": _matmul,
    "multiply": lambda costs, _, sources, made: function_cost(costs.profile, "multiply", (), sources, made),
    "ones": 30.0,
    "output": 30.0,
    "pointwise": _pointwise,
    "reduce": _reduce,
    "repeat": _repeat,
    "reshape": _reshape,
    "slices": lambda costs, instruction, sources, _: slices_cost(costs, instruction, sources[0]),
    "sum": _sum,
    "tiny_matmul": _tiny_matmul,
    "transpose": VIEW,
    "vecdot": _vecdot,
    "window": WINDOW,
    **dict.fromkeys(("window_multiply", "window_reduce", "window_weigh"), _windows),
}
"""The cost of each primitive: a constant, or a function of its arrays; without a row, that of a copy."""
