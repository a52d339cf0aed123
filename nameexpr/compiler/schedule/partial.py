"""Partial evaluation: values that depend on bound operands alone are computed once, the rest on every call.

`fold` splits a program in two. The *prelude* takes the bound operands and returns the values that are worth
keeping; the *rest* takes the other operands and those values. It runs after a program is finished, and
repeats the analysis of memory reuse, since nothing may write to a value that is kept.

    t0 = b * c; t1 = a @ t0    ->    prelude(b, c): t0 = b * c    rest(a, t0): t1 = a @ t0

Steps of blocks that depend on bound operands alone are moved out of the blocks first.

    blocks of exp(b), a + exp(b), max    ->    t0 = exp(b); blocks of a + t0, max
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import prod

from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.liveness import Rewriter, needed_for, owners, renumbered, unfused
from nameexpr.compiler.ir.primitives import is_view, shapes_of, work_of
from nameexpr.compiler.ir.program import Instruction, Note, Program, Shape
from nameexpr.compiler.ir.strides import broadcast
from nameexpr.compiler.ir.target import Target
from nameexpr.compiler.schedule.place import place
from nameexpr.compiler.schedule.reuse import reuse
from nameexpr.records import record, replace

Shapes = Sequence[Shape]


@record
class Folded:
    """A program in two parts.

    `prelude` takes the bound operands, in order, and returns the values that the rest reads after the
    operands that are not bound: `held` are their numbers in `whole`, the program with both parts. It is None
    if the rest reads none.
    """

    whole: Program

    prelude: Program | None
    rest: Program
    held: tuple[int, ...]


def unfolded(program: Program, constants: Collection[int]) -> Folded:
    """Return the program split so that nothing is computed from constants before the rest."""
    count, kept = len(program.operands), tuple(sorted(constants))
    order = [*(operand for operand in range(count) if operand not in kept), *kept]
    numbers = {operand: place for place, operand in enumerate(order)}
    numbers |= {value: value for value in range(count, count + len(program.instructions))}
    rest = replace(
        program,
        operands=tuple([program.operands[operand] for operand in order]),
        instructions=tuple([renumbered(one, numbers) for one in program.instructions]),
        result=numbers[program.result],
        results=tuple([numbers[result] for result in program.results]),
    )
    shapes = tuple([program.operands[operand] for operand in kept])
    prelude = Program(shapes, (), (), len(kept) - 1, depends_on_layout=False, results=tuple(range(len(kept))))
    return Folded(program, prelude, rest, kept)


def fold(
    program: Program, shapes: Shapes, constants: Collection[int], target: Target, limit: int | None = None
) -> Folded:
    """Return the program split into what depends on constants alone, as far as that pays off, and the rest.

    Parameters
    ----------
    program : Program
        The program to split.
    shapes : sequence of tuple of int
        Shape of every value.
    constants : collection of int
        The operands that stay the same.
    target : Target
        The thresholds that determine which values are worth keeping.
    limit : int, optional
        The bytes that a value larger than its operands may have, if that is less than the target's limit.
    """
    fresh = [_separate(instruction) for instruction in program.instructions]
    program = replace(program, instructions=tuple(fresh))
    own = sum(prod(shapes[operand]) for operand in constants)
    program = hoist_invariants(
        program,
        shapes,
        constants,
        lambda shape: prod(shape) <= max(target.held_cells, target.held_growth * own),
    )
    shapes = shapes_of(program)
    estimate = _estimate_work(program, shapes, constants)
    if limit is not None:
        target = replace(target, held_bytes=min(limit, target.held_bytes))
    held: set[int] = set()
    rest: set[int] = set()
    waiting = list(program.outputs)
    while waiting:
        value = waiting.pop()
        if value in held or value in rest:
            continue
        if value in estimate.work and _is_held(program, shapes, estimate, value, target):
            held.add(value)
        elif value >= len(program.operands):
            rest.add(value)
            waiting += program.instructions[value - len(program.operands)].sources
    order = tuple(sorted(held))
    bound = tuple(sorted(constants))
    prelude = _prelude(program, bound, order) if order else None
    return Folded(program, prelude, _rest(program, bound, order, rest), order)


def _separate(instruction: Instruction) -> Instruction:
    """Return an instruction without the values that it shares memory with."""
    if instruction.primitive == "concatenate":
        instruction = instruction._replace(factors=())
    return instruction._replace(over=None)


@record
class WorkEstimate:
    """For every value that depends on constants alone: the operations that compute it, and the number of
    elements of the constants.

    Values that are used in two ways count twice: it is an estimate.
    """

    work: dict[int, int]
    cells: dict[int, int]


def _estimate_work(program: Program, shapes: Shapes, constants: Collection[int]) -> WorkEstimate:
    count = len(program.operands)
    work = dict.fromkeys(constants, 0)
    cells = {operand: prod(shapes[operand]) for operand in constants}
    for value, instruction in enumerate(program.instructions, count):
        sources = instruction.sources
        # A caller's reducer may return a different result each time; a full array is a new result each time.
        is_free = instruction.primitive == "full" or _has_callable(instruction)
        if is_free or not all(source in work for source in sources):
            continue
        own = work_of(instruction, [shapes[source] for source in sources], shapes[value])
        work[value] = sum(work[source] for source in sources) + own
        cells[value] = sum(cells[source] for source in dict.fromkeys(sources))
    return WorkEstimate(work, cells)


def _has_callable(instruction: Instruction) -> bool:
    """Return whether an instruction calls a caller's reducer."""
    bodies = () if instruction.loop is None else instruction.loop.bodies
    return instruction.primitive == "apply" or any(
        _has_callable(inner) for body in bodies for inner in body.instructions
    )


