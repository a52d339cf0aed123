"""Operands that are the same array: what is computed of one of them is not computed again of another.

Sharing works on instructions, where axes count and labels are forgotten: two instructions that do the same to
the same values are one. So it finds what two steps of a plan have in common however their labels are called,
parts of steps too: a cast, a copy, a sum. Which plan has most in common is settled before
(`nameexpr.compiler.planning.repeated`).

It comes before anything writes over a value, which is why any two can be one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.layouts import OperandLayout
from nameexpr.compiler.ir.liveness import renumbered, without_unread
from nameexpr.compiler.ir.primitives import WORKING, shapes_of
from nameexpr.compiler.ir.program import Instruction, Primitive, Program
from nameexpr.compiler.memory.program import peak_bytes
from nameexpr.compiler.planning.plan import ContractionPlan
from nameexpr.records import replace

FREE: frozenset[Primitive] = frozenset({"transpose", "diagonal"})
"""Primitives that cost less than finding out that they are done already."""


def share(program: Program, same: tuple[int, ...]) -> Program:
    """Return a program that computes equal values once.

    Parameters
    ----------
    program : Program
        A program that writes over no value yet.
    same : tuple of int
        For each operand the number of the first operand that is the same array.

    Examples
    --------
    >>> from nameexpr.compiler.ir.program import Instruction, Note
    >>> turned = [Instruction("transpose", (operand,), axes=(1, 0)) for operand in (0, 1)]
    >>> twice = (*turned, Instruction("dot", (2, 3)))
    >>> notes = (Note((), "", None),) * 3
    >>> share(Program(((2, 2), (2, 2)), twice, notes, 4, False), (0, 0)).instructions
    (transpose(sources=(0,), axes=(1, 0)), dot(sources=(2, 2)))
    """
    count = len(program.operands)
    numbers = dict(enumerate(same))
    known: dict[Hashable, int] = {}
    instructions = []
    for value, (instruction, note) in enumerate(zip(program.instructions, program.notes, strict=True), count):
        instruction = renumbered(instruction, numbers)
        instructions.append(instruction)
        numbers[value] = known.setdefault(_key(instruction, note.dtype, value), value)
    changed = replace(
        program,
        instructions=tuple(instructions),
        result=numbers[program.result],
        results=tuple(numbers[result] for result in program.results),
    )
    return without_unread(changed)


def _key(instruction: Instruction, dtype: str, value: int) -> Hashable:
    """Return what two instructions have in common that make the same value."""
    if instruction.loop is not None:
        return value
    if instruction.constants or instruction.steps:
        return repr(instruction), dtype  # equal numbers need not be the same: 1, 1.0, True; 0.0, -0.0
    if instruction.primitive == "multiply" and dtype in ITEM_BYTES:
        # Numbers commute; objects need not.
        return instruction._replace(sources=tuple(sorted(instruction.sources)))
    return instruction


def best_shared(
    ways: Sequence[tuple[ContractionPlan, Program]],
    same: tuple[int, ...],
    limit: int | None,
    layouts: Sequence[OperandLayout],
) -> tuple[ContractionPlan, Program] | None:
    """Return the plan with the fewest flops once its program is shared, and that program.

    Parameters
    ----------
    ways : sequence of (ContractionPlan, Program)
        Plans and their programs; the first is the one that is taken if operands differ.
    same : tuple of int
        As for `share`.
    limit : int or None
        Bytes that the program may need.
    layouts : sequence of OperandLayout
        What is known of the operands' memory.

    Returns
    -------
    tuple of ContractionPlan and Program, or None
        None if sharing saves nothing but views, or keeps more than `limit`.
    """
    found = []
    for plan, program in ways:
        once = share(program, same)
        repeated = _steps_of(program) - _steps_of(once)
        if limit is None or peak_bytes(once, shapes_of(once), layouts) <= limit:
            found.append((replace(plan, repeated=repeated), once))
    best = min(found, key=lambda way: way[0].flops, default=None)
    usual = ways[0][1]
    return None if best is None or calls(best[1]) >= calls(usual) else best


def calls(program: Program) -> int:
    """Return how many instructions do more than say how memory is seen."""
    return sum(instruction.primitive not in FREE for instruction in program.instructions)


def _steps_of(program: Program) -> frozenset[int]:
    """Return the steps of the plan whose work the program does."""
    return frozenset(
        note.step
        for instruction, note in zip(program.instructions, program.notes, strict=True)
        if note.step is not None and instruction.primitive in WORKING
    )
