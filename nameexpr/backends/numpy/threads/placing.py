"""Where the parts of a call are written, and the memory that they take."""

from __future__ import annotations

from nameexpr.backends.numpy.threads.gain import Division
from nameexpr.compiler.ir.program import Instruction
from nameexpr.compiler.memory.arrays import Array
from nameexpr.compiler.memory.program import SCRATCH, ProgramInfo
from nameexpr.compiler.schedule.reuse import OVER

TAKE_OUT = frozenset({"divide", "matmul", "multiply", "vecdot"})
"""Calls other than functions that write into any array."""
INTO_NEW = frozenset({"clip", "silu"})
"""Functions that write into arrays apart from their arguments, such as the new one of all parts."""
MOVES = frozenset({"cast", "copy"})
"""Calls that are assignments to the part of an array."""


def writes_into(instruction: Instruction) -> bool:
    """Return whether a call writes its result into any array."""
    is_along = instruction.primitive == "along_axes" and instruction.function in OVER
    is_new = instruction.primitive == "pointwise" and instruction.function in INTO_NEW
    return is_along or is_new or instruction.takes_out or instruction.primitive in TAKE_OUT


def bytes_of_parts(info: ProgramInfo, number: int, threads: int, part: Division) -> int:
    """Return the bytes of the parts that are computed at once, besides the result of the whole call."""
    instruction = info.program.instructions[number]

    def of_part(array: Array, cut: int | None) -> Array:
        if cut is None:
            return array
        return array.part((*array.shape[:cut], part.step, *array.shape[cut + 1 :]))

    arrays = [of_part(source, cut) for source, cut in zip(info.sources(number), part.cuts, strict=True)]
    result = of_part(info.arrays[info.count + number], part.axis)
    rule = SCRATCH.get(instruction.primitive)
    own = 0 if rule is None else rule(instruction._replace(shape=result.shape), arrays, result)
    is_placed = part.takes_out or instruction.over is not None or instruction.primitive in MOVES
    own += 0 if is_placed else result.size
    return threads * own
