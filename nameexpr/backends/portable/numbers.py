"""Numbers computed from numbers: Python computes them, so that what the library compiles reads their values
only.

    t0 = 1 - b; t1 = a * t0    ->    t0 = fold(np.subtract, 1, b)    and    rest(a, t0): a * t0
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.backends.numpy.codegen.calls import CALLS
from nameexpr.backends.numpy.codegen.statements import Assign, Statement
from nameexpr.compiler.ir.program import Program
from nameexpr.records import replace


def without_numbers(program: Program, names: Sequence[str]) -> tuple[list[Statement], Program, list[str]]:
    """Return the statements that compute numbers, the program without them, and the names of its operands,
    given those of the whole program.
    """
    count = len(program.operands)
    numbers = [value for value, one in enumerate(program.instructions, count) if one.is_weak]
    if not numbers:
        return [], program, list(names)
    spelt = {**dict(enumerate(names)), **{value: f"w{value}" for value in numbers}}
    statements: list[Statement] = []
    for value in numbers:
        one = program.instructions[value - count]
        call = CALLS["pointwise"](one, *[spelt[source] for source in one.sources])
        statements.append(Assign(spelt[value], call))
    order = [*range(count), *numbers]
    others = [value for value in range(count, count + len(program.instructions)) if value not in numbers]
    place = {value: number for number, value in enumerate([*order, *others])}
    rest = replace(
        program,
        operands=(*program.operands, *[() for _ in numbers]),
        instructions=tuple([
            program.instructions[value - count]._replace(
                sources=tuple([place[source] for source in program.instructions[value - count].sources])
            )
            for value in others
        ]),
        notes=tuple([program.notes[value - count] for value in others]),
        result=place[program.result],
        results=tuple([place[result] for result in program.results]),
    )  # fmt: skip
    return statements, rest, [spelt[value] for value in order]
