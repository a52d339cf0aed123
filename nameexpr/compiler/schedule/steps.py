"""The bodies of recurrences: what is the same in every step is computed once, before the first.

    for i: v = reshape(u); h[i + 1] = tanh(x[i] + h[i] @ v)  ->  v = reshape(u); for i: h[i + 1] = ...

Within a step, dead memory is reused as it is elsewhere.
"""

from __future__ import annotations

from nameexpr.compiler.ir.liveness import Rewriter, renumbered, without_unread
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Note, Program, StepLoop
from nameexpr.compiler.ir.target import Target
from nameexpr.compiler.schedule.reuse import reuse
from nameexpr.compiler.schedule.simplify import simplify
from nameexpr.records import replace


def schedule_steps(program: Program, target: Target) -> Program:
    """Return the program with what does not change from step to step moved out of its recurrences."""
    if all(instruction.recurrence is None for instruction in program.instructions):
        return program
    program = _without_unread_rows(program)
    new = Rewriter(program)
    for value, instruction in enumerate(program.instructions, len(program.operands)):
        new.keep(value, None if instruction.recurrence is None else _hoisted(new, instruction, target))
    return new.program()


def _without_unread_rows(program: Program) -> Program:
    """Return the program without arrays of rows that neither a step nor anything after the steps reads."""
    count, instructions = len(program.operands), list(program.instructions)
    for number, instruction in enumerate(instructions):
        steps = instruction.recurrence
        if steps is None:
            continue
        own = count + number
        items = [at for at, one in enumerate(instructions) if one.primitive == "item" and own in one.sources]
        read = {instructions[at].axes[0] for at in items} | {array for array, _ in steps.reads}
        kept = sorted(read) or [0]
        numbers = {array: place for place, array in enumerate(kept)}
        for at in items:
            instructions[at] = instructions[at]._replace(axes=(numbers[instructions[at].axes[0]],))
        instructions[number] = _with_arrays(instruction, steps, numbers)
        _keep_last_rows(instructions, number, items, program)
    return replace(program, instructions=tuple(instructions))


def _keep_last_rows(instructions: list[Instruction], number: int, items: list[int], program: Program) -> None:
    """Keep only the last rows of arrays of which nothing else is read after the steps."""
    steps, count = instructions[number].recurrence, len(program.operands)
    assert steps is not None
    for at in items:
        (array,), item = instructions[at].axes, instructions[at]
        readers = [place for place, one in enumerate(instructions) if count + at in one.sources]
        others = [other for other in items if other != at and instructions[other].axes == (array,)]
        is_read_whole = others or count + at in program.outputs or not steps.offset(array)
        if is_read_whole or not all(_reads_last(instructions[place], steps.length) for place in readers):
            continue
        steps = replace(steps, last=(*steps.last, array))
        instructions[at] = item._replace(shape=(steps.offset(array), *item.shape[1:]))
        for place in readers:
            first, *rest = instructions[place].axes
            instructions[place] = instructions[place]._replace(axes=(first - steps.length, *rest))
    instructions[number] = instructions[number]._replace(recurrence=steps)


def _reads_last(instruction: Instruction, length: int) -> bool:
    """Return whether an instruction reads only rows that no step reads any more."""
    is_window = instruction.primitive == "window"
    return is_window and instruction.axes[0] >= length and min(instruction.letters[0], default=0) >= 0


def _with_arrays(instruction: Instruction, steps: StepLoop, numbers: dict[int, int]) -> Instruction:
    """Return a recurrence that has some arrays only, in a new order of their numbers."""
    outputs: list[int] = []
    sources: list[int] = []
    place = 0
    for array, starts in enumerate(steps.starts):
        if array in numbers:
            outputs.append(steps.body.outputs[array])
            sources += instruction.sources[place : place + len(starts)]
        place += len(starts)
    results = tuple(outputs) if len(outputs) > 1 else ()
    body = without_unread(replace(steps.body, result=outputs[-1], results=results))
    changed = replace(
        steps,
        body=body,
        rows=tuple([steps.rows[array] for array in numbers]),
        starts=tuple([steps.starts[array] for array in numbers]),
        reads=tuple([(numbers[array], ahead) for array, ahead in steps.reads]),
    )
    return instruction._replace(sources=(*sources, *instruction.sources[place:]), recurrence=changed)


def _hoisted(new: Rewriter, instruction: Instruction, target: Target) -> Instruction:
    """Emit what does not change, and return the recurrence that reads it; sources are the old numbers."""
    steps = instruction.recurrence
    assert steps is not None
    body = simplify(steps.body, target)
    count, parts = len(body.operands), len(steps.cut)
    inputs = instruction.sources[steps.count :]
    outside = {part: new.numbers[inputs[part]] for part in range(parts) if not steps.cut[part]}
    for value, inner in enumerate(body.instructions, count):
        is_same = inner.over is None and all(source in outside for source in inner.sources)
        if is_same and value not in body.outputs:
            outside[value] = new.emit(renumbered(inner, outside), body.notes[value - count])
    changed = _with_inputs(new, instruction, replace(steps, body=body), outside)
    after = changed.recurrence
    if after is None or "over" not in target.native:
        return changed
    return changed._replace(recurrence=replace(after, body=reuse(after.body, shapes_of(after.body))))


def _with_inputs(
    new: Rewriter, instruction: Instruction, steps: StepLoop, outside: dict[int, int]
) -> Instruction:
    """Return a recurrence that reads values which are computed before it, and not what is no longer read."""
    body, shapes = steps.body, shapes_of(steps.body)
    count, parts = len(body.operands), len(steps.cut)
    inside = [value for value in range(count, len(shapes)) if value not in outside]
    read = {source for value in inside for source in body.instructions[value - count].sources}
    read |= set(body.outputs)
    own = [part for part in range(parts) if part in read]
    moved = [value for value in outside if value >= count and value in read]
    inputs = instruction.sources[steps.count :]
    # The rewriter renumbers old sources: what is new gets a number that stands for itself.
    sources = [inputs[part] for part in own] + [new.itself(outside[value]) for value in moved]
    rows = list(range(parts, count))
    order = [*own, *moved, *rows]
    numbers = {value: number for number, value in enumerate(order)}
    made: list[Instruction] = []
    notes: list[Note] = []
    for value in inside:
        made.append(renumbered(body.instructions[value - count], numbers))
        notes.append(body.notes[value - count])
        numbers[value] = len(order) + len(made) - 1
    operands = tuple([shapes[value] for value in order])
    results = tuple([numbers[value] for value in body.outputs])
    program = Program(
        operands,
        tuple(made),
        tuple(notes),
        results[-1],
        body.depends_on_layout,
        results if len(results) > 1 else (),
    )
    cut = tuple([steps.cut[part] for part in own]) + (False,) * len(moved)
    after = replace(steps, body=program, cut=cut)
    starts = instruction.sources[: steps.count]
    return instruction._replace(sources=(*starts, *sources), recurrence=after)
