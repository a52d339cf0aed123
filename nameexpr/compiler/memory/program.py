"""The memory that a program takes, from its shapes alone.

An array lives until the last instruction that reads it, or a view of it, has run; the memory that an
instruction needs while it runs (blocks, slices, temporaries) is freed with it. Operands are not counted, as
they exist before and after. Which reshapes copy follows from the memory layout of values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod

from nameexpr.compiler.ir.layouts import OperandLayout, layouts_or_default
from nameexpr.compiler.ir.liveness import BLOCK, never_made
from nameexpr.compiler.ir.placing import PlacedPart, placed_values, with_parts
from nameexpr.compiler.ir.primitives import is_view, shapes_of, strides_of
from nameexpr.compiler.ir.program import Instruction, Primitive, Program
from nameexpr.compiler.ir.slices import collected
from nameexpr.compiler.ir.strides import reshaped
from nameexpr.compiler.memory.arrays import (
    Array,
    dot_bytes,
    integer_bytes,
    item_bytes,
    loop_bytes,
    odd_bytes,
    reduce_buffers,
    ufunc_bytes,
)
from nameexpr.compiler.memory.blocks import block_bytes, pointwise_bytes
from nameexpr.compiler.memory.positions import bins_bytes, scatter_bytes, take_bytes
from nameexpr.compiler.memory.scratch import (
    MOVES,
    TURNED,
    along_bytes,
    dtype_of,
    join_bytes,
    reduce_bytes,
    repeat_bytes,
    slices_bytes,
    tiny_bytes,
    window_bytes,
)
from nameexpr.records import record

POINTWISE: frozenset[Primitive] = frozenset({"pointwise", "multiply", "divide"})
Shapes = Sequence[tuple[int, ...]]
Layouts = Sequence[OperandLayout]


@record
class ProgramInfo:
    """A program and the layout of its values; `is_body` if it runs in a loop, `unmade` are instructions whose
    values are not created, and `placed` are the values that are computed in a part of another one.
    """

    program: Program
    arrays: Sequence[Array]
    is_body: bool
    unmade: frozenset[int]
    placed: Mapping[int, PlacedPart]

    @property
    def count(self) -> int:
        """The number of operands."""
        return len(self.program.operands)

    def is_free(self, number: int) -> bool:
        """Return whether an instruction allocates nothing: a view, or one that reuses memory."""
        instruction = self.program.instructions[number]
        if instruction.function == "row_major" and self.sources(number)[0].is_row_major:
            return True
        is_seen = is_view(instruction) and not self.is_copy(instruction)
        return is_seen or instruction.over is not None

    def is_copy(self, instruction: Instruction) -> bool:
        """Return whether an instruction is a reshape that has to copy."""
        if instruction.primitive != "reshape":
            return False
        source = self.arrays[instruction.sources[0]]
        return reshaped(source.shape, source.strides, instruction.shape) is None

    def own_bytes(self, number: int) -> int:
        """Return the bytes of an instruction's result; 0 if it allocates nothing, or only once."""
        instruction, placed = self.program.instructions[number], self.placed.get(self.count + number)
        if placed is not None:  # the first one creates the whole array
            return self.arrays[placed.whole].size if placed.first == self.count + number else 0
        if instruction.primitive == "ones" and not self.is_body:
            cells = prod(instruction.shape)
            return 0 if cells <= BLOCK or number in self.unmade else cells * item_bytes(instruction.dtype)
        is_there = self.is_free(number) or (instruction.primitive == "concatenate" and instruction.factors)
        return 0 if is_there else self.arrays[self.count + number].size

    def scratch_bytes(self, number: int) -> int:
        """Return the bytes that an instruction needs only while it runs."""
        instruction, result = self.program.instructions[number], self.arrays[self.count + number]
        if self.count + number in self.placed and instruction.primitive in POINTWISE:
            return ufunc_bytes(result.shape, self.sources(number), result.dtype, result)
        if (rule := SCRATCH.get(instruction.primitive)) is None:
            return 0
        return rule(instruction, self.at_once(number), self.arrays[self.count + number])

    def sources(self, number: int) -> list[Array]:
        """Return the arrays that an instruction reads."""
        return [self.arrays[source] for source in self.program.instructions[number].sources]

    def at_once(self, number: int) -> list[Array]:
        """Return the arrays that an instruction reads at a time: blocks, for ones that are never created."""
        sources = self.sources(number)
        if not {source - self.count for source in self.program.instructions[number].sources} & self.unmade:
            return sources
        (*rows, length), (_, *columns) = sources[0].shape, sources[1].shape
        return [sources[0].part((*rows, min(BLOCK, length))), sources[1].part((min(BLOCK, length), *columns))]


