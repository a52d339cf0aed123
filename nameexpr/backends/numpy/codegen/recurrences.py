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
from typing import Any

from nameexpr.backends.numpy.codegen.calls import CALLS, filled, with_out
from nameexpr.backends.numpy.codegen.loops import loop_statements
from nameexpr.backends.numpy.codegen.statements import (
    Assign,
    Dtype,
    For,
    Joined,
    Numbering,
    Statement,
    Value,
    delete,
    indexed,
    numpy,
    text_of,
)
from nameexpr.compiler.ir.liveness import last_uses
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Program, Shape, StepLoop
from nameexpr.ops import REDUCTIONS

OPERATORS = {"add": "+", "subtract": "-", "multiply": "*"}
FLOATS = frozenset({"float32", "float64", "complex64", "complex128"})
"""Dtypes whose single elements operators compute with as ufuncs do; integers would warn on overflow."""


def recurrence_statements(
    instruction: Instruction, target: str, names: Sequence[str], numbering: Numbering
) -> list[Statement]:
    """Return the statements that compute all rows into a tuple of new arrays called `target`."""
    steps = instruction.recurrence
    assert steps is not None
    index, body = f"j{numbering.loops}", steps.body
    numbering.loops += 1
    arrays = [f"{target}_{number}" for number in range(len(body.outputs))]
    held, buffers = _buffers(body, target)
    statements = [*_begun(steps, arrays, names), *held]
    taken, local = _parts(steps, index, arrays, names[steps.count :], numbering)
    local += numbering.values(body)
    places = [
        indexed(array, _row(steps, number, index, steps.offset(number)))
        for number, array in enumerate(arrays)
    ]
    inside = [*taken, *_step(body, local, places, buffers, numbering)]
    numbering.loops -= 1
    if steps.length:
        statements.append(For(index, f"0, {steps.length}", inside))
        statements += delete([name for name in local if name[0] in "pq"])
    for number in steps.last:  # the rows go round in an array that has one more than the start
        offset = steps.offset(number)
        order = [(steps.length + row) % (offset + 1) for row in range(offset)]
        statements.append(Assign(arrays[number], indexed(arrays[number], str(order))))
    return [*statements, Assign(target, f"{', '.join(arrays)},"), *delete([*arrays, *buffers.values()])]


def _row(steps: StepLoop, array: int, index: str, ahead: int) -> str:
    """Return the index of a row that is some rows after the current step."""
    row = f"{index} + {ahead}" if ahead else index
    return f"({row}) % {steps.offset(array) + 1}" if array in steps.last else row


def _begun(steps: StepLoop, arrays: Sequence[str], names: Sequence[str]) -> list[Statement]:
    """Return the statements that create the arrays and write their first rows."""
    statements: list[Statement] = []
    shapes, starts = shapes_of(steps.body), iter(names[: steps.count])
    for number, (array, output) in enumerate(zip(arrays, steps.body.outputs, strict=True)):
        rows = steps.offset(number) + (1 if number in steps.last else steps.length)
        shape = str((rows, *shapes[output]))
        dtype = steps.body.notes[output - len(steps.body.operands)].dtype
        statements.append(Assign(array, numpy("empty")(shape, Dtype(dtype))))
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
        taken.append(Assign(local[-1], indexed(arrays[array], _row(steps, array, index, ahead))))
    return taken, local


def _step(
    body: Program,
    names: Sequence[str],
    places: Sequence[Joined],
    buffers: dict[int, str],
    numbering: Numbering,
) -> list[Statement]:
    """Return the statements of one step, which writes its results into rows."""
    count, last, shapes = len(body.operands), last_uses(body), shapes_of(body)
    rows = _rows(body, places)
    statements: list[Statement] = []
    for number, inner in enumerate(body.instructions):
        own, value = [names[source] for source in inner.sources], count + number
        if inner.primitive in {"fused", "loop"}:
            inside = [shapes[source] for source in inner.sources]
            statements += loop_statements(inner, names[value], own, inside, numbering)
        elif value in rows:
            call = _scalar(inner, own, shapes)
            put = _put(inner, own, rows[value], shapes[value])
            statements.append(put if call is None else Assign(rows[value], call))
        elif value in buffers:
            statements.append(Assign(names[value], with_out(_call(inner, own), buffers[value])))
        else:
            statements.append(Assign(names[value], _scalar(inner, own, shapes) or _call(inner, own)))
        dead = [source for source in inner.sources if last[source] == number and source >= count]
        statements += delete(names[source] for source in dead if source not in rows)
    rest = zip(body.outputs, places, strict=True)
    return [*statements, *[Assign(place, names[value]) for value, place in rest if value not in rows]]


def _call(inner: Instruction, sources: Sequence[str]) -> Any:
    """Return the call of an instruction; of products of matrices that which can write into an array."""
    if inner.primitive == "dot":
        return numpy("dot")(*sources)
    return CALLS[inner.primitive](inner, *sources)


def _rows(body: Program, places: Sequence[Joined]) -> dict[int, Joined]:
    """Return the results that nothing else in the body reads, with the rows that they are written into."""
    read = {source for inner in body.instructions for source in inner.sources}
    computed = range(len(body.operands), len(body.operands) + len(body.instructions))
    return {
        value: place
        for value, place in zip(body.outputs, places, strict=True)
        if value in computed
        and value not in read
        and body.outputs.count(value) == 1
        and body.instructions[value - len(body.operands)].primitive not in {"fused", "loop"}
    }


def _put(inner: Instruction, sources: Sequence[str], place: Joined, shape: Shape) -> Statement:
    """Return the statement that writes a result into its row, unless that is a single element."""
    if shape and _takes_out(inner._replace(over=None)):
        return Assign(None, with_out(_call(inner._replace(over=None), sources), place))
    return Assign(place, _call(inner, sources))


def _takes_out(inner: Instruction) -> bool:
    """Return whether the call of an instruction can write into any array."""
    if inner.primitive in {"reduce", "sum"}:
        return inner.primitive == "sum" or bool(REDUCTIONS[inner.function].combine)
    return inner.primitive in {"matmul", "dot"} or (inner.takes_out and inner.over is None)


def _buffers(body: Program, target: str) -> tuple[list[Statement], dict[int, str]]:
    """Return the arrays that are created once for the values of all steps, and the statements for it."""
    shapes, count = shapes_of(body), len(body.operands)
    statements: list[Statement] = []
    found: dict[int, str] = {}
    for value, inner in enumerate(body.instructions, count):
        dtype = body.notes[value - count].dtype
        if shapes[value] and _takes_out(inner) and value not in body.outputs and dtype and not inner.is_weak:
            found[value] = f"{target}_b{len(found)}"
            statements.append(Assign(found[value], numpy("empty")(str(shapes[value]), Dtype(dtype))))
    return statements, found


def _scalar(inner: Instruction, sources: Sequence[str], shapes: Sequence[Shape]) -> Value | None:
    """Return arithmetic of single floats with operators, which take a tenth of the time of ufuncs."""
    sign = OPERATORS.get(inner.function) if inner.primitive == "pointwise" else None
    if sign is None or inner.shape or inner.dtype not in FLOATS or len(inner.constants) > 2:  # noqa: PLR2004
        return None
    if any(shapes[source] for source in inner.sources):
        return None
    return Joined((f" {sign} ".join(map(text_of, filled(inner, sources))),))
