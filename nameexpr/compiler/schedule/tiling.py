"""Tiling: parts of a program that run slice by slice over leading axes which all their steps share.

Attention multiplies matrices, takes a softmax, and multiplies again, separately for every batch and head:
whole arrays of scores are not needed. A region is a value and everything that only it needs, as far as the
leading axes are the same; it becomes one `loop` instruction, whose body is a program for one index of these
axes.

    p = softmax(matmul(q, k)); o = matmul(p, v)  ->  for i: p = softmax(matmul(q[i], k[i])); o[i] = p @ v[i]

It runs after simplification and before memory reuse, which it applies to the body itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from math import prod

from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.liveness import Rewriter, readers, renumbered, unfused
from nameexpr.compiler.ir.primitives import is_view, shapes_of, sliceable_axes
from nameexpr.compiler.ir.program import Instruction, Loop, Note, Primitive, Program, Shape
from nameexpr.compiler.ir.slices import slice_instruction
from nameexpr.compiler.ir.strides import broadcast
from nameexpr.compiler.ir.target import Target
from nameexpr.compiler.schedule.reuse import reuse
from nameexpr.records import record, replace

MOST_INSTRUCTIONS = 500
"""Longer programs are not tiled, so that compiling them stays fast."""
MOST_LOOPS = 8
"""The largest number of axes that are looped over: Python nests at most 20 loops, and a slice can have
blocks.
"""
WORK: frozenset[Primitive] = frozenset({"matmul", "integer_matmul", "einsum", "along_axes"})
"""Primitives that make a region worth its loop: chains of pointwise functions alone are already in blocks."""
Key = tuple[int, int]
"""A source, and how many of its leading axes are cut."""


@record
class Region:
    """Values that are computed slice by slice over `depth` leading axes; the last one is the result of the
    region.

    `cells` is the number of elements of the largest value of a slice, `saved` the bytes that are no longer
    alive at once.
    """

    values: tuple[int, ...]
    depth: int
    cells: int
    saved: float

    @property
    def rank(self) -> tuple[float, int]:
        """The key of the best region, which is least: it saves most, in few loops."""
        return -self.saved, self.depth


def tile_leading_axes(program: Program, shapes: Sequence[Shape], target: Target) -> Program:
    """Return the program with every profitable region computed slice by slice."""
    if len(program.instructions) > MOST_INSTRUCTIONS:
        return program
    tiling = Tiling(program, shapes, target)
    while found := tiling.regions():
        program = tiling.tiled(min(found, key=lambda region: region.rank))
        tiling = Tiling(program, shapes_of(program), target)
    return program


@record
class Tiling:
    """A program, and the regions of it that can run slice by slice."""

    program: Program
    shapes: Sequence[Shape]
    target: Target

    @property
    def count(self) -> int:
        """The number of operands."""
        return len(self.program.operands)

    def instruction(self, value: int) -> Instruction:
        """Return the instruction that computes a value."""
        return self.program.instructions[value - self.count]

    def size(self, value: int) -> int:
        """Return the bytes of the result of an instruction."""
        dtype = self.program.notes[value - self.count].dtype
        return prod(self.shapes[value]) * ITEM_BYTES.get(dtype, 8)

    def is_moved(self, value: int) -> bool:
        """Return whether a value is a view or a cast, for which no region is created."""
        instruction = self.instruction(value)
        return is_view(instruction) or instruction.primitive == "cast"

    def is_copied(self, value: int) -> bool:
        """Return whether a value is another one in other memory."""
        return self.instruction(value).primitive == "copy"

    def cuts(self, value: int, depth: int) -> tuple[int, ...] | None:
        """Return how many leading axes of each source are cut for a slice; None if there are no slices."""
        instruction = self.instruction(value)
        return sliceable_axes(instruction, [self.shapes[source] for source in instruction.sources], depth)

    def regions(self) -> list[Region]:
        """Return all profitable regions; they may overlap."""
        values = range(self.count, len(self.shapes))
        sizes = [self.size(value) for value in values]
        most = max(sizes, default=0)
        is_work = any(instruction.primitive in WORK for instruction in self.program.instructions)
        if most < self.target.tiled_bytes or not is_work:
            return []
        users, found = readers(self.program), []
        for value, size in zip(values, sizes, strict=True):
            if self.is_moved(value) or size >= most:
                continue
            for depth in range(1, min(len(self.shapes[value]), MOST_LOOPS + 1)):
                region = self.region(users, value, depth)
                if region is not None and self.is_profitable(region):
                    found.append(region)
        return found

    def region(self, users: dict[int, list[int]], last: int, depth: int) -> Region | None:
        """Return the value `last` with all values that only it needs and that vary over its leading axes."""
        inside: set[int] = set()
        whole: set[int] = set()
        heap = [-last]
        while heap:
            value = -heappop(heap)
            if value in inside or value in whole or (value != last and not inside.issuperset(users[value])):
                continue
            cuts, shape = self.cuts(value, depth), self.shapes[value]
            if cuts is None or shape[:depth] != self.shapes[last][:depth] or len(shape) <= depth:
                continue
            inside.add(value)
            for source, cut in zip(self.instruction(value).sources, cuts, strict=True):
                if cut < depth:
                    whole.add(source)
                if source >= self.count:
                    heappush(heap, -source)
        if inside <= {last}:
            return None
        cells = max(prod(self.shapes[value][depth:]) for value in inside)
        return Region(tuple(sorted(inside)), depth, cells, self.saved(inside - {last}, cells))

    def saved(self, values: set[int], cells: int) -> float:
        """Return the bytes of values minus those of slices; values smaller than the cache save nothing."""
        made = [value for value in values if not self.is_moved(value)]
        most = max((prod(self.shapes[value]) for value in made), default=0)
        share = min(1.0, max(cells, self.target.cached_cells) / max(1, most))
        return (1 - share) * sum(map(self.size, made))

    def is_profitable(self, region: Region) -> bool:
        """Return whether slices avoid a large value, larger than the result, and are not too small.

        Copies are not worth avoiding: one copy of the whole is faster than one for every slice.
        """
        *inner, last = region.values
        computed = [value for value in inner if not self.is_moved(value) and not self.is_copied(value)]
        most, result = max(map(self.size, computed), default=0), self.size(last)
        works = any(self.instruction(value).primitive in WORK for value in (*computed, last))
        is_known = self.program.notes[last - self.count].dtype in ITEM_BYTES
        is_large = (
            most >= self.target.tiled_bytes and most > result and region.cells >= self.target.tile_cells
        )
        return works and is_known and is_large and prod(self.shapes[last][: region.depth]) > 1

    def tiled(self, region: Region) -> Program:
        """Return the program with one region as one instruction, in place of its last value."""
        last, depth = region.values[-1], region.depth
        sources, body = self.slice_body(region)
        cuts = tuple([(None,) * (depth - cut) + tuple(range(cut)) for _, cut in sources])
        body = reuse(body, shapes_of(body))
        loop = Loop(self.shapes[last][:depth], 0, cuts, body, layout=self.layout(last))
        note = self.program.notes[last - self.count]
        sliced, new = (
            Instruction("loop", tuple([value for value, _ in sources]), dtype=note.dtype, loop=loop),
            Rewriter(self.program),
        )
        for value in range(self.count, len(self.shapes)):
            if value == last:
                new.keep(value, sliced)
                new.notes[-1] = replace(note, step=None)
            elif value not in region.values:
                new.keep(value)
        return new.program()

    def layout(self, value: int) -> tuple[int, ...]:
        """Return the axes in the memory order that avoids a copy: that of the only operation that follows."""
        ndim = len(self.shapes[value])
        users = [user for user in self.program.instructions if value in user.sources]
        if value in self.program.outputs or len(users) != 1 or users[0].primitive != "transpose":
            return tuple(range(ndim))
        return users[0].axes if users[0].axes[-1] == ndim - 1 else tuple(range(ndim))

    def slice_body(self, region: Region) -> tuple[tuple[Key, ...], Program]:
        """Return the values that a region reads, each with its cut, and the program of one slice.

        Pointwise functions of a slice that fits the cache run one by one, in place, not in blocks.
        """
        values, inside, depth = region.values, set(region.values), region.depth
        read = {value: self.keys(value, depth) for value in values}
        keys = dict.fromkeys(key for value in values for key in read[value] if key[0] not in inside)
        numbers: dict[Key, int] = {key: number for number, key in enumerate(keys)}
        body = Rewriter(self.program, [self.shapes[value][axes:] for value, axes in keys])
        own = list(body.operands)
        for value in values:
            old = self.program.notes[value - self.count]
            note = Note(old.labels[depth:], old.dtype, old.step)
            here = {source: numbers[source, axes] for source, axes in read[value]}
            instruction = renumbered(slice_instruction(self.instruction(value), depth), here)
            is_map = instruction.primitive == "fused" and not instruction.function
            if is_map and prod(instruction.shape) <= self.target.cached_cells:
                numbers[value, depth] = _emit_steps(body, own, instruction, note)
            else:
                numbers[value, depth] = body.emit(instruction, note)
                own.append(self.shapes[value][depth:])
        instructions, notes, result = tuple(body.instructions), tuple(body.notes), numbers[values[-1], depth]
        return tuple(keys), Program(body.operands, instructions, notes, result, depends_on_layout=False)

    def keys(self, value: int, depth: int) -> tuple[Key, ...]:
        """Return an instruction's sources, each with how many of its leading axes are cut."""
        instruction, cuts = self.instruction(value), self.cuts(value, depth)
        assert cuts is not None, f"{instruction} cannot be sliced over {depth} axes"
        return tuple(zip(instruction.sources, cuts, strict=True))


def _emit_steps(body: Rewriter, shapes: list[Shape], block: Instruction, note: Note) -> int:
    """Append the functions of a block, each for the whole slice, and return the number of the last."""
    numbers = dict(enumerate(block.sources))
    for number, step in enumerate(block.steps, len(numbers)):
        shape = broadcast(*(shapes[numbers[source]] for source in step.sources))
        numbers[number] = body.emit(unfused(step, numbers, shape), replace(note, dtype=step.dtype))
        shapes.append(shape)
    return numbers[block.factors[0]]
