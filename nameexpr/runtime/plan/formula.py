"""The plan of a formula: its steps with flops, bytes and seconds, and its source to paste."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from nameexpr.carets import visible
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.scope import Scope, terms_of
from nameexpr.compiler.codegen.calls import render_call
from nameexpr.compiler.codegen.program import readable, value_name
from nameexpr.compiler.costs.program import expected_seconds
from nameexpr.compiler.ir.axes import shown
from nameexpr.compiler.ir.loops import Sliced
from nameexpr.compiler.ir.program import Fused, Instruction, Pointwise, Reduce, Slices, sources_of
from nameexpr.compiler.ir.verify import shapes_of
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
        code=formula_source(compiled, operands),
        drawing=formula_drawing(compiled, compiled, text, steps, size, limit),
    )


def formula_source(compiled: Compilation[Scope], operands: Mapping[str, Operand]) -> str:
    """Return the NumPy that runs, as a function to paste; a comment says which operand is which."""
    terms = []
    for name, uses in compiled.tree.uses.items():
        term = (*terms_of(uses), compiled.default[name])[0]
        shape = operands[name].shape
        terms.append(f"{name}[{unparse_term(term)}] {shape}" if shape else name)
    last = compiled.tree.tree.statements[-1].name or "the value"
    text = unparse_formula(compiled.tree.tree).replace("\n", "; ")
    return readable(compiled.program, compiled.shapes, text, terms, last)


def _steps(compiled: Compilation[Scope]) -> list[PlanStep]:
    program = compiled.program
    count = len(program.operands)
    labels = list(compiled.tree.operands)
    labels += [" ".join(map(shown, note.labels)) for note in program.notes]
    sizes = allocated(program, compiled.shapes, compiled.given)
    times = expected_seconds(program, compiled.shapes, compiled.given)
    flops = formula_flops(compiled)
    rows = []
    for number, one in enumerate(program.instructions):
        sources = sources_of(one)
        names = ", ".join(labels[source] for source in sources) + " -> " + labels[count + number]
        call = render_call(one, [value_name(source, count) for source in sources])
        what = type(one).__name__.removeprefix("Integer").lower()
        rows.append(PlanStep(what, names.strip(), flops[number], sizes[number], call, times[number]))
    return rows


def formula_flops(compiled: Compilation[Scope]) -> list[int]:
    """Return the flops of each instruction: those of its step, if it is the one that does the work."""
    program = compiled.program
    steps = [step.flops for plan in compiled.plans for step in plan.steps]
    sliced = {step for one in program.instructions if isinstance(one, Sliced) for step in _steps_inside(one)}
    working = working_of(program)
    flops = []
    for number, (one, note) in enumerate(zip(program.instructions, program.notes, strict=True)):
        if isinstance(one, Sliced):
            flops.append(sum(steps[step] for step in _steps_inside(one)) + _pointwise_flops(one))
        elif note.step is None:
            flops.append(_pointwise_flops(one) + _reduced_flops(compiled.shapes, one))
        else:
            is_here = working.get(note.step) == number and note.step not in sliced
            flops.append(steps[note.step] if is_here else 0)
    return flops


def _steps_inside(one: Sliced) -> set[int]:
    """Return the steps of the plan that slices do."""
    return {note.step for note in one.body.notes if note.step is not None}


def _reduced_flops(shapes: Sequence[tuple[int, ...]], one: Instruction) -> int:
    """Return the flops of a reducer that is no sum: one per cell, as for expressions."""
    if isinstance(one, Slices):
        return 0 if one.reducer == "sum" else prod(shapes[one.source])
    return prod(shapes[one.source]) if isinstance(one, Reduce) else 0


def _pointwise_flops(one: Instruction) -> int:
    if isinstance(one, Pointwise):
        return prod(one.shape)
    if isinstance(one, Fused):
        return prod(one.shape) * (len(one.steps) + (one.reducer is not None))
    if isinstance(one, Sliced):
        shapes = shapes_of(one.body)
        inside = [
            inner
            for inner, note in zip(one.body.instructions, one.body.notes, strict=True)
            if note.step is None
        ]
        return prod(one.counts) * sum(
            _pointwise_flops(inner) + _reduced_flops(shapes, inner) for inner in inside
        )
    return 0
