"""Plans as people read them: a table of steps with flops, bytes and the NumPy call of each, and the source to
paste.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, prod
from typing import Any

import numpy as np

from nameexpr.backends.numpy.codegen.calls import call_text
from nameexpr.backends.numpy.codegen.program import Routine, source_of
from nameexpr.backends.numpy.codegen.statements import Numbering, local_names, value_name
from nameexpr.backends.numpy.costs.program import CALL, duration, estimate_seconds
from nameexpr.carets import aligned_columns, visible
from nameexpr.compiler.analysis.operands import Operand, describe
from nameexpr.compiler.ir.axes import Axes, Names, shown
from nameexpr.compiler.ir.layouts import OperandLayout
from nameexpr.compiler.ir.primitives import WORKING, shapes_of
from nameexpr.compiler.ir.program import Loop, Program
from nameexpr.compiler.memory.program import allocated, given_inside, operand_bytes, peak_bytes
from nameexpr.compiler.pipeline import Compilation
from nameexpr.runtime.drawing.drawing import Drawing, expression_drawing
from nameexpr.runtime.drawing.pictured import Pictured
from nameexpr.syntax.ast import Expression
from nameexpr.syntax.unparse import unparse

VIEW = 1e-6
"""Seconds below which a step that neither computes nor allocates is a view."""


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One NumPy call of a plan.

    Attributes
    ----------
    what : str
        The kind of step: matmul, multiply, sum, transpose, ...
    names : str
        Labels of its arrays and of what it makes: "batch chan, chan out -> batch out".
    flops : int
        Multiplications and additions, counted as opt_einsum counts them; 0 where cells are only moved.
    bytes : int
        Memory that it allocates; 0 for a view.
    call : str
        The NumPy call, in the names of `Plan.code`.
    seconds : float
        The time that it is expected to take, in all blocks together: an estimate.
    """

    what: str
    names: str
    flops: int
    bytes: int
    call: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Plan(Pictured):
    """What an expression does for operands of given shapes. Printed, it is a table.

    Attributes
    ----------
    text : str
        The expression in its canonical spelling.
    steps : tuple of PlanStep
        What is done, in order.
    flops, naive_flops : int
        Multiplications and additions of the plan, and of one loop over all labels.
    peak_bytes : int
        The most memory that is allocated at once, operands left out.
    operand_bytes : int
        Memory of the operands.
    result_shape : tuple of int
        Shape of the result.
    result_names : tuple of (str or None), or None
        Names of the result if any operand has names.
    dtype : str
        Dtype of the computation; "" where cells are only moved.
    code : str
        The NumPy that runs, as a function to paste.
    drawing : Drawing
        What `draw`, `dot` and `mermaid` draw; plans are compared without it.
    """

    text: str
    steps: tuple[PlanStep, ...]
    flops: int
    naive_flops: int
    peak_bytes: int
    operand_bytes: int
    result_shape: tuple[int, ...]
    result_names: Names | None
    dtype: str
    code: str
    drawing: Drawing = field(repr=False, compare=False)

    @property
    def seconds(self) -> float:
        """The time that a call is expected to take: an estimate, for one core of one machine."""
        return CALL + fsum(step.seconds for step in self.steps)

    @property
    def speedup(self) -> float:
        """How many times fewer flops than one loop over all labels takes."""
        return self.naive_flops / self.flops if self.flops else 1.0

    def __str__(self) -> str:
        """Return the table of steps and the totals."""
        padded = [[cell + " " for cell in row] for row in self._cells()]
        return "\n".join([self.text, *("  " + line for line in aligned_columns(padded)), *self._totals()])

    def _title(self) -> str:
        return self.text

    def _cells(self) -> list[list[str]]:
        """Return the table: its head, then a row for each step."""
        rows = [["step", "what", "names", "flops", "bytes", "time", "call"]]
        rows += [
            [str(number), one.what, one.names, _number(one.flops), _number(one.bytes), _time(one), one.call]
            for number, one in enumerate(self.steps, 1)
        ]
        return rows

    def _totals(self) -> list[str]:
        shape = f"result: shape {self.result_shape}"
        if self.result_names is not None:
            shape += f", names {self.result_names}"
        fewer = f" ({self.speedup:.3g} times fewer)" if self.flops < self.naive_flops else ""
        return [
            shape + (f", computed in {self.dtype}" if self.dtype else ""),
            f"flops: {self.flops:,} planned, {self.naive_flops:,} naive{fewer}",
            f"memory: {self.peak_bytes:,} bytes at the peak, beside operands of {self.operand_bytes:,}",
            f"time: about {duration(self.seconds)} on one core (estimated)",
        ]

    def __repr__(self) -> str:
        """Return one line that says which plan this is."""
        costs = f"{len(self.steps)} steps, {self.flops:,} flops, {self.peak_bytes:,} bytes"
        return f"<Plan of {self.text!r}: {costs}>"


def _number(value: int) -> str:
    return f"{value:,}" if value else "-"


def _time(step: PlanStep) -> str:
    is_view = not step.bytes and not step.flops and step.seconds < VIEW
    return "-" if is_view else duration(step.seconds)


