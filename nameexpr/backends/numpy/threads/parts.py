"""Calls that can be computed in parts along an axis of their result, with the same bits.

Every element of the result is computed by the same operations in the same order: an axis is cut only if
nothing is added along it, and parts have at least two indices, because NumPy leaves out axes of one, which
can change its order of iteration, unless all arrays are row-major. Numbers that are cast while they are added
are excluded: NumPy adds them buffer by buffer, and a buffer can contain several rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from nameexpr.compiler.ir.normalising import BLOCK, block_of, outside
from nameexpr.compiler.ir.program import NEVER_INTO, Instruction, Primitive, Shape
from nameexpr.compiler.ir.strides import Strides, is_dense
from nameexpr.compiler.memory.arrays import Array
from nameexpr.compiler.memory.blocks import IN_FLOAT64
from nameexpr.compiler.memory.blocks import PART as FULL
from nameexpr.compiler.memory.scratch import NORMALISING

Cuts = tuple[int | None, ...] | None
"""The axis of each source that is cut, None for one that is read as a whole; None without cuts."""
ENOUGH = 8
"""The number of parts from which no other axis is considered."""
RUN = 1 << 12
"""The least elements of a run in memory, if parts consist of several: each takes time to start, and threads
write next to each other at its ends.
"""
NONE: tuple[int, int, Cuts] = (0, 0, None)
"""No axis is cut."""
SEPARATE = frozenset({"cast", "copy", "divide", "integer_matmul", "matmul", "multiply", "pointwise"})
LAID_OUT = NORMALISING | NEVER_INTO
LAID_OUT |= {"argsort", "erf", "erfc", "flip", "gelu", "round", "silu", "softplus", "sort", "where"}
"""Functions without `out=` that lay out their results as `compiler.ir.strides` predicts."""
NEVER = frozenset({"to_int", "integer"})
"""Functions whose errors show the values of all elements."""
INEXACT = frozenset({"float16", "float32", "float64", "longdouble", "complex64", "complex128", "clongdouble"})


class Way(NamedTuple):
    """How a call can be cut along an axis: the least number of indices of a part, a number of which that of
    each part is a multiple, and the axis of each source that is cut, None for those that are read as a whole.
    """

    least: int
    multiple: int
    cuts: tuple[int | None, ...]


def layout_of(shape: Shape, strides: Strides) -> tuple[int, ...] | None:
    """Return the axes in the order of memory, the longest stride first; None if there are gaps.

    >>> layout_of((2, 3), (1, 2)), layout_of((2, 3), (6, 1))
    ((1, 0), None)
    """
    if is_dense(shape, strides):
        return tuple(range(len(shape)))
    order = sorted(range(len(shape)), key=lambda axis: -strides[axis] if shape[axis] != 1 else 0)
    expected = 1
    for axis in sorted(range(len(shape)), key=lambda axis: strides[axis]):
        if shape[axis] != 1 and strides[axis] != expected:
            return None
        expected *= shape[axis]
    return tuple(order)


def parted(
    instruction: Instruction,
    sources: Sequence[Array],
    result: Array,
    order: Sequence[int],
    wanted: int,
    threads: int,
) -> tuple[int, int, Cuts]:
    """Return the axis that is cut, the number of its indices in a part, and the cuts of the sources; no cuts
    if there is no such axis. `order` are the axes in the order of memory, and `wanted` is the number of parts
    for these threads.
    """
    best, most, inside = NONE, 1, result.cells
    for axis in order:
        is_outer, inside = inside == result.cells, inside // max(1, result.shape[axis])
        if (way := cut_along(instruction, sources, result, axis)) is None:
            continue
        way = way if is_outer else way._replace(least=max(way.least, ceil(RUN / inside)))
        step = step_of(result.shape[axis], wanted, threads, way)
        count = ceil(result.shape[axis] / step) if step else 0
        if count > most:
            most, best = count, (axis, step, way.cuts)
        if count >= min(wanted, ENOUGH):
            break
    return best


def cut_along(instruction: Instruction, sources: Sequence[Array], result: Array, axis: int) -> Way | None:
    """Return how a call can be cut along an axis of its result; None if it cannot."""
    rule = RULES.get(instruction.primitive)
    if rule is None or any(source.is_odd for source in sources) or instruction.function in NEVER:
        return None
    is_plain = all(array.is_row_major for array in (*sources, result))
    if not result.cells or (not is_plain and _is_own(instruction, result.cells)):
        return None
    if (cuts := rule(instruction, sources, result, axis)) is None:
        return None
    is_single = is_plain and _is_separate(instruction, result.shape)
    multiple = 1 if is_single else _multiple(instruction, sources, axis)
    long = _long_enough(instruction, result.cells // result.shape[axis])
    return Way(max(1 if is_single else 2, long), multiple, cuts) if multiple else None


def _is_own(instruction: Instruction, cells: int) -> bool:
    """Return whether a call may have its own layout for arguments that are not row-major, as those that
    normalise a single block have for arrays that repeat elements.
    """
    if instruction.function in NORMALISING and cells <= BLOCK:
        return True
    is_function = instruction.primitive in {"along_axes", "pointwise"} and not instruction.takes_out
    return is_function and instruction.function not in LAID_OUT


def _is_separate(instruction: Instruction, shape: Shape) -> bool:
    """Return whether rows of row-major arrays are computed one by one, so that a part can be a single one."""
    if instruction.primitive == "along_axes":
        return instruction.axes == (len(shape) - 1,)
    return instruction.primitive in SEPARATE


def _long_enough(instruction: Instruction, cells: int) -> int:
    """Return the least number of indices, each of `cells` elements, of which a part is computed as the whole
    is, and as fast: error functions of short arrays have another algorithm, and make many calls for a block.
    """
    return ceil(2 * FULL / cells) if instruction.function in IN_FLOAT64 else 1


def _multiple(instruction: Instruction, sources: Sequence[Array], axis: int) -> int:
    """Return the number of indices that are normalised together, 0 if another axis is cut for that."""
    if instruction.function not in NORMALISING:
        return 1
    shape, strides, axes = sources[0].shape, sources[0].strides, instruction.axes
    is_first = [axis] == outside(shape, strides, axes)[:1]
    return block_of(shape, strides, axes)[axis] if is_first else 0


def step_of(size: int, wanted: int, threads: int, way: Way) -> int:
    """Return the number of indices of a part, of which the last part, too, has the least number; 0 if there
    are no parts. It is the one near the wanted number of parts with which the busiest thread computes least.
    """
    most = min(wanted, size // way.least)
    steps = [ceil(size / count / way.multiple) * way.multiple for count in range(most, most // 2, -1)]
    steps = [step for step in steps if step < size and not 0 < size % step < way.least]
    return min(steps, key=lambda step: step * ceil(ceil(size / step) / threads), default=0)


def _aligned(source: Array, result: Array, axis: int) -> int | None:
    """Return the axis of a source that is broadcast to the result."""
    own = axis - (len(result.shape) - len(source.shape))
    return own if own >= 0 and source.shape[own] != 1 else None


def _elements(instruction: Instruction, sources: Sequence[Array], result: Array, axis: int) -> Cuts:
    return tuple([_aligned(source, result, axis) for source in sources])


def _matrices(instruction: Instruction, sources: Sequence[Array], result: Array, axis: int) -> Cuts:
    is_stack = axis < len(result.shape) - 2 and all(len(source.shape) > 1 for source in sources)
    return _elements(instruction, sources, result, axis) if is_stack else None


def _rows(instruction: Instruction, sources: Sequence[Array], result: Array, axis: int) -> Cuts:
    cuts = [axis - (len(result.shape) - (len(source.shape) - 1)) for source in sources]
    pairs = zip(cuts, sources, strict=True)
    return tuple([cut if cut >= 0 and source.shape[cut] != 1 else None for cut, source in pairs])


def _along(instruction: Instruction, sources: Sequence[Array], result: Array, axis: int) -> Cuts:
    return None if axis in instruction.axes else (axis,)


def _reduced(instruction: Instruction, sources: Sequence[Array], result: Array, axis: int) -> Cuts:
    (source,) = sources
    ndim = len(source.shape)
    gone = {one % ndim for one in instruction.axes or (ndim - 1,)}
    kept = [one for one in range(ndim) if one not in gone]
    return (kept[axis],) if _adds_in_order(sources, result) else None


def _reducer(instruction: Instruction, sources: Sequence[Array], result: Array, axis: int) -> Cuts:
    if instruction.function not in {"sum", "prod", "max", "min", "any", "all"}:
        return None
    return _reduced(instruction, sources, result, axis)


def _letters(instruction: Instruction, sources: Sequence[Array], result: Array, axis: int) -> Cuts:
    *every, own = instruction.letters
    letter = own[axis]
    if own.count(letter) > 1 or any(letters.count(letter) > 1 for letters in every):
        return None
    cuts = tuple([letters.index(letter) if letter in letters else None for letters in every])
    return cuts if _adds_in_order(sources, result) else None


def _adds_in_order(sources: Sequence[Array], result: Array) -> bool:
    """Return whether numbers are added as they are, or exactly."""
    return result.dtype not in INEXACT or all(source.dtype == result.dtype for source in sources)


def _copied(instruction: Instruction, sources: Sequence[Array], result: Array, axis: int) -> Cuts:
    return None if instruction.function == "row_major" else (axis,)


RULES: Mapping[Primitive, Callable[[Instruction, Sequence[Array], Array, int], Cuts]] = {
    "along_axes": _along,
    "cast": _elements,
    "copy": _copied,
    "divide": _elements,
    "einsum": _letters,
    "integer_matmul": _matrices,
    "matmul": _matrices,
    "multiply": _elements,
    "pointwise": _elements,
    "reduce": _reducer,
    "sum": _reduced,
    "vecdot": _rows,
}
"""For each primitive the cuts along an axis of its result."""
