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
from nameexpr.compiler.ir.loops import Looped, Sliced
from nameexpr.compiler.ir.program import (
    Fused,
    Instruction,
    Matmul,
    Pointwise,
    Program,
    last_uses,
    sources_of,
    takes_out,
)
from nameexpr.compiler.ir.verify import shapes_of

Shape = tuple[int, ...]
FIRST = {"add": "zeros", "logical_or": "zeros", "multiply": "ones", "logical_and": "ones"}
"""The array that changes nothing when it is combined with what blocks give."""


def loop(
    one: Fused | Sliced | Looped,
    target: str,
    names: Sequence[str],
    shapes: Sequence[Shape],
    numbering: Numbering,
) -> list[Statement]:
    """Return the statements that compute a loop into a new array called `target`.

    Parameters
    ----------
    one : Fused, Sliced or Looped
        The instruction.
    target : str
        The name of its result.
    names, shapes : sequences
        Name and shape of each source.
    numbering : Numbering
        The names that are free; they are counted on.
    """
    match one:
        case Fused():
            return fused(one, target, names, shapes)
        case Sliced():
            return _sliced(one, target, names, shapes, numbering)
        case Looped():
            return _looped(one, target, names, numbering)


def _dead(body: Program, number: int, last: dict[int, int], names: Sequence[str]) -> list[Statement]:
    """Return the statement that forgets what nothing in a body reads after an instruction."""
    sources = sources_of(body.instructions[number])
    return delete(names[s] for s in sources if last[s] == number and s >= len(body.operands))


def _sliced(
    one: Sliced, target: str, names: Sequence[str], shapes: Sequence[Shape], numbering: Numbering
) -> list[Statement]:
    """Return the statements that compute a sliced instruction into a new array called `target`."""
    parts: list[Statement] = []
    local: list[str] = []
    for number, (name, shape, cut) in enumerate(zip(names, shapes, one.cuts, strict=True)):
        local.append(f"p{number}" if cut else name)
        if cut:
            parts.append(Assign(f"p{number}", Subscript(name, _slice_index(shape, one.counts, cut))))
    held = [
        part for part, name in zip(local, names, strict=True) if part != name and not name.startswith("a")
    ]
    local += numbering.values(one.body)
    place = Subscript(target, _slice_index(one.counts, one.counts, len(one.counts)))
    loops = [(f"j{axis}", str(count)) for axis, count in enumerate(one.counts) if count > 1]
    body = [*parts, *_slice(one.body, local, place)]
    return [Assign(target, _fresh(one)), *nested(loops, body), *delete(held)]


def _fresh(one: Sliced) -> Value:
    """Return the call that makes the result, with its axes in memory as the layout says."""
    shape = (*one.counts, *shapes_of(one.body)[one.body.result])
    made = numpy("empty")(str(tuple(shape[axis] for axis in one.layout)), quoted(one.dtype))
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
        sources = [names[source] for source in sources_of(inner)]
        target = names[count + number]
        is_result = count + number == body.result
        if isinstance(inner, Fused):
            statements += fused(inner, target, sources, [shapes[source] for source in inner.sources])
            statements += [Assign(place, target), *delete([target])] if is_result else []
        else:
            call = render_call(inner, sources)
            statements.append(_put(inner, call, place) if is_result else Assign(target, call))
        statements += _dead(body, number, last, names)
    return statements


def _put(inner: Instruction, call: Value, place: Subscript) -> Statement:
    """Return the statement that writes the last value of a slice into the result."""
    is_free = isinstance(inner, Pointwise) and takes_out(inner) and inner.over is None
    if isinstance(call, Invocation) and (isinstance(inner, Matmul) or is_free):
        return Assign(None, with_out(call, place))
    return Assign(place, call)


def _looped(one: Looped, target: str, names: Sequence[str], numbering: Numbering) -> list[Statement]:
    """Return the statements that compute a looped instruction into a new array called `target`."""
    index, parts = f"j{numbering.loops}", numbering.parts
    whole = one.size - one.size % one.block
    numbering.loops += 1
    numbering.parts += one.cuts
    main = _block(one, one.body, names, target, f"{index}:{index} + {one.block}", parts, numbering)
    statements = [_start(one, target), For(index, f"0, {whole}, {one.block}", main)]
    if one.tail is not None:
        statements += _block(one, one.tail, names, target, f"{whole}:", parts, numbering)
    numbering.loops -= 1
    numbering.parts = parts
    return [*statements, *delete(f"p{parts + number}" for number in range(one.cuts))]


def _start(one: Looped, target: str) -> Statement:
    """Return the statement that makes the array that blocks are put into."""
    if _is_late(one):
        return Assign(target, "None")
    shape = shapes_of(one.body)[one.body.result]
    name = "empty" if one.place is not None else FIRST[one.combine]
    return Assign(target, numpy(name)(str(_whole(one, shape)), quoted(one.dtype)))


def _whole(one: Looped, shape: Shape) -> Shape:
    """Return the shape of the result, from that of what a block gives."""
    return shape if one.place is None else (*shape[: one.place], one.size, *shape[one.place + 1 :])


def _is_late(one: Looped) -> bool:
    """Whether the result is only made with the first block, which tells its dtype, or what is combined."""
    return not one.dtype if one.place is not None else one.combine not in FIRST


def _block(
    one: Looped,
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
        for part, name, axis in zip(local, names, one.axes, strict=True)
        if axis is not None
    ]
    count = len(body.operands)
    local += numbering.values(body)
    last = last_uses(body)
    is_short = body.result == len(local) - 1 and not isinstance(body.instructions[-1], Looped)
    is_short = is_short and not _is_late(one)
    for number, inner in enumerate(body.instructions):
        own = [local[source] for source in sources_of(inner)]
        if isinstance(inner, Looped):
            statements += _looped(inner, local[count + number], own, numbering)
        elif is_short and count + number == body.result:
            statements.append(_combined(one, target, cut, render_call(inner, own)))
        else:
            statements.append(Assign(local[count + number], render_call(inner, own)))
        statements += _dead(body, number, last, local)
    if is_short:
        return statements
    result = local[body.result]
    return [*statements, *_late(one, shapes_of(body)[body.result], target, cut, result), *delete([result])]


def _late(one: Looped, shape: Shape, target: str, cut: str, block: str) -> list[Statement]:
    """Return the statements that put a block into a result that may not be there yet."""
    put = _combined(one, target, cut, block)
    if not _is_late(one):
        return [put]
    is_first = f"{target} is None"
    if one.place is None:
        combined = put.value if shape else numpy(one.combine)(target, block)
        return [Assign(target, Conditional(block, is_first, combined))]
    fresh = numpy("empty")(str(_whole(one, shape)), Attribute(block, "dtype"))
    return [Assign(target, Conditional(fresh, is_first, target)), put]


def _combined(one: Looped, target: str, cut: str, block: Value) -> Assign:
    """Return the statement that puts what a block gives into the result."""
    if one.place is not None:
        return Assign(Subscript(target, f"{':, ' * one.place}{cut}"), block)
    if one.combine == "add":
        return Assign(target, block, "+=")
    return Assign(None, numpy(one.combine)(target, block, out=target))
