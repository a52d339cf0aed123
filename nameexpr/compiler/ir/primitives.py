"""The primitives: one row for each, with what is known of it, and what follows for programs.

What NumPy's calls for them take, in memory and time, and how they are written, stands in tables of the same
names (`nameexpr.compiler.memory`, the backend's costs and code). To add a primitive, add its name in
`nameexpr.compiler.ir.program`, and a row to each of these tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from nameexpr.compiler.ir import shapes, strides
from nameexpr.compiler.ir.layouts import OperandLayout, layouts_or_default
from nameexpr.compiler.ir.program import Instruction, Primitive, Program, Shape
from nameexpr.compiler.ir.shapes import Shapes
from nameexpr.compiler.ir.strides import Sources, Strides, row_major_strides
from nameexpr.records import record

Cuts = tuple[int, ...] | None
"""How many leading axes of each source are cut for a slice; None where there are no slices."""


def shapes_of(program: Program) -> tuple[Shape, ...]:
    """The shape of every value, operands first.

    Raises
    ------
    AssertionError
        If an instruction reads a value that is not there yet, or shapes that do not fit. That is a defect of
        the compiler, never of a text.
    """
    found = list(program.operands)
    for instruction in program.instructions:
        assert all(0 <= source < len(found) for source in instruction.sources), (
            f"{instruction} reads a value that is not there"
        )
        rule = PRIMITIVES[instruction.primitive].shape
        found.append(rule(instruction, [found[source] for source in instruction.sources]))
    assert all(0 <= result < len(found) for result in program.outputs), "a result is no value"
    return tuple(found)


def strides_of(program: Program, shapes: Shapes, layouts: Sequence[OperandLayout] = ()) -> list[Strides]:
    """The strides of every value, operands first; those that nothing is known of are row-major."""
    found = [
        row_major_strides(shape) if layout.strides is None else layout.strides
        for layout, shape in zip(layouts_or_default(layouts, program.operands), program.operands, strict=True)
    ]
    for value, instruction in enumerate(program.instructions, len(found)):
        sources = [(shapes[source], found[source]) for source in instruction.sources]
        found.append(PRIMITIVES[instruction.primitive].strides(instruction, sources, shapes[value]))
    return found


def is_view(instruction: Instruction) -> bool:
    """Whether the result may share memory with the source."""
    return PRIMITIVES[instruction.primitive].is_view


def work_of(instruction: Instruction, sources: Shapes, result: Shape) -> int:
    """About how many scalar operations an instruction does; 0 where cells are only moved."""
    return PRIMITIVES[instruction.primitive].work(instruction, sources, result)


def sliceable_axes(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """How many leading axes of each source are cut for a slice, None if there are no slices.

    A slice has one index for each of `depth` leading axes of the result; where an axis has size 1 it is 0. A
    source that is broadcast may have the last of these axes only, or none.
    """
    return PRIMITIVES[instruction.primitive].cuts(instruction, sources, depth)


def slice_instruction(instruction: Instruction, depth: int) -> Instruction:
    """An instruction without its leading axes, of which there are slices."""
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


def _none(_: Instruction, sources: Shapes, result: Shape) -> int:
    return 0


def _each_result(_: Instruction, sources: Shapes, result: Shape) -> int:
    return prod(result)


def _each_cell(_: Instruction, sources: Shapes, result: Shape) -> int:
    return prod(sources[0])


def _matrices(_: Instruction, sources: Shapes, result: Shape) -> int:
    return 2 * prod(result) * sources[0][-1]


def _letters(instruction: Instruction, sources: Shapes, result: Shape) -> int:
    sizes: dict[int, int] = {}
    for letters, shape in zip(instruction.letters, sources, strict=False):
        sizes |= zip(letters, shape, strict=True)
    return len(sources) * prod(sizes.values())


def _each_step(instruction: Instruction, sources: Shapes, result: Shape) -> int:
    return prod(instruction.shape) * max(1, len(instruction.steps))


def _never(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """There are no slices."""
    return None


def _kept_leading(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Where all axes stay as they are, and some are left."""
    return (depth,) if len(sources[0]) > depth else None


