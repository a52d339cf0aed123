"""Parts of a program that run slice by slice over leading axes which all their steps share.

Attention multiplies matrices, takes a softmax, and multiplies again, apart for every batch and head: whole
arrays of scores need not exist. A region is a value and all that only it needs, as far as the leading axes
are the same; it becomes one `Sliced` instruction, whose body is a program for one index of these axes.

    p = softmax(matmul(q, k)); o = matmul(p, v)  ->  for i: p = softmax(matmul(q[i], k[i])); o[i] = p @ v[i]

It runs after simplification and before memory is taken over, which it asks for inside the body itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import prod

from nameexpr.compiler.ir import instructions as ir
from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.liveness import Rewriter, readers, renumbered, unfused
from nameexpr.compiler.ir.primitives import is_view, shapes_of, slice_instruction, sliceable_axes
from nameexpr.compiler.ir.program import Instruction, Loop, Note, Primitive, Program, Shape
from nameexpr.compiler.ir.shapes import broadcast
from nameexpr.compiler.schedule.reuse import reuse

LEAST_BYTES = 1 << 20
"""Bytes of the largest value that is no longer built, from which slices pay."""
LEAST_CELLS = 1 << 14
"""Cells of a slice, below which Python's loop is felt."""
CACHED = 1 << 16
"""Cells of a slice that stays in the cache with what is computed from it: no smaller ones are looked for."""
MOST_INSTRUCTIONS = 500
"""Programs that are longer are left alone, so that compiling them stays quick."""
MOST_LOOPS = 8
"""Axes that are looped over: Python nests at most 20 loops, and a slice can have blocks."""
WORK: frozenset[Primitive] = frozenset({"matmul", "integer_matmul", "einsum", "along_axes"})
"""What makes a region worth its loop: chains of pointwise functions alone are in blocks already."""


Key = tuple[int, int]
"""A source, and how many of its leading axes are cut."""


@dataclass(frozen=True, slots=True)
class Region:
    """Values that are computed slice by slice over `depth` leading axes; the last one leaves the region.

    `cells` are those of the largest value of a slice, `saved` the bytes that are no longer alive at once.
    """

    values: tuple[int, ...]
    depth: int
    cells: int
    saved: float

    @property
    def rank(self) -> tuple[float, int]:
        """What is least for the best region: that it saves most, in few loops."""
        return -self.saved, self.depth


def tile_leading_axes(program: Program, shapes: Sequence[Shape]) -> Program:
    """Return the program with every region that pays computed slice by slice."""
    if len(program.instructions) > MOST_INSTRUCTIONS:
        return program
    while found := _regions(program, shapes):
        program = _with_slices(program, shapes, min(found, key=lambda one: one.rank))
        shapes = shapes_of(program)
    return program


def _regions(program: Program, shapes: Sequence[Shape]) -> list[Region]:
    """Return all regions that pay; they may overlap."""
    count = len(program.operands)
    sizes = [_bytes(program, shapes, count + number) for number in range(len(program.instructions))]
    most = max(sizes, default=0)
    if most < LEAST_BYTES or not any(one.primitive in WORK for one in program.instructions):
        return []
    users = readers(program)
    found = []
    for number, one in enumerate(program.instructions):
        value = count + number
        if _is_moved(one) or sizes[number] >= most:
            continue
        for depth in range(1, min(len(shapes[value]), MOST_LOOPS + 1)):
            region = _region(program, shapes, users, value, depth)
            if region is not None and _is_profitable(program, shapes, region):
                found.append(region)
    return found


def _bytes(program: Program, shapes: Sequence[Shape], value: int) -> int:
    """Return how large the result of an instruction is."""
    dtype = program.notes[value - len(program.operands)].dtype
    return prod(shapes[value]) * ITEM_BYTES.get(dtype, 8)


def _is_moved(instruction: Instruction) -> bool:
    """Whether an instruction is a view or a cast, which no region is made for."""
    return is_view(instruction) or instruction.primitive == "cast"


def _region(
    program: Program, shapes: Sequence[Shape], users: dict[int, list[int]], last: int, depth: int
) -> Region | None:
    """Return the value `last` with all that only it needs and that varies over its leading axes."""
    count = len(program.operands)
    counts = shapes[last][:depth]
    inside: set[int] = set()
    whole: set[int] = set()
    heap = [-last]
    while heap:
        value = -heappop(heap)
        if value in inside or value in whole or (value != last and not inside.issuperset(users[value])):
            continue
        one = program.instructions[value - count]
        sources = one.sources
        cuts = sliceable_axes(one, [shapes[source] for source in sources], depth)
        if cuts is None or shapes[value][:depth] != counts or len(shapes[value]) <= depth:
            continue
        inside.add(value)
        whole.update(source for source, cut in zip(sources, cuts, strict=True) if cut < depth)
        for source in sources:
            if source >= count:
                heappush(heap, -source)
    if inside <= {last}:
        return None
    cells = max(prod(shapes[value][depth:]) for value in inside)
    return Region(tuple(sorted(inside)), depth, cells, _saved(program, shapes, inside - {last}, cells))


