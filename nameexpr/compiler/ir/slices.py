"""Determine the leading axes of its sources that an instruction can process slice by slice.

A rule returns how many leading axes of each source are cut for a slice that has one index for each of `depth`
leading axes of the result; None if there are no slices. An axis of size 1 has the index 0; a source that is
broadcast may have the last of these axes only, or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.compiler.ir.program import Instruction, Loop, Shape
from nameexpr.compiler.ir.strides import broadcast

Shapes = Sequence[Shape]
Cuts = tuple[int, ...] | None
"""How many leading axes of each source are cut for a slice; None where there are no slices."""


def never(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Return None: there are no slices."""
    return None


def kept_leading(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Return the cuts if all axes are kept, and some remain."""
    return (depth,) if len(sources[0]) > depth else None


def behind(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Return the cuts if the axes that the instruction works along come after the leading ones."""
    return (depth,) if len(sources[0]) > depth and _beyond(instruction.axes, depth) else None


def of_reduce(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Return the cuts if more than the leading axes remain."""
    return (depth,) if len(sources[0]) - len(instruction.axes) > depth else None


def of_transpose(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Return the cuts if the leading axes keep their positions."""
    is_kept = len(sources[0]) > depth and instruction.axes[:depth] == tuple(range(depth))
    return (depth,) if is_kept else None


def of_reshape(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Return the cuts if the leading axes are unchanged."""
    (source,) = sources
    return (depth,) if len(source) > depth and instruction.shape[:depth] == source[:depth] else None


def of_pointwise(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Return the cuts if an axis remains; numbers are not cut."""
    return None if instruction.is_weak else _broadcast(sources, depth, 1)


def of_multiply(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Return the cuts if an axis remains."""
    return _broadcast(sources, depth, 1)


def of_matmul(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Return the cuts if matrices remain."""
    return _broadcast(sources, depth, 2)


def of_fused(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Return the cuts if an axis remains, and none of the leading ones is reduced."""
    kept = len(instruction.shape) - len(instruction.axes)
    if kept <= depth or not _beyond(instruction.axes, depth):
        return None
    return tuple([depth if source else 0 for source in sources])


def of_einsum(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Return the cuts if the operands' leading letters are those of the result, each once."""
    *every, result = instruction.letters
    leading = result[:depth]
    if len(result) <= depth or len(set(leading)) < depth:
        return None
    cuts = tuple([_shared(letters, leading) for letters in every])
    rest = {letter for letters, cut in zip(every, cuts, strict=True) for letter in letters[cut:]}
    return None if rest & set(leading) else cuts


def _beyond(axes: Sequence[int], depth: int) -> bool:
    return all(axis >= depth for axis in axes)


def _broadcast(sources: Shapes, depth: int, least: int) -> Cuts:
    """Return the cuts of sources that broadcast from the right, of which at least `least` axes must
    remain.
    """
    rest = max(map(len, sources), default=0) - depth
    return tuple([max(0, len(source) - rest) for source in sources]) if rest >= least else None


def _shared(letters: Shape, leading: Shape) -> int:
    """Return how many of the last leading letters an operand begins with."""
    depth = len(leading)
    return next(count for count in range(depth, -1, -1) if letters[:count] == leading[depth - count :])


def slice_instruction(instruction: Instruction, depth: int) -> Instruction:
    """Return an instruction without the leading axes that are sliced."""
    axes, letters = instruction.axes, instruction.letters
    if instruction.primitive == "transpose":
        axes = axes[depth:]
    if letters:
        *every, result = letters
        every = [own[_shared(own, result[:depth]) :] for own in every]
        letters = (*every, result[depth:])
    return instruction._replace(
        shape=instruction.shape[depth:],
        tiles=instruction.tiles[depth:],
        axes=tuple([axis - depth if axis >= 0 else axis for axis in axes]),
        letters=letters,
    )


def of_steps(instruction: Instruction, sources: Shapes) -> Shape:
    """Return the shape of the first array of a recurrence; `item` returns each of them."""
    steps = instruction.recurrence
    assert steps is not None
    own = sources[steps.count :]
    parts = [source[1:] if cut else source for source, cut in zip(own, steps.cut, strict=True)]
    parts += [steps.rows[array] for array, _ in steps.reads]
    assert list(steps.body.operands) == parts, f"{steps.body.operands} are not {parts}"
    lengths = [source[0] for source, cut in zip(own, steps.cut, strict=True) if cut]
    assert all(length == steps.length for length in lengths), f"{lengths} are not {steps.length} steps"
    return (steps.length_of(0), *steps.rows[0])


def of_loop(loop: Loop, sources: Shapes, made: Sequence[Shapes]) -> Shape:
    """Return the shape of a loop, from those of its sources and of what each body returns; () for several
    results. The operands of the bodies are the parts of the sources.
    """
    if not loop.block:
        return _of_slices(loop, sources, made[0][0])
    (size,), block = loop.sizes, loop.block
    assert 0 < block < size and (loop.tail is not None) == (size % block > 0), f"{block} of {size}"
    every: set[tuple[Shape, ...]] = set()
    for body, parts, length in zip(loop.bodies, made, (block, size % block), strict=False):
        for source, (axis,), part in zip(sources, loop.cuts, body.operands, strict=True):
            assert axis is None or source[axis] == size, f"{source} has no {size} indices along {axis}"
            cut = tuple([length if number == axis else other for number, other in enumerate(source)])
            assert part == cut, f"part {part} of {source}"
        for part, result in zip(parts, loop.results, strict=True):
            assert result.place is None or part[result.place] == length, f"{part} is not of {length}"
        every.add(collected(loop, parts))
    assert len(every) == 1, f"blocks give {every}"
    return every.pop()[0] if len(loop.results) == 1 else ()


def collected(loop: Loop, parts: Shapes) -> tuple[Shape, ...]:
    """Return the shapes of the results of a loop, from those of the results of a block."""
    return tuple(
        [
            part if one.place is None else (*part[: one.place], loop.sizes[0], *part[one.place + 1 :])
            for part, one in zip(parts, loop.results, strict=True)
        ]
    )


def _of_slices(loop: Loop, sources: Shapes, made: Shape) -> Shape:
    counts, depth = loop.sizes, len(loop.sizes)
    for number, (source, part) in enumerate(zip(sources, loop.body.operands, strict=True)):
        cut = loop.leading(number)
        assert cut <= min(depth, len(source)), f"{source} has no slices over {counts}"
        assert part == source[cut:], f"part {part} of {source}"
        looped = zip(source[:cut], counts[depth - cut :], strict=True)
        assert all(size in (1, most) for size, most in looped), f"{source} has no slices over {counts}"
    shape = (*counts, *made)
    assert sorted(loop.layout) == list(range(len(shape))), f"{loop.layout} of {shape}"
    return shape


def of_positions(instruction: Instruction, sources: Shapes) -> Shape:
    """Return the shape of a view whose positions are all inside the source."""
    (source,), shape = sources, instruction.shape
    for size, offset, steps in zip(source, instruction.axes, instruction.letters, strict=True):
        assert 0 in shape or _is_inside(offset, steps, shape, size), f"{instruction} leaves {source}"
    return shape


def of_products(instruction: Instruction, sources: Shapes) -> Shape:
    """Return the shape of sums of products of windows: their first axes, and the columns of a matrix."""
    source, other = sources
    kept = instruction.kept
    shape = of_positions(instruction, [source])
    if instruction.primitive == "window_weigh":
        assert broadcast(other, shape) == shape, f"{instruction} of {sources}"
        return shape[:kept]
    assert len(other) == 2 and other[0] == prod(shape[kept:]), f"{instruction} of {sources}"  # noqa: PLR2004
    return (*shape[:kept], other[1])


def work_of_products(instruction: Instruction, sources: Shapes, result: Shape) -> int:
    """Return the number of multiplications and additions of windows."""
    kept = instruction.kept
    return 2 * prod(result) * prod(instruction.shape[kept:])


def of_rolling(instruction: Instruction, sources: Shapes) -> Shape:
    """Return the shape of a reduction of windows along axes that are all inside the source."""
    (source,), shape, kept = sources, instruction.shape, list(sources[0])
    for axis, (offset, *steps, count) in zip(instruction.axes, instruction.letters, strict=True):
        assert 0 in shape or _is_inside(offset, steps, (shape[axis], count), source[axis]), f"{instruction}"
        kept[axis] = shape[axis]
    assert tuple(kept) == shape, f"{instruction} of {source}"
    return shape


def _is_inside(offset: int, steps: Sequence[int], shape: Shape, size: int) -> bool:
    """Return whether positions that go on in these steps stay inside an axis."""
    ends = [step * (length - 1) for step, length in zip(steps, shape, strict=True)]
    low, high = (offset + sum([pick(end, 0) for end in ends]) for pick in (min, max))
    return 0 <= low <= high < size
