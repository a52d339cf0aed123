"""Steps of blocks that depend on bound operands alone, taken out of the blocks so that they can be folded.

blocks of exp(b), a + exp(b), max    ->    t0 = exp(b); blocks of a + t0, max
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from nameexpr.compiler.ir.liveness import Rewriter, renumbered
from nameexpr.compiler.ir.program import Instruction, Note, Program, Shape
from nameexpr.compiler.ir.shapes import broadcast


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
    """Return the shapes of the steps that depend on fixed sources alone, and of those that others read.

    Steps are numbered after the sources, as in the block.
    """
    shapes = {number: sources[number] for number, source in enumerate(block.sources) if source in fixed}
    steps: dict[int, Shape] = {}
    for number, step in enumerate(block.steps, len(sources)):
        if step.sources and all(source in shapes for source in step.sources) and not step.is_weak:
            shapes[number] = steps[number] = broadcast(*(shapes[source] for source in step.sources))
    return steps, [shape for number, shape in steps.items() if number in _read_outside(block, steps)]


def _read_outside(block: Instruction, steps: Collection[int]) -> set[int]:
    """Return the values of a block that its factors, or steps other than these, read."""
    others = [step for number, step in enumerate(block.steps, len(block.sources)) if number not in steps]
    return {source for step in others for source in step.sources} | set(block.factors)


def _without(block: Instruction, steps: dict[int, Shape], new: Rewriter) -> Instruction:
    """Return a block without some of its steps, which become instructions; sources have their new numbers."""
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


def unfused(step: Instruction, numbers: Mapping[int, int], shape: Shape) -> Instruction:
    """Return a step of a block as an instruction of its own."""
    alone = renumbered(step, numbers)
    return alone if step.primitive == "cast" else alone._replace(shape=shape)
