"""The plan of a formula: its steps with flops, bytes and seconds, and its source to paste."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from nameexpr.backends.numpy.codegen.calls import call_text
from nameexpr.backends.numpy.codegen.program import Routine, source_of
from nameexpr.backends.numpy.codegen.statements import value_name
from nameexpr.backends.numpy.costs.program import estimate_seconds
from nameexpr.carets import visible
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.scope import Scope, terms_of
from nameexpr.compiler.ir.axes import shown
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Loop
from nameexpr.compiler.memory.program import allocated, operand_bytes, peak_bytes
from nameexpr.compiler.pipeline import Compilation
from nameexpr.runtime.drawing.drawing import formula_drawing
from nameexpr.runtime.plan.expression import Plan, PlanStep, working_of
from nameexpr.syntax.formula_unparse import unparse_formula
from nameexpr.syntax.unparse import unparse_term


def make_formula_plan(
    compiled: Compilation[Scope],
    operands: Mapping[str, Operand],
    dtypes: Mapping[str, str],
    limit: int | None = None,
) -> Plan:
    """Return the plan of a compiled formula; flops of pointwise functions count one per cell."""
    program = compiled.program
    steps = tuple(_steps(compiled))
    flops = sum(step.flops for step in steps)
    naive = sum(plan.naive_flops for plan in compiled.plans)
    pointwise = sum(_pointwise_flops(one) for one in program.instructions)
    order = compiled.tree.operands
    computed = [note.dtype for note in program.notes if note.dtype and not note.dtype.startswith("weak")]
    is_named = any(operand.names is not None for operand in operands.values())
    text = visible(unparse_formula(compiled.tree.tree))
    size = operand_bytes(program, [dtypes[name] for name in order])
    return Plan(
        text=text,
        steps=steps,
        flops=flops,
        naive_flops=max(flops, naive + pointwise),
        peak_bytes=peak_bytes(program, compiled.shapes, compiled.given),
        operand_bytes=size,
        result_shape=compiled.shapes[program.result],
        result_names=compiled.names[-1] if is_named else None,
        dtype=computed[-1] if computed else "",
        code=source_of(formula_routine(compiled, operands)),
        drawing=formula_drawing(compiled, compiled, text, steps, size, limit),
    )


def formula_routine(compiled: Compilation[Scope], operands: Mapping[str, Operand]) -> Routine:
    """Return the function to paste; a comment says which operand is which."""
    terms = []
    for name, uses in compiled.tree.uses.items():
        term = (*terms_of(uses), compiled.default[name])[0]
        shape = operands[name].shape
        terms.append(f"{name}[{unparse_term(term)}] {shape}" if shape else name)
    last = compiled.tree.tree.statements[-1].name or "the value"
    text = unparse_formula(compiled.tree.tree).replace("\n", "; ")
    return Routine("compute", compiled.program, compiled.shapes, text, terms, last)


def _steps(compiled: Compilation[Scope]) -> list[PlanStep]:
    program = compiled.program
    count = len(program.operands)
    labels = list(compiled.tree.operands)
    labels += [" ".join(map(shown, note.labels)) for note in program.notes]
    sizes = allocated(program, compiled.shapes, compiled.given)
    times = estimate_seconds(program, compiled.shapes, compiled.given)
    flops = formula_flops(compiled)
    rows = []
    for number, one in enumerate(program.instructions):
        sources = one.sources
        names = ", ".join(labels[source] for source in sources) + " -> " + labels[count + number]
        call = call_text(one, [value_name(source, count) for source in sources])
        what = one.kind
        rows.append(PlanStep(what, names.strip(), flops[number], sizes[number], call, times[number]))
    return rows


def formula_flops(compiled: Compilation[Scope]) -> list[int]:
    """Return the flops of each instruction: those of its step, if it is the one that does the work."""
    program = compiled.program
    steps = [step.flops for plan in compiled.plans for step in plan.steps]
    sliced = {step for one in program.instructions if one.loop for step in _steps_inside(one.loop)}
    working = working_of(program)
    flops = []
    for number, (one, note) in enumerate(zip(program.instructions, program.notes, strict=True)):
        if one.loop is not None:
            flops.append(sum(steps[step] for step in _steps_inside(one.loop)) + _pointwise_flops(one))
        elif note.step is None:
            flops.append(_pointwise_flops(one) + _reduced_flops(compiled.shapes, one))
        else:
            is_here = working.get(note.step) == number and note.step not in sliced
            flops.append(steps[note.step] if is_here else 0)
    return flops


def _steps_inside(one: Loop) -> set[int]:
    """Return the steps of the plan that slices do."""
    return {note.step for note in one.body.notes if note.step is not None}


def _reduced_flops(shapes: Sequence[tuple[int, ...]], one: Instruction) -> int:
    """Return the flops of a reducer that is no sum: one per cell, as for expressions."""
    is_reducer = one.primitive == "reduce" or (one.primitive == "slices" and one.function != "sum")
    return prod(shapes[one.sources[0]]) if is_reducer else 0


def _pointwise_flops(one: Instruction) -> int:
    if one.primitive == "pointwise":
        return prod(one.shape)
    if one.primitive == "fused":
        return prod(one.shape) * (len(one.steps) + bool(one.function))
    if one.loop is not None:
        body = one.loop.body
        shapes = shapes_of(body)
        inside = [
            inner for inner, note in zip(body.instructions, body.notes, strict=True) if note.step is None
        ]
        return one.loop.turns * sum(
            _pointwise_flops(inner) + _reduced_flops(shapes, inner) for inner in inside
        )
    return 0
