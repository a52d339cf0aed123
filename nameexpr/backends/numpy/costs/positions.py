"""The cost of reading at positions that are data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from nameexpr.backends.numpy.costs.calls import NumpyCosts
from nameexpr.backends.numpy.costs.passes import far_cost, memory_cost
from nameexpr.backends.numpy.costs.strided import Strided
from nameexpr.compiler.ir.program import Instruction, Primitive

CALLED = 600.0
"""A call that reads."""
TAKEN, TAKEN_BYTE, INDEXED = 0.5, 0.02, 5.0
"""Reading one run of elements at a position, and one byte of it; a run where the array is indexed."""
BINNED, COUNTED = 0.4, 2500.0
"""Finding the bin of one element; a call that counts."""
INSPECTED, INSPECTED_CELL = 1200.0, 0.16
"""Checking positions, and one of them."""


def inside_cost(costs: NumpyCosts, _: Instruction, sources: Sequence[Strided], __: Strided) -> float:
    """Return the cost of checking that positions are inside a dim."""
    return costs.profile.per_call * (INSPECTED + INSPECTED_CELL * sources[0].cells)


def take_cost(
    costs: NumpyCosts, instruction: Instruction, sources: Sequence[Strided], result: Strided
) -> float:
    """Return the cost of reading runs of elements at positions; far apart if the array exceeds the caches."""
    source, *places = sources
    count = max([1, *[place.cells for place in places]])
    runs = count * prod(source.shape[: instruction.axes[0]])
    run = max(1, result.cells // max(1, runs))
    profile = costs.profile
    each = (INDEXED if instruction.function else TAKEN) * profile.per_call + far_cost(profile, source, run)
    moved = result.cells * result.item * TAKEN_BYTE * profile.per_call
    return CALLED * profile.per_call + runs * each + moved + memory_cost(profile, result.size)


def bins_cost(costs: NumpyCosts, instruction: Instruction, _: Sequence[Strided], __: Strided) -> float:
    """Return the cost of finding the bins of elements."""
    cells = prod(instruction.shape)
    each = BINNED if len(instruction.constants) == 1 else BINNED * 6
    return costs.profile.per_call * (INSPECTED + cells * each)


def scatter_cost(
    costs: NumpyCosts, instruction: Instruction, sources: Sequence[Strided], __: Strided
) -> float:
    """Return the cost of combining rows by their bins."""
    rows, bins = sources[0].cells, instruction.shape[0]
    if len(sources) == 1:
        return costs.profile.per_call * (COUNTED + rows * BINNED * 3)
    method = instruction.function if instruction.function.startswith("by_") else "sum"
    return costs.scatter_cost(method, rows, sources[1].shape[1], bins, instruction.dtype)


Rule = Callable[[NumpyCosts, Instruction, Sequence[Strided], Strided], float]
AT_POSITIONS: Mapping[Primitive, Rule] = {
    "bins": bins_cost,
    "inside": inside_cost,
    "scatter": scatter_cost,
    "take": take_cost,
}
"""The cost of each primitive that reads or writes at positions."""
