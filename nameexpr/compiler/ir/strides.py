"""The memory layout of values, as NumPy chooses it: needed to know which reshapes and kernels copy.

Strides are in elements. NumPy derives the layout of a result from its inputs: the axis with the longest
strides comes first. Kernels that choose their own layout are assumed to be row-major.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from nameexpr.compiler.ir.program import Instruction, Shape

ROW_MAJOR = frozenset({"argsort", "erf", "erfc", "flip", "gelu"})
"""Kernels whose results are row-major regardless of their arguments."""
Strides = tuple[int, ...]
Sources = Sequence[tuple[Shape, Strides]]
"""Shape and strides of each source."""


def row_major_strides(shape: Shape) -> Strides:
    """Return the strides of a row-major array.

    Examples
    --------
    >>> row_major_strides((2, 3, 4))
    (12, 4, 1)
    """
    return compact_strides(shape, range(len(shape)))


def is_dense(shape: Shape, strides: Strides) -> bool:
    """Return whether an array is row-major, without gaps."""
    pairs = zip(shape, strides, row_major_strides(shape), strict=True)
    return 0 in shape or all(size == 1 or one == other for size, one, other in pairs)


def compact_strides(shape: Shape, order: Sequence[int]) -> Strides:
    """Return the strides of a fresh array whose axes are in the given order, the longest stride first."""
    strides, step = [0] * len(shape), 1
    for axis in reversed(order):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def broadcast(*shapes: Shape) -> Shape:
    """Return the shape that shapes broadcast to, as in NumPy."""
    ndim = max(map(len, shapes), default=0)
    padded = [(1,) * (ndim - len(shape)) + shape for shape in shapes]
    result = []
    for sizes in zip(*padded, strict=True):
        size = next((size for size in sizes if size != 1), 1)
        assert all(other in (1, size) for other in sizes), f"{shapes} do not broadcast"
        result.append(size)
    return tuple(result)


def aligned(shape: Shape, strides: Strides, wanted: Shape) -> Strides:
    """Return the strides of an array that is broadcast to a shape."""
    pairs = zip(shape, strides, strict=True)
    return (0,) * (len(wanted) - len(shape)) + tuple(0 if size == 1 else stride for size, stride in pairs)


def iteration_order(arrays: Sequence[Sequence[int]]) -> list[int]:
    """Return the axes in the order in which NumPy's iterator visits arrays, the outermost first.

    An axis is placed outside another if no array has a shorter stride along it, ignoring strides of 0;
    otherwise axes keep their order. This is the insertion sort of NumPy's nditer_constr.c.
    """
    inner_first: list[list[int]] = []
    steps: list[list[int]] = []
    for axis in reversed(range(len(arrays[0]) if arrays else 0)):
        own = [abs(array[axis]) for array in arrays]
        if inner_first and not any(own):
            # It has no information about any axis, so that it stays outside its neighbour.
            inner_first[-1].append(axis)
            continue
        place = len(inner_first)
        for position in range(len(inner_first) - 1, -1, -1):
            is_told = is_outside = False
            for outer, inner in zip(own, steps[position], strict=True):
                if outer and inner:
                    is_told = True
                    if inner <= outer:
                        is_outside = True
                        break
            if is_outside:
                break
            if is_told:
                place = position
        inner_first.insert(place, [axis])
        steps.insert(place, own)
    return [axis for group in reversed(inner_first) for axis in reversed(group)]


def copied_order(shape: Shape, strides: Strides) -> list[int]:
    """Return the axes in the order of a copy that keeps the order of an array, as casts do.

    Unlike in loops over several arrays, an axis along which elements are repeated comes last.
    """
    axes = list(range(len(shape)))
    if is_dense(shape, strides):
        return axes
    if is_dense(shape[::-1], strides[::-1]):
        return axes[::-1]
    return sorted(axes, key=lambda axis: -abs(strides[axis]))


def reshaped(shape: Shape, strides: Strides, wanted: Shape) -> Strides | None:
    """Return the strides of a view in another shape; None if NumPy has to copy.

    It is a view if each run of new axes consists of a run of old ones that are contiguous with each other.

    Examples
    --------
    >>> reshaped((2, 3, 4), (12, 4, 1), (6, 4))
    (4, 1)
    >>> reshaped((3, 2), (1, 3), (6,)) is None
    True
    """
    if 0 in shape:
        return row_major_strides(wanted)
    old = [(size, stride) for size, stride in zip(shape, strides, strict=True) if size != 1]
    made = [0] * len(wanted)
    axes = [axis for axis, size in enumerate(wanted) if size != 1]
    new = [wanted[axis] for axis in axes]
    first = start = 0
    while start < len(new):
        end, last = start + 1, first + 1
        cells, there = new[start], old[first][0]
        while cells != there:
            if cells < there:
                cells *= new[end]
                end += 1
            else:
                there *= old[last][0]
                last += 1
        if any(one[1] != other[0] * other[1] for one, other in pairwise(old[first:last])):
            return None
        step = old[last - 1][1]
        for place in range(end - 1, start - 1, -1):
            made[axes[place]] = step
            step *= new[place]
        first, start = last, end
    return tuple(made)


# The strides of each primitive's result, from the instruction, its sources, and the shape of the result.


def row_major(_: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return row-major strides, regardless of the sources."""
    return row_major_strides(shape)


