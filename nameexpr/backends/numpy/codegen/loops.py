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
from typing import TYPE_CHECKING

from nameexpr.backends.numpy.codegen.blocks import fused
from nameexpr.backends.numpy.codegen.calls import CALLS, with_out
from nameexpr.backends.numpy.codegen.collecting import (
    CollectedResult,
    bytes_alive,
    collected_results,
    written_results,
)
from nameexpr.backends.numpy.codegen.statements import (
    Assign,
    For,
    Invocation,
    Joined,
    Numbering,
    Statement,
    Value,
    delete,
    indexed,
    listed,
    local_names,
    method,
    nested,
    numpy,
    quoted,
)
from nameexpr.compiler.ir.liveness import last_uses
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Loop, Program, Shape

if TYPE_CHECKING:
    from nameexpr.backends.numpy.threads.spread import Spread

LEAST_KEPT, MOST_KEPT = 1 << 16, (1 << 25) - (1 << 16)
"""The bytes of an array whose size the allocator of glibc takes for what it keeps, at least and at most."""


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
        return _sliced(instruction.loop, instruction.dtype, target, names, shapes, numbering, spread)
    return _looped(instruction.loop, target, names, numbering)


def _dead(body: Program, number: int, last: dict[int, int], names: Sequence[str]) -> list[Statement]:
    """Return the statement that deletes the names that are dead after an instruction of a body."""
    sources = body.instructions[number].sources
    return delete(names[s] for s in sources if last[s] == number and s >= len(body.operands))


def _sliced(
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
    body, made = [*parts, *_slice(loop.body, local, place)], Assign(target, _fresh(loop, dtype))
    if spread is not None:
        from nameexpr.backends.numpy.codegen.spread import blocks_over_threads

        starts = [(f"j{axis}", count, 1) for axis, count in enumerate(loop.sizes) if count > 1]
        return [made, *blocks_over_threads(target, spread.threads, starts, body)]
    loops = [(f"j{axis}", str(count)) for axis, count in enumerate(loop.sizes) if count > 1]
    return [made, *nested(loops, body), *delete(held)]


def _fresh(loop: Loop, dtype: str) -> Value:
    """Return the call that creates the result, with its axes in the order of the layout."""
    shape = (*loop.sizes, *shapes_of(loop.body)[loop.body.result])
    made = numpy("empty")(str(tuple(shape[axis] for axis in loop.layout)), quoted(dtype))
    if loop.layout == tuple(range(len(shape))):
        return made
    return method(made, "transpose", str(tuple(loop.layout.index(axis) for axis in range(len(shape)))))


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
        statements += _dead(body, number, last, names)
    return statements


def _put(inner: Instruction, call: Value, place: Joined) -> Statement:
    """Return the statement that writes the last value of a slice into the result."""
    is_free = inner.takes_out and inner.over is None
    if isinstance(call, Invocation) and (inner.primitive == "matmul" or is_free):
        return Assign(None, with_out(call, place))
    return Assign(place, call)


def _looped(loop: Loop, target: str, names: Sequence[str], numbering: Numbering) -> list[Statement]:
    """Return the statements that compute a loop over blocks of a label into a new array called `target`, or a
    list of several.
    """
    (size,), index, parts = loop.sizes, f"j{numbering.loops}", numbering.parts
    whole = size - size % loop.block
    local, results = local_names(loop, names, parts), collected_results(loop, target)
    numbering.loops += 1
    numbering.parts += loop.parts
    blocks = []
    for body, cut in zip(loop.bodies, (f"{index}:{index} + {loop.block}", f"{whole}:"), strict=False):
        taken: list[Statement] = [
            Assign(part, indexed(name, f"{':, ' * axis}{cut}"))
            for part, name, (axis,) in zip(local, names, loop.cuts, strict=True)
            if axis is not None
        ]
        blocks.append(taken + _block(body, local, results, cut, numbering))
    numbering.loops -= 1
    numbering.parts = parts
    first, *tail = blocks
    statements = [_made(loop, target, results), *_kept(loop)]
    statements += [For(index, f"0, {whole}, {loop.block}", first), *chain(*tail)]
    return [*statements, *delete(f"p{parts + number}" for number in range(loop.parts))]


def _kept(loop: Loop) -> list[Statement]:
    """Return the statement by which the memory of a block stays with the process for the next block.

    The allocator of glibc returns memory to the system at the end of a block, which then takes time to
    provide each page again. It keeps twice as much as the largest array that was freed before.
    """
    most = min(MOST_KEPT, bytes_alive(loop.body) * 3 // 4)
    return [Assign(None, numpy("empty")(str(most), quoted("uint8")))] if most >= LEAST_KEPT else []


def _made(loop: Loop, target: str, results: Sequence[CollectedResult]) -> Assign:
    """Return the statement that creates the arrays that collect the results."""
    shapes = shapes_of(loop.body)
    arrays = [one.fresh(shapes[output]) for one, output in zip(results, loop.body.outputs, strict=True)]
    return Assign(target, arrays[0] if len(arrays) == 1 else listed(arrays))


def _block(
    body: Program, parts: Sequence[str], results: Sequence[CollectedResult], cut: str, numbering: Numbering
) -> list[Statement]:
    """Return the statements of one block; each value is deleted after its last use."""
    names, last, shapes = [*parts, *numbering.values(body)], last_uses(body), shapes_of(body)
    is_call = bool(body.instructions) and body.instructions[-1].primitive not in {"fused", "loop"}
    is_alone = len(results) == 1 and not results[0].is_late
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
        statements += _dead(body, number, last, names)
    if is_short:
        return statements
    for result, output in zip(results, body.outputs, strict=True):
        statements += result.make_or_put(cut, names[output], shapes[output]) if output not in written else []
    made = [output for output in body.outputs if output >= len(parts) and output not in written]
    return [*statements, *delete([names[output] for output in made])]
