"""The body of a sliced region: the program that computes one slice.

Pointwise functions of a slice that fits the cache run one by one, in place, not in blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.compiler.ir.liveness import Rewriter, renumbered
from nameexpr.compiler.ir.primitives import slice_instruction, sliceable_axes
from nameexpr.compiler.ir.program import Instruction, Note, Program, Shape
from nameexpr.compiler.ir.shapes import broadcast
from nameexpr.compiler.schedule.hoisting import unfused

Key = tuple[int, int]
"""A source, and how many of its leading axes are cut."""


def body_of(
    program: Program, shapes: Sequence[Shape], values: Sequence[int], depth: int, cached: int
) -> tuple[tuple[Key, ...], Program]:
    """Return what a region reads, each with its cut, and the program of one slice.

    Parameters
    ----------
    program : Program
        The whole program.
    shapes : sequence of tuple of int
        Shapes of its values.
    values : sequence of int
        The values of the region, in order, the result last.
    depth : int
        How many leading axes are cut away.
    cached : int
        Cells up to which pointwise functions run one by one.
    """
    count = len(program.operands)
    read = {value: _read(program.instructions[value - count], shapes, depth) for value in values}
    inside = set(values)
    keys = dict.fromkeys(key for value in values for key in read[value] if key[0] not in inside)
    numbers: dict[Key, int] = {key: number for number, key in enumerate(keys)}
    body = Rewriter(program, [shapes[value][axes:] for value, axes in keys])
    own = list(body.operands)
    for value in values:
        old = program.notes[value - count]
        note = Note(old.labels[depth:], old.dtype, old.step)
        here = {source: numbers[source, axes] for source, axes in read[value]}
        instruction = renumbered(slice_instruction(program.instructions[value - count], depth), here)
        if (
            instruction.primitive == "fused"
            and not instruction.function
            and prod(instruction.shape) <= cached
        ):
            numbers[value, depth] = _emit_steps(body, own, instruction, note)
        else:
            numbers[value, depth] = body.emit(instruction, note)
            own.append(shapes[value][depth:])
    instructions, notes = tuple(body.instructions), tuple(body.notes)
    result = numbers[values[-1], depth]
    return tuple(keys), Program(body.operands, instructions, notes, result, depends_on_layout=False)


def _emit_steps(body: Rewriter, shapes: list[Shape], block: Instruction, note: Note) -> int:
    """Append the functions of a block, each for the whole slice, and return the number of the last."""
    numbers = dict(enumerate(block.sources))
    for number, step in enumerate(block.steps, len(numbers)):
        shape = broadcast(*(shapes[numbers[source]] for source in step.sources))
        numbers[number] = body.emit(unfused(step, numbers, shape), note._replace(dtype=step.dtype))
        shapes.append(shape)
    return numbers[block.factors[0]]


def _read(instruction: Instruction, shapes: Sequence[Shape], depth: int) -> tuple[Key, ...]:
    """Return an instruction's sources, each with how many of its leading axes are cut."""
    sources = instruction.sources
    cuts = sliceable_axes(instruction, [shapes[source] for source in sources], depth)
    assert cuts is not None, f"{instruction} cannot be sliced over {depth} axes"
    return tuple(zip(sources, cuts, strict=True))
