"""Straight-line code from a program: a statement for each instruction, by a library's table of calls.

>>> from nameexpr.backends.numpy.codegen.statements import Callee, write
>>> from nameexpr.compiler.ir.program import Instruction, Note, Program
>>> double = Instruction("divide", (0,), constants=(2,))
>>> program = Program(((3,),), (double,), (Note(("i",), "float64", None),), 1, False)
>>> calls = {"divide": lambda instruction, shapes, x: f"{x} / {instruction.constants[0]}"}
>>> write(statements_of(program, [(3,), (3,)], calls), str)
['return a0 / 2']
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from nameexpr.backends.numpy.codegen.statements import Assign, Delete, Return, Statement, Value, value_name
from nameexpr.compiler.ir.liveness import last_uses
from nameexpr.compiler.ir.program import Instruction, Program
from nameexpr.errors import Diagnostic, error

Shapes = Sequence[tuple[int, ...]]
Calls: TypeAlias = Mapping[str, Callable[..., Value]]
"""For each primitive its code, from the instruction, the shapes of its sources, and their names."""


Several: TypeAlias = Mapping[str, Callable[[Instruction, str, Sequence[str]], list[Statement]]]
"""For each primitive that is several statements these, from the instruction, its name and its sources'."""


def statements_of(
    program: Program, shapes: Shapes, calls: Calls, library: str = "", several: Several | None = None
) -> list[Statement]:
    """Return the statements that compute a program from `a0`, `a1`, ..., the last a return (NE529 for a
    primitive without a call).
    """
    count = len(program.operands)
    last = last_uses(program)
    statements: list[Statement] = []
    for number, instruction in enumerate(program.instructions):
        names = [value_name(source, count) for source in instruction.sources]
        own = [shapes[source] for source in instruction.sources]
        if several and instruction.primitive in several:
            name = value_name(count + number, count)
            statements += several[instruction.primitive](instruction, name, names)
            continue
        if instruction.primitive not in calls:
            raise error(Diagnostic("NE529", f"{library} has no {instruction.primitive.replace('_', ' ')}"))
        call = calls[instruction.primitive](instruction, own, *names)
        if count + number == program.result == count + len(program.instructions) - 1 and not program.results:
            return [*statements, Return((call,))]
        statements.append(Assign(value_name(count + number, count), call))
        dead = dict.fromkeys([source for source in instruction.sources if source >= count])
        gone = [value_name(source, count) for source in dead if last.get(source) == number]
        statements += [Delete(tuple(gone))] if gone else []
    returned = tuple([value_name(result, count) for result in program.outputs])
    return [*statements, Return(returned, bool(program.results))]
