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
from typing import Any, TypeAlias

from nameexpr.backends.numpy.codegen.statements import Assign, Delete, Return, Statement, Value, value_name
from nameexpr.compiler.ir.liveness import last_uses
from nameexpr.compiler.ir.program import Program
from nameexpr.errors import Diagnostic, error

Calls: TypeAlias = Mapping[str, Callable[..., Value]]
"""For each primitive its code, from the instruction, the shapes of its sources, and their names."""
Several: TypeAlias = Mapping[str, Callable[..., list[Statement]]]
"""The same for primitives that are several statements, which also take the name of the result, after those of
the sources as a list.
"""
NONE: Several = MappingProxyType({})


def statements_of(
    program: Program, shapes: Sequence[Any], calls: Calls, library: str = "", several: Several = NONE
) -> list[Statement]:
    """Return the statements that compute a program from `a0`, `a1`, ..., the last a return (NE529 for a
    primitive without a call).

    `shapes` has for each value what calls take to know about it: its shape, or a record.
    """
    count = len(program.operands)
    names = [value_name(value, count) for value in range(count + len(program.instructions))]
    statements = body_of(program, shapes, names, calls, library, several)
    kept = statements[:-1] if statements and isinstance(statements[-1], Delete) else statements
    last = kept[-1] if kept else None
    if isinstance(last, Assign) and not program.results and last.target == names[-1] == names[program.result]:
        return [*kept[:-1], Return((last.value,))]
    returned = tuple([names[result] for result in program.outputs])
    return [*statements, Return(returned, bool(program.results))]


def body_of(
    program: Program,
    shapes: Sequence[Any],
    names: Sequence[str],
    calls: Calls,
    library: str = "",
    several: Several = NONE,
) -> list[Statement]:
    """Return the statements that compute the values of a program, which have these names."""
    count, last = len(program.operands), last_uses(program)
    statements: list[Statement] = []
    for number, instruction in enumerate(program.instructions):
        primitive, target = instruction.primitive, names[count + number]
        own = [names[source] for source in instruction.sources]
        known = [shapes[source] for source in instruction.sources]
        if primitive in several:
            statements += several[primitive](instruction, known, own, target)
        elif primitive in calls:
            statements.append(Assign(target, calls[primitive](instruction, known, *own)))
        else:
            raise error(Diagnostic("NE529", f"{library} has no {primitive.replace('_', ' ')}"))
        dead = dict.fromkeys([source for source in instruction.sources if source >= count])
        gone = [names[source] for source in dead if last.get(source) == number]
        statements += [Delete(tuple(gone))] if gone else []
    return statements