def _behind(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Where what goes on along axes goes on behind the leading ones."""
    return (depth,) if len(sources[0]) > depth and _beyond(instruction.axes, depth) else None


def _cut_reduce(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Where more than the leading axes is left."""
    return (depth,) if len(sources[0]) - len(instruction.axes) > depth else None


def _cut_transpose(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Where the leading axes stay where they are."""
    is_kept = len(sources[0]) > depth and instruction.axes[:depth] == tuple(range(depth))
    return (depth,) if is_kept else None


def _cut_reshape(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Where the leading axes stay as they are."""
    (source,) = sources
    return (depth,) if len(source) > depth and instruction.shape[:depth] == source[:depth] else None


def _cut_pointwise(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Where an axis is left; numbers have none."""
    return None if instruction.is_weak else _broadcast(sources, depth, 1)


def _cut_multiply(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Where an axis is left."""
    return _broadcast(sources, depth, 1)


def _cut_matmul(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Where matrices are left."""
    return _broadcast(sources, depth, 2)


def _cut_fused(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Where an axis is left, and none of the leading ones goes away."""
    kept = len(instruction.shape) - len(instruction.axes)
    if kept <= depth or not _beyond(instruction.axes, depth):
        return None
    return tuple([depth if source else 0 for source in sources])


def _cut_einsum(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Where operands begin with letters that the result begins with, and have them once."""
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
    """The cuts of sources that are broadcast from the right, of which `least` axes must be left."""
    rest = max(map(len, sources), default=0) - depth
    return tuple([max(0, len(source) - rest) for source in sources]) if rest >= least else None


def _shared(letters: Shape, leading: Shape) -> int:
    """With how many of the last leading letters an operand begins."""
    depth = len(leading)
    return next(count for count in range(depth, -1, -1) if letters[:count] == leading[depth - count :])


def _loop_work(instruction: Instruction, sources: Shapes, result: Shape) -> int:
    assert instruction.loop is not None
    body = instruction.loop.body
    found = shapes_of(body)
    inside = [
        work_of(inner, [found[source] for source in inner.sources], found[value])
        for value, inner in enumerate(body.instructions, len(body.operands))
    ]
    return instruction.loop.turns * sum(inside)


def _loop_shape(instruction: Instruction, sources: Shapes) -> Shape:
    """Check the bodies by themselves, and that their operands are the parts of the sources."""
    loop = instruction.loop
    assert loop is not None
    if not loop.block:
        return _sliced_shape(instruction, sources)
    (size,), block, place = loop.sizes, loop.block, loop.place
    assert 0 < block < size and (loop.tail is not None) == (size % block > 0), f"{block} of {size}"
    results = set()
    for body, length in zip(loop.bodies, (block, size % block), strict=False):
        for source, (axis,), part in zip(sources, loop.cuts, body.operands, strict=True):
            assert axis is None or source[axis] == size, f"{source} has no {size} indices along {axis}"
            cut = tuple([length if number == axis else other for number, other in enumerate(source)])
            assert part == cut, f"part {part} of {source}"
        made = shapes_of(body)[body.result]
        assert place is None or made[place] == length, f"{made} is no block of {length}"
        results.add(made if place is None else (*made[:place], size, *made[place + 1 :]))
    assert len(results) == 1, f"blocks give {results}"
    return results.pop()


def _sliced_shape(instruction: Instruction, sources: Shapes) -> Shape:
    loop = instruction.loop
    assert loop is not None
    counts, depth = loop.sizes, len(loop.sizes)
    for number, (source, part) in enumerate(zip(sources, loop.body.operands, strict=True)):
        cut = loop.leading(number)
        assert cut <= min(depth, len(source)), f"{source} has no slices over {counts}"
        assert part == source[cut:], f"part {part} of {source}"
        looped = zip(source[:cut], counts[depth - cut :], strict=True)
        assert all(size in (1, most) for size, most in looped), f"{source} has no slices over {counts}"
    shape = (*counts, *shapes_of(loop.body)[loop.body.result])
    assert sorted(loop.layout) == list(range(len(shape))), f"{loop.layout} of {shape}"
    return shape


@record
class PrimitiveRules:
    """What is known of a primitive.

    `shape` and `strides` are those of its result; `is_view` says that it may share memory with its source,
    `work` how many scalar operations it does, `cuts` how many leading axes of each source a slice is of.
    """

    shape: Callable[[Instruction, Shapes], Shape]
    strides: Callable[[Instruction, Sources, Shape], Strides] = strides.row_major
    work: Callable[[Instruction, Shapes, Shape], int] = _none
    cuts: Callable[[Instruction, Shapes, int], Cuts] = _never
    is_view: bool = False


PRIMITIVES: Mapping[Primitive, PrimitiveRules] = {
    "cast": PrimitiveRules(shapes.of_source, strides.of_copy, cuts=_kept_leading),
    "reshape": PrimitiveRules(shapes.reshaped, strides.of_reshape, cuts=_cut_reshape, is_view=True),
    "transpose": PrimitiveRules(shapes.transposed, strides.transposed, cuts=_cut_transpose, is_view=True),
    "diagonal": PrimitiveRules(shapes.by_letters, strides.of_diagonal, is_view=True),
    "as_real": PrimitiveRules(shapes.with_parts, strides.of_parts, is_view=True),
    "as_complex": PrimitiveRules(shapes.without_parts, strides.of_pairs, is_view=True),
    "repeat": PrimitiveRules(shapes.repeated),
    "embed": PrimitiveRules(shapes.embedded),
    "copy": PrimitiveRules(shapes.of_source, cuts=_kept_leading),
    "full": PrimitiveRules(shapes.as_asked),
    "ones": PrimitiveRules(shapes.as_asked),
    "constant": PrimitiveRules(shapes.as_asked),
    "arange": PrimitiveRules(shapes.as_asked),
    "sum": PrimitiveRules(shapes.without_axes, strides.of_sum, _each_cell, _behind),
    "slices": PrimitiveRules(shapes.without_axes, strides.of_slices),
    "reduce": PrimitiveRules(shapes.without_last_axes, strides.of_sum, _each_cell, _cut_reduce),
    "apply": PrimitiveRules(shapes.without_last_axis),
    "divide": PrimitiveRules(shapes.of_source, strides.of_arguments, _each_cell, _kept_leading),
    "multiply": PrimitiveRules(shapes.of_product, strides.of_arguments, _each_result, _cut_multiply),
    "dot": PrimitiveRules(shapes.of_dot, work=_matrices),
    "vecdot": PrimitiveRules(shapes.of_vecdot),
    "matmul": PrimitiveRules(shapes.of_matmul, strides.of_matmul, _matrices, _cut_matmul),
    "integer_matmul": PrimitiveRules(shapes.of_matmul, strides.of_matmul, _matrices, _cut_matmul),
    "einsum": PrimitiveRules(shapes.by_letters, strides.of_einsum, _letters, _cut_einsum),
    "pointwise": PrimitiveRules(shapes.of_arguments, strides.of_pointwise, _each_result, _cut_pointwise),
    "along_axes": PrimitiveRules(shapes.of_axes, strides.along_axes, _each_cell, _behind),
    "fused": PrimitiveRules(shapes.of_blocks, strides.of_blocks, _each_step, _cut_fused),
    "loop": PrimitiveRules(_loop_shape, strides.of_loop, _loop_work),
}

WORKING: frozenset[Primitive] = frozenset(
    {"dot", "vecdot", "matmul", "integer_matmul", "multiply", "einsum", "sum", "slices"}
)
"""Primitives that do the work of a step of a plan; the step's other instructions only prepare it."""
