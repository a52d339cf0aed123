"""The primitives: one row for each with its properties, and the properties of programs that follow.

The memory and time of their NumPy calls, and the generated code, are in tables of the same names
(`nameexpr.compiler.memory`, the backend's costs and code). To add a primitive, add its name in
`nameexpr.compiler.ir.program`, and a row to each of these tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from nameexpr.compiler.ir import shapes, strides
from nameexpr.compiler.ir.layouts import OperandLayout, layouts_or_default
from nameexpr.compiler.ir.program import Instruction, Primitive, Program, Shape
from nameexpr.compiler.ir.shapes import Cuts, Shapes
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
    """Return how many leading axes of each source are cut for a slice, None if there are no shapes."""
    return PRIMITIVES[instruction.primitive].cuts(instruction, sources, depth)


# The shape of the result of a primitive; the shapes of its sources are checked.


def _loop_shape(instruction: Instruction, sources: Shapes) -> Shape:
    """Check the bodies as programs, and that their operands are the parts of the sources."""
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
        assert place is None or made[place] == length, f"{made} is not a block of {length}"
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


# The approximate number of scalar operations of a primitive.


def _each_result(_: Instruction, sources: Shapes, result: Shape) -> int:
    return prod(result)


def _each_cell(_: Instruction, sources: Shapes, result: Shape) -> int:
    return prod(sources[0])


def _multiplied(_: Instruction, sources: Shapes, result: Shape) -> int:
    return 2 * prod(result) * sources[0][-1]


def _all_letters(instruction: Instruction, sources: Shapes, result: Shape) -> int:
    every = dict.fromkeys([letter for letters in instruction.letters for letter in letters])
    return len(sources) * prod(shapes.sizes_of(tuple(every), instruction.letters[:-1], sources))


def _each_step(instruction: Instruction, sources: Shapes, result: Shape) -> int:
    return prod(instruction.shape) * max(1, len(instruction.steps))


def _loop_work(instruction: Instruction, sources: Shapes, result: Shape) -> int:
    assert instruction.loop is not None
    return instruction.loop.turns * _body_work(instruction.loop.body)


def _stepped(instruction: Instruction, sources: Shapes) -> Shape:
    """Return the shape of the first array; `item` gives each of them."""
    steps = instruction.recurrence
    assert steps is not None
    own = sources[steps.count :]
    made = shapes_of(steps.body)
    rows = [made[result] for result in steps.body.outputs]
    parts = [source[1:] if cut else source for source, cut in zip(own, steps.cut, strict=True)]
    parts += [rows[array] for array, _ in steps.reads]
    assert list(steps.body.operands) == parts, f"{steps.body.operands} are not {parts}"
    lengths = [source[0] for source, cut in zip(own, steps.cut, strict=True) if cut]
    assert set(lengths) <= {steps.length}, f"{lengths} are not {steps.length} steps"
    return (steps.offset(0) + steps.length, *rows[0])


def _stepped_work(instruction: Instruction, sources: Shapes, result: Shape) -> int:
    assert instruction.recurrence is not None
    return instruction.recurrence.length * _body_work(instruction.recurrence.body)


def _body_work(body: Program) -> int:
    found = shapes_of(body)
    return sum(
        work_of(inner, [found[source] for source in inner.sources], found[value])
        for value, inner in enumerate(body.instructions, len(body.operands))
    )


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
    cuts: Callable[[Instruction, Shapes, int], Cuts] = shapes.never
    is_view: bool = False


PRIMITIVES: Mapping[Primitive, PrimitiveRules] = {
    "cast": PrimitiveRules(shapes.of_source, strides.of_copy, cuts=shapes.kept_leading),
    "reshape": PrimitiveRules(shapes.reshaped, strides.of_reshape, cuts=shapes.of_reshape, is_view=True),
    "transpose": PrimitiveRules(
        shapes.transposed, strides.transposed, cuts=shapes.of_transpose, is_view=True
    ),
    "diagonal": PrimitiveRules(shapes.by_letters, strides.of_diagonal, is_view=True),
    "window": PrimitiveRules(shapes.windowed, strides.of_window, is_view=True),
    "as_real": PrimitiveRules(lambda _, sources: (*sources[0], 2), strides.of_parts, is_view=True),
    "as_complex": PrimitiveRules(shapes.without_parts, strides.of_pairs, is_view=True),
    "repeat": PrimitiveRules(shapes.repeated),
    "embed": PrimitiveRules(shapes.embedded),
    "copy": PrimitiveRules(shapes.of_source, cuts=shapes.kept_leading),
    "full": PrimitiveRules(shapes.as_asked),
    "ones": PrimitiveRules(shapes.as_asked),
    "constant": PrimitiveRules(shapes.as_asked),
    "arange": PrimitiveRules(shapes.as_asked),
    "sum": PrimitiveRules(shapes.without_axes, strides.of_sum, _each_cell, shapes.behind),
    "slices": PrimitiveRules(shapes.without_axes, strides.of_slices),
    "reduce": PrimitiveRules(shapes.without_last_axes, strides.of_sum, _each_cell, shapes.of_reduce),
    "apply": PrimitiveRules(shapes.without_last_axes),
    "divide": PrimitiveRules(shapes.of_source, strides.of_arguments, _each_cell, shapes.kept_leading),
    "multiply": PrimitiveRules(
        lambda _, sources: broadcast(*sources), strides.of_arguments, _each_result, shapes.of_multiply
    ),
    "dot": PrimitiveRules(shapes.dot, work=_multiplied),
    "vecdot": PrimitiveRules(shapes.vecdot),
    "matmul": PrimitiveRules(shapes.matmul, strides.of_matmul, _multiplied, shapes.of_matmul),
    "integer_matmul": PrimitiveRules(shapes.matmul, strides.of_matmul, _multiplied, shapes.of_matmul),
    "einsum": PrimitiveRules(shapes.by_letters, strides.of_einsum, _all_letters, shapes.of_einsum),
    "pointwise": PrimitiveRules(shapes.pointwise, strides.of_pointwise, _each_result, shapes.of_pointwise),
    "along_axes": PrimitiveRules(shapes.along_axes, strides.along_axes, _each_cell, shapes.behind),
    "fused": PrimitiveRules(shapes.fused, strides.of_blocks, _each_step, shapes.of_fused),
    "loop": PrimitiveRules(_loop_shape, strides.of_loop, _loop_work),
    "recurrence": PrimitiveRules(_stepped, strides.row_major, _stepped_work),
    "item": PrimitiveRules(shapes.as_asked, is_view=True),
}

WORKING: frozenset[Primitive] = frozenset(
    {"dot", "vecdot", "matmul", "integer_matmul", "multiply", "einsum", "sum", "slices"}
)
"""Primitives that compute a step of a plan; the step's other instructions only prepare it."""
