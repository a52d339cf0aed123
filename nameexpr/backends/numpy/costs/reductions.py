"""The costs of reductions and functions along axes in nanoseconds: those of kernels with several passes are
added up.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import log2, prod
from typing import NamedTuple

from nameexpr.backends.numpy.costs.calls import NumpyCosts, width
from nameexpr.backends.numpy.costs.passes import CONVERTED, HALF, cell_cost, pass_cost
from nameexpr.backends.numpy.costs.strided import Strided, row_major, runs
from nameexpr.compiler.ir.normalising import block_of
from nameexpr.compiler.ir.program import Instruction
from nameexpr.compiler.ir.strides import one_by_one

REDUCE = 750.0
"""A call of a ufunc's reduction."""
ALONG: Mapping[str, float] = {"sum": 0.147, "max": 0.055, "min": 0.055, "prod": 0.73}
"""One element, if the elements of a run are combined."""
COMPLEX: Mapping[str, float] = {"max": 2.2, "min": 2.2, "prod": 4.2}
"""The same for complex numbers; a sum takes twice the time of floats."""
ACROSS = 0.11
"""One element of 8 bytes, if whole runs are combined with each other."""
LOGICAL, FLAG = 0.2, 0.02
"""One element that is only compared with 0, if about half of a run suffices; the same for a bool."""
STARTED = {"max": 2, "min": 2}
"""The number of times that starting a run takes longer than for a sum."""
ROWS = 1 << 16
"""The number of elements that kernels of reducers process at a time."""
CUMULATED = 2.9, 0.5
"""One element of cumulative sums: of floats, and of integers."""
CROWDED, APART, MANY = 6.5, 512, 128
"""The extra cost across memory, if elements at this distance in bytes compete for sets of the cache."""
SORTED_RUN, SORTED, MOVED, RANKED = 22.0, 0.2, 2.5, 5.0
"""Starting to sort a run; one element, for each doubling of the run; copying one element to a run and back,
if runs are not contiguous.
"""


class Kernel(NamedTuple):
    """A reducer's kernel: the cost of a call, the numbers of sums and maxima, and the other costs of an
    element and of a result.
    """

    call: float
    sums: int
    maxima: int
    cell: float
    result: float


KERNELS: Mapping[str, Kernel] = {
    "var": Kernel(4750.0, 2, 0, 0.35, 2.0),
    "std": Kernel(5030.0, 2, 0, 0.35, 3.0),
    "norm": Kernel(1600.0, 1, 0, 0.12, 1.0),
    "logsumexp": Kernel(6080.0, 1, 1, 0.7, 5.0),
    "count_nonzero": Kernel(1970.0, 1, 0, 0.28, 0.0),
}
MEDIAN, MEDIAN_RUN, MEDIAN_CELL = 9000.0, 60.0, 8.0
ARGMAX, ARGMAX_RUN, ARGMAX_CELL = 210.0, 4.5, 0.09