def _is_held(program: Program, shapes: Shapes, estimate: WorkEstimate, value: int, target: Target) -> bool:
    """Return whether a value is computed once; otherwise it is computed on each call from values that are."""
    count = len(program.operands)
    if value < count:
        return True
    loop, cells = program.instructions[value - count].loop, prod(shapes[value])
    if loop is not None and len(loop.results) > 1:  # its results are arrays, each of which may be held
        return False
    size = cells * ITEM_BYTES.get(program.notes[value - count].dtype, 8)
    if value in program.outputs:  # the caller gets new memory: a copy, or the result computed again
        root = owners(count, program.instructions)[value]
        is_costly = estimate.work[root] >= target.copied_work * prod(shapes[root])
        return root < count or (is_costly and size <= target.held_bytes)
    if cells <= max(target.held_cells, target.held_growth * estimate.cells[value]):
        return True
    return estimate.work[value] >= target.held_work * cells and size <= target.held_bytes


def _prelude(program: Program, bound: Sequence[int], held: Sequence[int]) -> Program:
    count = len(program.operands)
    needed = needed_for(program, held)
    new = _selected(program, bound, [value for value in sorted(needed) if value >= count])
    results = []
    for value in held:  # a result is copied on each call: give it the layout of the copies
        number = new.numbers[value]
        if value in program.outputs and value >= count and _is_moved(program.instructions[value - count]):
            number = new.emit(Instruction("copy", (number,)), _copy_note(program, value))
        results.append(number)
    return _split_off(new, results, tuple(results))


def _rest(program: Program, bound: Sequence[int], held: Sequence[int], values: Collection[int]) -> Program:
    """Return the program of each call; a result in memory that is kept is copied."""
    free = [operand for operand in range(len(program.operands)) if operand not in bound]
    new = _selected(program, (*free, *held), sorted(values))
    owner = owners(len(new.operands), new.instructions)
    results = []
    for output in program.outputs:
        number = new.numbers[output]
        if len(free) <= owner[number] < len(free) + len(held):
            number = new.emit(Instruction("copy", (number,)), _copy_note(program, output))
        results.append(number)
    return _split_off(new, results, tuple(results) if program.results else ())


def _is_moved(instruction: Instruction) -> bool:
    return is_view(instruction) or instruction.primitive == "cast"


