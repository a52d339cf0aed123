"""The memory that reading and combining at positions needs, not counting results."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.compiler.ir.program import Instruction
from nameexpr.compiler.ir.strides import broadcast
from nameexpr.compiler.memory.arrays import WIDE, Array
from nameexpr.compiler.memory.scratch import TRUTHS

CHUNK, PLACED = 1 << 10, 1 << 14
"""The number of rows of a bin that are copied, and of elements placed, at a time
(`nameexpr.backends.numpy.scattering`).
"""


def take_bytes(instruction: Instruction, sources: Sequence[Array]) -> int:
    """Return the bytes of the positions that NumPy copies: those that are broadcast or not in one piece; and
    those of an array that it cannot take elements of directly.
    """
    source, *places = sources
    shape = broadcast(*[place.shape for place in places])
    kept = [
        place.shape == shape and (place.is_one_piece if instruction.function else place.is_row_major)
        for place in places
    ]
    copied = 0 if instruction.function or not source.is_uneven else source.size
    return copied + kept.count(False) * WIDE * prod(shape)


def scatter_bytes(instruction: Instruction, sources: Sequence[Array]) -> int:
    """Return the bytes that combining rows by their bins needs besides its result: the places of a block, or
    the order of the rows and those of a chunk.
    """
    rows, bins = sources[0].cells, instruction.shape[0]
    if len(sources) == 1:
        return WIDE
    columns, item = sources[1].shape[1], sources[1].item
    if instruction.function in TRUTHS:
        return columns + 3 * WIDE * PLACED
    if instruction.function == "by_rows":
        return (WIDE + 2) * rows + 4 * WIDE * (bins + 1) + min(rows, CHUNK) * columns * item
    if instruction.function == "by_columns":
        return WIDE * (rows + 2 * (bins + 1))
    return columns * item + (2 * PLACED + columns) * WIDE + (0 if sources[1].is_row_major else PLACED * item)


def bins_bytes(instruction: Instruction) -> int:
    """Return the bytes that finding bins along several dims needs besides its result."""
    return (WIDE + 1) * prod(instruction.shape) if len(instruction.constants) > 1 else 0
