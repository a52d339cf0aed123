"""Programs as statements: what runs, and what a person reads and pastes.

Every name in the source is ours (`a0`, `t3`), every constant an int or a dtype name from a fixed set: no
character of the user's text reaches what is executed. The text and its labels appear in comments only, and
only in the form made to be read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod

from nameexpr.backends.numpy.codegen.calls import render_call, render_streamed
from nameexpr.backends.numpy.codegen.statements import (
    Assign,
    Callee,
    Delete,
    Numbering,
    Return,
    Statement,
    Value,
    indexed,
    numpy,
    value_name,
    write,
)
from nameexpr.compiler.ir.axes import shown
from nameexpr.compiler.ir.liveness import BLOCK, last_uses, never_made
from nameexpr.compiler.ir.primitives import is_view
from nameexpr.compiler.ir.program import Instruction, Program
from nameexpr.records import record

MODULES = ("copies", "formulas", "kernels")
IMPORTS = {module: f"from nameexpr.backends.numpy import {module}" for module in MODULES}
"""What source to paste begins with, after NumPy, where it uses these."""
Shapes = Sequence[tuple[int, ...]]


def compute(
    program: Program,
    shapes: Shapes,
    made_once: dict[str, Instruction] | None = None,
    numbering: Numbering | None = None,
) -> list[Statement]:
    """Return the statements that compute a program from `a0`, `a1`, ..., the last a return.

    Parameters
    ----------
    program : Program
        What to compute.
    shapes : sequence of tuple of int
        Shape of every value.
    made_once : dict, optional
        Where ones go, by the name of their value, instead of into the statements.
    numbering : Numbering, optional
        Takes the notes of values inside loops.
    """
    unmade, last, count = never_made(program), last_uses(program), len(program.operands)
    values = [value_name(value, count) for value in range(len(shapes))]
    statements: list[Statement] = []
    for number, instruction in enumerate(program.instructions):
        target, sources = values[count + number], instruction.sources
        names = [values[source] for source in sources]
        if instruction.primitive in {"fused", "loop"}:
            from nameexpr.backends.numpy.codegen.loops import loop_statements

            numbering = numbering or Numbering()
            own = [shapes[source] for source in sources]
            statements += loop_statements(instruction, target, names, own, numbering)
        elif number in unmade:
            continue
        elif instruction.primitive == "ones" and made_once is not None and prod(instruction.shape) <= BLOCK:
            made_once[target] = instruction
            continue
        else:
            call = _call(program, instruction, names, unmade)
            is_last = number == len(program.instructions) - 1
            if is_last and program.result == count + number and not program.results:
                return [*statements, Return((call if shapes[-1] else numpy("asarray")(call),))]
            statements.append(Assign(target, call))
        statements += _deletions(program, number, last, values)
    return [*statements, _return(program, shapes)]


def _call(program: Program, instruction: Instruction, names: Sequence[str], unmade: Collection[int]) -> Value:
    """Return what computes one instruction."""
    count = len(program.operands)
    if unmade and any(source - count in unmade for source in instruction.sources):
        return render_streamed(instruction, names[0], program.notes[instruction.sources[1] - count].dtype)
    return render_call(instruction, names)


def _return(program: Program, shapes: Shapes) -> Return:
    """Return the last statement: every result an array, and an operand as it is a view of itself."""
    count = len(program.operands)
    values: list[Value] = []
    for result in program.outputs:
        value: Value = value_name(result, count)
        value = value if shapes[result] else numpy("asarray")(value)
        values.append(indexed(value, "...") if result < count else value)
    return Return(tuple(values), bool(program.results))


def _deletions(
    program: Program, number: int, last: Mapping[int, int], names: Sequence[str]
) -> list[Statement]:
    """Return the statement that forgets what nothing reads any more: arrays, and what they were views of."""
    count = len(program.operands)
    instruction = program.instructions[number]
    if is_view(instruction):
        return []
    dead: dict[str, None] = {}
    waiting = [
        source
        for source in instruction.sources
        if source >= count and last[source] == number
        if program.instructions[source - count].primitive != "ones"
    ]
    while waiting:
        value = waiting.pop(0)
        dead[names[value]] = None
        view = program.instructions[value - count]
        if is_view(view) and view.sources[0] >= count and last[view.sources[0]] == value - count:
            waiting.append(view.sources[0])
    return [Delete(tuple(dead))] if dead else []


@record
class Routine:
    """A function of source to paste.

    `text` says what it computes, `terms` what each operand is, and `result` what comes out: all for comments.
    """

    name: str
    program: Program
    shapes: Shapes
    text: str
    terms: Sequence[str]
    result: str


def source_of(*routines: Routine) -> str:
    """Return source to paste: the same statements as those that run, with the labels in comments.

    Of several functions the first is written last, for it takes what the others give.
    """
    imports = {"import numpy as np": None}
    written = []
    for routine in routines:
        modules: set[str] = set()
        written.append("\n".join(_routine(routine, modules)) + "\n")
        imports |= {line: None for module, line in IMPORTS.items() if module in modules}
    return "\n".join([*imports, "", "", "\n\n".join(reversed(written))])


def _routine(one: Routine, modules: set[str]) -> list[str]:
    """Return the lines of a function to paste; what it needs is added to `modules`."""

    def spell(callee: Callee) -> str:
        modules.add(callee.module)
        return str(callee)

    program, numbering = one.program, Numbering()
    statements = compute(program, one.shapes, numbering=numbering)
    arguments = [f"a{position}" for position in range(len(program.operands))]
    if any(instruction.primitive == "apply" for instruction in program.instructions):
        arguments.append("reduce")
    comments = {f"t{number}": note for number, note in enumerate(program.notes)}
    comments |= {f"v{number}": note for number, note in enumerate(numbering.notes)}
    labels = {name: _comment(" ".join(map(shown, note.labels))) for name, note in comments.items()}
    return [
        f"def {one.name}({', '.join(arguments)}):",
        f"    # {_comment(one.text)}",
        *(f"    # a{position}: {_comment(term)}" for position, term in enumerate(one.terms)),
        *write(statements, spell, labels | {"return": _comment(one.result)}, "    "),
    ]


def _comment(text: str) -> str:
    """Return text that cannot end a comment: on one line, with nothing unprintable in it."""
    from nameexpr.carets import visible

    return visible(" ".join(text.split()))
