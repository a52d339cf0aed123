"""Liveness: which instructions read each value and whose memory it is in, also inside a block; and the
rewriting of programs.

A value's *owner* is the value whose memory it is in: itself, or the source of a view. Inside a block a
function writes over an earlier value that is dead, of the same dtype, and varies over the same axes; the last
one writes into the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import copysign, prod

from nameexpr.compiler.ir.primitives import is_view, shapes_of
from nameexpr.compiler.ir.program import Instruction, Note, Program, Shape
from nameexpr.ops import REDUCTIONS
from nameexpr.records import replace

COMBINED = {name: row.combine for name, row in REDUCTIONS.items() if row.combine} | {
    "mean": "add",
    "count_nonzero": "add",
}
"""The kernel that combines the results of a reducer for blocks."""
WHERE = "where"
PAIR = 2
REAL = frozenset({"float32", "float64"})
WIDENED = frozenset({"sum", "mean", "prod"})
"""Reducers that add float16 values in float32."""
BLOCK = 1 << 16
"""The number of elements of the longest vector of ones that is created
(`nameexpr.backends.numpy.kernels.ones`).
"""


def readers(program: Program) -> dict[int, list[int]]:
    """Return the values computed from each value, in order; for an output also -1."""
    found: dict[int, list[int]] = {output: [-1] for output in program.outputs}
    for value, instruction in enumerate(program.instructions, len(program.operands)):
        for source in instruction.sources:
            found.setdefault(source, []).append(value)
    return found


def last_uses(program: Program) -> dict[int, int]:
    """Return the number of the last instruction that reads each value; for an output, one past the last."""
    reads = {
        source: number
        for number, instruction in enumerate(program.instructions)
        for source in instruction.sources
    }
    return reads | dict.fromkeys(program.outputs, len(program.instructions))


def owners(count: int, instructions: Iterable[Instruction]) -> list[int]:
    """Return the owner of each value, `count` operands first."""
    found = list(range(count))
    for value, instruction in enumerate(instructions, count):
        found.append(found[instruction.sources[0]] if is_view(instruction) else value)
    return found


def check_program(program: Program) -> None:
    """Check that shapes fit and that nothing is read after it was written over.

    Raises
    ------
    AssertionError
        If a pass has produced an incorrect program.
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
    """Return all values that the given values depend on, including themselves."""
    count, needed = len(program.operands), set(values)
    for number in range(len(program.instructions) - 1, -1, -1):
        if count + number in needed:
            needed.update(program.instructions[number].sources)
    return needed


def never_made(program: Program) -> frozenset[int]:
    """Return the instructions that create ones larger than a block, used only in products: those are sums of
    blocks.
    """
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
    """Return an instruction that reads other values."""
    return instruction._replace(sources=tuple([numbers[source] for source in instruction.sources]))


def unfused(step: Instruction, numbers: Mapping[int, int], shape: Shape) -> Instruction:
    """Return a step of a block as a separate instruction."""
    alone = renumbered(step, numbers)
    return alone if step.primitive == "cast" else alone._replace(shape=shape)


class Rewriter:
    """A program while it is rewritten: `numbers` maps the values of the old program to those of the
    new one.
    """

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

    def itself(self, number: int) -> int:
        """Return an old number that stands for a value of the new program alone."""
        self.numbers[-1 - number] = number
        return -1 - number

    def keep(self, value: int, instruction: Instruction | None = None) -> None:
        """Append the instruction of a value, or its replacement, which reads old numbers."""
        number = value - len(self.old.operands)
        instruction = renumbered(instruction or self.old.instructions[number], self.numbers)
        self.numbers[value] = self.emit(instruction, self.old.notes[number])

    def program(self) -> Program:
        """Return the new program so far, with the results of the old one."""
        return replace(
            self.old,
            operands=self.operands,
            instructions=tuple(self.instructions),
            notes=tuple(self.notes),
            result=self.numbers[self.old.result],
            results=tuple([self.numbers[result] for result in self.old.results]),
        )


def without_unread(program: Program) -> Program:
    """Return the program without the instructions whose values are not read."""
    count, needed = len(program.operands), needed_for(program, program.outputs)
    new = Rewriter(program)
    for value in range(count, count + len(program.instructions)):
        if value in needed:
            new.keep(value)
    return new.program()


def accumulator(block: Instruction) -> str:
    """Return the dtype in which the results of blocks are added."""
    return "float32" if block.dtype == "float16" and block.function in WIDENED else block.dtype


def buffers(
    block: Instruction, shapes: Sequence[tuple[int, ...]]
) -> tuple[list[frozenset[int] | None], list[int | None], int | None]:
    """Return where the values of a block are stored: for each source and step the axes along which it is
    longer than 1 (None for a number), for each step the earlier step that it writes over, and the step from
    which on they are in the result itself.
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
    """Return the value that a choice takes if its condition holds, if that is an array."""
    if step.constants[1] is not None:
        return ()
    return step.sources[1:2] if step.constants[0] is None else step.sources[:1]


def _home(
    block: Instruction, overs: Sequence[int | None], count: int, varies: Sequence[frozenset[int] | None]
) -> int | None:
    """Return the step from which on a block is computed in the result itself, each step over the previous
    one.

    Return None if the last step is the only one, or if a later step reads the value that the result
    overwrites.
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


def is_or_zero(function: str, constants: Sequence[object], dtype: str) -> bool:
    """Return whether a function chooses between floats and 0, which NumPy computes by their bits."""
    if function != WHERE or dtype not in REAL or tuple(constants[:2]) != (None, None):
        return False
    other = constants[2]
    return isinstance(other, int | float) and other == 0 and copysign(1, other) > 0


def is_inner_product(block: Instruction, is_along: Sequence[object]) -> bool:
    """Return whether a block's products are summed along the last axis alone, by `numpy.vecdot`; `is_along`
    lists for each factor whether it varies along it.
    """
    is_last = block.axes == (len(block.shape) - 1,)
    return len(is_along) == PAIR and is_last and accumulator(block) in REAL and all(is_along)
