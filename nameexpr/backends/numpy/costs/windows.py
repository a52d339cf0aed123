"""The cost of instructions that work on windows, in nanoseconds."""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.backends.numpy.costs.calls import CALL
from nameexpr.backends.numpy.costs.passes import Strided, cell_cost, memory_cost
from nameexpr.compiler.ir.program import Instruction
from nameexpr.compiler.ir.rolling import BLOCK, doubles, grid_of, passes_of
from nameexpr.ops import REDUCTIONS

ROLLING = 8000.0
"""Windows of an axis, not counting their combinations."""


def rolling_cost(instruction: Instruction, sources: Sequence[Strided], result: Strided) -> float:
    """Return the cost of windows of one axis, combined directly or doubling in size."""
    (axis,), (window,) = instruction.axes, instruction.letters
    (stride, _), count, size = grid_of(window), window[3], result.shape[axis]
    is_doubled = doubles(stride, count, size)
    passes = passes_of(count) if is_doubled else count - 1
    cells = result.cells * (stride if is_doubled else 1)
    blocks = -(-cells // BLOCK)
    cell = cell_cost(REDUCTIONS[instruction.function].combine, (result.dtype,) * 2, result.dtype)
    moved = memory_cost(sources[0].size + result.cells * result.item)
    return ROLLING + passes * (blocks * CALL["slice"] + cells * cell) + moved
