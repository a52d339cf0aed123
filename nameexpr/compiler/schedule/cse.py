"""Common subexpressions, of operands that are the same array too: they are computed once.

Sharing works on instructions, which have axes and no labels: two instructions that do the same to the same
values are one. It therefore finds what two steps of a plan have in common regardless of their labels,
including parts of steps: a cast, a copy, a sum. The plan with the most in common is chosen before
(`nameexpr.compiler.planning.repeated`).

It runs before anything writes over a value, so that any two equal values can be merged.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import prod

from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.layouts import OperandLayout
from nameexpr.compiler.ir.liveness import owners, renumbered, without_unread
from nameexpr.compiler.ir.primitives import WORKING, shapes_of
from nameexpr.compiler.ir.program import Instruction, Primitive, Program
from nameexpr.compiler.memory.program import peak_bytes
from nameexpr.compiler.planning.plan import ContractionPlan
from nameexpr.records import replace

WIDEST = 16
"""The bytes of an element of an unknown dtype, at most."""
FREE: frozenset[Primitive] = frozenset({"transpose", "diagonal"})
"""Primitives that cost less than looking up whether they are already computed."""


def share(program: Program, same: tuple[int, ...]) -> Program:
    """Return a program that computes equal values once.

    Parameters
    ----------
    program : Program
        A program that does not write over values yet.
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


def share_small(program: Program, most: int) -> Program:
    """Return a program that computes equal values of at most `most` bytes once.

    The gradients of a contraction read its operands in the same layouts as the contraction itself. Larger
    values are not kept for it; results stay apart.
    """
    count, outputs = len(program.operands), frozenset(program.outputs)
    shapes = shapes_of(program)
    numbers = {value: value for value in range(len(shapes))}
    known: dict[Hashable, int] = {}
    instructions = []
    for value, (instruction, note) in enumerate(zip(program.instructions, program.notes, strict=True), count):
        instruction = renumbered(instruction, numbers)
        instructions.append(instruction)
        first = known.setdefault(_key(instruction, note.dtype, value), value)
        is_small = prod(shapes[value]) * ITEM_BYTES.get(note.dtype, WIDEST) <= most
        if first != value and value not in outputs and is_small:
            numbers[value] = first
    once = replace(program, instructions=tuple(instructions))
    memory, before = (owners(count, one.instructions) for one in (once, program))
    is_apart = len({memory[output] for output in outputs}) == len({before[output] for output in outputs})
    return without_unread(once) if is_apart and len(set(numbers.values())) < len(numbers) else program


def _key(instruction: Instruction, dtype: str, value: int) -> Hashable:
    """Return a key that instructions with the same value have in common."""
    if instruction.loop is not None or instruction.recurrence is not None:
        return value
    if instruction.constants or instruction.steps:
        return repr(instruction), dtype  # equal numbers may differ: 1, 1.0, True; 0.0, -0.0
    if instruction.primitive == "multiply" and dtype in ITEM_BYTES:
        # Products of numbers commute; those of objects may not.
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
        Plans and their programs; the first is the one that is used if operands differ.
    same : tuple of int
        As for `share`.
    limit : int or None
        The bytes that the program may need.
    layouts : sequence of OperandLayout
        The memory layout of the operands, as far as known.

    Returns
    -------
    tuple of ContractionPlan and Program, or None
        None if sharing saves only views, or needs more memory than `limit`.
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
    """Return how many instructions do more than create views."""
    return sum(instruction.primitive not in FREE for instruction in program.instructions)


def _steps_of(program: Program) -> frozenset[int]:
    """Return the steps of the plan that the program computes."""
    return frozenset(
        note.step
        for instruction, note in zip(program.instructions, program.notes, strict=True)
        if note.step is not None and instruction.primitive in WORKING
    )