def reduce_cost(
    costs: NumpyCosts, reducer: str, source: Strided, axes: Collection[int], dtype: str | None = None
) -> float:
    """Return the cost of one of the language's reducers over axes of an array; `dtype` is that of the sum, if
    different.
    """
    call, each = costs.profile.per_call, costs.profile.per_cell
    if not source.cells:
        return REDUCE * call
    length = prod(source.shape[axis] for axis in axes)
    if reducer == "median":
        blocks = max(1, source.cells // ROWS) if length < source.cells else 1
        run, cell = MEDIAN_RUN * call, MEDIAN_CELL * call
        return MEDIAN * call * blocks + _by_rows(costs, source, axes, run, cell, 1.2)
    if reducer in {"argmax", "argmin"}:
        return ARGMAX * call + _by_rows(costs, source, axes, ARGMAX_RUN * call, ARGMAX_CELL * each)
    if reducer not in KERNELS:
        return REDUCE * call + _combined(costs, reducer, source, axes, dtype)
    kernel, cells = KERNELS[reducer], source.cells
    made = cells // max(1, length)
    calls = max(1, cells // ROWS if made > 1 else 1)
    own = kernel.call * call * calls + cells * kernel.cell * each + made * kernel.result * each
    own += kernel.sums * _combined(costs, "sum", source, axes)
    return own + (_combined(costs, "max", source, axes) if kernel.maxima else 0.0)


def _combined(
    costs: NumpyCosts, reducer: str, source: Strided, axes: Collection[int], dtype: str | None = None
) -> float:
    """Return the cost of a ufunc's reduction without its call."""
    result = _kept(source, axes)
    _, (_, made) = runs(source.shape, [source, result])
    if reducer in {"any", "all"}:
        cell = FLAG if source.dtype == "bool" else LOGICAL
    elif made == 0:
        cell = ALONG.get(reducer, ALONG["sum"])
    else:
        cell = ACROSS * width(source.dtype)
    if dtype and dtype != source.dtype:
        cell += CONVERTED
    if source.dtype == "float16":
        cell += HALF / (1 if made and reducer in {"sum", "prod"} else 2)
    if source.dtype.startswith("complex"):
        cell *= 2 if reducer == "sum" or made else 1
        cell = cell if made else COMPLEX.get(reducer, cell)
    profile = costs.profile
    started = STARTED.get(reducer, 1) * profile.sum_run
    return pass_cost(profile, source.shape, result, [source], cell * profile.per_cell, started)


def _kept(source: Strided, axes: Collection[int]) -> Strided:
    """Return a fresh array of the kept axes, in the order of memory, broadcast along the others."""
    strides, step = [0] * len(source.shape), 1
    for axis in sorted(range(len(source.shape)), key=lambda axis: abs(source.strides[axis])):
        if axis not in axes:
            strides[axis] = step
            step *= source.shape[axis]
    return source._replace(strides=tuple(strides))


def _by_rows(
    costs: NumpyCosts, source: Strided, axes: Collection[int], run: float, cell: float, complex_: float = 5.0
) -> float:
    """Return the cost of a function that processes one run after the other; strided runs are copied first.

    An element of complex numbers takes `complex_` times as long.
    """
    length = max(1, prod(source.shape[axis] for axis in axes))
    is_apart = 1 not in {abs(source.strides[axis]) for axis in axes if source.shape[axis] != 1}
    copied = copied_cost(costs, source) if is_apart and length > 1 else 0.0
    if source.dtype == "float16":
        cell += HALF
    if source.dtype.startswith("complex"):
        cell *= complex_
    return copied + source.cells / length * run + source.cells * cell


def copied_cost(costs: NumpyCosts, source: Strided) -> float:
    """Return the cost of copying the elements to row-major order."""
    profile, made = costs.profile, row_major(source.shape, source.dtype)
    return pass_cost(profile, source.shape, made, [source], profile.copy_cell, profile.copy_run)


def slices_cost(costs: NumpyCosts, instruction: Instruction, source: Strided) -> float:
    """Return the cost of combining slices, axis after axis."""
    cost, profile = costs.call_cost("slices"), costs.profile
    cell = cell_cost(profile, "add", (source.dtype,) * 2, source.dtype)
    for axis in one_by_one(instruction.axes):
        shape, strides = (values[:axis] + values[axis + 1 :] for values in source[:2])
        part, made = Strided(shape, strides, source.dtype), row_major(shape, source.dtype)
        once = costs.call_cost("slice") + pass_cost(profile, shape, made, [part, part], cell)
        cost += (source.shape[axis] - 1) * once
        source = made
    return cost


def along_cost(costs: NumpyCosts, instruction: Instruction, source: Strided) -> float:
    """Return the cost of softmax, cumulative sums, sorting and the like."""
    cells, profile = source.cells, costs.profile
    call = profile.per_call
    reduce = REDUCE * call
    if not cells:
        return reduce
    cast = cells * CONVERTED * profile.per_cell if instruction.dtype else 0.0
    if instruction.function in {"softmax", "log_softmax"}:
        return cast + _normalised(costs, source, instruction.axes)
    length = max(1, prod(source.shape[axis] for axis in instruction.axes))
    is_across = all(abs(source.strides[axis]) != 1 for axis in instruction.axes)
    if instruction.function == "sort":
        each = (SORTED * log2(max(2, length)) + MOVED * is_across) * width(source.dtype)
        return cast + reduce + call * (cells / length * SORTED_RUN + cells * each)
    if instruction.function == "argsort":
        each = RANKED * log2(max(2, length)) + MOVED * is_across
        return cast + reduce + call * (cells / length * SORTED_RUN + cells * each)
    if instruction.function in {"cumsum", "cumprod", "cummax", "cummin"}:
        each = CUMULATED["int" in source.dtype or source.dtype == "bool"]
        step = max(abs(source.strides[axis]) for axis in instruction.axes) * source.item
        each += CROWDED if is_across and length > MANY and step % APART == 0 else 0.0
        return cast + reduce + cells / length * profile.sum_run + cells * each * call
    moved = 0.0 if is_across else cells * profile.copy_cell
    return cast + 2 * reduce + copied_cost(costs, source) + moved


def _normalised(costs: NumpyCosts, source: Strided, axes: Collection[int]) -> float:
    """Return the cost of the blocks of a softmax."""
    shape = block_of(source.shape, source.strides, axes)
    count = prod([-(-size // step) for size, step in zip(source.shape, shape, strict=True)])
    block = source._replace(shape=shape)
    kept = _kept(block, axes)
    target = block._replace(strides=row_major(source.shape, source.dtype).strides)
    cost = reduce_cost(costs, "max", block, axes) + reduce_cost(costs, "sum", target, axes)
    profile = costs.profile
    for kernel, others in (("subtract", [block, kept]), ("exp", []), ("true_divide", [kept])):
        cell = cell_cost(profile, kernel, (source.dtype,), source.dtype)
        cost += pass_cost(profile, block.shape, target, [target, *others], cell)
    reduce = REDUCE * profile.per_call
    return 2 * reduce + count * (cost + reduce)