def info_of(program: Program, shapes: Shapes, layouts: Layouts, *, is_body: bool = False) -> ProgramInfo:
    """Return a program with its values, for operands with these layouts."""
    placed = placed_values(program, shapes)
    strides = with_parts(program, shapes, strides_of(program, shapes, layouts), placed)
    arrays: list[Array] = []
    for number, own in enumerate(layouts_or_default(layouts, program.operands)):
        item = own.item or item_bytes(own.dtype)
        arrays.append(Array(shapes[number], strides[number], own.dtype, item, own.is_swapped, own.is_uneven))
    info = ProgramInfo(program, arrays, is_body, never_made(program), placed)
    for number, note in enumerate(program.notes):
        instruction = program.instructions[number]
        value = info.count + number
        sources = info.sources(number)
        dtype = note.dtype or dtype_of(instruction, sources)
        is_moved = instruction.primitive in MOVES or instruction.function in TURNED
        is_kept = is_view(instruction) and not info.is_copy(instruction)
        item = sources[0].item if is_moved and not dtype else item_bytes(dtype)
        if instruction.primitive == "concatenate" and not dtype:  # of text, dates and objects
            item = max([source.item for source in sources])
        memory = 0 if is_moved else instruction.over  # the source whose byte order the result has
        is_swapped = memory is not None and sources[memory].is_swapped
        is_uneven = is_kept and sources[0].is_uneven
        arrays.append(Array(shapes[value], strides[value], dtype, item, is_swapped, is_uneven))
    return info


def allocated(program: Program, shapes: Shapes, layouts: Layouts = ()) -> list[int]:
    """Return the bytes that each instruction allocates, including blocks and slices; 0 for a view."""
    info = info_of(program, shapes, layouts)
    return [
        info.own_bytes(number) + (info.scratch_bytes(number) if one.primitive in {"fused", "loop"} else 0)
        for number, one in enumerate(program.instructions)
    ]


def layouts_inside(program: Program, shapes: Shapes, layouts: Layouts, number: int) -> list[OperandLayout]:
    """Return the layouts of the operands of the body of loop `number`."""
    info = info_of(program, shapes, layouts)
    return [part_of(source, 0) for source in info.sources(number)]


def peak_bytes(program: Program, shapes: Shapes, layouts: Layouts = ()) -> int:
    """Return the most bytes that are alive at once, not counting operands.

    Parameters
    ----------
    program : Program
        The program.
    shapes : sequence of tuple of int
        Shapes of all its values.
    layouts : sequence of OperandLayout, optional
        Dtypes and strides of the operands; by default they are assumed to be row-major.
    """
    return max(moments(info_of(program, shapes, layouts)), default=0)


def moments(info: ProgramInfo) -> list[int]:
    """Return the most bytes that are alive while each instruction runs."""
    return [held + scratch for held, scratch, _ in alive(info)]


def alive(info: ProgramInfo) -> Iterator[tuple[int, int, int]]:
    """Yield for each instruction the bytes of values alive while it runs, the bytes that it needs in
    addition, and those of the values alive after it.
    """
    sizes = [info.own_bytes(number) for number in range(len(info.program.instructions))]
    dying: dict[int, int] = {}
    for value, end in _last_uses(info).items():
        if value >= info.count:
            dying[end] = dying.get(end, 0) + sizes[value - info.count]
    alive = 0
    for number, size in enumerate(sizes):
        alive += size
        held = alive
        alive -= dying.get(number, 0)
        yield held, info.scratch_bytes(number), alive


def operand_bytes(program: Program, dtypes: Sequence[str]) -> int:
    """Return the bytes of all operands, each counted in full."""
    return sum(prod(shape) * item_bytes(dtype) for shape, dtype in zip(program.operands, dtypes, strict=True))


