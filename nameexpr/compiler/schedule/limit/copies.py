"""What a program copies that the search for loops did not know of, from the memory that each step needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from nameexpr.compiler.ir.layouts import OperandLayout
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.memory.program import ProgramInfo, alive, info_of, part_of
from nameexpr.compiler.schedule.limit.loops import Level, Nest, measure, part_elements
from nameexpr.compiler.schedule.limit.network import StepTree

SLACK = 1.02
"""The ratio of the memory of a step to the expected one from which it must have copied something."""


def learn_copies(
    tree: StepTree, nest: Nest, program: Program, given: Sequence[OperandLayout], limit: int
) -> bool:
    """Note which values are copied by the steps of a program that exceed the limit; return whether that
    changes what is known about them.
    """
    needed: dict[int, int] = {}
    for step, size in _steps(info_of(program, shapes_of(program), given), 0):
        item = tree.count - 1 if step is None else step
        needed[item] = max(needed.get(item, 0), size)
    over = {item: size for item, size in needed.items() if size > limit}
    before = {item: tree.learned.pop(item, ()) for item in over}
    levels = measure(tree, nest, limit, is_traced=True).levels
    assert levels is not None
    for level, moments in levels.values():
        for item in over.keys() & moments:
            if over[item] > SLACK * moments[item].peak:
                tree.learned[item] = _copies(tree, item, level, over[item] - moments[item].peak)
    return any(tree.learned.get(item, ()) != known for item, known in before.items())


def _copies(tree: StepTree, item: int, level: Level, size: float) -> tuple[int, ...]:
    """Return the values that an item reads or computes that explain `size` more bytes, by the fewest."""
    values = (*tree.reads[item], tree.keep[item])
    sizes = [part_elements(tree.elements, labels, level) * tree.width for labels in values]
    every = [one for count in range(1, len(values) + 1) for one in combinations(range(len(values)), count)]
    enough = [one for one in every if SLACK * sum([sizes[at] for at in one]) >= size]
    chosen = min(enough, key=lambda one: sum([sizes[at] for at in one]), default=every[-1])
    return tuple([values[at] for at in chosen])


def _steps(info: ProgramInfo, below: int) -> Iterator[tuple[int | None, int]]:
    """Yield the step that each instruction belongs to, and the bytes alive while it runs."""
    for number, (held, scratch, _) in enumerate(alive(info)):
        loop = info.program.instructions[number].loop
        if loop is None:
            yield info.program.notes[number].step, below + held + scratch
            continue
        layouts = [part_of(source, loop.leading(at)) for at, source in enumerate(info.sources(number))]
        for body in loop.bodies:
            yield from _steps(info_of(body, shapes_of(body), layouts, is_body=True), below + held)
