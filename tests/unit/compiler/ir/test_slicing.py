"""The rules of slices one by one, and programs written by hand that no formula gives so plainly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nameexpr.backends.numpy import formulas
from nameexpr.backends.numpy.codegen.program import compute
from nameexpr.backends.numpy.codegen.statements import write
from nameexpr.compiler.ir.loops import Sliced
from nameexpr.compiler.ir.program import (
    AlongAxes,
    Apply,
    Dot,
    Einsum,
    Fused,
    Instruction,
    Matmul,
    Multiply,
    Note,
    Pointwise,
    Program,
    Reduce,
    Reshape,
    Sum,
    Transpose,
)
from nameexpr.compiler.ir.slicing import aligned, cut
from nameexpr.compiler.ir.verify import shapes_of
from nameexpr.compiler.schedule import tiling as slices

SHAPE = (2, 3, 4, 5)
WEAK = Pointwise("add", (0, 1), (None, None), SHAPE, "float64", is_ufunc=True, is_weak=True)
ADD = Pointwise("add", (0, 1), (None, None), SHAPE, "float64", is_ufunc=True)


def fused(*reduced: int) -> Fused:
    return Fused((0, 1), SHAPE, SHAPE, (), (0,), "sum" if reduced else None, reduced, "float64")


RULES: list[tuple[Instruction, list[tuple[int, ...]], int, tuple[int, ...] | None]] = [
    (Sum(0, (2, 3), None), [SHAPE], 1, (1,)),
    (Sum(0, (1, 3), None), [SHAPE], 2, None),
    (Sum(0, (0,), None), [SHAPE], 1, None),
    (Reduce(0, "max", 2), [SHAPE], 1, (1,)),
    (Reduce(0, "max", 2), [SHAPE], 2, None),  # a slice would be a number
    (AlongAxes("softmax", 0, (3,), True), [SHAPE], 3, (3,)),
    (AlongAxes("softmax", 0, (1, 3), True), [SHAPE], 2, None),
    (Transpose(0, (0, 1, 3, 2)), [SHAPE], 2, (2,)),
    (Transpose(0, (0, 2, 1, 3)), [SHAPE], 2, None),
    (Reshape(0, (2, 3, 20)), [SHAPE], 2, (2,)),
    (Reshape(0, (2, 15, 4)), [SHAPE], 2, None),
    (Reshape(0, (6, 20)), [SHAPE], 1, None),
    (Reshape(0, (2, 3, 1)), [(2, 3)], 2, None),
    (ADD, [SHAPE, SHAPE], 3, (3, 3)),
    (ADD, [SHAPE, (4, 5)], 2, (2, 0)),
    (ADD, [SHAPE, ()], 3, (3, 0)),
    (ADD, [SHAPE, (3, 4, 5)], 2, (2, 1)),  # its first axis is the second of two that are cut
    (ADD, [(4, 5), SHAPE], 3, (1, 3)),
    (Einsum((0, 1), ((0, 1, 2), (1, 2)), (0, 1, 2)), [(2, 3, 4), (3, 4)], 2, (2, 1)),
    (WEAK, [(), ()], 1, None),
    (Multiply(0, 1, None), [(5,), SHAPE], 1, (0, 1)),
    (Matmul(0, 1), [(2, 3, 4, 5), (2, 3, 5, 4)], 2, (2, 2)),
    (Matmul(0, 1), [(2, 3, 4, 5), (5, 4)], 2, (2, 0)),
    (Matmul(0, 1), [(2, 3, 4, 5), (2, 3, 5, 4)], 3, None),  # no matrices would be left
    (Dot(0, 1), [(2, 3), (3, 4)], 1, None),
    (Apply(0), [SHAPE], 1, None),
    (fused(), [SHAPE, ()], 2, (2, 0)),
    (fused(2), [SHAPE, (1, 3, 1, 5)], 2, (2, 2)),
    (fused(0), [SHAPE, SHAPE], 1, None),
    (fused(2, 3), [SHAPE, SHAPE], 2, None),
    (Einsum((0, 1), ((0, 1, 2), (0, 2)), (0, 1)), [(2, 3, 4), (2, 4)], 1, (1, 1)),
    (Einsum((0, 1), ((0, 1, 2), (2,)), (0, 1)), [(2, 3, 4), (4,)], 1, (1, 0)),
    (Einsum((0, 1), ((0, 1, 2), (2, 0)), (0, 1)), [(2, 3, 4), (4, 2)], 1, None),
]


@pytest.mark.parametrize(("one", "sources", "depth", "expected"), RULES)
def test_as_many_leading_axes_of_a_source_are_cut(
    one: Instruction, sources: list[tuple[int, ...]], depth: int, expected: tuple[int, ...] | None
) -> None:
    assert aligned(one, sources, depth) == expected


def test_what_is_cut_loses_its_leading_axes() -> None:
    assert cut(Sum(0, (2, 3), None), 2) == Sum(0, (0, 1), None)
    assert cut(Transpose(0, (0, 1, 3, 2)), 2) == Transpose(0, (1, 0))
    assert cut(Reshape(0, (2, 3, 20)), 1) == Reshape(0, (3, 20))
    assert cut(fused(2), 2) == Fused((0, 1), (4, 5), (4, 5), (), (0,), "sum", (0,), "float64")
    letters = ((0, 1, 2), (2,))
    assert cut(Einsum((0, 1), letters, (0, 1)), 1) == Einsum((0, 1), ((1, 2), (2,)), (1,))


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


@pytest.fixture(autouse=True)
def everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "LEAST_BYTES", 1)
    monkeypatch.setattr(slices, "LEAST_CELLS", 1)
    monkeypatch.setattr(slices, "CACHED", 8)


def body_kinds(program: Program) -> list[list[str]]:
    found = [one for one in program.instructions if isinstance(one, Sliced)]
    return [[type(inner).__name__ for inner in one.body.instructions] for one in found]


def check(program: Program) -> Program:
    made = slices.slice_by_slice(program, shapes_of(program))
    shapes_of(made)
    np.testing.assert_allclose(run(made), run(program), rtol=1e-12)
    return made


def test_a_value_that_slices_share_is_made_once_before_them() -> None:
    program = program_of(
        [(2, 3, 4, 5), (2, 1, 5, 4)],
        Pointwise("exp", (1,), (None,), (2, 1, 5, 4), "float64", is_ufunc=True),
        Matmul(0, 2),
        AlongAxes("softmax", 3, (3,), True),
        Sum(4, (3,), None),
    )
    made = check(program)
    assert type(made.instructions[0]) is Pointwise
    assert body_kinds(made) == [["Matmul", "AlongAxes", "Sum"]]


def test_a_value_that_is_needed_whole_by_every_slice_stays_whole() -> None:
    program = program_of(
        [(3, 3, 3), (3, 3, 3, 3)],
        Pointwise("exp", (0,), (None,), (3, 3, 3), "float64", is_ufunc=True),
        Reshape(2, (3, 3, 3, 1)),
        Multiply(1, 2, None),
        Matmul(4, 3),
        Sum(5, (2, 3), None),
    )
    made = check(program)
    assert type(made.instructions[0]) is Pointwise
    assert body_kinds(made) == [["Reshape", "Multiply", "Matmul", "Sum"]]


def test_a_result_as_large_as_what_is_saved_is_not_sliced() -> None:
    chain = (
        Matmul(0, 1),
        AlongAxes("softmax", 2, (2,), True),
        Sum(3, (0,), None),
    )
    program = program_of([(3, 4, 5), (3, 5, 4)], *chain)
    assert slices.slice_by_slice(program, shapes_of(program)) == program


def test_a_sum_over_a_looped_axis_ends_the_region() -> None:
    program = program_of(
        [(3, 4, 5), (3, 5, 4)],
        Matmul(0, 1),
        AlongAxes("softmax", 2, (2,), True),
        Sum(3, (2,), None),
        Sum(4, (0,), None),
    )
    made = check(program)
    assert body_kinds(made) == [["Matmul", "AlongAxes", "Sum"]]
    assert type(made.instructions[-1]) is Sum
