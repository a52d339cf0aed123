"""Who reads and who owns the values of a program, and those inside a block of it; programs written anew.

A value's *owner* is the value whose memory it is in: itself, or what it is a view of. Inside a block a
function writes over an earlier value that is dead, of the same dtype, and varies over the same axes; the last
one writes into the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

from nameexpr.compiler.ir.primitives import is_view, shapes_of
from nameexpr.compiler.ir.program import Instruction, Note, Program, Shape
from nameexpr.ops import REDUCTIONS
from nameexpr.records import replace

COMBINED = {name: row.combine for name, row in REDUCTIONS.items() if row.combine} | {
    "mean": "add",
    "count_nonzero": "add",
}
"""The kernel that combines what a reducer gives for blocks."""
WHERE = "where"
PAIR = 2
REAL = frozenset({"float32", "float64"})
WIDENED = frozenset({"sum", "mean", "prod"})
"""Reducers that add float16 up in float32."""
BLOCK = 1 << 16
"""Cells of the longest vector of ones that is made (`nameexpr.backends.numpy.kernels.ones`)."""


def readers(program: Program) -> dict[int, list[int]]:
    """The values that are made of each value, in order; of an output one more, which is none: -1."""
    found: dict[int, list[int]] = {output: [-1] for output in program.outputs}
    for value, instruction in enumerate(program.instructions, len(program.operands)):
        for source in instruction.sources:
            found.setdefault(source, []).append(value)
    return found


def last_uses(program: Program) -> dict[int, int]:
    """The number of the last instruction that reads each value; of an output one behind the last."""
    reads = {
        source: number
        for number, instruction in enumerate(program.instructions)
        for source in instruction.sources
    }
    return reads | dict.fromkeys(program.outputs, len(program.instructions))


def owners(count: int, instructions: Iterable[Instruction]) -> list[int]:
    """The owner of each value, `count` operands first."""
    found = list(range(count))
    for value, instruction in enumerate(instructions, count):
        found.append(found[instruction.sources[0]] if is_view(instruction) else value)
    return found


def check_program(program: Program) -> None:
    """Check that shapes fit and that nothing is read after it was written over.

    Raises
    ------
    AssertionError
        If a pass has made a wrong program.
    """
    assert len(shapes_of(program)) == len(program.operands) + len(program.notes), "an instruction has no note"
    count, instructions = len(program.operands), program.instructions
    owner = owners(count, instructions)
    for number, instruction in enumerate(instructions):
        if instruction.loop is not None:
            for body in instruction.loop.bodies:
                check_program(body)
        if instruction.over is not None:
            base = owner[instruction.sources[instruction.over]]
            later = [source for reader in instructions[number + 1 :] for source in reader.sources]
            assert base >= count, f"{instruction} writes over an operand"
            assert all(owner[source] != base for source in (*later, *program.outputs)), (
                f"{instruction} writes over what is read later"
            )


def needed_for(program: Program, values: Iterable[int]) -> set[int]:
    """All values that some are made of, themselves included."""
    count, needed = len(program.operands), set(values)
    for number in range(len(program.instructions) - 1, -1, -1):
        if count + number in needed:
            needed.update(program.instructions[number].sources)
    return needed


def never_made(program: Program) -> frozenset[int]:
    """The instructions that make ones beyond a block, all for products: those are sums of blocks."""
    count = len(program.operands)
    long = {
        number
        for number, instruction in enumerate(program.instructions)
        if instruction.primitive == "ones"
        and instruction.shape[0] > BLOCK
        and instruction.shape[0] == prod(instruction.shape)
    }
    for instruction in program.instructions if long else ():
        used = {source - count for source in instruction.sources}
        if instruction.primitive in {"dot", "matmul"}:
            left, right = instruction.sources
            used -= {right - count} - {left - count}
        long -= used
    return frozenset(long - {output - count for output in program.outputs})


def renumbered(instruction: Instruction, numbers: Mapping[int, int]) -> Instruction:
    """An instruction that reads other values."""
    return instruction._replace(sources=tuple([numbers[source] for source in instruction.sources]))


def unfused(step: Instruction, numbers: Mapping[int, int], shape: Shape) -> Instruction:
    """Return a step of a block as an instruction of its own."""
    alone = renumbered(step, numbers)
    return alone if step.primitive == "cast" else alone._replace(shape=shape)


class Rewriter:
    """A program that is written anew: `numbers` says what the values of the old one are called."""

    def __init__(
        self,
        program: Program,
        operands: Sequence[Shape] | None = None,
        numbers: Mapping[int, int] | None = None,
    ) -> None:
        self.old = program
        self.operands = program.operands if operands is None else tuple(operands)
        self.numbers = dict(enumerate(range(len(program.operands))) if numbers is None else numbers)
        self.instructions: list[Instruction] = []
        self.notes: list[Note] = []

    def emit(self, instruction: Instruction, note: Note) -> int:
        """Append an instruction, which reads new numbers, and return the number of its value."""
        self.instructions.append(instruction)
        self.notes.append(note)
        return len(self.operands) + len(self.instructions) - 1

    def keep(self, value: int, instruction: Instruction | None = None) -> None:
        """Append the instruction of a value, or another one in its place, which reads old numbers."""
        number = value - len(self.old.operands)
        instruction = renumbered(instruction or self.old.instructions[number], self.numbers)
        self.numbers[value] = self.emit(instruction, self.old.notes[number])

    def program(self) -> Program:
        """The program as it is written by now, with the old one's results."""
        return replace(
            self.old,
            operands=self.operands,
            instructions=tuple(self.instructions),
            notes=tuple(self.notes),
            result=self.numbers[self.old.result],
            results=tuple([self.numbers[result] for result in self.old.results]),
        )


