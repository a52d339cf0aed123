"""What PyTorch needs explicitly in a program: conversions before a product, products of integers, positions.

Its products and functions promote dtypes by its own rules, so that a product which the compiler wants in
another dtype is a product of converted values.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from nameexpr.backends.symbolic import hint_of
from nameexpr.compiler.ir.dtypes import KIND_OF
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Note, Program
from nameexpr.records import replace

PRODUCTS = frozenset({"dot", "matmul"})
ACROSS = "across"
"""The function of a transposition that copies the last axis contiguously."""
OUTSIDE = 1 << 31
"""Few tensors have more elements; products of this and a number of elements do not exceed 64 bits."""


def explicit(program: Program, dtypes: Sequence[str]) -> Program:
    """Return a program with these rewrites, for operands of these dtypes."""
    count = len(program.operands)
    known = [*dtypes, *[note.dtype for note in program.notes]]
    numbers = list(range(count))
    instructions: list[Instruction] = []
    notes: list[Note] = []

    def emit(instruction: Instruction, note: Note) -> int:
        instructions.append(instruction)
        notes.append(note)
        return count + len(instructions) - 1

    positions, across = _only_positions(program), _copied_across(program)
    for value, (instruction, note) in enumerate(zip(program.instructions, program.notes, strict=True), count):
        sources = [numbers[source] for source in instruction.sources]
        given = [known[source] for source in instruction.sources]
        for place in _converted(instruction, given):
            cast = Instruction("cast", (sources[place],), dtype=instruction.dtype)
            sources[place] = emit(cast, replace(note, dtype=instruction.dtype))
        made = _rewritten(instruction, given, note.dtype)
        if made.primitive == "inside":
            size = None if value in positions else made.constants[0]
            made = made._replace(constants=(size, _outside(program)))
        if value in across:
            made = made._replace(function=ACROSS)
        numbers.append(emit(made._replace(sources=tuple(sources)), note))
    results = tuple([numbers[result] for result in program.results])
    return replace(
        program,
        instructions=tuple(instructions),
        notes=tuple(notes),
        result=numbers[program.result],
        results=results,
    )


def _copied_across(program: Program) -> set[int]:
    """Return the stacks of matrices that `matmul` would copy with a large stride: transposed ones, of batches
    that are not one axis in memory. They are better copied as they are, and transposed afterwards.
    """
    found = {
        value
        for value, instruction in enumerate(program.instructions, len(program.operands))
        if instruction.primitive == "transpose" and _is_across(instruction.axes)
    }
    for instruction in program.instructions if found else ():
        found -= set(() if instruction.primitive == "matmul" else instruction.sources)
    return found - set(program.outputs)


def _is_across(axes: Sequence[int]) -> bool:
    *batch, row, _ = axes if len(axes) > 3 else (0, 0, 0)  # noqa: PLR2004
    is_apart = any(other != axis + 1 for axis, other in pairwise(batch))
    return is_apart and row == len(axes) - 1


def _outside(program: Program) -> int:
    """Return a position that no value has, not even along all of its axes as one."""
    cells: list[int] = [hint_of(prod(shape)) for shape in shapes_of(program)]
    return max([OUTSIDE, *cells])


def _converted(instruction: Instruction, dtypes: Sequence[str]) -> list[int]:
    """Return which sources of an instruction are converted to its dtype first: those of a product in another
    dtype, and bools that are subtracted.
    """
    wanted = instruction.dtype
    if instruction.primitive == "multiply" and wanted:
        return [place for place, dtype in enumerate(dtypes) if dtype != wanted]
    if instruction.function == "subtract" and wanted != "bool":
        return [place for place, dtype in enumerate(dtypes) if dtype == "bool"]
    return []


def _rewritten(instruction: Instruction, dtypes: Sequence[str], dtype: str) -> Instruction:
    """Return an instruction of sources of these dtypes, whose result has this dtype, as PyTorch needs it."""
    if instruction.primitive in PRODUCTS and KIND_OF.get(dtype) in {"int", "uint"}:
        return instruction._replace(dtype=dtype)
    steps = instruction.recurrence
    if steps is None:
        return instruction
    body = steps.body
    rows = [body.notes[output - len(body.operands)].dtype for output in body.outputs]
    given = [*dtypes[steps.count :], *[rows[array] for array, _ in steps.reads]]
    return instruction._replace(recurrence=replace(steps, body=explicit(body, given)))


def _only_positions(program: Program) -> set[int]:
    """Return the values that are only read as positions of `take` along one axis, which checks them."""
    found = {
        value
        for value, instruction in enumerate(program.instructions, len(program.operands))
        if instruction.primitive == "inside"
    }
    for instruction in program.instructions:
        is_take = instruction.primitive == "take" and not instruction.function
        found -= set(instruction.sources[:1] if is_take else instruction.sources)
    return found - set(program.outputs)


MADE = frozenset({"arange", "concatenate", "constant", "full"})
"""Instructions that make a tensor from nothing."""


def needs_device(program: Program) -> bool:
    """Return whether a program makes tensors from numbers alone."""
    for instruction, note in zip(program.instructions, program.notes, strict=True):
        is_number = instruction.primitive == "pointwise" and instruction.function in {
            "asarray",
            "as_array",
            note.dtype,
        }
        if instruction.primitive in MADE or is_number or instruction.recurrence is not None:
            return True
    return False
