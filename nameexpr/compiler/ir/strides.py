"""How values lie in memory, as NumPy lays them out: needed to know which reshapes and kernels copy.

Strides are in cells. NumPy chooses the layout of a result after those of what it is computed from: the axis
with the longest strides comes first. Where a kernel decides for itself, row-major is assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from nameexpr.compiler.ir.loops import Sliced
from nameexpr.compiler.ir.program import (
    AlongAxes,
    AsComplex,
    AsReal,
    Cast,
    Diagonal,
    Divide,
    Einsum,
    Fused,
    Instruction,
    IntegerMatmul,
    Matmul,
    Multiply,
    Pointwise,
    Program,
    Reduce,
    Reshape,
    Slices,
    Sum,
    Transpose,
    sources_of,
)
from nameexpr.compiler.lowering.strategies import in_cells

ROW_MAJOR = frozenset({"erf", "erfc"})
"""Pointwise kernels whose results are row-major, whatever is given to them."""
Shape = tuple[int, ...]
Strides = tuple[int, ...]


class Layout(tuple[int, ...]):
    """Strides of an array in bytes, with what else is to be known of how it lies in memory.

    `item` are the bytes of a cell; `is_swapped` says that cells are in a foreign byte order, `is_uneven` that
    some do not lie at a multiple of their size. It is equal only to a layout that agrees in all of this.
    """

    item: int
    is_swapped: bool
    is_uneven: bool

    def __new__(cls, strides: Strides, item: int, is_swapped: bool, is_uneven: bool) -> Layout:  # noqa: D102
        made = super().__new__(cls, strides)
        made.item, made.is_swapped, made.is_uneven = item, is_swapped, is_uneven
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and tuple(self) == tuple(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((tuple(self), self.is_uneven))


@dataclass(frozen=True, slots=True)
class Given:
    """What is known of an operand: its dtype and its strides in cells; "" and None where nothing is. The rest
    is as for `Layout`, with 0 bytes where they follow from the dtype.
    """

    dtype: str = ""
    strides: Strides | None = None
    item: int = 0
    is_swapped: bool = False
    is_uneven: bool = False


def given_of(dtypes: Sequence[str], layouts: Sequence[Strides | None]) -> tuple[Given, ...]:
    """Return what is known of operands with these dtypes and strides in bytes."""
    return tuple(_given(*facts) for facts in zip(dtypes, layouts, strict=True))


def _given(dtype: str, layout: Strides | None) -> Given:
    if layout is None:
        return Given(dtype)
    strides = in_cells(layout, dtype)
    if not isinstance(layout, Layout):
        return Given(dtype, strides)
    return Given(dtype, strides, layout.item, layout.is_swapped, layout.is_uneven)


def known(given: Sequence[Given], operands: Sequence[Shape]) -> list[Given]:
    """Return what is known of each operand: nothing, if it was said of other operands than these.

    A part of a program, such as the rest behind bound operands, is asked about with what its whole was given.
    """
    is_of_these = len(given) == len(operands) and all(
        one.strides is None or len(one.strides) == len(shape)
        for one, shape in zip(given, operands, strict=True)
    )
    return list(given) if is_of_these else [Given()] * len(operands)


def strides_of(program: Program, shapes: Sequence[Shape], given: Sequence[Given] = ()) -> list[Strides]:
    """Return the strides of every value, operands first; those that nothing is known of are row-major."""
    found = [
        dense(shape) if one.strides is None else one.strides
        for one, shape in zip(known(given, program.operands), program.operands, strict=True)
    ]
    for number, one in enumerate(program.instructions):
        sources = sources_of(one)
        found.append(
            _strides(
                one,
                [shapes[source] for source in sources],
                [found[source] for source in sources],
                shapes[len(program.operands) + number],
            )
        )
    return found


def dense(shape: Shape) -> Strides:
    """Return the strides of a row-major array.

    Examples
    --------
    >>> dense((2, 3, 4))
    (12, 4, 1)
    """
    return packed(shape, range(len(shape)))


def is_dense(shape: Shape, strides: Strides) -> bool:
    """Whether an array is row-major, without gaps."""
    pairs = zip(shape, strides, dense(shape), strict=True)
    return 0 in shape or all(size == 1 or one == other for size, one, other in pairs)


def packed(shape: Shape, order: Sequence[int]) -> Strides:
    """Return the strides of a fresh array whose axes lie in an order, the first with the longest stride."""
    strides, step = [0] * len(shape), 1
    for axis in reversed(order):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def _strides(  # noqa: PLR0912  one case for each instruction
    one: Instruction, shapes: Sequence[Shape], strides: Sequence[Strides], shape: Shape
) -> Strides:
    match one:
        case Transpose(_, axes):
            return tuple(strides[0][axis] for axis in axes)
        case Diagonal(_, letters):
            pairs = list(zip(letters, strides[0], strict=True))
            return tuple(
                sum(stride for other, stride in pairs if other == letter) for letter in dict.fromkeys(letters)
            )
        case Reshape(_, wanted):
            return reshaped(shapes[0], strides[0], wanted) or dense(shape)
        case AsReal():
            return (*(2 * stride for stride in strides[0]), 1)
        case AsComplex():
            return tuple(stride // 2 for stride in strides[0][:-1])
        case Pointwise(over=int(taken)) | Fused(over=int(taken)):
            return strides[one.sources.index(taken)]
        case AlongAxes(function, over=is_over):
            if function == "flip":
                return dense(shape)
            return strides[0] if is_over else packed(shape, copied_order(shape, strides[0]))
        case Pointwise(call) if call in ROW_MAJOR:
            return dense(shape)
        case Cast():
            return packed(shape, copied_order(shape, strides[0]))
        case Divide() | Multiply() | Pointwise():
            return packed(
                shape, iteration_order([_aligned(s, t, shape) for s, t in zip(shapes, strides, strict=True)])
            )
        case Sum(_, axes):
            return packed(
                shape, iteration_order([[s for axis, s in enumerate(strides[0]) if axis not in axes]])
            )
        case Slices(_, _, axes):
            return _of_slices(shapes[0], strides[0], axes)
        case Reduce(_, _, count):
            return packed(shape, iteration_order([strides[0][: len(shapes[0]) - count]]))
        case Matmul() | IntegerMatmul():
            batch = shape[:-2]
            outer = [_aligned(s[:-2], t[:-2], batch) for s, t in zip(shapes, strides, strict=True)]
            return packed(shape, [*iteration_order(outer), len(batch), len(batch) + 1])
        case Einsum():
            return packed(shape, iteration_order(_by_letters(one, shapes, strides)))
        case Sliced(layout=layout):
            return packed(shape, layout)
    return dense(shape)


def _aligned(shape: Shape, strides: Strides, wanted: Shape) -> Strides:
    """Return the strides of an array that is broadcast to a shape."""
    pairs = zip(shape, strides, strict=True)
    return (0,) * (len(wanted) - len(shape)) + tuple(0 if size == 1 else stride for size, stride in pairs)


def _by_letters(one: Einsum, shapes: Sequence[Shape], strides: Sequence[Strides]) -> list[Strides]:
    found = []
    for letters, shape, own in zip(one.letters, shapes, strides, strict=True):
        steps = dict.fromkeys(one.result, 0)
        for letter, size, stride in zip(letters, shape, own, strict=True):
            if letter in steps and size != 1:
                steps[letter] += stride
        found.append(tuple(steps[letter] for letter in one.result))
    return found


def _of_slices(shape: Shape, strides: Strides, axes: Sequence[int]) -> Strides:
    """Return the strides of what is made of slices: a function of two of them lays out its result."""
    for axis in sorted(axes, reverse=True):
        count = shape[axis]
        shape, strides = shape[:axis] + shape[axis + 1 :], strides[:axis] + strides[axis + 1 :]
        if count > 1:
            strides = packed(shape, iteration_order([_aligned(shape, strides, shape)]))
    return strides


def iteration_order(arrays: Sequence[Sequence[int]]) -> list[int]:
    """Return the axes in the order in which NumPy's iterator goes through arrays, the outermost first.

    An axis goes outside another if no array has a shorter stride along it, as far as strides are not 0; they
    keep their places where nothing tells. This is the insertion sort of NumPy's nditer_constr.c.
    """
    inner_first: list[list[int]] = []
    steps: list[list[int]] = []
    for axis in reversed(range(len(arrays[0]) if arrays else 0)):
        own = [abs(array[axis]) for array in arrays]
        if inner_first and not any(own):
            # It tells nothing of any axis, so that it stays outside its neighbour wherever that goes.
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
    """Return the axes in the order in which a copy has them that keeps the order of an array, as casts do.

    Other than in loops over several arrays, an axis along which cells are repeated comes last.
    """
    axes = list(range(len(shape)))
    if is_dense(shape, strides):
        return axes
    if is_dense(shape[::-1], strides[::-1]):
        return axes[::-1]
    return sorted(axes, key=lambda axis: -abs(strides[axis]))


def reshaped(shape: Shape, strides: Strides, wanted: Shape) -> Strides | None:
    """Return the strides of a view in another shape; None if NumPy has to copy.

    A view it is where each run of new axes makes up a run of old ones that lie in one piece.

    Examples
    --------
    >>> reshaped((2, 3, 4), (12, 4, 1), (6, 4))
    (4, 1)
    >>> reshaped((3, 2), (1, 3), (6,)) is None
    True
    """
    if 0 in shape:
        return dense(wanted)
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
