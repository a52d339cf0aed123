"""Instructions that run a program repeatedly, as NumPy code: slices of leading axes, and blocks of a label.

    t3 = np.zeros((64, 64), "float64")
    for j0 in range(0, 96, 32):
        p0 = a0[:, j0:j0 + 32]
        p1 = a1[j0:j0 + 32]
        t3 += p0.dot(p1)
    del p0, p1

The names are local to the loop: `j0` counts slices or is the start of a block, `p0` is the part of a source,
`v0` a value inside. An inner loop continues the numbering of the outer one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from nameexpr.backends.numpy.codegen.blocks import fused
from nameexpr.backends.numpy.codegen.calls import CALLS, with_out
from nameexpr.backends.numpy.codegen.collecting import (
    CollectedResult,
    bytes_alive,
    collected_results,
    written_results,
)
from nameexpr.backends.numpy.codegen.slices import dead, sliced
from nameexpr.backends.numpy.codegen.statements import (
    Assign,
    For,
    Numbering,
    Return,
    Statement,
    Value,
    delete,
    indexed,
    listed,
    local_names,
)
from nameexpr.compiler.ir.liveness import last_uses
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Loop, Program, Shape
from nameexpr.compiler.memory.blocks import IN_FLOAT64, PART

if TYPE_CHECKING:
    from nameexpr.backends.numpy.threads.gain import Spread

MOST_KEPT = (1 << 25) - (1 << 16)
"""The most bytes of an array whose size the allocator of glibc takes for what it keeps."""
ITEM = 8
"""The bytes of an element of most dtypes."""


def loop_statements(
    instruction: Instruction,
    target: str,
    names: Sequence[str],
    shapes: Sequence[Shape],
    numbering: Numbering,
    place: Value | None = None,
    spread: Spread | None = None,
) -> list[Statement]:
    """Return the statements that compute a loop into a new array called `target`.

    Parameters
    ----------
    instruction : Instruction
        A fused instruction, or a loop.
    target : str
        The name of its result.
    names, shapes : sequences
        Name and shape of each source.
    numbering : Numbering
        The next free names; it is advanced.
    place : Value, optional
        The part of an array in which a fused instruction computes its result, instead of a new array.
    spread : Spread, optional
        How threads share its blocks.
    """
    if instruction.loop is None:
        return fused(instruction, target, names, shapes, place, spread)
    if not instruction.loop.block:
        return sliced(instruction.loop, instruction.dtype, target, names, shapes, numbering, spread)
    return _looped(instruction.loop, target, names, numbering, spread)


def _looped(
    loop: Loop, target: str, names: Sequence[str], numbering: Numbering, spread: Spread | None
) -> list[Statement]:
    """Return the statements that compute a loop over blocks of a label into a new array called `target`, or a
    list of several; if it is `spread`, over threads, except for a smaller block at the end.
    """
    (size,), index, parts = loop.sizes, f"j{numbering.loops}", numbering.parts
    whole = size - size % loop.block
    local, results = local_names(loop, names, parts), collected_results(loop, target)
    numbering.loops += 1
    numbering.parts += loop.parts
    blocks: list[list[Statement]] = []
    for body, cut in zip(loop.bodies, (f"{index}:{index} + {loop.block}", f"{whole}:"), strict=False):
        taken: list[Statement] = [
            Assign(part, indexed(name, f"{':, ' * axis}{cut}"))
            for part, name, (axis,) in zip(local, names, loop.cuts, strict=True)
            if axis is not None
        ]
        is_shared = spread is not None and not blocks
        blocks.append(taken + _block(body, local, results, cut, numbering, returns=is_shared))
    numbering.loops -= 1
    numbering.parts = parts
    first, *tail = blocks
    statements: list[Statement] = [_made(loop, target, results)]
    if spread is None:
        statements += [For(index, f"0, {whole}, {loop.block}", first), *chain(*tail)]
    else:
        shared = _shared(results, first, (index, whole, loop.block), target, spread)
        statements += [*shared, *chain(*tail)]
    used = range(0 if spread is not None and not tail else loop.parts)
    return [*statements, *delete(f"p{parts + number}" for number in used)]


def keep_memory(program: Program, threads: int) -> None:
    """Let the memory of blocks stay with the process for the next blocks, in all threads, and that of all
    values for the next call.

    The allocator of glibc returns memory to the system at the end of a block or a call, which then takes
    time to provide each page again, in one thread at a time: networks of arrays of a few MB take up to three
    times as long. It keeps twice as much as the largest array that was freed before, 64 MB at most.
    """
    block = max(map(_bytes_of_block, program.instructions))
    whole = (bytes_alive(program) + threads * block) * 5 // 8
    np.empty(min(MOST_KEPT, max(block * 3 // 4, whole)), "uint8")


def _bytes_of_block(instruction: Instruction) -> int:
    """Return about how many bytes a block of an instruction allocates."""
    if instruction.loop is not None:
        return bytes_alive(instruction.loop.body)
    if instruction.function in IN_FLOAT64:
        return PART * max(IN_FLOAT64[instruction.function])
    cells = prod(map(min, zip(instruction.tiles, instruction.shape, strict=False)))
    return ITEM * cells * (len(instruction.steps) + 1) if instruction.primitive == "fused" else 0


def _shared(
    results: Sequence[CollectedResult],
    body: Sequence[Statement],
    start: tuple[str, int, int],
    target: str,
    spread: Spread,
) -> list[Statement]:
    """Return the statements that compute blocks over threads, and combine what they return in order."""
    from nameexpr.backends.numpy.codegen.spread import blocks_over_threads

    combined = [result for result in results if result.collected.place is None]
    values = ["r"] if len(combined) == 1 else [f"r[{number}]" for number in range(len(combined))]
    last = [result.put("", value) for result, value in zip(combined, values, strict=True)]
    return blocks_over_threads(target, spread.threads, [start], body, last)


def _made(loop: Loop, target: str, results: Sequence[CollectedResult]) -> Assign:
    """Return the statement that creates the arrays that collect the results."""
    shapes = shapes_of(loop.body)
    arrays = [one.fresh(shapes[output]) for one, output in zip(results, loop.body.outputs, strict=True)]
    return Assign(target, arrays[0] if len(arrays) == 1 else listed(arrays))


def _block(
    body: Program,
    parts: Sequence[str],
    results: Sequence[CollectedResult],
    cut: str,
    numbering: Numbering,
    *,
    returns: bool = False,
) -> list[Statement]:
    """Return the statements of one block; each value is deleted after its last use. What is combined with
    other blocks is returned if `returns`.
    """
    names, last, shapes = [*parts, *numbering.values(body)], last_uses(body), shapes_of(body)
    is_call = bool(body.instructions) and body.instructions[-1].primitive not in {"fused", "loop"}
    is_alone = len(results) == 1 and not results[0].is_late and not returns
    is_short = body.result == len(names) - 1 and is_call and is_alone
    written = written_results(body, results)
    statements: list[Statement] = []
    for number, inner in enumerate(body.instructions):
        own, target = [names[source] for source in inner.sources], len(parts) + number
        if inner.primitive in {"fused", "loop"}:
            sources = [shapes[source] for source in inner.sources]
            statements += loop_statements(inner, names[target], own, sources, numbering)
        elif target in written:
            call = CALLS[inner.primitive](inner, *own)
            statements.append(Assign(None, with_out(call, written[target].part(cut))))
        elif is_short and target == body.result:
            statements.append(results[0].put(cut, CALLS[inner.primitive](inner, *own)))
        else:
            statements.append(Assign(names[target], CALLS[inner.primitive](inner, *own)))
        statements += dead(body, number, last, names)
    if is_short:
        return statements
    pairs = [pair for pair in zip(results, body.outputs, strict=True) if pair[1] not in written]
    kept = [names[output] for result, output in pairs if returns and result.collected.place is None]
    for result, output in pairs:
        if not returns or result.collected.place is not None:
            statements += result.make_or_put(cut, names[output], shapes[output])
    if kept:
        return [*statements, Return(tuple(kept))]
    return [*statements, *delete([names[output] for _, output in pairs if output >= len(parts)])]
