"""The arrays that collect the results of the blocks of a label, as NumPy code.

A result is created before the loop, or with its first block. Blocks are placed in it or combined with it; a
function that computes a block writes it into its place, if it can.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from nameexpr.backends.numpy.codegen.statements import (
    Assign,
    Dtype,
    Joined,
    Statement,
    Value,
    either,
    indexed,
    numpy,
)
from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.liveness import never_made
from nameexpr.compiler.ir.primitives import is_view, shapes_of
from nameexpr.compiler.ir.program import Collected, Loop, Program, Shape

FIRST = {"add": "zeros", "logical_or": "zeros", "multiply": "ones", "logical_and": "ones"}
"""The array of the identity element for each function that combines the results of blocks."""


class CollectedResult(NamedTuple):
    """The array that collects one result of the blocks of a label."""

    loop: Loop
    collected: Collected
    name: str

    @property
    def is_late(self) -> bool:
        """Whether it is only created with the first block, which determines its dtype, or by combining
        blocks.
        """
        one = self.collected
        return not one.dtype if one.place is not None else one.combine not in FIRST

    def whole(self, block: Shape) -> Shape:
        """Return its shape, from the shape of the result of a block."""
        place = self.collected.place
        return block if place is None else (*block[:place], self.loop.sizes[0], *block[place + 1 :])

    def fresh(self, block: Shape) -> Value:
        """Return the call that creates it, or None."""
        if self.is_late:
            return "None"
        name = "empty" if self.collected.place is not None else FIRST[self.collected.combine]
        return numpy(name)(str(self.whole(block)), Dtype(self.collected.dtype))

    def part(self, cut: str) -> Joined:
        """Return its part for a block."""
        return indexed(self.name, f"{':, ' * (self.collected.place or 0)}{cut}")

    def put(self, cut: str, block: Value) -> Assign:
        """Return the statement that writes the result of a block into it."""
        if self.collected.place is not None:
            return Assign(self.part(cut), block)
        if self.collected.combine == "add":
            return Assign(self.name, block, "+=")
        return Assign(None, numpy(self.collected.combine)(self.name, block, out=self.name))

    def make_or_put(self, cut: str, block: str, shape: Shape) -> list[Statement]:
        """Return the statements that do so if it may not exist yet."""
        put, is_first = self.put(cut, block), f"{self.name} is None"
        if not self.is_late:
            return [put]
        if self.collected.place is None:
            combined = put.value if shape else numpy(self.collected.combine)(self.name, block)
            return [Assign(self.name, either(block, is_first, combined))]
        fresh = numpy("empty")(str(self.whole(shape)), f"{block}.dtype")
        return [Assign(self.name, either(fresh, is_first, self.name)), put]


def collected_results(loop: Loop, target: str) -> list[CollectedResult]:
    """Return the arrays that collect the results of a loop that is called `target`."""
    names = [target] if len(loop.results) == 1 else [f"{target}[{at}]" for at in range(len(loop.results))]
    return [CollectedResult(loop, one, name) for one, name in zip(loop.results, names, strict=True)]


def written_results(body: Program, results: Sequence[CollectedResult]) -> dict[int, CollectedResult]:
    """Return the results, by their values, that functions write into their places without a copy."""
    read, found = {source for inner in body.instructions for source in inner.sources}, {}
    for result, output in zip(results, body.outputs, strict=True):
        number, one = output - len(body.operands), result.collected
        is_first = one.place == 0 and one.dtype == body.notes[number].dtype if number >= 0 else False
        is_alone = output not in read and body.outputs.count(output) == 1
        if is_first and is_alone and body.instructions[number].takes_out:
            found[output] = result
    return found


def bytes_alive(body: Program) -> int:
    """Return the most bytes of the values of a body that are alive at once, for an estimate of what its
    blocks need: temporaries of single instructions are not counted.
    """
    count, shapes, owner = len(body.operands), shapes_of(body), list(range(len(body.operands)))
    last: dict[int, int] = {}
    for value, inner in enumerate(body.instructions, count):
        is_new = inner.over is None and not is_view(inner)
        owner.append(value if is_new else owner[inner.sources[inner.over or 0]])
        last |= dict.fromkeys([owner[source] for source in (*inner.sources, value)], value)
    last |= dict.fromkeys([owner[output] for output in body.outputs], len(shapes))
    alive, most, unmade = 0, 0, never_made(body)
    dying: dict[int, int] = {}
    for value, inner in enumerate(body.instructions, count):
        if owner[value] == value and value - count not in unmade:
            size = prod(shapes[value]) * ITEM_BYTES.get(body.notes[value - count].dtype, 8)
            dying[last[value]] = dying.get(last[value], 0) + size
            alive += size
        most = max(most, alive + (bytes_alive(inner.loop.body) if inner.loop is not None else 0))
        alive -= dying.get(value, 0)
    return most
