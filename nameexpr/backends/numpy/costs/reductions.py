"""What reductions and functions along axes take, in nanoseconds: kernels of several passes are added up."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import log2, prod

from nameexpr.backends.numpy.costs import estimate as costs
from nameexpr.backends.numpy.costs.cells import CONVERTED, Array, fresh, pass_nanos, runs
from nameexpr.backends.numpy.costs.functions import HALF, cell_nanos
from nameexpr.compiler.ir.program import Instruction

CALL = 750.0
ALONG: Mapping[str, float] = {"sum": 0.147, "max": 0.055, "min": 0.055, "prod": 0.73}
"""One cell, where the runs are what is combined."""
ACROSS = 0.11
"""One cell of 8 bytes, where whole runs are combined with one another."""
LOGICAL = 0.2
"""One cell that is only asked whether it is 0, if half of a run tells, about."""
FLAG = 0.02
"""The same of a bool."""
STARTED: Mapping[str, float] = {"max": 24.0, "min": 24.0}
START = 12.0
"""Starting a run."""
ROWS, BLOCK = 1 << 16, 1 << 15
"""Cells that kernels of reducers, and functions along axes, handle at a time."""
CUMULATED = 2.9, 0.5
"""One cell of running sums: of floats, and of integers."""
CROWDED, APART, MANY = 6.5, 512, 128
"""More for it across memory, where that many cells so many bytes apart compete for places in the cache."""
SORTED_RUN, SORTED = 22.0, 0.2
"""Starting to sort a run; one cell, for each doubling of the run."""
MOVED = 2.5
"""Bringing one cell to a run and back, where runs lie across memory."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A reducer's kernel: a call, how many sums and maxima it takes, and one cell and one result beside."""

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
MEDIAN, MEDIAN_RUN, MEDIAN_CELL = 9000.0, 60.0, 12.0
ARGMAX, ARGMAX_RUN, ARGMAX_CELL = 210.0, 4.5, 0.09


def reduce_nanos(reducer: str, source: Array, axes: Collection[int], dtype: str | None = None) -> float:
    """Return the time of one of the language's reducers over axes of an array; `dtype` if it adds in
    another one.
    """
    if not source.cells:
        return CALL
    if reducer == "median":
        return _median(source, axes)
    if reducer in {"argmax", "argmin"}:
        return ARGMAX + _by_rows(source, axes, ARGMAX_RUN, ARGMAX_CELL)
    if reducer in KERNELS:
        return _kernel(KERNELS[reducer], source, axes)
    return CALL + combined_nanos(reducer, source, axes, dtype)


def combined_nanos(reducer: str, source: Array, axes: Collection[int], dtype: str | None = None) -> float:
    """Return the time of a ufunc's reduction without its call."""
    result = _kept(source, axes)
    _, (_, made) = runs(source.shape, [source, result])
    if reducer in {"any", "all"}:
        cell = FLAG if source.dtype == "bool" else LOGICAL
    elif made == 0:
        cell = ALONG.get(reducer, ALONG["sum"])
    else:
        cell = ACROSS * costs.width(source.dtype)
    if dtype and dtype != source.dtype:
        cell += CONVERTED
    if source.dtype == "float16":
        cell += HALF / 2
    if source.dtype.startswith("complex"):
        cell *= 2 if reducer in {"sum", "prod"} else 8
    return pass_nanos(source.shape, result, [source], cell, STARTED.get(reducer, START))


def _kept(source: Array, axes: Collection[int]) -> Array:
    """Return a fresh array of the axes that stay, in the order of memory, broadcast along the others."""
    strides, step = [0] * len(source.shape), 1
    for axis in sorted(range(len(source.shape)), key=lambda axis: abs(source.strides[axis])):
        if axis not in axes:
            strides[axis] = step
            step *= source.shape[axis]
    return Array(source.shape, tuple(strides), source.dtype)


