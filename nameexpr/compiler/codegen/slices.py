"""A sliced instruction as NumPy: loops over leading axes, the program of one slice in between.

Names are the body's own: `j0` counts slices, `p0` is the part of a source, `v0` a value of the slice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nameexpr.compiler.codegen.blocks import fused_lines
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Loop

Shape = tuple[int, ...]
Call = Callable[[Instruction, Sequence[str]], str]


def sliced_lines(
    one: Loop,
    dtype: str,
    target: str,
    names: Sequence[str],
    shapes: Sequence[Shape],
    start: int,
    call: Call,
) -> list[str]:
    """Return the statements that compute a sliced instruction into a new array called `target`.

    Parameters
    ----------
    one : Loop
        The loop.
    dtype, target : str
        The dtype and the name of its result.
    names, shapes : sequences
        Name and shape of each source.
    start : int
        The number of the first name of a slice's value.
    call : callable
        What gives the expression of an instruction, from the names of its sources.
    """
    lines = [f"{target} = {_fresh(one, dtype)}"]
    indent = ""
    for axis, count in enumerate(one.sizes):
        if count > 1:
            lines.append(f"{indent}for j{axis} in range({count}):")
            indent += "    "
    parts, local = _parts(one, names, shapes)
    local += [f"v{start + number}" for number in range(len(one.body.instructions))]
    place = f"{target}[{_index(one.sizes, one.sizes, len(one.sizes))}]"
    lines += [indent + line for line in (*parts, *_slice(one, local, place, call))]
    held = [
        part for part, name in zip(local, names, strict=False) if part != name and not name.startswith("a")
    ]
    return [*lines, f"del {', '.join(held)}"] if held else lines


def _fresh(one: Loop, dtype: str) -> str:
    """Return the call that makes the result, with its axes in memory as the layout says."""
    body = one.body
    shape = (*one.sizes, *shapes_of(body)[body.result])
    made = f'np.empty({tuple(shape[axis] for axis in one.layout)}, "{dtype}")'
    if one.layout == tuple(range(len(shape))):
        return made
    return f"{made}.transpose({tuple(one.layout.index(axis) for axis in range(len(shape)))})"


def _parts(one: Loop, names: Sequence[str], shapes: Sequence[Shape]) -> tuple[list[str], list[str]]:
    """Return the statements that take the part of each source, and what the sources are called then."""
    lines: list[str] = []
    local: list[str] = []
    for number, (name, shape) in enumerate(zip(names, shapes, strict=True)):
        cut = one.leading(number)
        local.append(f"p{number}" if cut else name)
        if cut:
            lines.append(f"p{number} = {name}[{_index(shape, one.sizes, cut)}]")
    return lines, local


def _index(shape: Shape, counts: Shape, cut: int) -> str:
    """Return the index of the present slice in an array of this shape: 0 where it does not vary."""
    first = len(counts) - cut
    return ", ".join(f"j{first + axis}" if size > 1 else "0" for axis, size in enumerate(shape[:cut]))


def _slice(one: Loop, local: Sequence[str], place: str, call: Call) -> list[str]:
    """Return the statements of one slice; each value is forgotten when nothing reads it any more."""
    body = one.body
    count = len(body.operands)
    last = {source: number for number, inner in enumerate(body.instructions) for source in inner.sources}
    shapes = shapes_of(body)
    lines: list[str] = []
    for number, inner in enumerate(body.instructions):
        sources = [local[source] for source in inner.sources]
        target = local[count + number]
        is_result = count + number == body.result
        if inner.primitive == "fused":
            lines += fused_lines(inner, target, sources, [shapes[source] for source in inner.sources])
            lines += [f"{place} = {target}", f"del {target}"] if is_result else []
        else:
            made = call(inner, sources)
            lines.append(_into(inner, made, place) if is_result else f"{target} = {made}")
        dead = dict.fromkeys(local[s] for s in inner.sources if last[s] == number and s >= count)
        lines += [f"del {', '.join(dead)}"] if dead else []
    return lines


def _into(inner: Instruction, made: str, place: str) -> str:
    """Return the statement that writes the last value of a slice into the result."""
    is_free = inner.takes_out and inner.over is None
    if inner.primitive == "matmul" or is_free:
        return f"{made.removesuffix(')')}, out={place})"
    return f"{place} = {made}"