def transposed(instruction: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return the strides in another order."""
    return tuple([sources[0][1][axis] for axis in instruction.axes])


def of_source(_: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return the strides of the source."""
    return sources[0][1]


def of_diagonal(instruction: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return the strides along the diagonal of several axes."""
    letters, result = instruction.letters
    pairs = list(zip(letters, sources[0][1], strict=True))
    return tuple([sum(stride for other, stride in pairs if other == letter) for letter in result])


def of_window(instruction: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return those of every axis of the source that an index goes along."""
    rows = list(zip(instruction.letters, sources[0][1], strict=True))
    return tuple([sum(row[axis] * stride for row, stride in rows) for axis in range(len(shape))])


def of_weighed(instruction: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return strides that follow those of the windows."""
    steps = of_window(instruction, sources[:1], instruction.shape)[: len(shape)]
    return compact_strides(shape, iteration_order([steps]))


def of_reshape(_: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return the strides of a view, or of a copy if there is none."""
    return reshaped(*sources[0], shape) or row_major_strides(shape)


def of_parts(_: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return the strides of real and imaginary parts, which alternate."""
    return (*(2 * stride for stride in sources[0][1]), 1)


def of_pairs(_: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return the strides of complex elements, each of two parts."""
    return tuple([stride // 2 for stride in sources[0][1][:-1]])


def of_copy(_: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return the strides of a copy that keeps the order of the axes."""
    return compact_strides(shape, copied_order(shape, sources[0][1]))


def of_arguments(_: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return the strides of a ufunc's result, which follow its arguments."""
    arrays = [aligned(*source, shape) for source in sources]
    return compact_strides(shape, iteration_order(arrays))


def of_pointwise(instruction: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return the strides of the value that is written over, or those of a ufunc."""
    if instruction.over is not None:
        return sources[instruction.over][1]
    if instruction.function in ROW_MAJOR:
        return row_major_strides(shape)
    return of_arguments(instruction, sources, shape)


def of_blocks(instruction: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return the strides of the value that is written over, or row-major ones."""
    return row_major_strides(shape) if instruction.over is None else sources[instruction.over][1]


def along_axes(instruction: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return the strides of the copy that the function works on."""
    if instruction.function in ROW_MAJOR:
        return row_major_strides(shape)
    return sources[0][1] if instruction.over is not None else of_copy(instruction, sources, shape)


def of_sum(instruction: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return the strides of a ufunc's reduction, which follow the axes that are kept."""
    ((_, strides),) = sources
    gone = {axis % len(strides) for axis in instruction.axes}
    kept = [stride for axis, stride in enumerate(strides) if axis not in gone]
    return compact_strides(shape, iteration_order([kept]))


def one_by_one(axes: Sequence[int]) -> list[int]:
    """Return where each axis is when those before it are gone.

    >>> one_by_one((4, 1, 2))
    [4, 1, 1]
    """
    return [axis - sum(gone < axis for gone in axes[:number]) for number, axis in enumerate(axes)]


def of_slices(instruction: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return the strides of a combination of two slices, axis after axis."""
    left, own = sources[0]
    for axis in one_by_one(instruction.axes):
        count = left[axis]
        left, own = left[:axis] + left[axis + 1 :], own[:axis] + own[axis + 1 :]
        if count > 1:
            own = compact_strides(left, iteration_order([aligned(left, own, left)]))
    return own


def of_vecdot(_: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return the strides of a ufunc's result, which follow the axes before the last one."""
    arrays = [aligned(own[:-1], steps[:-1], shape) for own, steps in sources]
    return compact_strides(shape, iteration_order(arrays))


def of_matmul(_: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return row-major matrices; the axes before them are as for a ufunc."""
    batch = shape[:-2]
    arrays = [aligned(own[:-2], steps[:-2], batch) for own, steps in sources]
    return compact_strides(shape, [*iteration_order(arrays), len(batch), len(batch) + 1])


def of_tiny_matmul(_: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return strides with the first axis last in memory."""
    return compact_strides(shape, (1, 2, 0))


def of_einsum(instruction: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return strides in the order in which the C loop visits all axes, those that are summed included."""
    *every, result = instruction.letters
    summed = sorted({letter for letters in every for letter in letters} - {*result})
    arrays = []
    for letters, (own, steps) in zip(every, sources, strict=True):
        found = dict.fromkeys((*result, *summed), 0)
        for letter, size, stride in zip(letters, own, steps, strict=True):
            found[letter] += stride if size != 1 else 0
        arrays.append(tuple(found.values()))
    order = [axis for axis in iteration_order(arrays) if axis < len(result)]
    return compact_strides(shape, order)


def of_loop(instruction: Instruction, sources: Sources, shape: Shape) -> Strides:
    """Return the strides of the layout that the loop writes."""
    assert instruction.loop is not None
    return compact_strides(shape, instruction.loop.layout or range(len(shape)))
