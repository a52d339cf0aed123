"""The steps of a plan: one row for each call of the library, with its flops, bytes and seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, prod
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from nameexpr.backends.numpy.codegen.calls import call_text
from nameexpr.backends.numpy.codegen.statements import (
    Assign,
    For,
    Numbering,
    Return,
    Statement,
    local_names,
    text_of,
    value_name,
)
from nameexpr.backends.numpy.costs.program import estimate_seconds
from nameexpr.backends.numpy.target import current
from nameexpr.compiler.ir.axes import shown
from nameexpr.compiler.ir.layouts import OperandLayout
from nameexpr.compiler.ir.nodes import View
from nameexpr.compiler.ir.primitives import WORKING, shapes_of, work_of
from nameexpr.compiler.ir.program import Instruction, Loop, Note, Primitive, Program
from nameexpr.compiler.memory.program import allocated, layouts_inside
from nameexpr.records import replace
from nameexpr.runtime.plan.running import Running
from nameexpr.runtime.plan.titles import HOLE, step_title

if TYPE_CHECKING:
    from nameexpr.backends.numpy.threads.gain import Spread

NO_CALLS: Mapping[str, str] = MappingProxyType({})
REDUCING: frozenset[Primitive] = frozenset({"reduce", "apply", "slices"})


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One call of a plan.

    Attributes
    ----------
    what : str
        The kind of step: matmul, multiply, sum, transpose, ...
    names : str
        Labels of its operands and of its result: "batch chan, chan out -> batch out".
    flops : int
        Multiplications and additions, counted as opt_einsum counts them; 0 if elements are only moved.
    bytes : int
        The memory that it allocates; 0 for a view.
    call : str
        The call of the library, in the names of `Plan.code`.
    seconds : float
        The expected time on NumPy, in all blocks together: an estimate.
    threads : int
        The number of threads that share it.
    """

    what: str
    names: str
    flops: int
    bytes: int
    call: str
    seconds: float
    threads: int = 1


class Row(NamedTuple):
    """A step with the instruction that it describes, the note and shape of its value, and the loops around
    it.

    `title` is the number of the step in the table, and its operation.
    """

    step: PlanStep
    instruction: Instruction
    note: Note
    shape: tuple[int, ...]
    loops: tuple[Loop, ...]
    title: str = ""


class Argument(NamedTuple):
    """The text of a value as an argument, and the labels of its axes, if known."""

    name: str
    labels: tuple[str, ...]


def rows_of(running: Running) -> list[Row]:
    """Return a row for each step that is executed on each call."""
    program, count = running.program, len(running.operands)
    names = [value_name(value, count) for value in range(count + len(program.instructions))]
    labels = [operand.label for operand in running.operands]
    known = _arguments(running)
    calls = calls_of(running.statements or (), names[-1])
    rows = _rows(running, program, labels, known, names, running.given, (), Numbering(), calls)
    return [row._replace(title=f"{number} {row.title}") for number, row in enumerate(rows, 1)]


def calls_of(statements: Sequence[Statement], last: str) -> dict[str, str]:
    """Return for each name the call that it is assigned, as text; `last` is what a returned call computes."""
    calls: dict[str, str] = {}
    for statement in statements:
        if isinstance(statement, Assign) and isinstance(statement.target, str):
            calls[statement.target] = text_of(statement.value)
        elif isinstance(statement, Return) and len(statement.values) == 1:
            calls.setdefault(last, text_of(statement.values[0]))
        elif isinstance(statement, For):
            calls |= calls_of(statement.body, last)
    return calls


