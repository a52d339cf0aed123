"""Recurrences as loops over lists of rows, which are stacked in the end: nothing is written to.

t3_0 = list(t0.unbind(0))
for j0 in range(0, 100):
    p0 = t2[j0]
    q0 = t3_0[j0 + 0]
    v0 = torch.mm(q0, a1) + p0
    t3_0.append(v0)
t3 = torch.stack(t3_0),
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nameexpr.backends.numpy.codegen.statements import (
    Assign,
    For,
    Joined,
    Statement,
    Value,
    delete,
    indexed,
    method,
)
from nameexpr.backends.portable.code import Calls, body_statements
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Shape, StepLoop

Rows = Callable[[str, Shape, str], Value]
"""The list of the rows of an array: from its name, its shape after broadcasting, and the dtype of rows."""
Stack = Callable[[str, Shape, str], Value]
"""The array of a list of rows: from its name, the shape of the array, and its dtype."""


def recurrence_statements(
    instruction: Instruction, target: str, names: Sequence[str], calls: Calls, rows: Rows, stack: Stack
) -> list[Statement]:
    """Return the statements that compute the arrays of all rows into a tuple called `target`."""
    steps = instruction.recurrence
    assert steps is not None
    body, shapes, index = steps.body, shapes_of(steps.body), f"j_{target}"
    lists = [f"{target}_{number}" for number in range(len(body.outputs))]
    dtypes = [body.notes[output - len(body.operands)].dtype for output in body.outputs]
    statements = _begun(steps, lists, dtypes, names, rows)
    taken, local = _parts(steps, index, lists, names[steps.count :], target)
    local += [f"v{number}_{target}" for number in range(len(body.instructions))]
    inside = [*taken, *body_statements(body, shapes, local, calls)]
    for number, (name, output) in enumerate(zip(lists, body.outputs, strict=True)):
        inside.append(Assign(None, method(name, "append", local[output])))
        inside += [Assign(None, method(name, "pop", "0"))] if number in steps.last else []
    statements += [For(index, f"0, {steps.length}", inside)] if steps.length else []
    made: list[Value] = []
    for number, (name, dtype) in enumerate(zip(lists, dtypes, strict=True)):
        made += [stack(name, (steps.length_of(number), *steps.rows[number]), dtype), ", "]
    return [*statements, Assign(target, Joined(tuple(made))), *delete(lists)]


def _begun(
    steps: StepLoop, lists: Sequence[str], dtypes: Sequence[str], names: Sequence[str], rows: Rows
) -> list[Statement]:
    """Return the statements that make the lists of first rows."""
    statements: list[Statement] = []
    starts = iter(names[: steps.count])
    for number, (name, dtype) in enumerate(zip(lists, dtypes, strict=True)):
        made: list[Value] = []
        for count in steps.starts[number]:
            made += [" + " if made else "", rows(next(starts), (count, *steps.rows[number]), dtype)]
        statements.append(Assign(name, Joined(tuple(made)) if made else "[]"))
    return statements


def _parts(
    steps: StepLoop, index: str, lists: Sequence[str], names: Sequence[str], target: str
) -> tuple[list[Statement], list[str]]:
    """Return the statements that take what a step reads, and the names of the operands of its body."""
    taken: list[Statement] = []
    local: list[str] = []
    for number, (name, is_cut) in enumerate(zip(names, steps.cut, strict=True)):
        local.append(f"p{number}_{target}" if is_cut else name)
        taken += [Assign(local[-1], indexed(name, index))] if is_cut else []
    for number, (array, ahead) in enumerate(steps.reads):
        local.append(f"q{number}_{target}")
        row = str(ahead) if array in steps.last else f"{index} + {ahead}"
        taken.append(Assign(local[-1], indexed(lists[array], row)))
    return taken, local
