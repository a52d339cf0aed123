"""A checker for programs: derives the shape of every value again, and refuses what could not run.

It runs after lowering in the tests and under NAMEEXPR_VERIFY=1; the shapes also serve to predict memory.
"""

from __future__ import annotations

from math import prod

from nameexpr.compiler.ir.loops import Looped, Sliced
from nameexpr.compiler.ir.program import (
    AlongAxes,
    Apply,
    Arange,
    AsComplex,
    AsReal,
    Cast,
    Constant,
    Copy,
    Diagonal,
    Divide,
    Dot,
    Einsum,
    Embed,
    Full,
    Fused,
    Instruction,
    IntegerMatmul,
    Matmul,
    Multiply,
    Ones,
    Pointwise,
    Program,
    Reduce,
    Repeat,
    Reshape,
    Slices,
    Sum,
    Transpose,
    Vecdot,
    sources_of,
)

Shape = tuple[int, ...]


def shapes_of(program: Program) -> tuple[Shape, ...]:
    """Return the shape of every value, operands first.

    Raises
    ------
    AssertionError
        If an instruction reads a value that is not there yet, or shapes that do not fit. That is a defect of
        the compiler, never of a text.
    """
    shapes = list(program.operands)
    for instruction in program.instructions:
        sources = sources_of(instruction)
        assert all(0 <= source < len(shapes) for source in sources), (
            f"{instruction} reads a value that is not there"
        )
        shapes.append(_shape(instruction, [shapes[source] for source in sources]))
    assert all(0 <= result < len(shapes) for result in program.outputs), "a result is no value"
    return tuple(shapes)


def _shape(instruction: Instruction, sources: list[Shape]) -> Shape:
    match instruction:
        case Cast() | Copy() | Divide():
            return sources[0]
        case Reshape() | Transpose() | AsReal() | AsComplex() | Diagonal() | Repeat() | Embed():
            return _moved(instruction, sources[0])
        case Full(shape) | Ones(shape):
            return shape
        case Constant() | Arange() | Pointwise() | AlongAxes() | Fused():
            return _formula_shape(instruction, sources)
        case Sliced():
            return _sliced(instruction, sources)
        case Looped():
            return _looped(instruction, sources)
        case Sum() | Slices() | Reduce() | Apply():
            return _reduced(instruction, sources[0])
        case _:
            return _product(instruction, sources)


def _moved(
    instruction: Reshape | Transpose | AsReal | AsComplex | Diagonal | Repeat | Embed, source: Shape
) -> Shape:
    match instruction:
        case Reshape(_, shape):
            assert prod(shape) == prod(source), f"{instruction} of {source}"
            return shape
        case Transpose(_, axes):
            assert sorted(axes) == list(range(len(source))), f"{instruction} of {source}"
            return tuple(source[axis] for axis in axes)
        case AsReal():
            return (*source, 2)
        case AsComplex():
            assert source[-1:] == (2,), f"{instruction} of {source}"
            return source[:-1]
        case Diagonal(_, letters):
            return _by_letters([(letters, source)], tuple(dict.fromkeys(letters)))
        case Repeat(_, shape):
            assert broadcast(source, shape) == shape, f"{instruction} of {source}"
            return shape
        case Embed(_, shape, letters):
            inner = _by_letters([(letters, shape)], tuple(dict.fromkeys(letters)))
            assert broadcast(source, inner) == inner, f"{instruction} of {source}"
            return shape


def _formula_shape(
    instruction: Constant | Arange | Pointwise | AlongAxes | Fused, sources: list[Shape]
) -> Shape:
    match instruction:
        case Constant():
            return ()
        case Arange(size):
            return (size,)
        case Pointwise(_, _, constants, shape):
            assert constants.count(None) == len(sources), f"{instruction} of {sources}"
            made: Shape = ()
            for source in sources:
                made = broadcast(made, source)
            assert made == shape, f"{instruction} of {sources}"
            return shape
        case AlongAxes(_, _, axes):
            assert all(0 <= axis < len(sources[0]) for axis in axes), f"{instruction} of {sources[0]}"
            return sources[0]
        case Fused(_, shape, _, _, _, _, reduced):
            assert all(len(source) in (0, len(shape)) for source in sources), f"{instruction} of {sources}"
            assert all(broadcast(source, shape) == shape for source in sources), f"{instruction} of {sources}"
            return tuple(size for axis, size in enumerate(shape) if axis not in reduced)


