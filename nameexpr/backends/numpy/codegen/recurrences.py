"""Recurrences as NumPy code: a loop over the steps, which reads rows and writes the next ones.

t3_0 = np.empty((101, 8), "float64")
t3_0[0:1] = t0
for j0 in range(0, 100):
p0 = t2[j0]
q0 = t3_0[j0 + 0]
v0 = np.matmul(q0, a1)
np.add(v0, p0, out=t3_0[j0 + 1])
t3 = t3_0,
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.backends.numpy.codegen.calls import CALLS, with_out
from nameexpr.backends.numpy.codegen.loops import loop_statements
from nameexpr.backends.numpy.codegen.statements import (
    Assign,
    For,
    Invocation,
    Joined,
    Numbering,
    Statement,
    Value,
    delete,
    indexed,
    numpy,
    quoted,
)
from nameexpr.compiler.ir.liveness import last_uses
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Program, Shape, StepLoop


def recurrence_statements(
    instruction: Instruction, target: str, names: Sequence[str], numbering: Numbering
) -> list[Statement]:
    """Return the statements that compute all rows into a tuple of new arrays called `target`."""
    steps = instruction.recurrence
    assert steps is not None
    index, body = f"j{numbering.loops}", steps.body
    numbering.loops += 1
    arrays = [f"{target}_{number}" for number in range(len(body.outputs))]
    statements = _begun(steps, arrays, names)
    taken, local = _parts(steps, index, arrays, names[steps.count :], numbering)
    local += numbering.values(body)
    places = [
        indexed(array, f"{index} + {steps.offset(number)}" if steps.offset(number) else index)
        for number, array in enumerate(arrays)
    ]
    inside = [*taken, *_step(body, local, places, numbering)]
    numbering.loops -= 1
    if steps.length:
        statements.append(For(index, f"0, {steps.length}", inside))
        statements += delete([name for name in local if name[0] in "pq"])
    return [*statements, Assign(target, f"{', '.join(arrays)},"), *delete(arrays)]


def _begun(steps: StepLoop, arrays: Sequence[str], names: Sequence[str]) -> list[Statement]:
    """Return the statements that create the arrays and write their first rows."""
    statements: list[Statement] = []
    shapes, starts = shapes_of(steps.body), iter(names[: steps.count])
    for number, (array, output) in enumerate(zip(arrays, steps.body.outputs, strict=True)):
        shape = str((steps.offset(number) + steps.length, *shapes[output]))
        dtype = steps.body.notes[output - len(steps.body.operands)].dtype
        statements.append(Assign(array, numpy("empty")(shape, quoted(dtype))))
        first = 0
        for count in steps.starts[number]:
            statements.append(Assign(indexed(array, f"{first}:{first + count}"), next(starts)))
            first += count
    return statements


def _parts(
    steps: StepLoop, index: str, arrays: Sequence[str], names: Sequence[str], numbering: Numbering
) -> tuple[list[Statement], list[str]]:
    """Return the statements that take what a step reads, and the names of the operands of its body."""
    taken: list[Statement] = []
    local: list[str] = []
    for name, is_cut in zip(names, steps.cut, strict=True):
        local.append(f"p{numbering.parts + len(taken)}" if is_cut else name)
        if is_cut:
            taken.append(Assign(local[-1], indexed(name, index)))
    numbering.parts += len(taken)
    for number, (array, ahead) in enumerate(steps.reads):
        local.append(f"q{number}")
        taken.append(Assign(local[-1], indexed(arrays[array], f"{index} + {ahead}" if ahead else index)))
    return taken, local


def _step(
    body: Program, names: Sequence[str], places: Sequence[Joined], numbering: Numbering
) -> list[Statement]:
    """Return the statements of one step, which writes its results into rows."""
    count, last, shapes = len(body.operands), last_uses(body), shapes_of(body)
    written = _written_once(body)
    statements: list[Statement] = []
    for number, inner in enumerate(body.instructions):
        own, value = [names[source] for source in inner.sources], count + number
        if inner.primitive in {"fused", "loop"}:
            inside = [shapes[source] for source in inner.sources]
            statements += loop_statements(inner, names[value], own, inside, numbering)
        elif value in written:
            place = places[body.outputs.index(value)]
            statements.append(_put(inner, CALLS[inner.primitive](inner, *own), place, shapes[value]))
        else:
            statements.append(Assign(names[value], CALLS[inner.primitive](inner, *own)))
        dead = [source for source in inner.sources if last[source] == number and source >= count]
        statements += delete(names[source] for source in dead if source not in written)
    rest = zip(body.outputs, places, strict=True)
    return [*statements, *[Assign(place, names[value]) for value, place in rest if value not in written]]


def _written_once(body: Program) -> set[int]:
    """Return the results that nothing else in the body reads, so that they are only ever rows."""
    read = {source for inner in body.instructions for source in inner.sources}
    computed = range(len(body.operands), len(body.operands) + len(body.instructions))
    return {
        value
        for value in body.outputs
        if value in computed
        and value not in read
        and body.outputs.count(value) == 1
        and body.instructions[value - len(body.operands)].primitive not in {"fused", "loop"}
    }


def _put(inner: Instruction, call: Value, place: Joined, shape: Shape) -> Statement:
    """Return the statement that writes a result into its row; a single element is no array to write into."""
    is_free = inner.takes_out and inner.over is None
    if shape and isinstance(call, Invocation) and (inner.primitive == "matmul" or is_free):
        return Assign(None, with_out(call, place))
    return Assign(place, call)
