"""Slices of leading axes as NumPy code: a loop for each axis, and the statements of one slice.

t3 = np.empty((4, 8, 64), "float64")
for j0 in range(4):
for j1 in range(8):
p0 = t1[j0, j1]
np.matmul(p0, a2, out=t3[j0, j1])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nameexpr.backends.numpy.codegen.blocks import fused
from nameexpr.backends.numpy.codegen.calls import CALLS, fresh, with_out
from nameexpr.backends.numpy.codegen.statements import (
    Assign,
    Invocation,
    Joined,
    Numbering,
    Statement,
    Value,
    delete,
    indexed,
    nested,
)
from nameexpr.compiler.ir.liveness import last_uses
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Loop, Program, Shape

if TYPE_CHECKING:
    from nameexpr.backends.numpy.threads.gain import Spread


def sliced(
    loop: Loop,
    dtype: str,
    target: str,
    names: Sequence[str],
    shapes: Sequence[Shape],
    numbering: Numbering,
    spread: Spread | None,
) -> list[Statement]:
    """Return the statements that compute a sliced instruction into a new array called `target`."""
    parts: list[Statement] = []
    local: list[str] = []
    for number, (name, shape) in enumerate(zip(names, shapes, strict=True)):
        cut = loop.leading(number)
        local.append(f"p{number}" if cut else name)
        if cut:
            parts.append(Assign(f"p{number}", indexed(name, _slice_index(shape, loop.sizes, cut))))
    held = [
        part for part, name in zip(local, names, strict=True) if part != name and not name.startswith("a")
    ]
    local += numbering.values(loop.body)
    place = indexed(target, _slice_index(loop.sizes, loop.sizes, len(loop.sizes)))
    shape = (*loop.sizes, *shapes_of(loop.body)[loop.body.result])
    body, made = [*parts, *_slice(loop.body, local, place)], Assign(target, fresh(shape, dtype, loop.layout))
    if spread is not None:
        from nameexpr.backends.numpy.codegen.spread import blocks_over_threads

        starts = [(f"j{axis}", count, 1) for axis, count in enumerate(loop.sizes) if count > 1]
        return [made, *blocks_over_threads(target, spread.threads, starts, body)]
    loops = [(f"j{axis}", str(count)) for axis, count in enumerate(loop.sizes) if count > 1]
    return [made, *nested(loops, body), *delete(held)]


def _slice_index(shape: Shape, counts: Shape, cut: int) -> str:
    """Return the index of the current slice in an array of this shape: 0 where it does not vary."""
    first = len(counts) - cut
    return ", ".join(f"j{first + axis}" if size > 1 else "0" for axis, size in enumerate(shape[:cut]))


def _slice(body: Program, names: Sequence[str], place: Joined) -> list[Statement]:
    """Return the statements of one slice; each value is deleted after its last use."""
    count = len(body.operands)
    last = last_uses(body)
    shapes = shapes_of(body)
    statements: list[Statement] = []
    for number, inner in enumerate(body.instructions):
        sources = [names[source] for source in inner.sources]
        target = names[count + number]
        is_result = count + number == body.result
        if inner.primitive == "fused":
            statements += fused(inner, target, sources, [shapes[source] for source in inner.sources])
            statements += [Assign(place, target), *delete([target])] if is_result else []
        else:
            call = CALLS[inner.primitive](inner, *sources)
            statements.append(_put(inner, call, place) if is_result else Assign(target, call))
        statements += dead(body, number, last, names)
    return statements


def _put(inner: Instruction, call: Value, place: Joined) -> Statement:
    """Return the statement that writes the last value of a slice into the result."""
    is_free = inner.takes_out and inner.over is None
    if isinstance(call, Invocation) and (inner.primitive == "matmul" or is_free):
        return Assign(None, with_out(call, place))
    return Assign(place, call)


def dead(body: Program, number: int, last: dict[int, int], names: Sequence[str]) -> list[Statement]:
    """Return the statement that deletes the names that are dead after an instruction of a body."""
    sources = body.instructions[number].sources
    return delete(names[s] for s in sources if last[s] == number and s >= len(body.operands))