def make_plan(
    compiled: Compilation[Expression],
    operands: Sequence[Operand],
    dtypes: Sequence[np.dtype[Any]],
    limit: int | None = None,
) -> Plan:
    """Return the plan of a compiled expression; its picture of memory shows the limit."""
    (plan,), program = compiled.plans, compiled.program
    is_named = any(operand.names is not None for operand in operands)
    computed = [note.dtype for note in program.notes if note.dtype]
    steps = tuple(_steps(compiled))
    has_loops = any(one.loop is not None for one in program.instructions)
    flops = sum(step.flops for step in steps) if has_loops else plan.flops
    text, size = visible(unparse(compiled.tree)), operand_bytes(program, [dtype.name for dtype in dtypes])
    return Plan(
        text=text,
        steps=steps,
        flops=flops,
        naive_flops=max(flops, plan.naive_flops) if plan.contraction.dropped or len(operands) > 1 else flops,
        peak_bytes=peak_bytes(program, compiled.shapes, compiled.given),
        operand_bytes=size,
        result_shape=compiled.result_shape,
        result_names=compiled.names[0] if is_named else None,
        dtype=computed[-1] if computed and flops else "",
        code=source_of(routine(compiled, operands)),
        drawing=expression_drawing(compiled, compiled, text, steps, size, limit),
    )


def routine(compiled: Compilation[Expression], operands: Sequence[Operand]) -> Routine:
    """Return the function to paste, with labels in comments only."""
    infos = describe(compiled.tree.inputs, operands)
    terms = [" ".join(info.labels) or ("scalar" if not info.shape else str(info.shape)) for info in infos]
    text = unparse(compiled.tree)
    result = _axes_text(compiled.result_axes)
    return Routine("compute", compiled.program, compiled.shapes, text, terms, result)


def _axes_text(axes: Axes) -> str:
    groups = [" ".join(map(shown, labels)) for labels in axes]
    return " ".join(
        f"({group})" if len(labels) != 1 else group for group, labels in zip(groups, axes, strict=True)
    )


@dataclass(frozen=True, slots=True)
class _Level:
    """A program whose steps are listed: the whole one, or the body of `loops`. `labels` are those of its
    operands, as text; `names` is what the code calls all its values.
    """

    program: Program
    labels: tuple[str, ...]
    names: Sequence[str]
    given: tuple[OperandLayout, ...]
    loops: tuple[Loop, ...] = ()


def _steps(compiled: Compilation[Expression]) -> list[PlanStep]:
    program, count = compiled.program, len(compiled.program.operands)
    names = [value_name(value, count) for value in range(count + len(program.instructions))]
    labels = tuple(_axes_text(axes) for axes in compiled.views)
    return _rows(compiled, _Level(program, labels, names, compiled.given), Numbering())


def _rows(compiled: Compilation[Expression], level: _Level, numbering: Numbering) -> list[PlanStep]:
    """Return the steps of a program, those inside a loop behind the loop, for one of its blocks."""
    program, count = level.program, len(level.program.operands)
    labels = [*level.labels, *(" ".join(map(shown, note.labels)) for note in program.notes)]
    shapes = shapes_of(program)
    working = working_of(program)
    sizes = allocated(program, shapes, level.given)
    repeats = prod(loop.sizes[0] / loop.block for loop in level.loops)
    times = [repeats * seconds for seconds in estimate_seconds(program, shapes, level.given)]
    rows: list[PlanStep] = []
    for number, instruction in enumerate(program.instructions):
        sources = instruction.sources
        names = ", ".join(labels[source] for source in sources) + " -> " + labels[count + number]
        call = call_text(instruction, [level.names[source] for source in sources])
        what = "  " * len(level.loops) + instruction.kind
        flops = _flops(compiled, program, number, working, level.loops)
        rows.append(PlanStep(what, names.strip(), flops, sizes[number], call, times[number]))
        loop = instruction.loop
        if loop is not None:
            given = tuple(given_inside(program, shapes, level.given, number))
            inside = tuple(labels[source] for source in sources)
            local = local_names(loop, [level.names[source] for source in sources], numbering.parts)
            local += numbering.values(loop.body)
            body = _Level(loop.body, inside, local, given, (*level.loops, loop))
            numbering.parts += loop.parts
            inner = _rows(compiled, body, numbering)
            numbering.parts -= loop.parts
            numbering.skip(loop.bodies[1:])
            around = max(0.0, times[number] - fsum(step.seconds for step in inner))
            rows += [replace(rows.pop(), seconds=around), *inner]
    return rows


def _flops(
    compiled: Compilation[Expression],
    program: Program,
    number: int,
    working: Mapping[int, int],
    loops: Sequence[Loop],
) -> int:
    """Return the flops of an instruction, in all blocks together: those of its step of the plan, if it is the
    one that does the work. A step that has a loop's label does a part of its work in each block.
    """
    plan = compiled.plans[0]
    one, step = program.instructions[number], program.notes[number].step
    if one.primitive in {"reduce", "apply"} or (one.primitive == "slices" and step is None):
        before = plan.steps[-1].labels if plan.steps else plan.terms[0]
        return plan.reduction_flops * _repeats(loops, before)
    if step is None or working.get(step) != number:
        return 0
    return plan.steps[step].flops * _repeats(loops, (*plan.steps[step].labels, *plan.steps[step].summed))


def working_of(program: Program) -> dict[int, int]:
    """Return for each step the number of the instruction that does its work, the last of several."""
    return {
        note.step: number
        for number, (one, note) in enumerate(zip(program.instructions, program.notes, strict=True))
        if note.step is not None and one.primitive in WORKING
    }


def _repeats(loops: Sequence[Loop], labels: Sequence[str]) -> int:
    return prod(loop.turns for loop in loops if loop.label not in labels)
