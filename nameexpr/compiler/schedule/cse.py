"""Operands that are the same array: what is computed of one of them is not computed again of another.

Sharing works on instructions, where axes count and labels are forgotten: two instructions that do the same to
the same values are one. So it finds what two steps of a plan have in common however their labels are called,
parts of steps too: a cast, a copy, a sum. Which plan has most in common is settled before
(`nameexpr.compiler.planning.repeated`).

Expressions write over no value, which is why any two can be one; a formula's program may, and is not shared.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.loops import Looped, Sliced
from nameexpr.compiler.ir.program import (
    AlongAxes,
    Diagonal,
    Dot,
    Einsum,
    Fused,
    Instruction,
    IntegerMatmul,
    Matmul,
    Multiply,
    Pointwise,
    Program,
    Slices,
    Sum,
    Transpose,
    Vecdot,
)
from nameexpr.compiler.ir.strides import Given
from nameexpr.compiler.ir.verify import shapes_of
from nameexpr.compiler.memory.program import peak_bytes
from nameexpr.compiler.planning.plan import Plan
from nameexpr.compiler.schedule.simplify import _without_unread, renumbered

WORKING = (Dot, Matmul, IntegerMatmul, Vecdot, Multiply, Einsum, Sum, Slices)
"""Instructions that do the work of a step; the others of the step only prepare it."""
FREE = (Transpose, Diagonal)
"""Instructions that cost less than finding out that they are done already."""


def share(program: Program, same: tuple[int, ...]) -> Program:
    """Return a program that computes equal values once.

    Parameters
    ----------
    program : Program
        The program of an expression.
    same : tuple of int
        For each operand the number of the first operand that is the same array.

    Examples
    --------
    >>> from nameexpr.compiler.ir.program import Note, Transpose
    >>> twice = (Transpose(0, (1, 0)), Transpose(1, (1, 0)), Dot(2, 3))
    >>> notes = (Note((), "", None),) * 3
    >>> share(Program(((2, 2), (2, 2)), twice, notes, 4, False), (0, 0)).instructions
    (Transpose(source=0, axes=(1, 0)), Dot(left=2, right=2))
    """
    count = len(program.operands)
    numbers = dict(enumerate(same))
    known: dict[Hashable, int] = {}
    instructions = []
    for value, (one, note) in enumerate(zip(program.instructions, program.notes, strict=True), count):
        one = renumbered(one, numbers)
        instructions.append(one)
        numbers[value] = known.setdefault(_key(one, note.dtype, value), value)
    changed = replace(
        program,
        instructions=tuple(instructions),
        result=numbers[program.result],
        results=tuple(numbers[result] for result in program.results),
    )
    return _without_unread(changed)


def _key(one: Instruction, dtype: str, value: int) -> Hashable:
    """Return what two instructions have in common that make the same value."""
    if isinstance(one, Pointwise | AlongAxes | Fused | Sliced | Looped):
        return value
    if isinstance(one, Multiply) and dtype in ITEM_BYTES:
        # Numbers commute; objects need not.
        return Multiply(min(one.left, one.right), max(one.left, one.right), one.dtype)
    return one


def best_shared(
    ways: Sequence[tuple[Plan, Program]], same: tuple[int, ...], limit: int | None, given: Sequence[Given]
) -> tuple[Plan, Program] | None:
    """Return the plan with the fewest flops once its program is shared, and that program.

    Parameters
    ----------
    ways : sequence of (Plan, Program)
        Plans and their programs; the first is the one that is taken if operands differ.
    same : tuple of int
        As for `share`.
    limit : int or None
        Bytes that the program may need.
    given : sequence of Given
        What is known of the operands' memory.

    Returns
    -------
    tuple of Plan and Program, or None
        None if sharing saves nothing but views, or keeps more than `limit`.
    """
    found = []
    for plan, program in ways:
        once = share(program, same)
        repeated = _steps_of(program) - _steps_of(once)
        if limit is None or peak_bytes(once, shapes_of(once), given) <= limit:
            found.append((replace(plan, repeated=repeated), once))
    best = min(found, key=lambda way: way[0].flops, default=None)
    usual = ways[0][1]
    return None if best is None or _calls(best[1]) >= _calls(usual) else best


def _calls(program: Program) -> int:
    return sum(not isinstance(one, FREE) for one in program.instructions)


def _steps_of(program: Program) -> frozenset[int]:
    """Return the steps of the plan whose work the program does."""
    pairs = zip(program.instructions, program.notes, strict=True)
    return frozenset(note.step for one, note in pairs if note.step is not None and isinstance(one, WORKING))
