"""The steps of a plan: one row for each NumPy call, with its flops, bytes and seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, prod

from nameexpr.backends.numpy.codegen.calls import call_text
from nameexpr.backends.numpy.codegen.statements import Numbering, local_names, value_name
from nameexpr.backends.numpy.costs.program import expected_seconds
from nameexpr.compiler.ir.axes import shown
from nameexpr.compiler.ir.loops import Looped, Sliced
from nameexpr.compiler.ir.program import (
    Apply,
    Dot,
    Einsum,
    Fused,
    Instruction,
    IntegerMatmul,
    Matmul,
    Multiply,
    Pointwise,
    Program,
    Reduce,
    Slices,
    Sum,
    Vecdot,
    sources_of,
)
from nameexpr.compiler.ir.strides import Given
from nameexpr.compiler.ir.verify import shapes_of
from nameexpr.compiler.memory.program import allocated, given_inside
from nameexpr.runtime.plan.running import Running

WORKING = (Dot, Vecdot, Matmul, IntegerMatmul, Multiply, Einsum, Sum, Slices)
"""Instructions that do the work of a step of the order; the others of the step prepare it."""


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
class _Level:
    """A program whose steps are listed: the whole one, or the body of a loop.

    `labels` are those of its operands, as text; `names` is what the code calls all its values; `loops` are
    the ones around it.
    """

    program: Program
    labels: tuple[str, ...]
    names: Sequence[str]
    given: tuple[Given, ...]
    loops: tuple[Looped, ...] = ()


def steps_of(running: Running) -> tuple[PlanStep, ...]:
    """Return the steps of what is done on each call."""
    program, count = running.program, len(running.operands)
    names = [value_name(value, count) for value in range(count + len(program.instructions))]
    labels = tuple(operand.label for operand in running.operands)
    return tuple(_rows(_Flops(running), _Level(program, labels, names, running.given), Numbering()))


def _rows(flops: _Flops, level: _Level, numbering: Numbering) -> list[PlanStep]:
    """Return the steps of a program, those inside a loop behind the loop, for one of its blocks."""
    program, count = level.program, len(level.program.operands)
    labels = [*level.labels, *(" ".join(map(shown, note.labels)) for note in program.notes)]
    shapes = shapes_of(program)
    sizes = allocated(program, shapes, level.given)
    repeats = prod(loop.size / loop.block for loop in level.loops)
    times = [repeats * seconds for seconds in expected_seconds(program, shapes, level.given)]
    work = flops.of(program, shapes, level.loops)
    rows: list[PlanStep] = []
    for number, instruction in enumerate(program.instructions):
        sources = sources_of(instruction)
        names = ", ".join(labels[source] for source in sources) + " -> " + labels[count + number]
        call = call_text(instruction, [level.names[source] for source in sources])
        what = "  " * len(level.loops) + type(instruction).__name__.removeprefix("Integer").lower()
        rows.append(PlanStep(what, names.strip(), work[number], sizes[number], call, times[number]))
        if isinstance(instruction, Looped):
            given = tuple(given_inside(program, shapes, level.given, number))
            inside = tuple(labels[source] for source in sources)
            local = local_names(instruction, [level.names[source] for source in sources], numbering.parts)
            local += numbering.values(instruction.body)
            body = _Level(instruction.body, inside, local, given, (*level.loops, instruction))
            numbering.parts += instruction.cuts
            inner = _rows(flops, body, numbering)
            numbering.parts -= instruction.cuts
            numbering.skip(instruction.bodies[1:])
            around = max(0.0, times[number] - fsum(step.seconds for step in inner))
            rows += [replace(rows.pop(), seconds=around), *inner]
    return rows


def flops_of(running: Running) -> list[int]:
    """Return the flops of each instruction that is run on a call."""
    return _Flops(running).of(running.program, running.shapes)


class _Flops:
    """Counts the flops of instructions, in all blocks together.

    Those of a step of the order belong to the instruction that does its work; a step that has a loop's label
    does a part of its work in each block.
    """

    def __init__(self, running: Running) -> None:
        self.is_expression, self.plans = running.is_expression, running.compiled.plans
        self.steps = [step for plan in self.plans for step in plan.steps]

    def of(
        self, program: Program, shapes: Sequence[tuple[int, ...]], loops: Sequence[Looped] = ()
    ) -> list[int]:
        """Return the flops of each instruction."""
        working = _working(program)
        sliced = {
            step for one in program.instructions if isinstance(one, Sliced) for step in _steps_inside(one)
        }
        found = []
        for number, (one, note) in enumerate(zip(program.instructions, program.notes, strict=True)):
            if isinstance(one, Sliced):
                inside = sum(self.steps[step].flops for step in _steps_inside(one))
                found.append(inside + pointwise_flops(one))
            elif note.step is None or isinstance(one, Reduce | Apply):
                found.append(pointwise_flops(one) + self._reduced(one, shapes, loops))
            elif working.get(note.step) != number or note.step in sliced:
                found.append(0)
            else:
                step = self.steps[note.step]
                found.append(step.flops * repeats(loops, (*step.labels, *step.summed)))
        return found

    def _reduced(self, one: Instruction, shapes: Sequence[tuple[int, ...]], loops: Sequence[Looped]) -> int:
        """Return the flops of a reducer that is no sum: one per cell."""
        if not self.is_expression:
            return _reduced_flops(one, shapes)
        (plan,) = self.plans
        if not isinstance(one, Reduce | Apply | Slices):
            return 0
        return plan.reduction_flops * repeats(loops, plan.steps[-1].labels if plan.steps else plan.terms[0])


def _working(program: Program) -> Mapping[int, int]:
    """Return for each step the number of the instruction that does its work, the last of several."""
    return {
        note.step: number
        for number, (one, note) in enumerate(zip(program.instructions, program.notes, strict=True))
        if note.step is not None and isinstance(one, WORKING)
    }


def _steps_inside(one: Sliced) -> set[int]:
    """Return the steps of the order that slices do."""
    return {note.step for note in one.body.notes if note.step is not None}


def repeats(loops: Sequence[Looped], labels: Sequence[str]) -> int:
    """Return how often a step without a loop's label is done again."""
    return prod(loop.count for loop in loops if loop.label not in labels)


def _reduced_flops(one: Instruction, shapes: Sequence[tuple[int, ...]]) -> int:
    if isinstance(one, Slices):
        return 0 if one.reducer == "sum" else prod(shapes[one.source])
    return prod(shapes[one.source]) if isinstance(one, Reduce | Apply) else 0


def pointwise_flops(one: Instruction) -> int:
    """Return the flops of a pointwise function: one per cell."""
    if isinstance(one, Pointwise):
        return prod(one.shape)
    if isinstance(one, Fused):
        return prod(one.shape) * (len(one.steps) + (one.reducer is not None))
    if isinstance(one, Sliced):
        shapes = shapes_of(one.body)
        inside = [
            pointwise_flops(inner) + _reduced_flops(inner, shapes)
            for inner, note in zip(one.body.instructions, one.body.notes, strict=True)
            if note.step is None
        ]
        return prod(one.counts) * sum(inside)
    return 0
