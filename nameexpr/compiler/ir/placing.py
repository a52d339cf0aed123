"""Values that are computed in place: in the part of an array that a concatenation has for them.

A concatenation lists in `factors` those of its sources whose memory is a part of its result. The memory of a
source is that of its *root*: the instruction that creates it, before views of it are taken and functions
write over it. The array exists from the first root on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.compiler.ir.pieces import Piece
from nameexpr.compiler.ir.primitives import PRIMITIVES, is_view
from nameexpr.compiler.ir.program import Instruction, Program, Shape
from nameexpr.compiler.ir.strides import Strides, reshaped, row_major_strides
from nameexpr.records import record

BackStep = tuple[Instruction, Shape]
"""A view, and the shape of what it is a view of."""


@record
class PlacedPart:
    """Where a root is: in a piece of the concatenation `whole`, through the views between them.

    `shape` is that of the source, `steps` are the views from the source back to the root, `strides` those of
    the root in the array, and `first` is the first root of the concatenation.
    """

    whole: int
    piece: Piece
    shape: Shape
    steps: tuple[BackStep, ...]
    strides: Strides
    first: int


def placed_values(program: Program, shapes: Sequence[Shape]) -> dict[int, PlacedPart]:
    """Return where the roots of a program are that are computed in place."""
    found: dict[int, PlacedPart] = {}
    for whole, instruction in enumerate(program.instructions, len(program.operands)):
        if instruction.primitive != "concatenate" or not instruction.factors:
            continue
        ways = [way_back(program, shapes, instruction.sources[at]) for at in instruction.factors]
        first, pieces = min([root for root, _ in ways]), pieces_of(instruction)
        for at, (root, steps) in zip(instruction.factors, ways, strict=True):
            shape = shapes[instruction.sources[at]]
            strides = strides_in(instruction.shape, pieces[at], shape, steps)
            assert strides is not None, f"source {at} of {instruction} is not a view of its part"
            found[root] = PlacedPart(whole, pieces[at], shape, tuple(steps), strides, first)
    return found


def with_parts(
    program: Program, shapes: Sequence[Shape], strides: Sequence[Strides], placed: Mapping[int, PlacedPart]
) -> Sequence[Strides]:
    """Return the strides of all values, given those that they have if no value is computed in place."""
    if not placed:
        return strides
    found = [*strides[: len(program.operands)]]
    for value, instruction in enumerate(program.instructions, len(found)):
        sources = [(shapes[source], found[source]) for source in instruction.sources]
        rule = PRIMITIVES[instruction.primitive].strides
        found.append(placed[value].strides if value in placed else rule(instruction, sources, shapes[value]))
    return found


def pieces_of(instruction: Instruction) -> list[Piece]:
    """Return the piece of each source of a concatenation, without those of numbers."""
    pairs = zip(instruction.pieces, instruction.constants, strict=True)
    return [piece for piece, number in pairs if number is None]


def way_back(program: Program, shapes: Sequence[Shape], value: int) -> tuple[int, list[BackStep]]:
    """Return the root of a value, and the views from the value back to it; an operand is its own root."""
    count, steps = len(program.operands), []
    while value >= count:
        instruction = program.instructions[value - count]
        if instruction.over is not None:
            value = instruction.sources[instruction.over]
        elif is_view(instruction):
            (source,) = instruction.sources
            steps.append((instruction, shapes[source]))
            value = source
        else:
            break
    return value, steps


def strides_in(whole: Shape, piece: Piece, shape: Shape, steps: Sequence[BackStep]) -> Strides | None:
    """Return the strides of the root of a source of this shape in its piece of the whole array; None if it is
    not a view of it.
    """
    strides = reshaped(piece.lengths, row_major_strides(whole), shape)
    for view, before in steps:
        if strides is None or view.primitive not in {"transpose", "reshape"}:
            return None
        if view.primitive == "transpose":
            own = dict(zip(view.axes, strides, strict=True))
            strides = tuple([own[axis] for axis in range(len(own))])
        else:
            strides = reshaped(shape, strides, before)
        shape = before
    return strides
