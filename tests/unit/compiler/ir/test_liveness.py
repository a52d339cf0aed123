"""Who reads what for the last time, and which programs are rejected because they read what is gone."""

from __future__ import annotations

import pytest

from nameexpr.compiler.ir.liveness import check_program, last_uses, owners, readers, without_unread
from nameexpr.compiler.ir.program import Instruction, Note, Program
from nameexpr.records import replace
from oracle.generate import instructions as ir

EXP = ir.pointwise("exp", (0,), (None,), (2, 3), "float64")
OVER = ir.pointwise("sqrt", (1,), (None,), (2, 3), "float64", over=0)


def program_of(*instructions: Instruction, result: int) -> Program:
    notes = (Note((), "float64", None),) * len(instructions)
    return Program(((2, 3),), instructions, notes, result, depends_on_layout=False)


def test_views_lie_in_the_memory_of_their_source() -> None:
    program = program_of(ir.transpose(0, (1, 0)), ir.transpose(1, (1, 0)), ir.copy(2), result=3)
    assert owners(1, program.instructions) == [0, 0, 0, 3]
    assert last_uses(program) == {0: 0, 1: 1, 2: 2, 3: 3}
    assert readers(program) == {0: [1], 1: [2], 2: [3], 3: [-1]}


def test_what_nothing_reads_is_left_out() -> None:
    program = program_of(EXP, ir.copy(0), ir.copy(2), result=3)
    assert without_unread(program).instructions == (ir.copy(0), ir.copy(1))


def test_a_program_that_writes_over_what_is_dead_is_sound() -> None:
    check_program(program_of(EXP, OVER, result=2))


@pytest.mark.parametrize(
    "wrong",
    [
        program_of(EXP, OVER, ir.multiply(1, 2), result=3),
        program_of(EXP, ir.transpose(1, (1, 0)), OVER, ir.transpose(2, (1, 0)), result=4),
        program_of(EXP._replace(over=0), result=1),
        replace(program_of(EXP, OVER, result=2), results=(1, 2)),
        replace(program_of(EXP, result=1), notes=()),
    ],
)
def test_a_program_that_reads_what_was_written_over_is_refused(wrong: Program) -> None:
    with pytest.raises(AssertionError):
        check_program(wrong)
