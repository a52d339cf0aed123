"""The shape of what each primitive gives, and which shapes it takes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.compiler.ir.program import Instruction, Shape

Shapes = Sequence[Shape]


def of_source(_: Instruction, sources: Shapes) -> Shape:
    """That of the source."""
    return sources[0]


def as_asked(instruction: Instruction, _: Shapes) -> Shape:
    """The one that the instruction names."""
    return instruction.shape


def reshaped(instruction: Instruction, sources: Shapes) -> Shape:
    """As many cells in another shape."""
    assert prod(instruction.shape) == prod(sources[0]), f"{instruction} of {sources}"
    return instruction.shape


def transposed(instruction: Instruction, sources: Shapes) -> Shape:
    """The sizes in another order."""
    assert sorted(instruction.axes) == list(range(len(sources[0]))), f"{instruction} of {sources}"
    return tuple([sources[0][axis] for axis in instruction.axes])


def with_parts(_: Instruction, sources: Shapes) -> Shape:
    """One more axis, of two parts."""
    return (*sources[0], 2)


def without_parts(instruction: Instruction, sources: Shapes) -> Shape:
    """One axis less, of two parts."""
    assert sources[0][-1:] == (2,), f"{instruction} of {sources}"
    return sources[0][:-1]


def repeated(instruction: Instruction, sources: Shapes) -> Shape:
    """A shape that the source is broadcast to."""
    assert broadcast(sources[0], instruction.shape) == instruction.shape, f"{instruction} of {sources}"
    return instruction.shape


def embedded(instruction: Instruction, sources: Shapes) -> Shape:
    """A shape whose diagonals the source is broadcast to."""
    inner, letters = instruction.letters
    diagonal = _by_letters([(letters, instruction.shape)], inner)
    assert broadcast(sources[0], diagonal) == diagonal, f"{instruction} of {sources}"
    return instruction.shape


def by_letters(instruction: Instruction, sources: Shapes) -> Shape:
    """The sizes of the result's letters."""
    *letters, result = instruction.letters
    return _by_letters(list(zip(letters, sources, strict=True)), result)


def _by_letters(operands: list[tuple[tuple[int, ...], Shape]], result: tuple[int, ...]) -> Shape:
    sizes: dict[int, int] = {}
    for letters, shape in operands:
        assert len(letters) == len(shape), f"{letters} for {shape}"
        for letter, size in zip(letters, shape, strict=True):
            assert sizes.setdefault(letter, size) == size, f"axis {letter} has two sizes in {operands}"
    return tuple([sizes[letter] for letter in result])


def without_axes(instruction: Instruction, sources: Shapes) -> Shape:
    """The sizes of the axes that stay."""
    (source,), axes = sources, instruction.axes
    assert axes and all(0 <= axis < len(source) for axis in axes), f"{instruction} of {source}"
    return tuple([size for axis, size in enumerate(source) if axis not in axes])


def without_last_axes(instruction: Instruction, sources: Shapes) -> Shape:
    """The sizes but for those of the last axes."""
    count = len(instruction.axes)
    assert 0 < count <= len(sources[0]), f"{instruction} of {sources}"
    return sources[0][:-count]


def without_last_axis(_: Instruction, sources: Shapes) -> Shape:
    """The sizes but for that of the last axis."""
    return sources[0][:-1]


def of_axes(instruction: Instruction, sources: Shapes) -> Shape:
    """That of the source, which has these axes."""
    (source,) = sources
    assert all(0 <= axis < len(source) for axis in instruction.axes), f"{instruction} of {source}"
    return source


def of_arguments(instruction: Instruction, sources: Shapes) -> Shape:
    """The one that all arguments are broadcast to."""
    assert instruction.constants.count(None) == len(sources), f"{instruction} of {sources}"
    assert broadcast(*sources) == instruction.shape, f"{instruction} of {sources}"
    return instruction.shape


def of_blocks(instruction: Instruction, sources: Shapes) -> Shape:
    """The sizes of the axes that stay of those that blocks go through."""
    shape = instruction.shape
    assert all(len(source) in (0, len(shape)) for source in sources), f"{instruction} of {sources}"
    assert all(broadcast(source, shape) == shape for source in sources), f"{instruction} of {sources}"
    return tuple([size for axis, size in enumerate(shape) if axis not in instruction.axes])


def of_product(_: Instruction, sources: Shapes) -> Shape:
    """The one that both are broadcast to."""
    return broadcast(*sources)


def of_dot(_: Instruction, sources: Shapes) -> Shape:
    """The sizes of both but for the axis that is summed over."""
    left, right = sources
    assert {len(left), len(right)} <= {1, 2} and left[-1] == right[0], f"dot of {sources}"
    return left[:-1] + right[1:]


def of_vecdot(_: Instruction, sources: Shapes) -> Shape:
    """The sizes of both but for the last axis, broadcast."""
    left, right = sources
    assert left[-1] == right[-1], f"vecdot of {sources}"
    return broadcast(left[:-1], right[:-1])


def of_matmul(_: Instruction, sources: Shapes) -> Shape:
    """Rows and columns behind the sizes of the others, broadcast."""
    left, right = sources
    assert left[-1] == right[-2], f"matmul of {sources}"
    return (*broadcast(left[:-2], right[:-2]), left[-2], right[-1])


def broadcast(*shapes: Shape) -> Shape:
    """The shape that shapes broadcast to, as NumPy has it."""
    ndim = max(map(len, shapes), default=0)
    padded = [(1,) * (ndim - len(shape)) + shape for shape in shapes]
    result = []
    for sizes in zip(*padded, strict=True):
        size = next((size for size in sizes if size != 1), 1)
        assert all(other in (1, size) for other in sizes), f"{shapes} do not broadcast"
        result.append(size)
    return tuple(result)
