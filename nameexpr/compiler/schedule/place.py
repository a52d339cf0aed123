"""Concatenations whose parts are computed in place and not copied (`nameexpr.compiler.ir.placing`).

A part is computed in place if its root is a function that takes an output array, is read by nothing after the
concatenation, and is a view of its part. Products of merged matrices are computed as a stack of matrices,
which can be written to a part. What would only be moved, repeated or cast is read where it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.ir.dtypes import BLAS
from nameexpr.compiler.ir.layouts import OperandLayout
from nameexpr.compiler.ir.liveness import accumulator, readers, without_unread
from nameexpr.compiler.ir.placing import pieces_of, strides_in, way_back
from nameexpr.compiler.ir.primitives import is_view, shapes_of
from nameexpr.compiler.ir.program import Instruction, Program, Shape
from nameexpr.compiler.ir.strides import Strides
from nameexpr.compiler.memory.program import peak_bytes
from nameexpr.ops import REDUCTIONS
from nameexpr.records import replace

ROWS = 16
"""The fewest rows of a matrix for which a product of a stack of matrices is as fast as one product."""
WRITING = frozenset({"multiply", "divide", "matmul", "vecdot", "sum", "einsum"})
"""Primitives whose functions take an output array."""


def place(program: Program) -> Program:
    """Return a program that computes the parts of concatenations in place, where that is possible."""
    if "concatenate" not in [one.primitive for one in program.instructions]:
        return program
    program = _stacked(_read_where_it_is(program))
    shapes, instructions = shapes_of(program), list(program.instructions)
    last = _last_reads(program, shapes)
    for number, instruction in enumerate(instructions):
        if instruction.primitive == "concatenate":
            factors = _in_place(program, shapes, last, number)
            instructions[number] = instruction._replace(factors=factors)
    return replace(program, instructions=tuple(instructions))


def place_within(
    program: Program, layouts: Sequence[OperandLayout], limit: int | None
) -> tuple[Program, tuple[Shape, ...]]:
    """Return a program that computes parts in place, unless it exceeds a memory limit then, and the shapes of
    its values.
    """
    placed = place(program)
    fits = limit is None or peak_bytes(placed, shapes_of(placed), layouts) <= limit
    chosen = placed if fits else program
    return chosen, shapes_of(chosen)


def _read_where_it_is(program: Program) -> Program:
    """Return a program whose concatenations read what would be copied, repeated or cast for them alone."""
    count, read_by = len(program.operands), readers(program)
    instructions = list(program.instructions)
    for number, instruction in enumerate(instructions):
        if instruction.primitive != "concatenate":
            continue
        sources = list(instruction.sources)
        for at, source in enumerate(sources):
            made = instructions[source - count] if source >= count else None
            if made is not None and len(read_by[source]) == 1 and _is_moving(made, instruction.dtype):
                sources[at] = made.sources[0]
        instructions[number] = instruction._replace(sources=tuple(sources))
    return without_unread(replace(program, instructions=tuple(instructions)))


def _is_moving(made: Instruction, dtype: str) -> bool:
    """Return whether writing the source of an instruction into an array of a dtype has the same result."""
    if made.primitive == "cast":
        return made.dtype == dtype
    return made.primitive == "repeat" or (made.primitive == "copy" and not made.function)


def _stacked(program: Program) -> Program:
    """Return a program in which products for a concatenation are not computed as one merged matrix."""
    count, read_by, shapes = len(program.operands), readers(program), shapes_of(program)
    instructions = list(program.instructions)

    def made(value: int, primitive: str) -> Instruction | None:
        one = instructions[value - count] if value >= count and len(read_by[value]) == 1 else None
        return one if one is not None and one.primitive == primitive else None

    for instruction in program.instructions:
        for source in instruction.sources if instruction.primitive == "concatenate" else ():
            split = made(source, "reshape")
            product = split and made(split.sources[0], "dot")
            merged = product and made(product.sources[0], "reshape")
            if split is None or product is None or merged is None:
                continue
            stack, result = shapes[merged.sources[0]], shapes[source]
            is_stack = len(stack) > 2 and stack[:-1] == result[:-1] and stack[-2] >= ROWS  # noqa: PLR2004
            if (
                is_stack
                and program.notes[source - count].dtype in BLAS
                and len(shapes[product.sources[1]]) > 1
            ):
                sources = merged.sources[0], product.sources[1]
                instructions[source - count] = Instruction("matmul", sources)
    return without_unread(_with_steps(replace(program, instructions=tuple(instructions)), program))


def _with_steps(program: Program, before: Program) -> Program:
    """Return the program with the step of each product noted where it is computed now."""
    notes, count = list(program.notes), len(program.operands)
    pairs = zip(program.instructions, before.instructions, strict=True)
    for number, (new, old) in enumerate(pairs):
        if new is not old and new.primitive == "matmul":
            notes[number] = replace(notes[number], step=before.notes[old.sources[0] - count].step)
    return replace(program, notes=tuple(notes))


def _last_reads(program: Program, shapes: Sequence[Shape]) -> dict[int, int]:
    """Return the last instruction that reads the memory of each root."""
    found: dict[int, int] = {}
    for number, instruction in enumerate(program.instructions):
        found |= {way_back(program, shapes, source)[0]: number for source in instruction.sources}
    return found | {way_back(program, shapes, one)[0]: len(program.instructions) for one in program.outputs}


def _in_place(
    program: Program, shapes: Sequence[Shape], last: dict[int, int], number: int
) -> tuple[int, ...]:
    """Return the sources of a concatenation that are computed in place."""
    count, instruction = len(program.operands), program.instructions[number]
    roots: set[int] = set()
    factors = []
    for at, (source, piece) in enumerate(zip(instruction.sources, pieces_of(instruction), strict=True)):
        root, steps = way_back(program, shapes, source)
        is_whole = _is_whole(shapes[source], piece.split)
        strides = strides_in(instruction.shape, piece, shapes[source], steps) if is_whole else None
        fits = root >= count and root not in roots and last[root] == number and shapes[root] != ()
        if (
            fits
            and strides is not None
            and program.notes[root - count].dtype == instruction.dtype
            and _can_write(program.instructions[root - count], strides)
            and _stays(program, source)
            and not _reads_ones(program, root - count)
        ):
            roots.add(root)
            factors.append(at)
    return tuple(factors)


def _stays(program: Program, value: int) -> bool:
    """Return whether a value is where its root was written: functions along dims may work in memory, but
    return an array of their own for some dtypes.
    """
    count = len(program.operands)
    while value >= count:
        instruction = program.instructions[value - count]
        if instruction.over is not None:
            if instruction.primitive not in {"pointwise", "fused"}:
                return False
            value = instruction.sources[instruction.over]
        elif is_view(instruction):
            (value,) = instruction.sources
        else:
            break
    return True


def _is_whole(source: Shape, split: Shape) -> bool:
    """Return whether a source fills its piece without being repeated."""
    return source == split or (
        source == split[len(split) - len(source) :]
        and all(size == 1 for size in split[: len(split) - len(source)])
    )


def _reads_ones(program: Program, number: int) -> bool:
    """Return whether an instruction is a sum through ones, which are never created if there are many."""
    count = len(program.operands)
    made = [program.instructions[one - count] for one in program.instructions[number].sources if one >= count]
    return any(one.primitive == "ones" for one in made)


def _can_write(root: Instruction, strides: Strides) -> bool:
    """Return whether an instruction can write its result into memory with these strides: BLAS writes rows or
    columns.
    """
    if root.over is not None or (root.primitive == "matmul" and 1 not in strides[-2:]):
        return False
    if root.primitive == "pointwise":
        return root.takes_out and not root.is_weak
    if root.primitive == "reduce":
        return bool(REDUCTIONS[root.function].combine)
    if root.primitive == "fused":
        return accumulator(root) == root.dtype
    return root.primitive in WRITING
