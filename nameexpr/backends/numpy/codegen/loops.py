"""Instructions that run a program again and again, as NumPy: slices of leading axes, and blocks of a label.

    t3 = np.zeros((64, 64), "float64")
    for j0 in range(0, 96, 32):
        p0 = a0[:, j0:j0 + 32]
        p1 = a1[j0:j0 + 32]
        t3 += p0.dot(p1)
    del p0, p1

Names are the loop's own: `j0` counts slices or is where a block starts, `p0` is the part of a source, `v0` a
value inside. A loop in a loop counts on where the outer one stands.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.backends.numpy.codegen.blocks import fused
from nameexpr.backends.numpy.codegen.calls import render_call, with_out
from nameexpr.backends.numpy.codegen.statements import (
    Assign,
    Attribute,
    Conditional,
    For,
    Invocation,
    Numbering,
    Statement,
    Subscript,
    Value,
    delete,
    local_names,
    nested,
    numpy,
    quoted,
)
from nameexpr.compiler.ir.liveness import last_uses
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Loop, Program, Shape

FIRST = {"add": "zeros", "logical_or": "zeros", "multiply": "ones", "logical_and": "ones"}
"""The array that changes nothing when it is combined with what blocks give."""


def loop(
    one: Instruction, target: str, names: Sequence[str], shapes: Sequence[Shape], numbering: Numbering
) -> list[Statement]:
    """Return the statements that compute a loop into a new array called `target`.

    Parameters
    ----------
    one : Instruction
        A fused instruction, or a loop.
    target : str
        The name of its result.
    names, shapes : sequences
        Name and shape of each source.
    numbering : Numbering
        The names that are free; they are counted on.
    """
    if one.loop is None:
        return fused(one, target, names, shapes)
    if not one.loop.block:
        return _sliced(one.loop, one.dtype, target, names, shapes, numbering)
    return _looped(one.loop, one.dtype, target, names, numbering)


def _dead(body: Program, number: int, last: dict[int, int], names: Sequence[str]) -> list[Statement]:
    """Return the statement that forgets what nothing in a body reads after an instruction."""
    sources = body.instructions[number].sources
    return delete(names[s] for s in sources if last[s] == number and s >= len(body.operands))


def _sliced(
    one: Loop, dtype: str, target: str, names: Sequence[str], shapes: Sequence[Shape], numbering: Numbering
) -> list[Statement]:
    """Return the statements that compute a sliced instruction into a new array called `target`."""
    parts: list[Statement] = []
    local: list[str] = []
    for number, (name, shape) in enumerate(zip(names, shapes, strict=True)):
        cut = one.leading(number)
        local.append(f"p{number}" if cut else name)
        if cut:
            parts.append(Assign(f"p{number}", Subscript(name, _slice_index(shape, one.sizes, cut))))
    held = [
        part for part, name in zip(local, names, strict=True) if part != name and not name.startswith("a")
    ]
    local += numbering.values(one.body)
    place = Subscript(target, _slice_index(one.sizes, one.sizes, len(one.sizes)))
    loops = [(f"j{axis}", str(count)) for axis, count in enumerate(one.sizes) if count > 1]
    body = [*parts, *_slice(one.body, local, place)]
    return [Assign(target, _fresh(one, dtype)), *nested(loops, body), *delete(held)]


def _fresh(one: Loop, dtype: str) -> Value:
    """Return the call that makes the result, with its axes in memory as the layout says."""
    shape = (*one.sizes, *shapes_of(one.body)[one.body.result])
    made = numpy("empty")(str(tuple(shape[axis] for axis in one.layout)), quoted(dtype))
    if one.layout == tuple(range(len(shape))):
        return made
    return Attribute(made, "transpose")(str(tuple(one.layout.index(axis) for axis in range(len(shape)))))


def _slice_index(shape: Shape, counts: Shape, cut: int) -> str:
    """Return the index of the present slice in an array of this shape: 0 where it does not vary."""
    first = len(counts) - cut
    return ", ".join(f"j{first + axis}" if size > 1 else "0" for axis, size in enumerate(shape[:cut]))


def _slice(body: Program, names: Sequence[str], place: Subscript) -> list[Statement]:
    """Return the statements of one slice; each value is forgotten when nothing reads it any more."""
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
            call = render_call(inner, sources)
            statements.append(_put(inner, call, place) if is_result else Assign(target, call))
        statements += _dead(body, number, last, names)
    return statements


def _put(inner: Instruction, call: Value, place: Subscript) -> Statement:
    """Return the statement that writes the last value of a slice into the result."""
    is_free = inner.takes_out and inner.over is None
    if isinstance(call, Invocation) and (inner.primitive == "matmul" or is_free):
        return Assign(None, with_out(call, place))
    return Assign(place, call)


def _looped(
    one: Loop, dtype: str, target: str, names: Sequence[str], numbering: Numbering
) -> list[Statement]:
    """Return the statements that compute a looped instruction into a new array called `target`."""
    index, parts = f"j{numbering.loops}", numbering.parts
    (size,) = one.sizes
    whole = size - size % one.block
    numbering.loops += 1
    numbering.parts += one.parts
    main = _block(one, dtype, one.body, names, target, f"{index}:{index} + {one.block}", parts, numbering)
    statements = [_start(one, dtype, target), For(index, f"0, {whole}, {one.block}", main)]
    if one.tail is not None:
        statements += _block(one, dtype, one.tail, names, target, f"{whole}:", parts, numbering)
    numbering.loops -= 1
    numbering.parts = parts
    return [*statements, *delete(f"p{parts + number}" for number in range(one.parts))]


def _start(one: Loop, dtype: str, target: str) -> Statement:
    """Return the statement that makes the array that blocks are put into."""
    if _is_late(one, dtype):
        return Assign(target, "None")
    shape = shapes_of(one.body)[one.body.result]
    name = "empty" if one.place is not None else FIRST[one.combine]
    return Assign(target, numpy(name)(str(_whole(one, shape)), quoted(dtype)))


def _whole(one: Loop, shape: Shape) -> Shape:
    """Return the shape of the result, from that of what a block gives."""
    return shape if one.place is None else (*shape[: one.place], one.sizes[0], *shape[one.place + 1 :])


def _is_late(one: Loop, dtype: str) -> bool:
    """Whether the result is only made with the first block, which tells its dtype, or what is combined."""
    return not dtype if one.place is not None else one.combine not in FIRST


def _block(
    one: Loop,
    dtype: str,
    body: Program,
    names: Sequence[str],
    target: str,
    cut: str,
    parts: int,
    numbering: Numbering,
) -> list[Statement]:
    """Return the statements of one block; each value is forgotten when nothing reads it any more."""
    local = local_names(one, names, parts)
    statements: list[Statement] = [
        Assign(part, Subscript(name, f"{':, ' * axis}{cut}"))
        for part, name, (axis,) in zip(local, names, one.cuts, strict=True)
        if axis is not None
    ]
    count = len(body.operands)
    local += numbering.values(body)
    last = last_uses(body)
    is_short = body.result == len(local) - 1 and body.instructions[-1].loop is None
    is_short = is_short and not _is_late(one, dtype)
    for number, inner in enumerate(body.instructions):
        own = [local[source] for source in inner.sources]
        if inner.loop is not None:
            statements += _looped(inner.loop, inner.dtype, local[count + number], own, numbering)
        elif is_short and count + number == body.result:
            statements.append(_combined(one, target, cut, render_call(inner, own)))
        else:
            statements.append(Assign(local[count + number], render_call(inner, own)))
        statements += _dead(body, number, last, local)
    if is_short:
        return statements
    result = local[body.result]
    return [
        *statements,
        *_late(one, dtype, shapes_of(body)[body.result], target, cut, result),
        *delete([result]),
    ]


def _late(one: Loop, dtype: str, shape: Shape, target: str, cut: str, block: str) -> list[Statement]:
    """Return the statements that put a block into a result that may not be there yet."""
    put = _combined(one, target, cut, block)
    if not _is_late(one, dtype):
        return [put]
    is_first = f"{target} is None"
    if one.place is None:
        combined = put.value if shape else numpy(one.combine)(target, block)
        return [Assign(target, Conditional(block, is_first, combined))]
    fresh = numpy("empty")(str(_whole(one, shape)), Attribute(block, "dtype"))
    return [Assign(target, Conditional(fresh, is_first, target)), put]


def _combined(one: Loop, target: str, cut: str, block: Value) -> Assign:
    """Return the statement that puts what a block gives into the result."""
    if one.place is not None:
        return Assign(Subscript(target, f"{':, ' * one.place}{cut}"), block)
    if one.combine == "add":
        return Assign(target, block, "+=")
    return Assign(None, numpy(one.combine)(target, block, out=target))
