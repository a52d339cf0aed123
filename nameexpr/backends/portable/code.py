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
from types import MappingProxyType
from typing import TypeAlias

from nameexpr.backends.numpy.codegen.statements import Assign, Delete, Return, Statement, Value, value_name
from nameexpr.compiler.ir.liveness import last_uses
from nameexpr.compiler.ir.program import Program
from nameexpr.errors import Diagnostic, error

Shapes = Sequence[tuple[int, ...]]
Calls: TypeAlias = Mapping[str, Callable[..., Value]]
"""For each primitive its code, from the instruction, the shapes of its sources, and their names."""
Several: TypeAlias = Mapping[str, Callable[..., list[Statement]]]
"""For each primitive that is several statements these, from the instruction, the shapes of its sources, the
name of the result, and the names of the sources.
"""
NONE: Several = MappingProxyType({})


def statements_of(
    program: Program, shapes: Shapes, calls: Calls, library: str = "", several: Several = NONE
) -> list[Statement]:
    """Return the statements that compute a program from `a0`, `a1`, ..., the last a return (NE529 for a
    primitive without a call).
    """
    count, total = len(program.operands), len(shapes)
    names = [value_name(value, count) for value in range(total)]
    statements = body_statements(program, shapes, names, calls, library, several)
    last = statements[-1] if statements else None
    if isinstance(last, Assign) and last.target == names[program.result] and not program.results:
        return [*statements[:-1], Return((last.value,))]
    returned = tuple([names[result] for result in program.outputs])
    return [*statements, Return(returned, bool(program.results))]


def body_statements(
    program: Program,
    shapes: Shapes,
    names: Sequence[str],
    calls: Calls,
    library: str = "",
    several: Several = NONE,
) -> list[Statement]:
    """Return the statements that compute the values of a program, which have these names; values that are
    not read any more are deleted, except after the last statement.
    """
    count, last = len(program.operands), last_uses(program)
    statements: list[Statement] = []
    for number, instruction in enumerate(program.instructions):
        target, sources = names[count + number], [names[source] for source in instruction.sources]
        own = [shapes[source] for source in instruction.sources]
        if instruction.primitive in several:
            statements += several[instruction.primitive](instruction, own, target, sources)
        elif instruction.primitive in calls:
            statements.append(Assign(target, calls[instruction.primitive](instruction, own, *sources)))
        else:
            raise error(Diagnostic("NE529", f"{library} has no {instruction.primitive.replace('_', ' ')}"))
        dead = dict.fromkeys([source for source in instruction.sources if source >= count])
        gone = [names[source] for source in dead if last.get(source) == number]
        if gone and number < len(program.instructions) - 1:
            statements.append(Delete(tuple(gone)))
    return statements
