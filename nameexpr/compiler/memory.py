"""How much memory a program takes, from its shapes alone.

An array lives until the last instruction that reads it, or a view of it, has run; what an instruction needs
while it runs (blocks, slices, the temporaries of kernels) dies with it. Operands are counted apart: they were
there before, and they stay.
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
    Transpose,
    is_view,
    sources_of,
)
from nameexpr.compiler.sliced import Sliced
from nameexpr.compiler.verify import shapes_of

Shapes = Sequence[tuple[int, ...]]

REDUCER_COPIES = {"var": 1, "std": 1, "logsumexp": 1, "norm": 1, "median": 1, "count_nonzero": 1}
"""How often a reducer's kernel has the array that it reduces in memory, besides the array itself."""
POINTWISE_COPIES = {"sigmoid": 2, "silu": 2, "gelu": 1, "round": 2, "imag": 1, "clip": 1}
"""How often a pointwise kernel has its result in memory while it runs, besides the result itself."""
IN_FLOAT64 = frozenset({"erf", "erfc", "gelu"})
"""Pointwise kernels that compute in float64 whatever they are given, with two arrays at a time."""
WIDE = 8
"""Bytes of a float64."""
NORMALISING = frozenset({"softmax", "log_softmax"})


def allocated(program: Program, shapes: Shapes) -> list[int]:
    """Return the bytes that each instruction allocates, blocks and slices too; 0 for a view."""
    own = _own_bytes(program, shapes)
    return [
        size + (_passing_bytes(program, number, shapes) if isinstance(one, Fused | Sliced) else 0)
        for number, (size, one) in enumerate(zip(own, program.instructions, strict=True))
    ]


def peak_bytes(program: Program, shapes: Shapes) -> int:
    """Return the most bytes that are alive at once, operands left out."""
    count = len(program.operands)
    sizes = _own_bytes(program, shapes)
    ends = _ends(program)
    peak = alive = 0
    for number, size in enumerate(sizes):
        alive += size
        peak = max(peak, alive + _passing_bytes(program, number, shapes))
        alive -= sum(sizes[value - count] for value, end in ends.items() if end == number and value >= count)
    return peak


ROWS = 1 << 16
"""Cells of the rows that `nameexpr.backends.numpy.rows` handles together."""
MASK = 4 << 15
"""Bytes of a mask that `formulas.where_over` negates at once."""


def operand_bytes(program: Program, dtypes: Sequence[str]) -> int:
    """Return the bytes of all operands, each counted in full."""
    return sum(prod(shape) * _item(dtype) for shape, dtype in zip(program.operands, dtypes, strict=True))


def _own_bytes(program: Program, shapes: Shapes) -> list[int]:
    """Return the bytes of each instruction's result; 0 for a view. A reshape is taken for one."""
    count = len(program.operands)
    return [
        0 if _is_free(one) else prod(shapes[count + number]) * _item(note.dtype)
        for number, (one, note) in enumerate(zip(program.instructions, program.notes, strict=True))
    ]


def _is_free(one: Instruction) -> bool:
    """Whether an instruction allocates nothing: a view, or a result that takes over another's memory."""
    if isinstance(one, Pointwise | AlongAxes | Fused):
        return one.over is not None and one.over is not False
    return is_view(one) and not isinstance(one, Cast)


def _ends(program: Program) -> dict[int, int]:
    """Return for every value with memory of its own the last instruction that reads it."""
    count = len(program.operands)
    base = list(range(count + len(program.instructions)))
    last = dict.fromkeys(base, -1)
    for number, one in enumerate(program.instructions):
        for source in sources_of(one):
            last[base[source]] = number
        if _is_free(one):
            taken = one.over if isinstance(one, Pointwise | Fused) and one.over is not None else None
            base[count + number] = base[sources_of(one)[0] if taken is None else taken]
    for result in program.outputs:
        last[base[result]] = len(program.instructions)
    return last


def _passing_bytes(program: Program, number: int, shapes: Shapes) -> int:
    """Return the bytes that an instruction needs only while it runs."""
    one, note = program.instructions[number], program.notes[number]
    count = len(program.operands)
    match one:
        case Fused():
            return _block_bytes(one)
        case Sliced(_, _, _, body):
            return peak_bytes(body, shapes_of(body))
        case Pointwise(call, shape=shape):
            if call == "np.where" and one.over is not None:
                return prod(shape) if one.constants[-1] is None else min(prod(shape), MASK)
            return _kernel_bytes(call, prod(shape), _item(note.dtype))
        case AlongAxes():
            return _along_bytes(one, prod(shapes[one.source]) * _item(note.dtype), note.dtype)
        case Reduce(source, reducer) if reducer in REDUCER_COPIES:
            dtype = program.notes[source - count].dtype if source >= count else ""
            is_across = source >= count and isinstance(program.instructions[source - count], Transpose)
            is_whole = is_across or reducer == "count_nonzero" or len(shapes[source]) == one.count
            cells = prod(shapes[source]) if is_whole else _cells_at_once(shapes[source])
            return REDUCER_COPIES[reducer] * cells * _item(dtype)
    return 0


def _cells_at_once(shape: tuple[int, ...]) -> int:
    """Return how many cells a kernel that works by rows looks at together."""
    cells = prod(shape)
    return min(cells, max(2 * ROWS, cells // shape[0])) if cells else 0


def _block_bytes(one: Fused) -> int:
    """Return the bytes of the values inside one block: a block's are made while those before still live."""
    cells = prod(one.tiles)
    values = 2 * sum(cells * _item(step.dtype) for step in one.steps)
    kernels = [_kernel_bytes(step.call, cells, _item(step.dtype)) for step in one.steps]
    reduced = REDUCER_COPIES.get(one.reducer or "", 0) * cells * _item(one.dtype)
    return values + max((*kernels, reduced))


def _kernel_bytes(call: str, cells: int, item: int) -> int:
    """Return the bytes that a pointwise kernel needs besides its result."""
    name = call.removeprefix("formulas.")
    wide = cells * max(0, 2 * WIDE - item) if name in IN_FLOAT64 and item < WIDE else 0
    return POINTWISE_COPIES.get(name, 0) * cells * item + wide


def _along_bytes(one: AlongAxes, size: int, dtype: str) -> int:
    """Return the bytes that a function along axes needs besides its result of `size` bytes.

    float16 is computed in float32, to and fro; what has another dtype is cast first.
    """
    if one.function in NORMALISING and dtype == "float16":
        return 3 * size if one.over else 4 * size
    return 0 if one.keeps_dtype else size


def _item(dtype: str) -> int:
    return ITEM_BYTES.get(dtype, 8)