def _copy_note(program: Program, value: int) -> Note:
    count = len(program.operands)
    return replace(program.notes[value - count], step=None) if value >= count else Note((), "", None)


def _selected(program: Program, operands: Sequence[int], values: Sequence[int]) -> Rewriter:
    """Return the instructions of some values, with other values as operands."""
    shapes = shapes_of(program)
    numbers = {value: position for position, value in enumerate(operands)}
    new = Rewriter(program, [shapes[value] for value in operands], numbers)
    for value in values:
        new.keep(value)
    return new


def _split_off(new: Rewriter, outputs: Sequence[int], results: tuple[int, ...]) -> Program:
    """Return a part of a program, with its own results."""
    old = new.old
    part = Program(
        new.operands, tuple(new.instructions), tuple(new.notes), outputs[-1], old.depends_on_layout, results,
        is_limited=old.is_limited,
    )  # fmt: skip
    return place(reuse(part, shapes_of(part)))


def hoist_invariants(
    program: Program, shapes: Sequence[Shape], constants: Collection[int], fits: Callable[[Shape], bool]
) -> Program:
    """Return the program with what depends on constants alone outside of its blocks.

    Parameters
    ----------
    program : Program
        The program, before memory reuse.
    shapes : sequence of tuple of int
        Shape of every value.
    constants : collection of int
        The operands that stay the same.
    fits : callable
        Whether an array of a shape may be kept.
    """
    fixed, new = set(constants), Rewriter(program)
    for value, instruction in enumerate(program.instructions, len(program.operands)):
        sources = instruction.sources
        if sources and all(source in fixed for source in sources):
            fixed.add(value)
        elif instruction.primitive == "fused":
            steps, values = _fixed_steps(instruction, [shapes[source] for source in sources], fixed)
            if steps and all(fits(shape) for shape in values):
                rest = _without(instruction, steps, new)
                new.numbers[value] = new.emit(rest, program.notes[value - len(program.operands)])
                continue
        new.keep(value)
    return new.program()


def _fixed_steps(
    block: Instruction, sources: Sequence[Shape], fixed: Collection[int]
) -> tuple[dict[int, Shape], list[Shape]]:
    """Return the shapes of the steps that depend on fixed sources alone, and of those that other steps read.

    Steps are numbered after the sources, as in the block.
    """
    shapes = {number: sources[number] for number, source in enumerate(block.sources) if source in fixed}
    steps: dict[int, Shape] = {}
    for number, step in enumerate(block.steps, len(sources)):
        if step.sources and all(source in shapes for source in step.sources) and not step.is_weak:
            shapes[number] = steps[number] = broadcast(*(shapes[source] for source in step.sources))
    return steps, [shape for number, shape in steps.items() if number in _read_outside(block, steps)]


def _read_outside(block: Instruction, steps: Collection[int]) -> set[int]:
    """Return the values of a block that its factors, or other steps, read."""
    others = [step for number, step in enumerate(block.steps, len(block.sources)) if number not in steps]
    return {source for step in others for source in step.sources} | set(block.factors)


def _without(block: Instruction, steps: dict[int, Shape], new: Rewriter) -> Instruction:
    """Return a block without some of its steps, which become instructions; sources get their new numbers."""
    first = len(block.sources)
    values = {number: new.numbers[source] for number, source in enumerate(block.sources)}
    for number, shape in steps.items():
        step = block.steps[number - first]
        values[number] = new.emit(unfused(step, values, shape), Note((), step.dtype, None))
    read = _read_outside(block, steps)
    kept = [number for number in range(first, first + len(block.steps)) if number not in steps]
    sources = [number for number in (*range(first), *steps) if number in read]
    numbers = {number: position for position, number in enumerate((*sources, *kept))}
    return block._replace(
        sources=tuple([values[number] for number in sources]),
        steps=tuple([renumbered(block.steps[number - first], numbers) for number in kept]),
        factors=tuple([numbers[factor] for factor in block.factors]),
    )
