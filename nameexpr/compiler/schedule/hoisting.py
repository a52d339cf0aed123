"""Steps of blocks that depend on bound operands alone, taken out of the blocks so that they can be folded.

blocks of exp(b), a + exp(b), max    ->    t0 = exp(b); blocks of a + t0, max
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from nameexpr.compiler.ir.program import (
    Cast,
    Constant,
    Fused,
    Instruction,
    Note,
    Pointwise,
    Program,
    Step,
    sources_of,
)
from nameexpr.compiler.ir.verify import broadcast
from nameexpr.compiler.schedule.simplify import renumbered

Shape = tuple[int, ...]


def hoisted(
    program: Program, shapes: Sequence[Shape], constants: Collection[int], fits: Callable[[Shape], bool]
) -> Program:
    """Return the program with what depends on constants alone outside of its blocks.

    Parameters
    ----------
    program : Program
        What is to be done; nothing in it takes over memory.
    shapes : sequence of tuple of int
        Shape of every value.
    constants : collection of int
        The operands that stay the same.
    fits : callable
        Whether an array of a shape may be held.
    """
    count = len(program.operands)
    fixed = set(constants)
    numbers = {operand: operand for operand in range(count)}
    instructions: list[Instruction] = []
    notes: list[Note] = []
    for number, one in enumerate(program.instructions):
        sources = sources_of(one)
        note = program.notes[number]
        if sources and all(source in fixed for source in sources):
            fixed.add(count + number)
        elif isinstance(one, Fused):
            steps, values = _steps_apart(one, [shapes[source] for source in sources], fixed)
            if steps and all(fits(shape) for shape in values):
                one = _without(one, steps, numbers, instructions, notes, count)
                numbers[count + number] = count + len(instructions)
                instructions.append(one)
                notes.append(note)
                continue
        numbers[count + number] = count + len(instructions)
        instructions.append(renumbered(one, numbers))
        notes.append(note)
    return replace(
        program,
        instructions=tuple(instructions),
        notes=tuple(notes),
        result=numbers[program.result],
        results=tuple(numbers[result] for result in program.results),
    )


def _steps_apart(
    one: Fused, sources: Sequence[Shape], fixed: Collection[int]
) -> tuple[dict[int, Shape], list[Shape]]:
    """Return the shapes of the steps that depend on fixed sources alone, and of those that others read.

    Steps are numbered after the sources, as in the block.
    """
    count = len(sources)
    shapes = {place: sources[place] for place, source in enumerate(one.sources) if source in fixed}
    steps: dict[int, Shape] = {}
    for number, step in enumerate(one.steps, count):
        arguments = [argument for argument in step.arguments if argument is not None]
        if arguments and all(place in shapes for place in arguments) and not step.dtype.startswith("weak"):
            made: Shape = ()
            for place in arguments:
                made = broadcast(made, shapes[place])
            shapes[number] = steps[number] = made
    return steps, [shape for number, shape in steps.items() if number in _read_outside(one, steps)]


def _read_outside(one: Fused, steps: Collection[int]) -> set[int]:
    """Return the values of a block that its factors, or steps other than these, read."""
    others = [step for number, step in enumerate(one.steps, len(one.sources)) if number not in steps]
    read = {argument for step in others for argument in step.arguments if argument is not None}
    return read | set(one.factors)


def _without(
    one: Fused,
    steps: dict[int, Shape],
    numbers: dict[int, int],
    instructions: list[Instruction],
    notes: list[Note],
    count: int,
) -> Fused:
    """Return a block without some of its steps, which become instructions; sources have their new numbers."""
    first = len(one.sources)
    values = {place: numbers[source] for place, source in enumerate(one.sources)}
    for number, shape in steps.items():
        step = one.steps[number - first]
        instructions.append(_instruction(step, values, shape))
        notes.append(Note((), step.dtype, None))
        values[number] = count + len(instructions) - 1
    read = _read_outside(one, steps)
    kept = [number for number in range(first, first + len(one.steps)) if number not in steps]
    sources = [number for number in (*range(first), *steps) if number in read]
    places = {number: place for place, number in enumerate((*sources, *kept))}
    return replace(
        one,
        sources=tuple(values[number] for number in sources),
        steps=tuple(_moved(one.steps[number - first], places) for number in kept),
        factors=tuple(places[factor] for factor in one.factors),
    )


def _instruction(step: Step, values: dict[int, int], shape: Shape) -> Instruction:
    """Return a step of a block as an instruction of its own."""
    sources = tuple(values[argument] for argument in step.arguments if argument is not None)
    if step.call == "cast":
        return Cast(sources[0], step.dtype)
    constants = tuple(
        Constant(constant) if argument is None and constant is not None else None
        for argument, constant in zip(step.arguments, step.constants, strict=True)
    )
    return Pointwise(step.call, sources, constants, shape, step.dtype, step.is_ufunc)


def _moved(step: Step, places: dict[int, int]) -> Step:
    return replace(step, arguments=tuple(None if one is None else places[one] for one in step.arguments))
