"""Rewrites that shorten a program without changing any value.

Each rule considers an instruction and the one that computes its source: two reshapes become one, two
transpositions become one, and the sum of a diagonal becomes a single pass of NumPy's C loop.
"""

from __future__ import annotations

from nameexpr.compiler.ir.liveness import readers, without_unread
from nameexpr.compiler.ir.program import Instruction, Program
from nameexpr.compiler.ir.target import Target
from nameexpr.records import replace

LETTERS = 52
"""Axes that `numpy.einsum` has letters for."""


def simplify(program: Program, target: Target) -> Program:
    """Return the program with adjacent instructions merged and dead ones removed."""
    has_loop = "einsum" in target.native
    count, read_by = len(program.operands), readers(program)
    instructions = list(program.instructions)
    for number, instruction in enumerate(instructions):
        sources = instruction.sources
        if len(sources) == 1 and sources[0] >= count and len(read_by[sources[0]]) == 1:
            merged = _merged(instructions[sources[0] - count], instruction, has_loop=has_loop)
            instructions[number] = merged or instruction
    is_read = all(value in read_by for value in range(count, count + len(instructions)))
    if is_read and instructions == list(program.instructions):
        return program
    return without_unread(replace(program, instructions=tuple(instructions)))


def _merged(first: Instruction, second: Instruction, *, has_loop: bool) -> Instruction | None:
    """Return one instruction in place of two."""
    match first.primitive, second.primitive:
        case "reshape", "reshape":
            return second._replace(sources=first.sources)
        case "ones", "reshape":
            return first._replace(shape=second.shape)
        case "transpose", "transpose":
            return first._replace(axes=tuple([first.axes[axis] for axis in second.axes]))
        case "diagonal", "sum" if has_loop and not second.dtype and max(first.letters[0]) < LETTERS:
            letters, distinct = first.letters
            kept = tuple([letter for axis, letter in enumerate(distinct) if axis not in second.axes])
            return Instruction("einsum", first.sources, letters=(letters, kept))
    return None