def _arguments(running: Running) -> list[Argument]:
    """Return the operands as titles show them: names, for a formula, and labels."""
    free = [number for number in range(len(running.compiled.operands.shapes)) if number not in running.bound]
    labels = {
        node.position: tuple("·".join(map(shown, axis)) for axis in node.axes)
        for node in running.compiled.graph.nodes
        if isinstance(node, View) and node.position >= 0
    }
    found = []
    for number, listed in enumerate(running.operands):
        own = labels.get(free[number], ()) if number < len(free) else ()
        own = own if len(own) == len(running.shapes[number]) else ()
        found.append(Argument(HOLE if running.is_expression or listed.is_held else listed.label, own))
    return found


def _rows(
    running: Running,
    program: Program,
    labels: Sequence[str],
    known: Sequence[Argument],
    names: Sequence[str],
    given: Sequence[OperandLayout],
    loops: tuple[Loop, ...],
    numbering: Numbering,
    calls: Mapping[str, str] = NO_CALLS,
) -> list[Row]:
    """Return the rows of a program, those inside a loop after the loop, for one of its blocks.

    `labels` are those of its operands, as text, and `known` the operands as titles show them; `names` are the
    names of all its values in the code, `calls` the calls of another library by name.
    """
    count = len(program.operands)
    labels = [*labels, *(" ".join(map(shown, note.labels)) for note in program.notes)]
    known = [*known, *(Argument(HOLE, note.labels) for note in program.notes)]
    shapes = shapes_of(program)
    sizes = allocated(program, shapes, given)
    spread = {} if loops else running.spread
    expected = estimate_seconds(program, shapes, given, current().profile)
    serial = [_blocks(loops) * seconds for seconds in expected]
    times = seconds_over(serial, spread)
    flops = flops_of(running, program, shapes, loops)
    rows: list[Row] = []
    for number, (instruction, note) in enumerate(zip(program.instructions, program.notes, strict=True)):
        inside, sources = (
            [labels[one] for one in instruction.sources],
            [names[one] for one in instruction.sources],
        )
        dims = f"{', '.join(filter(None, inside))} -> {labels[count + number]}".strip()
        given_to = [known[one] for one in instruction.sources]
        title = step_title(
            instruction, [one.name for one in given_to], given_to[0].labels if given_to else ()
        )
        what = "  " * len(loops) + instruction.kind
        call = calls.get(names[count + number]) or call_text(instruction, sources)
        step = PlanStep(what, dims, flops[number], sizes[number], call, times[number])
        step = _shared(step, spread.get(number))
        inner: list[Row] = []
        loop = instruction.loop
        if loop is not None and loop.block:
            own = local_names(loop, sources, numbering.parts) + numbering.values(loop.body)
            layouts = layouts_inside(program, shapes, given, number)
            numbering.parts += loop.parts
            inner = _rows(running, loop.body, inside, given_to, own, layouts, (*loops, loop), numbering)
            numbering.parts -= loop.parts
            numbering.skip(loop.bodies[1:])
            inner = _scaled(inner, serial[number], spread.get(number))
            around = times[number] - fsum(row.step.seconds for row in inner)
            step = replace(step, seconds=max(0.0, around))
        rows += [Row(step, instruction, note, shapes[count + number], loops, title), *inner]
    return rows


def _scaled(rows: list[Row], seconds: float, spread: Spread | None) -> list[Row]:
    """Return the rows inside a loop of `seconds` on one thread, with less time if threads share it."""
    share = 1.0 if spread is None else spread.seconds / seconds
    return [row._replace(step=replace(row.step, seconds=share * row.step.seconds)) for row in rows]


def _shared(step: PlanStep, spread: Spread | None) -> PlanStep:
    """Return a step that threads may share."""
    if spread is None:
        return step
    size, call = step.bytes + spread.bytes, f"{step.call}, on {spread.threads} threads"
    return replace(step, bytes=size, call=call, threads=spread.threads)


def seconds_over(times: Sequence[float], spread: Mapping[int, Spread]) -> list[float]:
    """Return the expected time of each instruction, on threads where they share it."""
    return [spread[number].seconds if number in spread else time for number, time in enumerate(times)]


