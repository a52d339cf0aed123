"""Recurrences as a loop that collects rows in lists, for libraries whose arrays are not written into.

t3_0 = [*functions.rows(t0, (1, 8), xp.float64)]
for t3_j in range(0, 100):
    t3_p0 = t2[t3_j, ...]
    t3_q0 = t3_0[t3_j]
    t3_v0 = xp.matmul(t3_q0, a1)
    t3_0.append(t3_v0)
t3 = xp.stack(t3_0),
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from nameexpr.backends.numpy.codegen.statements import Assign, Delete, For, Joined, Statement, Value, method
from nameexpr.backends.portable.values import ValueSpec, known_values
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Program, StepLoop


class RowCode(Protocol):
    """How a library makes rows from an array, and an array from rows."""

    def first(self, start: str, known: ValueSpec, rows: ValueSpec) -> Value:
        """Return the code of the rows of a start, converted to be like `rows`: an iterable of arrays."""

    def stacked(self, listed: str, rows: ValueSpec) -> Value:
        """Return the code of an array of the rows in a list."""


Body = Callable[[Program, Sequence[ValueSpec], Sequence[str]], list[Statement]]
"""The statements of a program, from what is known about all its values and from their names."""


def recurrence_statements(
    instruction: Instruction,
    known: Sequence[ValueSpec],
    names: Sequence[str],
    target: str,
    body: Body,
    rows: RowCode,
) -> list[Statement]:
    """Return the statements that compute all rows into a tuple of arrays called `target`.

    `known` and `names` are those of the sources.
    """
    steps = instruction.recurrence
    assert steps is not None
    made = _made(steps)
    lists = [f"{target}_{number}" for number in range(len(made))]
    statements: list[Statement] = _begun(steps, known, names, lists, made, rows)
    inside, local = _taken(steps, target, names[steps.count :], lists)
    dtypes = [one.dtype for one in known[steps.count :]] + [made[array].dtype for array, _ in steps.reads]
    local += [f"{target}_v{number}" for number in range(len(steps.body.instructions))]
    inside += body(steps.body, known_values(steps.body, shapes_of(steps.body), dtypes), local)
    for number, output in enumerate(steps.body.outputs):
        inside.append(Assign(None, method(lists[number], "append", local[output])))
        inside += [Delete((f"{lists[number]}[0]",))] if number in steps.last else []
    if steps.length:
        statements.append(For(f"{target}_j", f"0, {steps.length}", inside))
    parts: list[Value] = []
    for number, own in enumerate(made):
        whole = ValueSpec((steps.length_of(number), *own.shape), own.dtype)
        parts += [rows.stacked(lists[number], whole), ", "]
    return [*statements, Assign(target, Joined(("(", *parts, ")"))), Delete(tuple(lists))]


def _made(steps: StepLoop) -> list[ValueSpec]:
    """Return what is known about a row of each array."""
    count = len(steps.body.operands)
    notes = [steps.body.notes[output - count] for output in steps.body.outputs]
    return [ValueSpec(shape, note.dtype) for shape, note in zip(steps.rows, notes, strict=True)]


def _begun(
    steps: StepLoop,
    known: Sequence[ValueSpec],
    names: Sequence[str],
    lists: Sequence[str],
    made: Sequence[ValueSpec],
    rows: RowCode,
) -> list[Statement]:
    """Return the statements that make the lists of first rows."""
    starts = zip(names[: steps.count], known, strict=False)
    statements: list[Statement] = []
    for counts, name, own in zip(steps.starts, lists, made, strict=True):
        parts: list[Value] = []
        for count in counts:
            parts += ["*", rows.first(*next(starts), ValueSpec((count, *own.shape), own.dtype)), ", "]
        statements.append(Assign(name, Joined(("[", *parts, "]"))))
    return statements


def _taken(
    steps: StepLoop, target: str, names: Sequence[str], lists: Sequence[str]
) -> tuple[list[Statement], list[str]]:
    """Return the statements that take what a step reads, and the names of the operands of its body."""
    taken: list[Any] = []
    local: list[str] = []
    for number, (name, is_cut) in enumerate(zip(names, steps.cut, strict=True)):
        local.append(f"{target}_p{number}" if is_cut else name)
        taken += [Assign(local[-1], f"{name}[{target}_j, ...]")] if is_cut else []
    for number, (array, ahead) in enumerate(steps.reads):
        local.append(f"{target}_q{number}")
        row = str(ahead) if array in steps.last else f"{target}_j + {ahead}"
        taken.append(Assign(local[-1], f"{lists[array]}[{row}]"))
    return taken, local
