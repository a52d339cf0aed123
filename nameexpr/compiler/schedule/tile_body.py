"""The body of a sliced region: the program that computes one slice.

Pointwise functions of a slice that fits the cache run one by one, in place, not in blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from nameexpr.compiler.ir.program import (
    Cast,
    Constant,
    Fused,
    Instruction,
    Note,
    Pointwise,
    Program,
    sources_of,
)
from nameexpr.compiler.ir.slicing import Shape, aligned, cut
from nameexpr.compiler.ir.verify import broadcast
from nameexpr.compiler.schedule.simplify import renumbered

Key = tuple[int, int]
"""A source, and how many of its leading axes are cut."""


@dataclass
class Body:
    """Instructions of a body as they are collected; `shapes` are those of all its values."""

    count: int
    shapes: list[Shape]
    instructions: list[Instruction] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def emit(self, one: Instruction, shape: Shape, note: Note) -> int:
        """Append an instruction and return the number of its value."""
        self.instructions.append(one)
        self.notes.append(note)
        self.shapes.append(shape)
        return len(self.shapes) - 1

    def emit_steps(self, one: Fused, note: Note) -> int:
        """Append the functions of a block, each for the whole slice, and return the number of the last."""
        places = list(one.sources)
        for step in one.steps:
            sources = tuple(places[argument] for argument in step.arguments if argument is not None)
            shape: Shape = ()
            for source in sources:
                shape = broadcast(shape, self.shapes[source])
            constants = tuple(
                Constant(constant) if argument is None and constant is not None else None
                for argument, constant in zip(step.arguments, step.constants, strict=True)
            )
            made: Instruction = Pointwise(step.call, sources, constants, shape, step.dtype, step.is_ufunc)
            if step.call == "cast":
                made = Cast(sources[0], step.dtype)
            places.append(self.emit(made, shape, Note(note.labels, step.dtype, note.step)))
        return places[one.factors[0]]


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
    operands = tuple(shapes[value][axes:] for value, axes in keys)
    body = Body(len(keys), list(operands))
    for value in values:
        note = program.notes[value - count]
        note = Note(note.labels[depth:], note.dtype, note.step)
        here = {source: numbers[source, axes] for source, axes in read[value]}
        one = renumbered(cut(program.instructions[value - count], depth), here)
        shape = shapes[value][depth:]
        if isinstance(one, Fused) and one.reducer is None and prod(one.shape) <= cached:
            numbers[value, depth] = body.emit_steps(one, note)
        else:
            numbers[value, depth] = body.emit(one, shape, note)
    result = numbers[values[-1], depth]
    return tuple(keys), Program(
        operands,
        tuple(body.instructions),
        tuple(body.notes),
        result,
        depends_on_layout=False,
    )


def _read(one: Instruction, shapes: Sequence[Shape], depth: int) -> tuple[Key, ...]:
    """Return an instruction's sources, each with how many of its leading axes are cut."""
    sources = sources_of(one)
    cuts = aligned(one, [shapes[source] for source in sources], depth)
    assert cuts is not None, f"{one} cannot be sliced over {depth} axes"
    return tuple(zip(sources, cuts, strict=True))
