"""Rewrites of a program that make it shorter and change no value.

Each rule looks at an instruction and the one that made its source: two reshapes are one, two transpositions
are one, and the sum of a diagonal is a single pass of NumPy's C loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from nameexpr.compiler.ir.loops import Looped, Sliced
from nameexpr.compiler.ir.program import (
    Arange,
    Constant,
    Diagonal,
    Dot,
    Einsum,
    Full,
    Fused,
    Instruction,
    IntegerMatmul,
    Matmul,
    Multiply,
    Note,
    Ones,
    Pointwise,
    Program,
    Reshape,
    Sum,
    Transpose,
    Vecdot,
    sources_of,
)

LETTERS = 52


def simplify(program: Program) -> Program:
    """Return the program with adjoining instructions fused and those that nothing reads left out."""
    count = len(program.operands)
    uses: dict[int, int] = dict.fromkeys(program.outputs, 1)
    for instruction in program.instructions:
        for source in sources_of(instruction):
            uses[source] = uses.get(source, 0) + 1
    fused = list(program.instructions)
    for number, instruction in enumerate(fused):
        sources = sources_of(instruction)
        if len(sources) == 1 and sources[0] >= count and uses[sources[0]] == 1:
            fused[number] = _fuse(fused[sources[0] - count], instruction) or instruction
    if fused == list(program.instructions):
        return program
    return _without_unread(replace(program, instructions=tuple(fused)))


def _fuse(first: Instruction, second: Instruction) -> Instruction | None:
    match first, second:
        case Reshape(source), Reshape(_, shape):
            return Reshape(source, shape)
        case Ones(_, dtype), Reshape(_, shape):
            return Ones(shape, dtype)
        case Transpose(source, inner), Transpose(_, outer):
            return Transpose(source, tuple(inner[axis] for axis in outer))
        case Diagonal(source, letters), Sum(_, axes, None) if max(letters) < LETTERS:
            distinct = tuple(dict.fromkeys(letters))
            kept = tuple(letter for axis, letter in enumerate(distinct) if axis not in axes)
            return Einsum((source,), (letters,), kept)
    return None


def _without_unread(program: Program) -> Program:
    count = len(program.operands)
    read = set(program.outputs)
    for number in range(len(program.instructions) - 1, -1, -1):
        if count + number in read:
            read.update(sources_of(program.instructions[number]))
    numbers = {operand: operand for operand in range(count)}
    instructions: list[Instruction] = []
    notes: list[Note] = []
    for number, instruction in enumerate(program.instructions):
        if count + number in read:
            numbers[count + number] = count + len(instructions)
            instructions.append(renumbered(instruction, numbers))
            notes.append(program.notes[number])
    return replace(
        program,
        instructions=tuple(instructions),
        notes=tuple(notes),
        result=numbers[program.result],
        results=tuple(numbers[result] for result in program.results),
    )


def renumbered(instruction: Instruction, numbers: Mapping[int, int]) -> Instruction:
    """Return an instruction that reads other values."""
    if isinstance(instruction, Einsum | Pointwise | Fused | Sliced | Looped):
        return replace(instruction, sources=tuple(numbers[source] for source in instruction.sources))
    if isinstance(instruction, Multiply | Dot | Vecdot | Matmul | IntegerMatmul):
        return replace(instruction, left=numbers[instruction.left], right=numbers[instruction.right])
    if isinstance(instruction, Full | Ones | Constant | Arange):
        return instruction
    return replace(instruction, source=numbers[instruction.source])
