"""How much memory a program takes, from its shapes alone.

An array lives until the last instruction that reads it, or a view of it, has run. Operands are counted apart:
they were there before, and they stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.compiler.dtypes import ITEM_BYTES
from nameexpr.compiler.program import (
    AlongAxes,
    Cast,
    Fused,
    Instruction,
    Pointwise,
    Program,
    Reduce,
    is_view,
    sources_of,
)

Shapes = Sequence[tuple[int, ...]]


def allocated(program: Program, shapes: Shapes) -> list[int]:
    """Return the bytes that each instruction allocates; 0 for a view. A reshape is taken for one."""
    count = len(program.operands)
    return [
        (0 if _is_free(one) else prod(shapes[count + number]) * _item(note.dtype)) + _block_bytes(one)
        for number, (one, note) in enumerate(zip(program.instructions, program.notes, strict=True))
    ]


def _is_free(one: Instruction) -> bool:
    """Whether an instruction allocates nothing: a view, or a result that takes over another's memory."""
    if isinstance(one, Pointwise | AlongAxes | Fused):
        return one.over is not None and one.over is not False
    return is_view(one) and not isinstance(one, Cast)


def _block_bytes(one: Instruction) -> int:
    """Return the bytes of the values inside one block: a block's are made while those before still live."""
    if not isinstance(one, Fused):
        return 0
    return 2 * sum(prod(one.tiles) * _item(step.dtype) for step in one.steps)


KERNEL_COPIES = {"var": 2, "std": 2, "logsumexp": 2, "norm": 1, "median": 1, "count_nonzero": 1}
"""How often a reducer's kernel has the array that it reduces in memory, besides the array itself."""


def _kernel_bytes(one: Instruction, program: Program, shapes: Shapes) -> int:
    """Return the bytes that a kernel needs while it runs."""
    if not isinstance(one, Reduce) or one.reducer not in KERNEL_COPIES:
        return 0
    count = len(program.operands)
    dtype = program.notes[one.source - count].dtype if one.source >= count else ""
    return KERNEL_COPIES[one.reducer] * prod(shapes[one.source]) * _item(dtype)


def peak_bytes(program: Program, shapes: Shapes) -> int:
    """Return the most bytes that are alive at once, operands left out."""
    count = len(program.operands)
    sizes = allocated(program, shapes)
    base = list(range(count + len(sizes)))
    last = dict.fromkeys(base, -1)
    for number, one in enumerate(program.instructions):
        for source in sources_of(one):
            last[base[source]] = number
        if _is_free(one):
            taken = (
                one.over
                if isinstance(one, Pointwise | Fused) and one.over is not None
                else sources_of(one)[0]
            )
            base[count + number] = base[taken]
    for result in program.outputs:
        last[base[result]] = len(sizes)
    peak = alive = 0
    for number, size in enumerate(sizes):
        alive += size
        peak = max(peak, alive + _kernel_bytes(program.instructions[number], program, shapes))
        alive -= sum(sizes[value - count] for value, end in last.items() if end == number and value >= count)
    return peak


def operand_bytes(program: Program, dtypes: Sequence[str]) -> int:
    """Return the bytes of all operands, each counted in full."""
    return sum(prod(shape) * _item(dtype) for shape, dtype in zip(program.operands, dtypes, strict=True))


def _item(dtype: str) -> int:
    return ITEM_BYTES.get(dtype, 8)
