"""The memory that is alive at each instruction of a program, those in loops included."""

from __future__ import annotations

from collections.abc import Iterator

from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.memory.program import Layouts, ProgramInfo, Shapes, alive, info_of, part_of
from nameexpr.records import record


@record
class MemoryPoint:
    """Bytes alive while an instruction runs, and after it; `depth` is the number of loops around it."""

    during: int
    after: int
    depth: int


def timeline(program: Program, shapes: Shapes, layouts: Layouts = ()) -> list[MemoryPoint]:
    """Return the bytes alive at each instruction, not counting operands; their maximum is `peak_bytes`.

    A loop is followed by the instructions of its body, as they are in one block.
    """
    return list(_timeline(info_of(program, shapes, layouts), 0, 0))


def _timeline(info: ProgramInfo, below: int, depth: int) -> Iterator[MemoryPoint]:
    """Yield the points of a program in `depth` loops, outside which `below` bytes are alive."""
    for number, (held, scratch, after) in enumerate(alive(info)):
        yield MemoryPoint(below + held + scratch, below + after, depth)
        loop = info.program.instructions[number].loop
        if loop is not None and loop.block:
            layouts = [part_of(source, 0) for source in info.sources(number)]
            body = info_of(loop.body, shapes_of(loop.body), layouts, is_body=True)
            yield from _timeline(body, below + held, depth + 1)
