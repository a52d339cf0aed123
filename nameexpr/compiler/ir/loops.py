"""The parameters of instructions that run a program repeatedly: for parts of their sources, or for steps."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from nameexpr.records import record

if TYPE_CHECKING:
    from nameexpr.compiler.ir.program import Program, Shape


@record
class Collected:
    """How the results of parts become one array.

    They are placed along its axis `place` (single indices along its leading axes), or, if that is None,
    combined by the kernel `combine`. The array gets its dtype from the first part if `dtype` is empty.
    """

    place: int | None = 0
    combine: str = ""
    dtype: str = ""


@record
class Loop:
    """A program that is run for one part of its sources at a time.

    `body` takes the parts as operands. There is a loop for each of `sizes`, which advances by `block` indices
    of `label`, or by a single index, without an axis in the part, if `block` is 0. `cuts` contains for each
    source the axis that each loop cuts, None if the loop reads all of it each time; an axis of size 1 has the
    index 0. `tail` is the program of the smaller block at the end, if there is one.

    `results` says for each result of the body how those of the parts are collected. The value of a loop with
    several results is a list of arrays, which `output` reads. `layout` are the axes of a result in the order
    that they have in memory; row-major if it is empty.
    """

    sizes: Shape
    block: int
    cuts: tuple[tuple[int | None, ...], ...]
    body: Program
    tail: Program | None = None
    results: tuple[Collected, ...] = (Collected(),)
    label: str = ""
    layout: tuple[int, ...] = ()

    @property
    def bodies(self) -> tuple[Program, ...]:
        """The programs of a part and of the smaller block at the end."""
        return (self.body,) if self.tail is None else (self.body, self.tail)

    @property
    def turns(self) -> int:
        """The number of parts."""
        return prod(self.sizes) if not self.block else -(-self.sizes[0] // self.block)

    @property
    def parts(self) -> int:
        """The number of sources of which only a part is read."""
        return sum(any(axis is not None for axis in cut) for cut in self.cuts)

    def shape(self, sources: Sequence[Shape], made: Sequence[Sequence[Shape]]) -> Shape:
        """Return the shape of the value, from those of the sources and of what each body returns; () for
        several results. An `AssertionError` is a defect of the compiler.
        """
        if not self.block:
            return self._sliced(sources, made[0][0])
        (size,), block = self.sizes, self.block
        assert 0 < block < size and (self.tail is not None) == (size % block > 0), f"{block} of {size}"
        every: set[tuple[Shape, ...]] = set()
        for body, parts, length in zip(self.bodies, made, (block, size % block), strict=False):
            for source, (axis,), part in zip(sources, self.cuts, body.operands, strict=True):
                assert axis is None or source[axis] == size, f"{source} has no {size} indices along {axis}"
                cut = tuple([length if number == axis else other for number, other in enumerate(source)])
                assert part == cut, f"part {part} of {source}"
            for part, result in zip(parts, self.results, strict=True):
                assert result.place is None or part[result.place] == length, f"{part} is not of {length}"
            every.add(self.shapes(parts))
        assert len(every) == 1, f"blocks give {every}"
        return every.pop()[0] if len(self.results) == 1 else ()

    def _sliced(self, sources: Sequence[Shape], made: Shape) -> Shape:
        counts, depth = self.sizes, len(self.sizes)
        for number, (source, part) in enumerate(zip(sources, self.body.operands, strict=True)):
            cut = self.leading(number)
            assert cut <= min(depth, len(source)), f"{source} has no slices over {counts}"
            assert part == source[cut:], f"part {part} of {source}"
            looped = zip(source[:cut], counts[depth - cut :], strict=True)
            assert all(size in (1, most) for size, most in looped), f"{source} has no slices over {counts}"
        shape = (*counts, *made)
        assert sorted(self.layout) == list(range(len(shape))), f"{self.layout} of {shape}"
        return shape

    def shapes(self, parts: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the shapes of the results, from those of the results of a block."""
        places = [one.place for one in self.results]
        return tuple(
            [
                part if place is None else (*part[:place], self.sizes[0], *part[place + 1 :])
                for part, place in zip(parts, places, strict=True)
            ]
        )

    def leading(self, source: int) -> int:
        """Return how many leading axes of a source have a single index in each part."""
        return 0 if self.block else sum(axis is not None for axis in self.cuts[source])


@record
class StepLoop:
    """A program that is run once for each of `length` steps, and writes a row of each array in each.

    The first sources of the instruction are the starts: `starts` has for each array how many rows each of its
    starts has, one after the other. The other sources are what the steps read: of those in `cut` the body
    reads the index of the step along axis 0, of others all. Further operands of the body are rows: of the
    array and as many rows after the current step as `reads` has. The results of the body are the next rows,
    of the shapes `rows`. Of the arrays in `last` only as many rows as the start has are kept.
    """

    body: Program
    rows: tuple[Shape, ...]
    length: int
    starts: tuple[tuple[int, ...], ...]
    cut: tuple[bool, ...]
    reads: tuple[tuple[int, int], ...]
    label: str = ""
    last: tuple[int, ...] = ()

    def length_of(self, array: int) -> int:
        """Return how many rows of an array are there in the end."""
        return self.offset(array) + (0 if array in self.last else self.length)

    @property
    def count(self) -> int:
        """The number of starts among the sources."""
        return sum(map(len, self.starts))

    def offset(self, array: int) -> int:
        """Return how many rows an array has before the first step."""
        return sum(self.starts[array])
