"""Recurrences as JAX code: a function for a step, and `lax.scan`.

def step0(rows, parts):
    p0, = parts
    q0 = rows[0][0]
    v0 = jnp.multiply(q0, 0.5)
    v1 = jnp.add(v0, p0)
    return (jnp.concatenate([rows[0][1:], v1[None]]),), (v1,)
t1 = lax.scan(step0, (t0,), (a0,), length=5)
t2 = (jnp.concatenate([t0, t1[1][0]]),)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nameexpr.backends.numpy.codegen.statements import (
    Assign,
    Callee,
    Define,
    Joined,
    Return,
    Statement,
    Value,
    method,
    quoted,
)
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, StepLoop

Calls = Callable[[Instruction, Sequence[tuple[int, ...]], Sequence[str]], Value]
Dtype = Callable[[str], str]


def recurrence_statements(
    instruction: Instruction, target: str, names: Sequence[str], call: Calls, dtype: Dtype
) -> list[Statement]:
    """Return the statements that compute all rows into a tuple called `target`; `call` returns the code of
    an instruction, and `dtype` the dtype that JAX has for another one.
    """
    steps = instruction.recurrence
    assert steps is not None
    starts, carried = _starts(steps, target, names[: steps.count], dtype)
    cut = [name for name, is_cut in zip(names[steps.count :], steps.cut, strict=True) if is_cut]
    step = Define(f"{target}_step", ("rows", "parts"), _step(steps, names[steps.count :], call, dtype))
    has_checks = any(one.primitive == "inside" or one.function == "to_int" for one in steps.body.instructions)
    scan = Callee("checks" if has_checks else "lax", "scan")
    run = scan(step.name, _tuple(carried), _tuple(cut), length=None if cut else str(steps.length))
    last, rows = f"{target}_last", f"{target}_rows"
    whole: list[Value] = []
    for number, start in enumerate(carried):
        if number in steps.last:
            whole.append(f"{last}[{number}]")
        else:
            whole.append(Callee("jnp", "concatenate")(f"[{start}, {rows}[{_place(steps, number)}]]"))
    return [*starts, step, Assign(f"{last}, {rows}", run), Assign(target, _joined(whole))]


def _place(steps: StepLoop, number: int) -> int:
    """Return the place of an array among those of which all rows are kept."""
    return number - sum(other < number for other in steps.last)


def _tuple(names: Sequence[str]) -> str:
    return f"({''.join([f'{name}, ' for name in names])})"


def _joined(values: Sequence[Value]) -> Joined:
    return Joined(("(", *[part for value in values for part in (value, ", ")], ")"))


def _starts(
    steps: StepLoop, target: str, names: Sequence[str], dtype: Dtype
) -> tuple[list[Statement], list[str]]:
    """Return the statements that make the first rows of each array, and their names."""
    statements: list[Statement] = []
    carried, given = [], iter(names)
    for number, shape in enumerate(steps.rows):
        own = quoted(dtype(_dtype_of(steps, number)))
        parts: list[Value] = []
        for count in steps.starts[number]:
            whole = Callee("jnp", "broadcast_to")(next(given), str((count, *shape)))
            parts.append(method(whole, "astype", own))
        carried.append(f"{target}_{number}")
        listed = Joined(("[", *[piece for part in parts for piece in (part, ", ")], "]"))
        made = parts[0] if len(parts) == 1 else Callee("jnp", "concatenate")(listed)
        statements.append(Assign(carried[-1], made))
    return statements, carried


def _dtype_of(steps: StepLoop, number: int) -> str:
    body = steps.body
    return body.notes[body.outputs[number] - len(body.operands)].dtype


def _step(steps: StepLoop, names: Sequence[str], call: Calls, dtype: Dtype) -> list[Statement]:
    """Return the statements of a step: from the rows before it, and what it reads of other values."""
    body, local, parts = steps.body, [], 0
    statements: list[Statement] = []
    for name, is_cut in zip(names, steps.cut, strict=True):
        local.append(f"parts[{parts}]" if is_cut else name)
        parts += is_cut
    for number, (array, ahead) in enumerate(steps.reads):
        local.append(f"q{number}")
        statements.append(Assign(f"q{number}", f"rows[{array}][{ahead}]"))
    count, shapes = len(body.operands), shapes_of(body)
    local += [f"v{number}" for number in range(len(body.instructions))]
    for number, inner in enumerate(body.instructions):
        own = [shapes[source] for source in inner.sources]
        value = call(inner, own, [local[source] for source in inner.sources])
        statements.append(Assign(local[count + number], value))
    made = [
        method(local[output], "astype", quoted(dtype(_dtype_of(steps, number))))
        for number, output in enumerate(body.outputs)
    ]
    statements += [Assign(f"r{number}", value) for number, value in enumerate(made)]
    join = Callee("jnp", "concatenate")
    after = [join(f"[rows[{number}][1:], r{number}[None]]") for number in range(len(made))]
    kept = [f"r{number}" for number in range(len(made)) if number not in steps.last]
    return [*statements, Return((_joined(after), _tuple(kept)))]