def _last_uses(info: ProgramInfo) -> dict[int, int]:
    """Return for every value that owns memory the last instruction that reads it, or a view of it.

    A reshape's copy is freed with its result: names are deleted after calls, not after reshapes, except in
    loops.
    """
    program, count = info.program, info.count
    base: list[tuple[int, ...]] = [(value,) for value in range(count + len(program.instructions))]
    last = dict.fromkeys(range(len(base)), -1)
    for number, instruction in enumerate(program.instructions):
        for source in instruction.sources:
            last |= dict.fromkeys(base[source], number)
        if (placed := info.placed.get(count + number)) is not None:
            base[count + number] = base[placed.whole] = (placed.first,)
        elif info.is_free(number):
            every = base[instruction.sources[instruction.over or 0]]
            base[count + number] = every if is_view(instruction) else every[:1]
        elif info.is_copy(instruction) and not info.is_body:
            base[count + number] = (count + number, *base[instruction.sources[0]])
    for result in program.outputs:
        last |= dict.fromkeys(base[result], len(program.instructions))
    return last


def part_of(source: Array, cut: int) -> OperandLayout:
    """Return the layout of a part of a value, without leading axes: its strides are those of the value."""
    return OperandLayout(source.dtype, source.strides[cut:], source.item, source.is_swapped, source.is_uneven)


def _loop_scratch(instruction: Instruction, sources: Sequence[Array], result: Array) -> int:
    """Return the peak memory of a body, and that of the results if there are several."""
    loop = instruction.loop
    assert loop is not None
    layouts = [part_of(source, loop.leading(number)) for number, source in enumerate(sources)]
    infos = [info_of(body, shapes_of(body), layouts, is_body=True) for body in loop.bodies]
    peak = max([0, *(size for info in infos for size in moments(info))])
    if len(loop.results) == 1:
        return peak
    items = [infos[0].arrays[output].item for output in loop.body.outputs]
    shapes = collected(loop, [infos[0].arrays[output].shape for output in loop.body.outputs])
    return peak + sum(prod(shape) * item for shape, item in zip(shapes, items, strict=True))


def _step_scratch(instruction: Instruction, sources: Sequence[Array], result: Array) -> int:
    """Return the peak memory of a step, and of all arrays of rows, of which the result is the first."""
    steps = instruction.recurrence
    assert steps is not None
    body, shapes = steps.body, shapes_of(steps.body)
    info = info_of(
        body, shapes, [OperandLayout(source.dtype) for source in sources[steps.count :]], is_body=True
    )
    sizes = [
        (steps.offset(number) + (1 if number in steps.last else steps.length)) * info.arrays[output].size
        for number, output in enumerate(body.outputs)
    ]
    return sum(sizes) - result.size + max([0, *moments(info)])


def _pointwise_scratch(instruction: Instruction, sources: Sequence[Array], result: Array) -> int:
    return pointwise_bytes(instruction, sources, result.dtype, None if instruction.over is None else result)


SCRATCH: Mapping[Primitive, Callable[[Instruction, Sequence[Array], Array], int]] = {
    "fused": block_bytes,
    "loop": _loop_scratch,
    "recurrence": _step_scratch,
    "pointwise": _pointwise_scratch,
    "multiply": lambda one, sources, result: ufunc_bytes(result.shape, sources, result.dtype),
    "divide": lambda one, sources, result: ufunc_bytes(result.shape, sources, result.dtype),
    "along_axes": lambda one, sources, result: along_bytes(one, sources[0], result.dtype),
    "reduce": lambda one, sources, result: reduce_bytes(one, sources[0]),
    "sum": lambda one, sources, result: reduce_buffers(sources[0], one.axes, one.dtype or result.dtype),
    "window_multiply": window_bytes,
    "window_reduce": window_bytes,
    "window_weigh": window_bytes,
    "slices": lambda one, sources, result: slices_bytes(one, sources[0]),
    "repeat": lambda one, sources, result: repeat_bytes(sources[0], one.shape),
    "concatenate": join_bytes,
    "dot": lambda one, sources, result: dot_bytes(sources),
    "matmul": lambda one, sources, result: odd_bytes(sources, result.dtype),
    "tiny_matmul": lambda one, sources, result: tiny_bytes(sources, result),
    "vecdot": lambda one, sources, result: odd_bytes(sources, result.dtype),
    "integer_matmul": lambda one, sources, result: integer_bytes(sources, result.shape),
    "einsum": lambda one, sources, result: loop_bytes(one.letters[:-1], one.letters[-1], sources, result),
    "bins": lambda one, sources, result: bins_bytes(one),
    "scatter": lambda one, sources, result: scatter_bytes(one, sources),
    "take": lambda one, sources, result: take_bytes(one, sources),
}
"""The bytes that instructions need besides their results while they run; 0 for those that are not listed."""