def _sliced(instruction: Sliced, sources: list[Shape]) -> Shape:
    """Check the body by itself, and that its operands are the parts of the sources."""
    counts, body = instruction.counts, instruction.body
    depth = len(counts)
    for source, cut, part in zip(sources, instruction.cuts, body.operands, strict=True):
        assert 0 <= cut <= min(depth, len(source)), f"{source} has no slices over {counts}"
        assert part == source[cut:], f"part {part} of {source}"
        looped = zip(source[:cut], counts[depth - cut :], strict=True)
        assert all(size in (1, most) for size, most in looped), f"{source} has no slices over {counts}"
    shape = (*counts, *shapes_of(body)[body.result])
    assert sorted(instruction.layout) == list(range(len(shape))), f"{instruction.layout} of {shape}"
    return shape


def _looped(instruction: Looped, sources: list[Shape]) -> Shape:
    """Check the bodies by themselves, and that their operands are the blocks of the sources."""
    place, size, block = instruction.place, instruction.size, instruction.block
    blocks = (block, size % block)[: len(instruction.bodies)]
    assert 0 < block < size and (instruction.tail is not None) == (size % block > 0), f"{block} of {size}"
    shapes = set()
    for body, length in zip(instruction.bodies, blocks, strict=True):
        for source, axis, part in zip(sources, instruction.axes, body.operands, strict=True):
            assert axis is None or source[axis] == size, f"{source} has no {size} indices along {axis}"
            cut = tuple(length if number == axis else one for number, one in enumerate(source))
            assert part == cut, f"part {part} of {source}"
        made = shapes_of(body)[body.result]
        assert place is None or made[place] == length, f"{made} is no block of {length}"
        shapes.add(made if place is None else (*made[:place], size, *made[place + 1 :]))
    assert len(shapes) == 1, f"blocks give {shapes}"
    return shapes.pop()


def _reduced(instruction: Sum | Slices | Reduce | Apply, source: Shape) -> Shape:
    match instruction:
        case Sum(_, axes) | Slices(_, _, axes):
            assert axes and all(0 <= axis < len(source) for axis in axes), f"{instruction} of {source}"
            return tuple(size for axis, size in enumerate(source) if axis not in axes)
        case Reduce(_, _, count):
            assert 0 < count <= len(source), f"{instruction} of {source}"
            return source[:-count]
        case Apply():
            return source[:-1]


def _product(instruction: Instruction, sources: list[Shape]) -> Shape:
    match instruction:
        case Multiply():
            return broadcast(*sources)
        case Dot():
            left, right = sources
            assert {len(left), len(right)} <= {1, 2} and left[-1] == right[0], f"dot of {sources}"
            return left[:-1] + right[1:]
        case Vecdot():
            left, right = sources
            assert left[-1] == right[-1], f"vecdot of {sources}"
            return broadcast(left[:-1], right[:-1])
        case Matmul() | IntegerMatmul():
            left, right = sources
            assert left[-1] == right[-2], f"matmul of {sources}"
            return (*broadcast(left[:-2], right[:-2]), left[-2], right[-1])
        case Einsum(_, letters, result):
            return _by_letters(list(zip(letters, sources, strict=True)), result)
    raise AssertionError(f"no rule for {instruction}")


def _by_letters(operands: list[tuple[tuple[int, ...], Shape]], result: tuple[int, ...]) -> Shape:
    sizes: dict[int, int] = {}
    for letters, shape in operands:
        assert len(letters) == len(shape), f"{letters} for {shape}"
        for letter, size in zip(letters, shape, strict=True):
            assert sizes.setdefault(letter, size) == size, f"axis {letter} has two sizes in {operands}"
    return tuple(sizes[letter] for letter in result)


def broadcast(left: Shape, right: Shape) -> Shape:
    """Return the shape that two shapes broadcast to, as NumPy has it."""
    ndim = max(len(left), len(right))
    left, right = (1,) * (ndim - len(left)) + left, (1,) * (ndim - len(right)) + right
    for one, other in zip(left, right, strict=True):
        assert one == other or 1 in (one, other), f"{left} does not broadcast with {right}"
    return tuple(other if one == 1 else one for one, other in zip(left, right, strict=True))