def without_unread(program: Program) -> Program:
    """The program without the instructions whose values nothing reads."""
    count, needed = len(program.operands), needed_for(program, program.outputs)
    new = Rewriter(program)
    for value in range(count, count + len(program.instructions)):
        if value in needed:
            new.keep(value)
    return new.program()


def accumulator(block: Instruction) -> str:
    """Return the dtype in which blocks are added up."""
    return "float32" if block.dtype == "float16" and block.function in WIDENED else block.dtype


def buffers(
    block: Instruction, shapes: Sequence[tuple[int, ...]]
) -> tuple[list[frozenset[int] | None], list[int | None], int | None]:
    """Return where the values of a block lie: for each source and step the axes along which it is longer than
    1 (None for a number), for each step the earlier one that it writes over, and the step from which on they
    are in the result itself.
    """
    varies, last = _varies(block, shapes), _last_uses(block)
    overs = [_over(block, step, number, len(shapes), varies, last) for number, step in enumerate(block.steps)]
    return varies, overs, _home(block, overs, len(shapes), varies)


def _varies(block: Instruction, shapes: Sequence[tuple[int, ...]]) -> list[frozenset[int] | None]:
    """Return for each source and step the axes along which it is longer than 1; None for a number."""
    found: list[frozenset[int] | None] = [
        frozenset(axis for axis, size in enumerate(shape) if size != 1) if shape else None for shape in shapes
    ]
    for step in block.steps:
        axes = [part for source in step.sources if (part := found[source]) is not None]
        found.append(frozenset().union(*axes) if axes else None)
    return found


def _last_uses(block: Instruction) -> dict[int, int]:
    last = {source: number for number, step in enumerate(block.steps) for source in step.sources}
    return last | dict.fromkeys(block.factors, len(block.steps))


def _over(
    block: Instruction,
    step: Instruction,
    number: int,
    count: int,
    varies: Sequence[frozenset[int] | None],
    last: dict[int, int],
) -> int | None:
    """Return the earlier step whose memory this one can write over."""
    if not step.takes_out and step.function != WHERE:
        return None
    sources = step.sources if step.function != WHERE else _chosen(step)
    for source in sources:
        if source < count or last[source] != number:
            continue
        if block.steps[source - count].dtype == step.dtype and varies[source] == varies[count + number]:
            return source
    return None


def _chosen(step: Instruction) -> tuple[int, ...]:
    """Return what a choice gives where its condition holds, if that is an array."""
    if step.constants[1] is not None:
        return ()
    return step.sources[1:2] if step.constants[0] is None else step.sources[:1]


def _home(
    block: Instruction, overs: Sequence[int | None], count: int, varies: Sequence[frozenset[int] | None]
) -> int | None:
    """Return the step from which on a block is computed in the result itself, each step over the one before.

    None where the last step is the only one, or where a later step reads what the result takes over.
    """
    first = last = len(block.steps) - 1
    if block.function or block.factors != (count + last,):
        return None
    while (over := overs[first]) is not None:
        first = over - count
    step, every = block.steps[first], frozenset(axis for axis, size in enumerate(block.shape) if size != 1)
    if first == last or not step.takes_out or step.dtype != block.dtype or varies[count + first] != every:
        return None
    later = block.steps[first + 1 :]
    return None if any(block.over in other.sources for other in later) else first


def is_inner_product(block: Instruction, is_along: Sequence[object]) -> bool:
    """Whether a block's products are added up along the last axis alone, by `numpy.vecdot`; `is_along` says
    which factors vary along it.
    """
    is_last = block.axes == (len(block.shape) - 1,)
    return len(is_along) == PAIR and is_last and accumulator(block) in REAL and all(is_along)
