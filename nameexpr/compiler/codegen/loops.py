"""A looped instruction as NumPy: a loop over blocks of one label, the program of a block in between.

    t3 = np.zeros((64, 64), "float64")
    for j0 in range(0, 96, 32):
        p0 = a0[:, j0:j0 + 32]
        p1 = a1[j0:j0 + 32]
        t3 += p0.dot(p1)
    del p0, p1

Names go on as in `nameexpr.compiler.codegen.slices`: `j0` is where a block starts, `p0` the part of a source,
`v0` a value of the block. A loop in a loop counts on where the outer one stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Loop, Note, Program

Shape = tuple[int, ...]
Call = Callable[[Instruction, Sequence[str]], str]
FIRST = {"add": "0", "logical_or": "0", "multiply": "1", "logical_and": "1"}
"""What changes nothing when it is combined with what blocks give; 0 and 1 stand for zeros and ones."""


@dataclass
class Count:
    """The numbers of the next loop, part and value."""

    values: int
    parts: int = 0
    loops: int = 0


def notes_inside(one: Loop) -> list[Note]:
    """Return the notes of the values inside a loop, in the order in which they are numbered."""
    found: list[Note] = []
    for body in one.bodies:
        found += body.notes
        for inner in body.instructions:
            found += notes_inside(inner.loop) if inner.loop is not None else ()
    return found


def local_names(one: Loop, names: Sequence[str], count: Count) -> tuple[str, ...]:
    """Return what the operands and values of a loop's body are called."""
    local, _ = _parts(one, names, count.parts, "")
    return (*local, *(f"v{count.values + number}" for number in range(len(one.body.instructions))))


def looped_lines(
    one: Loop, dtype: str, target: str, names: Sequence[str], count: Count, call: Call
) -> list[str]:
    """Return the statements that compute a looped instruction into a new array called `target`.

    Parameters
    ----------
    one : Loop
        The loop.
    dtype, target : str
        The dtype and the name of its result.
    names : sequence of str
        The name of each source.
    count : Count
        The numbers that are free; they are counted on.
    call : callable
        What gives the expression of an instruction, from the names of its sources.
    """
    index, parts, first = f"j{count.loops}", count.parts, _first(one, dtype, target)
    (size,) = one.sizes
    whole = size - size % one.block
    count.loops += 1
    count.parts += one.parts
    cuts = [f"{index}:{index} + {one.block}", f"{whole}:"]
    lines = [first, f"for {index} in range(0, {whole}, {one.block}):"]
    for body, cut, indent in zip(one.bodies, cuts, ("    ", ""), strict=False):
        local, taken = _parts(one, names, parts, cut)
        inside = [*taken, *_block(one, dtype, body, local, target, cut, count, call)]
        lines += [indent + line for line in inside]
    count.loops -= 1
    count.parts = parts
    made = [f"p{parts + number}" for number in range(one.parts)]
    return [*lines, f"del {', '.join(made)}"] if made else lines


def _first(one: Loop, dtype: str, target: str) -> str:
    """Return the statement that makes the array that blocks are put into."""
    if _is_late(one, dtype):
        return f"{target} = None"
    body = shapes_of(one.body)[one.body.result]
    if one.place is not None:
        shape = (*body[: one.place], one.sizes[0], *body[one.place + 1 :])
        return f'{target} = np.empty({shape}, "{dtype}")'
    value = FIRST[one.combine]
    return f'{target} = np.{"ones" if value == "1" else "zeros"}({body}, "{dtype}")'


def _is_late(one: Loop, dtype: str) -> bool:
    """Whether the result is only made with the first block, which tells its dtype, or what is combined."""
    return not dtype if one.place is not None else one.combine not in FIRST


def _parts(one: Loop, names: Sequence[str], start: int, cut: str) -> tuple[list[str], list[str]]:
    """Return what the sources are called in a block, and the statements that take their parts."""
    local: list[str] = []
    lines: list[str] = []
    for name, (axis,) in zip(names, one.cuts, strict=True):
        local.append(name if axis is None else f"p{start + len(lines)}")
        if axis is not None:
            lines.append(f"{local[-1]} = {name}[{':, ' * axis}{cut}]")
    return local, lines


def _block(
    one: Loop,
    dtype: str,
    body: Program,
    local: Sequence[str],
    target: str,
    cut: str,
    numbers: Count,
    call: Call,
) -> list[str]:
    """Return the statements of one block; each value is forgotten when nothing reads it any more."""
    count = len(body.operands)
    start = numbers.values
    numbers.values += len(body.instructions)
    names = [*local, *(f"v{start + number}" for number in range(len(body.instructions)))]
    last = {source: number for number, inner in enumerate(body.instructions) for source in inner.sources}
    lines: list[str] = []
    is_short = body.result == len(names) - 1 and body.instructions[-1].loop is None
    is_short = is_short and not _is_late(one, dtype)
    for number, inner in enumerate(body.instructions):
        own = [names[source] for source in inner.sources]
        if inner.loop is not None:
            lines += looped_lines(inner.loop, inner.dtype, names[count + number], own, numbers, call)
        elif is_short and count + number == body.result:
            lines.append(_into(one, target, cut, call(inner, own)))
        else:
            lines.append(f"{names[count + number]} = {call(inner, own)}")
        dead = dict.fromkeys(names[s] for s in inner.sources if last[s] == number and s >= count)
        lines += [f"del {', '.join(dead)}"] if dead else []
    if is_short:
        return lines
    result = names[body.result]
    return [*lines, *_late(one, dtype, body, target, cut, result), f"del {result}"]


def _late(one: Loop, dtype: str, body: Program, target: str, cut: str, made: str) -> list[str]:
    """Return the statements that put a block into the result, which is there only if `target` is not None."""
    shape = shapes_of(body)[body.result]
    if not _is_late(one, dtype):
        return [_into(one, target, cut, made)]
    if one.place is None:
        combined = _into(one, target, cut, made) if shape else f"np.{one.combine}({target}, {made})"
        return [f"{target} = {made} if {target} is None else {combined}"]
    shape = (*shape[: one.place], one.sizes[0], *shape[one.place + 1 :])
    fresh = f"{target} = np.empty({shape}, {made}.dtype) if {target} is None else {target}"
    return [fresh, _into(one, target, cut, made)]


def _into(one: Loop, target: str, cut: str, made: str) -> str:
    """Return the statement that puts what a block gives into the result."""
    if one.place is not None:
        return f"{target}[{':, ' * one.place}{cut}] = {made}"
    if one.combine == "add":
        return f"{target} += {made}"
    return f"np.{one.combine}({target}, {made}, out={target})"
