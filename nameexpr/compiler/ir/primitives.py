"""The primitives: one row for each with its properties, and the properties of programs that follow.

The memory and time of their calls, and the code, are in tables of the same names (`nameexpr.compiler.memory`,
the backend's costs and code). To add one, add its name in `ir/program.py`, and a row to each table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from nameexpr.compiler.ir import slices, strides
from nameexpr.compiler.ir.layouts import OperandLayout, layouts_or_default
from nameexpr.compiler.ir.program import Instruction, Primitive, Program, Shape
from nameexpr.compiler.ir.slices import Cuts, Shapes
from nameexpr.compiler.ir.strides import Sources, Strides, broadcast, row_major_strides
from nameexpr.records import record


def shapes_of(program: Program) -> tuple[Shape, ...]:
    """Return the shape of every value, operands first.

    An `AssertionError`, raised if an instruction reads a value that does not exist yet or shapes do not fit,
    is a defect of the compiler, never of a text.
    """
    found = list(program.operands)
    for instruction in program.instructions:
        sources = instruction.sources
        assert not sources or 0 <= min(sources) <= max(sources) < len(found), f"{instruction} reads no value"
        rule = PRIMITIVES[instruction.primitive].shape
        found.append(rule(instruction, [found[source] for source in sources]))
    return tuple(found)


def strides_of(program: Program, shapes: Shapes, layouts: Sequence[OperandLayout] = ()) -> list[Strides]:
    """Return the strides of every value, operands first; unknown ones are assumed to be row-major."""
    found = [
        row_major_strides(shape) if layout.strides is None else layout.strides
        for layout, shape in zip(layouts_or_default(layouts, program.operands), program.operands, strict=True)
    ]
    for value, instruction in enumerate(program.instructions, len(found)):
        sources = [(shapes[source], found[source]) for source in instruction.sources]
        found.append(PRIMITIVES[instruction.primitive].strides(instruction, sources, shapes[value]))
    return found


def is_view(instruction: Instruction) -> bool:
    """Return whether the result may share memory with the source."""
    return PRIMITIVES[instruction.primitive].is_view


def work_of(instruction: Instruction, sources: Shapes, result: Shape) -> int:
    """Return about how many scalar operations an instruction performs; 0 if elements are only moved."""
    return PRIMITIVES[instruction.primitive].work(instruction, sources, result)


def sliceable_axes(instruction: Instruction, sources: Shapes, depth: int) -> Cuts:
    """Return how many leading axes of each source are cut for a slice, None if there are no slices."""
    return PRIMITIVES[instruction.primitive].cuts(instruction, sources, depth)


def _of_source(_: Instruction, sources: Shapes) -> Shape:
    return sources[0]


def _as_asked(instruction: Instruction, _: Shapes) -> Shape:
    return instruction.shape


def _reshaped(instruction: Instruction, sources: Shapes) -> Shape:
    assert prod(instruction.shape) == prod(sources[0]), f"{instruction} of {sources}"
    return instruction.shape


def _transposed(instruction: Instruction, sources: Shapes) -> Shape:
    assert sorted(instruction.axes) == list(range(len(sources[0]))), f"{instruction} of {sources}"
    return tuple([sources[0][axis] for axis in instruction.axes])


def _without_parts(instruction: Instruction, sources: Shapes) -> Shape:
    assert sources[0][-1:] == (2,), f"{instruction} of {sources}"
    return sources[0][:-1]


def _repeated(instruction: Instruction, sources: Shapes) -> Shape:
    assert broadcast(sources[0], instruction.shape) == instruction.shape, f"{instruction} of {sources}"
    return instruction.shape


def _embedded(instruction: Instruction, sources: Shapes) -> Shape:
    inner, letters = instruction.letters
    diagonal = _sizes_of(inner, [letters], [instruction.shape])
    assert broadcast(sources[0], diagonal) == diagonal, f"{instruction} of {sources}"
    return instruction.shape


def _joined(instruction: Instruction, sources: Shapes) -> Shape:
    blocks, shape = iter(sources), instruction.shape
    for piece, number in zip(instruction.pieces, instruction.constants, strict=True):
        assert piece.holds(next(blocks) if number is None else (), shape), f"{piece} of {shape}"
    return shape


def _by_letters(instruction: Instruction, sources: Shapes) -> Shape:
    return _sizes_of(instruction.letters[-1], instruction.letters[:-1], sources)


def _sizes_of(wanted: Shape, letters: Sequence[Shape], shapes: Shapes) -> Shape:
    sizes: dict[int, int] = {}
    for own, shape in zip(letters, shapes, strict=True):
        for letter, size in zip(own, shape, strict=True):
            assert sizes.setdefault(letter, size) == size, f"axis {letter} has two sizes in {shapes}"
    return tuple([sizes[letter] for letter in wanted])


def _without_axes(instruction: Instruction, sources: Shapes) -> Shape:
    (source,), axes = sources, instruction.axes
    assert axes and 0 <= min(axes) <= max(axes) < len(source), f"{instruction} of {source}"
    return tuple([size for axis, size in enumerate(source) if axis not in axes])


def _without_last_axes(instruction: Instruction, sources: Shapes) -> Shape:
    count = len(instruction.axes) or 1
    assert count <= len(sources[0]), f"{instruction} of {sources}"
    return sources[0][:-count]


def _along_axes(instruction: Instruction, sources: Shapes) -> Shape:
    (source,) = sources
    assert all(0 <= axis < len(source) for axis in instruction.axes), f"{instruction} of {source}"
    return source


def _pointwise(instruction: Instruction, sources: Shapes) -> Shape:
    assert instruction.constants.count(None) == len(sources), f"{instruction} of {sources}"
    assert broadcast(*sources) == instruction.shape, f"{instruction} of {sources}"
    return instruction.shape


def _fused(instruction: Instruction, sources: Shapes) -> Shape:
    shape = instruction.shape
    assert all(len(source) in (0, len(shape)) for source in sources), f"{instruction} of {sources}"
    assert all(broadcast(source, shape) == shape for source in sources), f"{instruction} of {sources}"
    return tuple([size for axis, size in enumerate(shape) if axis not in instruction.axes])


def _dot(_: Instruction, sources: Shapes) -> Shape:
    left, right = sources
    assert {len(left), len(right)} <= {1, 2} and left[-1] == right[0], f"dot of {sources}"
    return left[:-1] + right[1:]


def _vecdot(_: Instruction, sources: Shapes) -> Shape:
    left, right = sources
    assert left[-1] == right[-1], f"vecdot of {sources}"
    return broadcast(left[:-1], right[:-1])


def _matmul(_: Instruction, sources: Shapes) -> Shape:
    left, right = sources
    assert left[-1] == right[-2], f"matmul of {sources}"
    return (*broadcast(left[:-2], right[:-2]), left[-2], right[-1])


def _taken(instruction: Instruction, sources: Shapes) -> Shape:
    """Return the shape of an array read at positions along an axis, or, indexed, along its leading axes."""
    (source, *places), axes = sources, instruction.axes
    if instruction.function:
        assert axes == tuple(range(len(places))), f"{instruction} of {sources}"
        return (*broadcast(*places), *source[len(axes) :])
    (axis,), (place,) = axes, places
    return (*source[:axis], *place, *source[axis + 1 :])


def _tiny_matmul(instruction: Instruction, sources: Shapes) -> Shape:
    assert len(sources[0]) == len(sources[1]) == 3 and sources[0][0] == sources[1][0], f"{sources}"  # noqa: PLR2004
    assert sources[0][2] > 1, f"nothing is added in {sources}"
    return _matmul(instruction, sources)


def _loop_shape(instruction: Instruction, sources: Shapes) -> Shape:
    assert instruction.loop is not None
    made = []
    for body in instruction.loop.bodies:
        shapes = shapes_of(body)
        made.append([shapes[output] for output in body.outputs])
    return slices.of_loop(instruction.loop, sources, made)


# The approximate number of scalar operations of a primitive.


def _each_result(_: Instruction, sources: Shapes, result: Shape) -> int:
    return prod(result)


def _each_cell(_: Instruction, sources: Shapes, result: Shape) -> int:
    return prod(sources[0])


def _multiplied(_: Instruction, sources: Shapes, result: Shape) -> int:
    return 2 * prod(result) * sources[0][-1]


def _all_letters(instruction: Instruction, sources: Shapes, result: Shape) -> int:
    every = dict.fromkeys([letter for letters in instruction.letters for letter in letters])
    return len(sources) * prod(_sizes_of(tuple(every), instruction.letters[:-1], sources))


def _each_step(instruction: Instruction, sources: Shapes, result: Shape) -> int:
    return prod(instruction.shape) * max(1, len(instruction.steps))


def _loop_work(instruction: Instruction, sources: Shapes, result: Shape) -> int:
    assert instruction.loop is not None
    return instruction.loop.turns * _body_work(instruction.loop.body)


def _step_work(instruction: Instruction, sources: Shapes, result: Shape) -> int:
    assert instruction.recurrence is not None
    return instruction.recurrence.length * _body_work(instruction.recurrence.body)


def _body_work(body: Program) -> int:
    found = shapes_of(body)
    values = enumerate(body.instructions, len(body.operands))
    return sum(work_of(one, [found[source] for source in one.sources], found[value]) for value, one in values)


@record
class PrimitiveRules:
    """The properties of a primitive.

    `shape` and `strides` are those of its result; `is_view` means that the result may share memory with its
    source, `work` is the number of scalar operations, `cuts` the number of leading axes of each source that
    are cut for a slice.
    """

    shape: Callable[[Instruction, Shapes], Shape]
    strides: Callable[[Instruction, Sources, Shape], Strides] = strides.row_major
    work: Callable[[Instruction, Shapes, Shape], int] = lambda *_: 0
    cuts: Callable[[Instruction, Shapes, int], Cuts] = slices.never
    is_view: bool = False


PRIMITIVES: Mapping[Primitive, PrimitiveRules] = {
    "cast": PrimitiveRules(_of_source, strides.of_copy, cuts=slices.kept_leading),
    "reshape": PrimitiveRules(_reshaped, strides.of_reshape, cuts=slices.of_reshape, is_view=True),
    "transpose": PrimitiveRules(_transposed, strides.transposed, cuts=slices.of_transpose, is_view=True),
    "diagonal": PrimitiveRules(_by_letters, strides.of_diagonal, is_view=True),
    "window": PrimitiveRules(slices.of_positions, strides.of_window, is_view=True),
    "as_real": PrimitiveRules(lambda _, sources: (*sources[0], 2), strides.of_parts, is_view=True),
    "as_complex": PrimitiveRules(_without_parts, strides.of_pairs, is_view=True),
    "inside": PrimitiveRules(_of_source, strides.of_source, is_view=True),
    "take": PrimitiveRules(_taken),
    "scatter": PrimitiveRules(_as_asked, work=_each_cell),
    "repeat": PrimitiveRules(_repeated),
    "embed": PrimitiveRules(_embedded),
    "concatenate": PrimitiveRules(_joined),
    "copy": PrimitiveRules(_of_source, cuts=slices.kept_leading),
    **dict.fromkeys(("full", "ones", "constant", "arange", "bins"), PrimitiveRules(_as_asked)),
    "sum": PrimitiveRules(_without_axes, strides.of_sum, _each_cell, slices.behind),
    "slices": PrimitiveRules(_without_axes, strides.of_slices),
    "reduce": PrimitiveRules(_without_last_axes, strides.of_sum, _each_cell, slices.of_reduce),
    "window_reduce": PrimitiveRules(slices.of_rolling, strides.of_arguments, _each_cell),
    "apply": PrimitiveRules(_without_last_axes),
    "divide": PrimitiveRules(_of_source, strides.of_pointwise, _each_cell, slices.kept_leading),
    "multiply": PrimitiveRules(
        lambda _, sources: broadcast(*sources), strides.of_arguments, _each_result, slices.of_multiply
    ),
    "dot": PrimitiveRules(_dot, work=_multiplied),
    "vecdot": PrimitiveRules(_vecdot, strides.of_vecdot),
    "matmul": PrimitiveRules(_matmul, strides.of_matmul, _multiplied, slices.of_matmul),
    "tiny_matmul": PrimitiveRules(_tiny_matmul, strides.of_tiny_matmul, _multiplied),
    "integer_matmul": PrimitiveRules(_matmul, strides.of_matmul, _multiplied, slices.of_matmul),
    "einsum": PrimitiveRules(_by_letters, strides.of_einsum, _all_letters, slices.of_einsum),
    "window_multiply": PrimitiveRules(slices.of_products, work=slices.work_of_products),
    "window_weigh": PrimitiveRules(slices.of_products, strides.of_weighed, slices.work_of_products),
    "pointwise": PrimitiveRules(_pointwise, strides.of_pointwise, _each_result, slices.of_pointwise),
    "along_axes": PrimitiveRules(_along_axes, strides.along_axes, _each_cell, slices.behind),
    "fused": PrimitiveRules(_fused, strides.of_blocks, _each_step, slices.of_fused),
    "loop": PrimitiveRules(_loop_shape, strides.of_loop, _loop_work),
    "output": PrimitiveRules(_as_asked),
    "recurrence": PrimitiveRules(slices.of_steps, work=_step_work),
    "item": PrimitiveRules(_as_asked, is_view=True),
}

WORKING: frozenset[Primitive] = frozenset({"dot", "vecdot", "matmul", "tiny_matmul", "integer_matmul",
    "multiply", "einsum", "sum", "slices", "window_multiply", "window_reduce", "window_weigh"})  # fmt: skip
"""Primitives that compute a step of a plan; the step's other instructions only prepare it."""