def _kernel(kernel: Kernel, source: Array, axes: Collection[int]) -> float:
    cells = source.cells
    made = cells // max(1, prod(source.shape[axis] for axis in axes))
    own = kernel.call * max(1, cells // ROWS if made > 1 else 1) + cells * kernel.cell + made * kernel.result
    own += kernel.sums * combined_nanos("sum", source, axes)
    return own + (combined_nanos("max", source, axes) if kernel.maxima else 0.0)


def _median(source: Array, axes: Collection[int]) -> float:
    length = prod(source.shape[axis] for axis in axes)
    blocks = max(1, source.cells // ROWS) if length < source.cells else 1
    return MEDIAN * blocks + _by_rows(source, axes, MEDIAN_RUN, MEDIAN_CELL)


def _by_rows(source: Array, axes: Collection[int], run: float, cell: float) -> float:
    """Return the time of what needs each run by itself, one cell after the other: others are copied first."""
    length = max(1, prod(source.shape[axis] for axis in axes))
    copied = 0.0
    if 1 not in {abs(source.strides[axis]) for axis in axes if source.shape[axis] != 1} and length > 1:
        copied = pass_nanos(source.shape, fresh(source.shape, source.dtype), [source], costs.CELL, costs.RUN)
    if source.dtype == "float16":
        cell += HALF
    if source.dtype.startswith("complex"):
        cell *= 5
    return copied + source.cells / length * run + source.cells * cell


def slices_nanos(one: Instruction, source: Array) -> float:
    """Return the time of combining slices, the last axis first."""
    nanos = float(costs.CALL["slices"])
    for axis in reversed(one.axes):
        count = source.shape[axis]
        shape, strides = _without(source.shape, axis), _without(source.strides, axis)
        part, made = Array(shape, strides, source.dtype), fresh(shape, source.dtype)
        cell = cell_nanos("add", (source.dtype,) * 2, source.dtype)
        nanos += (count - 1) * (costs.CALL["slice"] + pass_nanos(shape, made, [part, part], cell))
        source = made
    return nanos


def _without(values: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return values[:axis] + values[axis + 1 :]


def along_nanos(one: Instruction, source: Array) -> float:
    """Return the time of softmax, running sums, sorting and the like."""
    cells = source.cells
    if not cells:
        return CALL
    cast = cells * CONVERTED if one.dtype else 0.0
    if one.function in {"softmax", "log_softmax"}:
        return cast + _normalised(source, one.axes)
    length = max(1, prod(source.shape[axis] for axis in one.axes))
    is_across = all(abs(source.strides[axis]) != 1 for axis in one.axes)
    if one.function == "sort":
        each = (SORTED * log2(max(2, length)) + MOVED * is_across) * costs.width(source.dtype)
        return cast + CALL + cells / length * SORTED_RUN + cells * each
    if one.function in {"cumsum", "cumprod"}:
        each = CUMULATED["int" in source.dtype or source.dtype == "bool"]
        step = max(abs(source.strides[axis]) for axis in one.axes) * source.item
        if is_across and length > MANY and step % APART == 0:
            each += CROWDED
        return cast + CALL + cells / length * START + cells * each
    copied = pass_nanos(source.shape, fresh(source.shape, source.dtype), [source], costs.CELL, costs.RUN)
    return cast + 2 * CALL + copied + (0.0 if is_across else cells * costs.CELL)


def _normalised(source: Array, axes: Collection[int]) -> float:
    """Return the time of the blocks of a softmax."""
    shape, count = list(source.shape), 1
    for axis, size in enumerate(source.shape):
        if axis not in axes and prod(shape) > BLOCK:
            shape[axis] = max(1, BLOCK * size // prod(shape))
            count *= -(-size // shape[axis])
    block = Array(tuple(shape), source.strides, source.dtype)
    result, kept = fresh(source.shape, source.dtype), _kept(block, axes)
    target = Array(block.shape, result.strides, source.dtype)
    nanos = reduce_nanos("max", block, axes) + reduce_nanos("sum", target, axes)
    for call, others in (("subtract", [block, kept]), ("exp", []), ("true_divide", [kept])):
        cell = cell_nanos(call, (source.dtype,), source.dtype)
        nanos += pass_nanos(block.shape, target, [target, *others], cell)
    return 2 * CALL + count * (nanos + CALL)
