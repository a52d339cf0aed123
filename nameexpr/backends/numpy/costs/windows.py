"""The cost of instructions that work on windows, in nanoseconds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from nameexpr.backends.numpy.costs.calls import NumpyCosts
from nameexpr.backends.numpy.costs.passes import cell_cost, memory_cost
from nameexpr.backends.numpy.costs.strided import Strided
from nameexpr.compiler.ir.program import Instruction
from nameexpr.compiler.ir.rolling import BLOCK, copied_cells, doubles, move_of, passes_of
from nameexpr.compiler.ir.strides import of_window
from nameexpr.ops import REDUCTIONS

ROLLING = 8000.0
"""Windows of an axis, not counting their combinations."""
WINDOWS = 12000.0
"""Windows times a matrix, or weights, not counting copies and products."""
FARTHER = 3.0
"""How many times longer an element takes that is not adjacent to the previous one."""


def rolling_cost(
    costs: NumpyCosts, instruction: Instruction, sources: Sequence[Strided], result: Strided
) -> float:
    """Return the cost of windows, combined directly or doubling in size, along one axis after the other."""
    profile, shape = costs.profile, list(sources[0].shape)
    cell = cell_cost(profile, REDUCTIONS[instruction.function].combine, (result.dtype,) * 2, result.dtype)
    moved = memory_cost(profile, sources[0].size + result.cells * result.item)
    cost = ROLLING * profile.per_call + moved
    for axis, window in zip(instruction.axes, instruction.letters, strict=True):
        stride, _, count = move_of(window)
        shape[axis] = size = result.shape[axis]
        is_doubled = doubles(stride, count, size)
        cells = prod(shape) * (stride if is_doubled else 1)
        passes = passes_of(count) if is_doubled else count - 1
        cost += passes * (-(-cells // BLOCK) * costs.call_cost("slice") + cells * cell)
    return cost


def multiplied_cost(
    costs: NumpyCosts, instruction: Instruction, sources: Sequence[Strided], result: Strided
) -> float:
    """Return the cost of windows that are copied in blocks and multiplied with a matrix."""
    kept, shape = instruction.kept, instruction.shape
    steps = dict(zip(map(str, range(len(shape))), _steps(instruction, sources[0]), strict=True))
    sizes, order = dict(zip(steps, shape, strict=True)), [*steps]
    orders = order, [*order[kept:], *order[:kept]]
    copy = min(costs.copy_cost(sizes, steps, own, result.dtype) for own in orders)
    rows, inner = prod(shape[:kept]), prod(shape[kept:])
    blocks = -(-rows * inner // max(1, copied_cells(shape, kept, result.item)))
    is_exact = result.dtype in ("int64", "uint64")
    dtype = "float64" if is_exact else result.dtype or "float64"
    product = costs.product_cost(1, rows, inner, result.shape[-1], dtype, is_by_dots=True)
    copy += costs.cast_cost(rows * inner, dtype) if is_exact else 0.0
    moved = memory_cost(costs.profile, sources[0].size + result.size)
    calls = blocks * (costs.call_cost("copy") + costs.call_cost("matmul"))
    return WINDOWS * costs.profile.per_call + copy + product + calls + moved


def weighed_cost(
    costs: NumpyCosts, instruction: Instruction, sources: Sequence[Strided], result: Strided
) -> float:
    """Return the cost of windows whose elements are multiplied and added one after the other."""
    kept = instruction.kept
    taps, blocks = prod(instruction.shape[kept:]), -(-result.cells // BLOCK)
    each = cell_cost(costs.profile, "multiply", (result.dtype,) * 2, result.dtype)
    each += cell_cost(costs.profile, "add", (result.dtype,) * 2, result.dtype)
    is_near = 1 in {abs(step) for step in _steps(instruction, sources[0])[:kept]}
    each *= 1 if is_near else FARTHER
    once = 2 * blocks * costs.call_cost("slice") + result.cells * each
    return WINDOWS * costs.profile.per_call + taps * once


def _steps(instruction: Instruction, source: Strided) -> tuple[int, ...]:
    return of_window(instruction, [(source.shape, source.strides)], instruction.shape)


COSTS: Mapping[str, Callable[[NumpyCosts, Instruction, Sequence[Strided], Strided], float]] = {
    "window_multiply": multiplied_cost,
    "window_reduce": rolling_cost,
    "window_weigh": weighed_cost,
}
"""The cost of each primitive."""