def _saved(program: Program, shapes: Sequence[Shape], values: set[int], cells: int) -> float:
    """Return the bytes of values, less those of slices; slices smaller than the cache save nothing more."""
    count = len(program.operands)
    made = [value for value in values if not _is_moved(program.instructions[value - count])]
    most = max((prod(shapes[value]) for value in made), default=0)
    share = min(1.0, max(cells, CACHED) / max(1, most))
    return (1 - share) * sum(_bytes(program, shapes, value) for value in made)


def _is_profitable(program: Program, shapes: Sequence[Shape], region: Region) -> bool:
    """Whether slices save a large value, larger than the result, and are not too small themselves."""
    count = len(program.operands)
    made = [value for value in region.values if not _is_moved(program.instructions[value - count])]
    sizes = [_bytes(program, shapes, value) for value in made]
    most, result = max(sizes[:-1], default=0), sizes[-1]
    counts = shapes[region.values[-1]][: region.depth]
    works = any(program.instructions[value - count].primitive in WORK for value in made)
    is_known = program.notes[region.values[-1] - count].dtype in ITEM_BYTES
    is_large = most >= LEAST_BYTES and most > result and region.cells >= LEAST_CELLS
    return works and is_known and is_large and prod(counts) > 1


def _with_slices(program: Program, shapes: Sequence[Shape], region: Region) -> Program:
    """Return the program with one region as one instruction, where its last value was made."""
    count, last, depth = len(program.operands), region.values[-1], region.depth
    sources, body = _slice_body(program, shapes, region.values, depth, CACHED)
    cuts = tuple([(None,) * (depth - cut) + tuple(range(cut)) for _, cut in sources])
    loop = Loop(
        shapes[last][:depth], 0, cuts, reuse(body, shapes_of(body)),
        layout=_layout(program, last, len(shapes[last])),
    )  # fmt: skip
    sliced = ir.loop(tuple([value for value, _ in sources]), loop, program.notes[last - count].dtype)
    new = Rewriter(program)
    for value in range(count, count + len(program.instructions)):
        if value == last:
            new.keep(value, sliced)
            new.notes[-1] = new.notes[-1]._replace(step=None)
        elif value not in region.values:
            new.keep(value)
    return new.program()


def _layout(program: Program, value: int, ndim: int) -> tuple[int, ...]:
    """Return the axes in the order of memory that spares a copy: that of the only thing that is done next."""
    plain = tuple(range(ndim))
    users = [one for one in program.instructions if value in one.sources]
    if value in program.outputs or len(users) != 1 or users[0].primitive != "transpose":
        return plain
    return users[0].axes if users[0].axes[-1] == ndim - 1 else plain


def _slice_body(
    program: Program, shapes: Sequence[Shape], values: Sequence[int], depth: int, cached: int
) -> tuple[tuple[Key, ...], Program]:
    """Return what a region reads, each with its cut, and the program of one slice.

    Parameters
    ----------
    program : Program
        The whole program.
    shapes : sequence of tuple of int
        Shapes of its values.
    values : sequence of int
        The values of the region, in order, the result last.
    depth : int
        How many leading axes are cut away.
    cached : int
        Cells up to which pointwise functions run one by one.
    """
    count = len(program.operands)
    read = {value: _read(program.instructions[value - count], shapes, depth) for value in values}
    inside = set(values)
    keys = dict.fromkeys(key for value in values for key in read[value] if key[0] not in inside)
    numbers: dict[Key, int] = {key: number for number, key in enumerate(keys)}
    body = Rewriter(program, [shapes[value][axes:] for value, axes in keys])
    own = list(body.operands)
    for value in values:
        old = program.notes[value - count]
        note = Note(old.labels[depth:], old.dtype, old.step)
        here = {source: numbers[source, axes] for source, axes in read[value]}
        instruction = renumbered(slice_instruction(program.instructions[value - count], depth), here)
        if (
            instruction.primitive == "fused"
            and not instruction.function
            and prod(instruction.shape) <= cached
        ):
            numbers[value, depth] = _emit_steps(body, own, instruction, note)
        else:
            numbers[value, depth] = body.emit(instruction, note)
            own.append(shapes[value][depth:])
    instructions, notes = tuple(body.instructions), tuple(body.notes)
    result = numbers[values[-1], depth]
    return tuple(keys), Program(body.operands, instructions, notes, result, depends_on_layout=False)


def _emit_steps(body: Rewriter, shapes: list[Shape], block: Instruction, note: Note) -> int:
    """Append the functions of a block, each for the whole slice, and return the number of the last."""
    numbers = dict(enumerate(block.sources))
    for number, step in enumerate(block.steps, len(numbers)):
        shape = broadcast(*(shapes[numbers[source]] for source in step.sources))
        numbers[number] = body.emit(unfused(step, numbers, shape), note._replace(dtype=step.dtype))
        shapes.append(shape)
    return numbers[block.factors[0]]


def _read(instruction: Instruction, shapes: Sequence[Shape], depth: int) -> tuple[Key, ...]:
    """Return an instruction's sources, each with how many of its leading axes are cut."""
    sources = instruction.sources
    cuts = sliceable_axes(instruction, [shapes[source] for source in sources], depth)
    assert cuts is not None, f"{instruction} cannot be sliced over {depth} axes"
    return tuple(zip(sources, cuts, strict=True))