def flops_of(
    running: Running, program: Program, shapes: Sequence[tuple[int, ...]], loops: Sequence[Loop] = ()
) -> list[int]:
    """Return the flops of each instruction, in all blocks together.

    The flops of a step of the order belong to the instruction that computes it, the last of several; a step
    that has a loop's label does a part of its work in each block.
    """
    steps = [step for plan in running.compiled.plans for step in plan.steps]
    working: dict[int, int] = {}
    sliced: dict[int, set[int]] = {}  # the steps of the order that slices compute
    for number, (one, note) in enumerate(zip(program.instructions, program.notes, strict=True)):
        if note.step is not None and one.primitive in WORKING:
            working[note.step] = number
        if one.loop is not None and not one.loop.block:
            sliced[number] = {inner.step for inner in one.loop.body.notes if inner.step is not None}
    found = []
    for number, (one, note) in enumerate(zip(program.instructions, program.notes, strict=True)):
        if number in sliced:
            found.append(sum(steps[step].flops for step in sliced[number]) + pointwise_flops(one))
        elif one.loop is not None:
            found.append(0)
        elif one.primitive == "fused" and running.is_contraction:
            found.append(running.compiled.plans[0].flops)
        elif note.step is None or one.primitive in {"reduce", "apply"}:
            own = round(_blocks(loops) * pointwise_flops(one))
            found.append(own + _reduced_flops(one, shapes, running, loops))
        elif working.get(note.step) != number or any(note.step in inside for inside in sliced.values()):
            found.append(0)
        else:
            step = steps[note.step]
            found.append(step.flops * repeats(loops, (*step.labels, *step.summed)))
    return found


def total_flops(running: Running, program: Program, loops: tuple[Loop, ...] = ()) -> int:
    """Return the flops of a program, including its loops."""
    blocks = [one.loop for one in program.instructions if one.loop is not None and one.loop.block]
    inside = [total_flops(running, loop.body, (*loops, loop)) for loop in blocks]
    return sum(flops_of(running, program, shapes_of(program), loops)) + sum(inside)


def _blocks(loops: Sequence[Loop]) -> float:
    """Return the total number of blocks, where the smaller ones at the end count as fractions."""
    return prod(loop.sizes[0] / loop.block for loop in loops)


def repeats(loops: Sequence[Loop], labels: Sequence[str]) -> int:
    """Return how often a step without a loop's label is repeated."""
    return prod(loop.turns for loop in loops if loop.label not in labels)


def _reduced_flops(
    one: Instruction,
    shapes: Sequence[tuple[int, ...]],
    running: Running | None = None,
    loops: Sequence[Loop] = (),
) -> int:
    """Return the flops of a reducer that is not a sum: one per element."""
    if one.primitive not in REDUCING:
        return 0
    if running is not None and running.is_contraction:
        (plan,) = running.compiled.plans
        return plan.reduction_flops * repeats(loops, plan.steps[-1].labels if plan.steps else plan.terms[0])
    is_sum = one.primitive == "slices" and one.function == "sum"
    return 0 if is_sum else round(_blocks(loops) * prod(shapes[one.sources[0]]))


def pointwise_flops(one: Instruction) -> int:
    """Return the flops of a pointwise function, one per element, and those of a recurrence."""
    if one.recurrence is not None:
        return work_of(one, (), ())
    if one.primitive == "pointwise":
        return prod(one.shape)
    if one.primitive == "fused":
        return prod(one.shape) * (len(one.steps) + bool(one.function))
    if one.loop is not None:
        body, shapes = one.loop.body, shapes_of(one.loop.body)
        inside = zip(body.instructions, body.notes, strict=True)
        turns = _blocks([one.loop]) if one.loop.block else one.loop.turns
        own = [
            pointwise_flops(inner) + _reduced_flops(inner, shapes)
            for inner, note in inside
            if note.step is None
        ]
        return round(turns * sum(own))
    return 0
