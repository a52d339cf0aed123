"""The rules of slices one by one, and programs written by hand that no formula gives so plainly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nameexpr.backends.numpy import formulas
from nameexpr.backends.numpy.codegen.function import compute
from nameexpr.backends.numpy.codegen.statements import write
from nameexpr.backends.numpy.target import TARGET
from nameexpr.compiler.ir.dtypes import WEAK
from nameexpr.compiler.ir.primitives import shapes_of, sliceable_axes
from nameexpr.compiler.ir.program import Instruction, Note, Program
from nameexpr.compiler.ir.slices import slice_instruction
from nameexpr.compiler.schedule.tiling import tile_leading_axes
from nameexpr.records import replace
from oracle.generate import instructions as ir

SHAPE = (2, 3, 4, 5)
FOLDED = ir.pointwise("add", (0, 1), (None, None), SHAPE, WEAK[float])
ADD = ir.pointwise("add", (0, 1), (None, None), SHAPE, "float64")


def fused(*reduced: int) -> Instruction:
    return ir.fused((0, 1), SHAPE, SHAPE, (), (0,), "float64", "sum" if reduced else "", reduced)


RULES: list[tuple[Instruction, list[tuple[int, ...]], int, tuple[int, ...] | None]] = [
    (ir.add_up(0, (2, 3)), [SHAPE], 1, (1,)),
    (ir.add_up(0, (1, 3)), [SHAPE], 2, None),
    (ir.add_up(0, (0,)), [SHAPE], 1, None),
    (ir.reduce(0, "max", 2), [SHAPE], 1, (1,)),
    (ir.reduce(0, "max", 2), [SHAPE], 2, None),  # a slice would be a number
    (ir.along_axes("softmax", 0, (3,)), [SHAPE], 3, (3,)),
    (ir.along_axes("softmax", 0, (1, 3)), [SHAPE], 2, None),
    (ir.transpose(0, (0, 1, 3, 2)), [SHAPE], 2, (2,)),
    (ir.transpose(0, (0, 2, 1, 3)), [SHAPE], 2, None),
    (ir.reshape(0, (2, 3, 20)), [SHAPE], 2, (2,)),
    (ir.reshape(0, (2, 15, 4)), [SHAPE], 2, None),
    (ir.reshape(0, (6, 20)), [SHAPE], 1, None),
    (ir.reshape(0, (2, 3, 1)), [(2, 3)], 2, None),
    (ADD, [SHAPE, SHAPE], 3, (3, 3)),
    (ADD, [SHAPE, (4, 5)], 2, (2, 0)),
    (ADD, [SHAPE, ()], 3, (3, 0)),
    (ADD, [SHAPE, (3, 4, 5)], 2, (2, 1)),  # its first axis is the second of two that are cut
    (ADD, [(4, 5), SHAPE], 3, (1, 3)),
    (ir.einsum((0, 1), ((0, 1, 2), (1, 2)), (0, 1, 2)), [(2, 3, 4), (3, 4)], 2, (2, 1)),
    (FOLDED, [(), ()], 1, None),
    (ir.multiply(0, 1), [(5,), SHAPE], 1, (0, 1)),
    (ir.matmul(0, 1), [(2, 3, 4, 5), (2, 3, 5, 4)], 2, (2, 2)),
    (ir.matmul(0, 1), [(2, 3, 4, 5), (5, 4)], 2, (2, 0)),
    (ir.matmul(0, 1), [(2, 3, 4, 5), (2, 3, 5, 4)], 3, None),  # no matrices would be left
    (ir.dot(0, 1), [(2, 3), (3, 4)], 1, None),
    (ir.apply(0), [SHAPE], 1, None),
    (fused(), [SHAPE, ()], 2, (2, 0)),
    (fused(2), [SHAPE, (1, 3, 1, 5)], 2, (2, 2)),
    (fused(0), [SHAPE, SHAPE], 1, None),
    (fused(2, 3), [SHAPE, SHAPE], 2, None),
    (ir.einsum((0, 1), ((0, 1, 2), (0, 2)), (0, 1)), [(2, 3, 4), (2, 4)], 1, (1, 1)),
    (ir.einsum((0, 1), ((0, 1, 2), (2,)), (0, 1)), [(2, 3, 4), (4,)], 1, (1, 0)),
    (ir.einsum((0, 1), ((0, 1, 2), (2, 0)), (0, 1)), [(2, 3, 4), (4, 2)], 1, None),
]


@pytest.mark.parametrize(("one", "sources", "depth", "expected"), RULES)
def test_as_many_leading_axes_of_a_source_are_cut(
    one: Instruction, sources: list[tuple[int, ...]], depth: int, expected: tuple[int, ...] | None
) -> None:
    assert sliceable_axes(one, sources, depth) == expected


def test_what_is_cut_loses_its_leading_axes() -> None:
    assert slice_instruction(ir.add_up(0, (2, 3)), 2) == ir.add_up(0, (0, 1))
    assert slice_instruction(ir.transpose(0, (0, 1, 3, 2)), 2) == ir.transpose(0, (1, 0))
    assert slice_instruction(ir.reshape(0, (2, 3, 20)), 1) == ir.reshape(0, (3, 20))
    assert slice_instruction(fused(2), 2) == ir.fused(
        (0, 1), (4, 5), (4, 5), (), (0,), "float64", "sum", (0,)
    )
    letters = ((0, 1, 2), (2,))
    assert slice_instruction(ir.einsum((0, 1), letters, (0, 1)), 1) == ir.einsum((0, 1), ((1, 2), (2,)), (1,))


def program_of(operands: list[tuple[int, ...]], *instructions: Instruction) -> Program:
    notes = tuple(Note((), "float64", None) for _ in instructions)
    bare = Program(tuple(operands), instructions, notes, len(operands) + len(instructions) - 1, False)
    labels = [tuple("abcdefgh"[: len(shape)]) for shape in shapes_of(bare)[len(operands) :]]
    notes = tuple(Note(label, "float64", None) for label in labels)
    return Program(bare.operands, instructions, notes, bare.result, depends_on_layout=False)


def run(program: Program) -> Any:
    count = len(program.operands)
    lines = write(compute(program, shapes_of(program)), str)
    source = f"def compute({', '.join(f'a{n}' for n in range(count))}):\n    " + "\n    ".join(lines)
    space: dict[str, Any] = {"np": np, "formulas": formulas}
    exec(source, space)
    rng = np.random.default_rng(1)
    return space["compute"](*(rng.random(shape) for shape in program.operands))


EVERYWHERE = replace(TARGET, tiled_bytes=1, tile_cells=1, cached_cells=8)


def body_kinds(program: Program) -> list[list[str]]:
    found = [one for one in program.instructions if one.loop]
    return [[inner.primitive for inner in one.loop.body.instructions] for one in found]


def check(program: Program) -> Program:
    made = tile_leading_axes(program, shapes_of(program), EVERYWHERE)
    shapes_of(made)
    np.testing.assert_allclose(run(made), run(program), rtol=1e-12)
    return made


def test_a_value_that_slices_share_is_made_once_before_them() -> None:
    program = program_of(
        [(2, 3, 4, 5), (2, 1, 5, 4)],
        ir.pointwise("exp", (1,), (None,), (2, 1, 5, 4), "float64"),
        ir.matmul(0, 2),
        ir.along_axes("softmax", 3, (3,)),
        ir.add_up(4, (3,)),
    )
    made = check(program)
    assert made.instructions[0].primitive == "pointwise"
    assert body_kinds(made) == [["matmul", "along_axes", "sum"]]


def test_a_value_that_is_needed_whole_by_every_slice_stays_whole() -> None:
    program = program_of(
        [(3, 3, 3), (3, 3, 3, 3)],
        ir.pointwise("exp", (0,), (None,), (3, 3, 3), "float64"),
        ir.reshape(2, (3, 3, 3, 1)),
        ir.multiply(1, 2),
        ir.matmul(4, 3),
        ir.add_up(5, (2, 3)),
    )
    made = check(program)
    assert made.instructions[0].primitive == "pointwise"
    assert body_kinds(made) == [["reshape", "multiply", "matmul", "sum"]]


def test_a_result_as_large_as_what_is_saved_is_not_sliced() -> None:
    chain = (
        ir.matmul(0, 1),
        ir.along_axes("softmax", 2, (2,)),
        ir.add_up(3, (0,)),
    )
    program = program_of([(3, 4, 5), (3, 5, 4)], *chain)
    assert tile_leading_axes(program, shapes_of(program), EVERYWHERE) == program


def test_a_sum_over_a_looped_axis_ends_the_region() -> None:
    program = program_of(
        [(3, 4, 5), (3, 5, 4)],
        ir.matmul(0, 1),
        ir.along_axes("softmax", 2, (2,)),
        ir.add_up(3, (2,)),
        ir.add_up(4, (0,)),
    )
    made = check(program)
    assert body_kinds(made) == [["matmul", "along_axes", "sum"]]
    assert made.instructions[-1].primitive == "sum"
