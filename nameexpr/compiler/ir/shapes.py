"""The shape of what an instruction gives, and along which leading axes it can process slices.

An `AssertionError` of a rule for shapes means that those of the sources do not fit, which is a defect of the
compiler. A rule for slices returns how many leading axes of each source are cut for a slice that has one
index for each of `depth` leading axes of the result; None if there are no slices. An axis of size 1 has the
index 0; a source that is broadcast may have the last of these axes only, or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.compiler.ir.program import Instruction, Shape
from nameexpr.compiler.ir.strides import broadcast

Shapes = Sequence[Shape]
Cuts = tuple[int, ...] | None
"""How many leading axes of each source are cut for a slice; None where there are no slices."""


def of_source(_: Instruction, sources: Shapes) -> Shape:
    """Return the shape of the first source."""
    return sources[0]


def as_asked(instruction: Instruction, _: Shapes) -> Shape:
    """Return the shape that the instruction has."""
    return instruction.shape


def reshaped(instruction: Instruction, sources: Shapes) -> Shape:
    """Return a shape of as many elements."""
    assert prod(instruction.shape) == prod(sources[0]), f"{instruction} of {sources}"
    return instruction.shape


def transposed(instruction: Instruction, sources: Shapes) -> Shape:
    """Return the sizes in another order."""
    assert sorted(instruction.axes) == list(range(len(sources[0]))), f"{instruction} of {sources}"
    return tuple([sources[0][axis] for axis in instruction.axes])


def without_parts(instruction: Instruction, sources: Shapes) -> Shape:
    """Return the shape of complex numbers, from that of their two parts."""
    assert sources[0][-1:] == (2,), f"{instruction} of {sources}"
    return sources[0][:-1]


def repeated(instruction: Instruction, sources: Shapes) -> Shape:
    """Return a shape that the source broadcasts to."""
    assert broadcast(sources[0], instruction.shape) == instruction.shape, f"{instruction} of {sources}"
    return instruction.shape


def embedded(instruction: Instruction, sources: Shapes) -> Shape:
    """Return a shape that has the source as a diagonal."""
    inner, letters = instruction.letters
    diagonal = sizes_of(inner, [letters], [instruction.shape])
    assert broadcast(sources[0], diagonal) == diagonal, f"{instruction} of {sources}"
    return instruction.shape


def by_letters(instruction: Instruction, sources: Shapes) -> Shape:
    """Return the sizes of the letters of the result."""
    *letters, result = instruction.letters
    return sizes_of(result, letters, sources)


def sizes_of(wanted: Shape, letters: Sequence[Shape], shapes: Shapes) -> Shape:
    """Return the sizes of letters."""
    sizes: dict[int, int] = {}
    for own, shape in zip(letters, shapes, strict=True):
        for letter, size in zip(own, shape, strict=True):
            assert sizes.setdefault(letter, size) == size, f"axis {letter} has two sizes in {shapes}"
    return tuple([sizes[letter] for letter in wanted])


def windowed(instruction: Instruction, sources: Shapes) -> Shape:
    """Return the shape of a view whose positions are all inside the source."""
    (source,), shape = sources, instruction.shape
    for size, offset, steps in zip(source, instruction.axes, instruction.letters, strict=True):
        ends = [step * (length - 1) for step, length in zip(steps, shape, strict=True)]
        low, high = (offset + sum([pick(end, 0) for end in ends]) for pick in (min, max))
        assert 0 in shape or 0 <= low <= high < size, f"{instruction} leaves {source}"
    return shape


def without_axes(instruction: Instruction, sources: Shapes) -> Shape:
    """Return the shape without the axes that are reduced."""
    (source,), axes = sources, instruction.axes
    assert axes and 0 <= min(axes) <= max(axes) < len(source), f"{instruction} of {source}"
    return tuple([size for axis, size in enumerate(source) if axis not in axes])


def without_last_axes(instruction: Instruction, sources: Shapes) -> Shape:
    """Return the shape without the last axes."""
    count = len(instruction.axes) or 1
    assert count <= len(sources[0]), f"{instruction} of {sources}"
    return sources[0][:-count]


def along_axes(instruction: Instruction, sources: Shapes) -> Shape:
    """Return the shape of the source, which has the axes."""
    (source,) = sources
    assert all(0 <= axis < len(source) for axis in instruction.axes), f"{instruction} of {source}"
    return source


def pointwise(instruction: Instruction, sources: Shapes) -> Shape:
    """Return the shape that the sources broadcast to."""
    assert instruction.constants.count(None) == len(sources), f"{instruction} of {sources}"
    assert broadcast(*sources) == instruction.shape, f"{instruction} of {sources}"
    return instruction.shape


def fused(instruction: Instruction, sources: Shapes) -> Shape:
    """Return the shape of the blocks without the axes that are reduced."""
    shape = instruction.shape
    assert all(len(source) in (0, len(shape)) for source in sources), f"{instruction} of {sources}"
    assert all(broadcast(source, shape) == shape for source in sources), f"{instruction} of {sources}"
    return tuple([size for axis, size in enumerate(shape) if axis not in instruction.axes])


def dot(_: Instruction, sources: Shapes) -> Shape:
    """Return the shape of a product of vectors and matrices."""
    left, right = sources
    assert {len(left), len(right)} <= {1, 2} and left[-1] == right[0], f"dot of {sources}"
    return left[:-1] + right[1:]


def vecdot(_: Instruction, sources: Shapes) -> Shape:
    """Return the shape of products of vectors."""
    left, right = sources
    assert left[-1] == right[-1], f"vecdot of {sources}"
    return broadcast(left[:-1], right[:-1])


def matmul(_: Instruction, sources: Shapes) -> Shape:
    """Return the shape of products of matrices."""
    left, right = sources
    assert left[-1] == right[-2], f"matmul of {sources}"
    return (*broadcast(left[:-2], right[:-2]), left[-2], right[-1])


# How many leading axes of each source are cut for a slice.


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
