"""The steps of a plan: one row for each NumPy call, with its flops, bytes and seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, prod

from nameexpr.backends.numpy.codegen.calls import call_text
from nameexpr.backends.numpy.codegen.statements import Numbering, local_names, value_name
from nameexpr.backends.numpy.costs.program import estimate_seconds
from nameexpr.compiler.ir.axes import shown
from nameexpr.compiler.ir.layouts import OperandLayout
from nameexpr.compiler.ir.primitives import WORKING, shapes_of
from nameexpr.compiler.ir.program import Instruction, Loop, Program
from nameexpr.compiler.memory.program import allocated, layouts_inside
from nameexpr.runtime.plan.running import Running


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
class _Listing:
    """A program whose steps are listed: the whole one, or the body of a loop.

    `labels` are those of its operands, as text; `names` is what the code calls all its values; `loops` are
    the ones around it.
    """

    program: Program
    labels: tuple[str, ...]
    names: Sequence[str]
    given: tuple[OperandLayout, ...]
    loops: tuple[Loop, ...] = ()


def steps_of(running: Running) -> tuple[PlanStep, ...]:
    """Return the steps of what is done on each call."""
    program, count = running.program, len(running.operands)
    names = [value_name(value, count) for value in range(count + len(program.instructions))]
    labels = tuple(operand.label for operand in running.operands)
    return tuple(_rows(_Flops(running), _Listing(program, labels, names, running.given), Numbering()))


def _rows(flops: _Flops, level: _Listing, numbering: Numbering) -> list[PlanStep]:
    """Return the steps of a program, those inside a loop behind the loop, for one of its blocks."""
    program, count = level.program, len(level.program.operands)
    labels = [*level.labels, *(" ".join(map(shown, note.labels)) for note in program.notes)]
    shapes = shapes_of(program)
    sizes = allocated(program, shapes, level.given)
    times = [_parts(level.loops) * seconds for seconds in estimate_seconds(program, shapes, level.given)]
    work = flops.of(program, shapes, level.loops)
    rows: list[PlanStep] = []
    for number, instruction in enumerate(program.instructions):
        sources = instruction.sources
        names = ", ".join(labels[source] for source in sources) + " -> " + labels[count + number]
        call = call_text(instruction, [level.names[source] for source in sources])
        what = "  " * len(level.loops) + instruction.kind
        rows.append(PlanStep(what, names.strip(), work[number], sizes[number], call, times[number]))
        loop = instruction.loop
        if loop is not None and loop.block:
            given = tuple(layouts_inside(program, shapes, level.given, number))
            inside = tuple(labels[source] for source in sources)
            local = local_names(loop, [level.names[source] for source in sources], numbering.parts)
            local += numbering.values(loop.body)
            body = _Listing(loop.body, inside, local, given, (*level.loops, loop))
            numbering.parts += loop.parts
            inner = _rows(flops, body, numbering)
            numbering.parts -= loop.parts
            numbering.skip(loop.bodies[1:])
            around = max(0.0, times[number] - fsum(step.seconds for step in inner))
            rows += [replace(rows.pop(), seconds=around), *inner]
    return rows


def flops_of(running: Running) -> int:
    """Return the flops of all that is run on a call."""
    return _Flops(running).total(running.program, running.shapes)


class _Flops:
    """Counts the flops of instructions, in all blocks together.

    Those of a step of the order belong to the instruction that does its work; a step that has a loop's label
    does a part of its work in each block.
    """

    def __init__(self, running: Running) -> None:
        self.is_expression, self.plans = running.is_expression, running.compiled.plans
        self.steps = [step for plan in self.plans for step in plan.steps]

    def total(self, program: Program, shapes: Sequence[tuple[int, ...]], loops: Sequence[Loop] = ()) -> int:
        """Return the flops of a program, those in its loops too."""
        blocks = [one.loop for one in program.instructions if one.loop is not None and one.loop.block]
        inside = [self.total(loop.body, shapes_of(loop.body), (*loops, loop)) for loop in blocks]
        return sum(self.of(program, shapes, loops)) + sum(inside)

    def of(
        self, program: Program, shapes: Sequence[tuple[int, ...]], loops: Sequence[Loop] = ()
    ) -> list[int]:
        """Return the flops of each instruction."""
        working = _working(program)
        sliced = {
            step
            for one in program.instructions
            if one.loop is not None and not one.loop.block
            for step in _steps_inside(one.loop)
        }
        found = []
        for number, (one, note) in enumerate(zip(program.instructions, program.notes, strict=True)):
            if one.loop is not None and not one.loop.block:
                inside = sum(self.steps[step].flops for step in _steps_inside(one.loop))
                found.append(inside + pointwise_flops(one))
            elif one.loop is not None:
                found.append(0)
            elif note.step is None or one.primitive in {"reduce", "apply"}:
                own = round(_parts(loops) * pointwise_flops(one))
                found.append(own + self._reduced(one, shapes, loops))
            elif working.get(note.step) != number or note.step in sliced:
                found.append(0)
            else:
                step = self.steps[note.step]
                found.append(step.flops * repeats(loops, (*step.labels, *step.summed)))
        return found

    def _reduced(self, one: Instruction, shapes: Sequence[tuple[int, ...]], loops: Sequence[Loop]) -> int:
        """Return the flops of a reducer that is no sum: one per cell."""
        if not self.is_expression:
            return round(_parts(loops) * _reduced_flops(one, shapes))
        (plan,) = self.plans
        if one.primitive not in {"reduce", "apply", "slices"}:
            return 0
        return plan.reduction_flops * repeats(loops, plan.steps[-1].labels if plan.steps else plan.terms[0])


def _working(program: Program) -> Mapping[int, int]:
    """Return for each step the number of the instruction that does its work, the last of several."""
    return {
        note.step: number
        for number, (one, note) in enumerate(zip(program.instructions, program.notes, strict=True))
        if note.step is not None and one.primitive in WORKING
    }


def _steps_inside(one: Loop) -> set[int]:
    """Return the steps of the order that slices do."""
    return {note.step for note in one.body.notes if note.step is not None}


def _parts(loops: Sequence[Loop]) -> float:
    """Return how many blocks there are in all, the smaller ones at the end as parts of one."""
    return prod(loop.sizes[0] / loop.block for loop in loops)


def repeats(loops: Sequence[Loop], labels: Sequence[str]) -> int:
    """Return how often a step without a loop's label is done again."""
    return prod(loop.turns for loop in loops if loop.label not in labels)


def _reduced_flops(one: Instruction, shapes: Sequence[tuple[int, ...]]) -> int:
    is_reducer = one.primitive in {"reduce", "apply"} or (one.primitive == "slices" and one.function != "sum")
    return prod(shapes[one.sources[0]]) if is_reducer else 0


def pointwise_flops(one: Instruction) -> int:
    """Return the flops of a pointwise function: one per cell."""
    if one.primitive == "pointwise":
        return prod(one.shape)
    if one.primitive == "fused":
        return prod(one.shape) * (len(one.steps) + bool(one.function))
    if one.loop is not None:
        body = one.loop.body
        shapes = shapes_of(body)
        inside = [
            pointwise_flops(inner) + _reduced_flops(inner, shapes)
            for inner, note in zip(body.instructions, body.notes, strict=True)
            if note.step is None
        ]
        return round((_parts([one.loop]) if one.loop.block else one.loop.turns) * sum(inside))
    return 0
