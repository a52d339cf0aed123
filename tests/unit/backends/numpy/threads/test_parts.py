"""Along which axis a call is divided, and into what, for made-up times."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from nameexpr.backends.numpy.special import LONG
from nameexpr.backends.numpy.threads.parts import RUN, layout_of, parted
from nameexpr.compiler.ir.normalising import BLOCK
from nameexpr.compiler.ir.program import Instruction, Shape
from nameexpr.compiler.ir.strides import row_major_strides
from nameexpr.compiler.memory.arrays import Array


def array(shape: Shape, dtype: str = "float64", order: Sequence[int] | None = None) -> Array:
    strides = row_major_strides(shape)
    if order is not None:
        moved = row_major_strides(tuple(shape[axis] for axis in order))
        strides = tuple(moved[order.index(axis)] for axis in range(len(shape)))
    return Array(shape, strides, dtype, 8)


def divided(
    instruction: Instruction, sources: Sequence[Array], result: Array, parts: int = 10
) -> tuple[int, int, tuple[int | None, ...] | None]:
    layout = layout_of(result.shape, result.strides)
    assert layout is not None
    return parted(instruction, sources, result, layout, parts, 2)


EXP = Instruction("pointwise", (0,), dtype="float64", function="exp", constants=(None,))
ADD = Instruction("pointwise", (0, 1), dtype="float64", function="add", constants=(None, None))


def test_the_first_axis_in_memory_that_has_enough_parts_is_cut() -> None:
    x = array((30, 40))
    assert divided(EXP, [x], x) == (0, 3, (0,))
    turned = array((30, 40), order=(1, 0))
    assert divided(EXP, [turned], turned) == (1, 4, (1,))
    few = array((3, 40, 5000))
    assert divided(EXP, [few], few) == (1, 4, (1,))


def test_parts_of_several_runs_have_long_ones() -> None:
    for columns, expected in ((50, (0, 1, (0,))), (RUN // 8, (1, 10, (1,))), (RUN // 4, (1, 4, (1,)))):
        few = array((3, 40, columns))
        assert divided(EXP, [few], few) == expected
    for rows, expected in ((2, (0, 1, (0,))), (1, (1, 200, (1,)))):
        wide = array((rows, 2000))
        assert divided(EXP, [wide], wide) == expected


def test_what_is_broadcast_is_read_as_a_whole() -> None:
    result = array((30, 40))
    assert divided(ADD, [result, array((40,))], result) == (0, 3, (0, None))
    assert divided(ADD, [array((30, 1)), array((1, 40))], result) == (0, 3, (0, None))


def test_a_part_of_other_arrays_has_at_least_two_indices_and_so_has_the_last() -> None:
    x = array((33, 40), order=(1, 0))
    assert divided(EXP, [x], x, 1000) == (1, 2, (1,))
    odd = array((33, 41), order=(1, 0))
    assert divided(EXP, [odd], odd, 1000) == (1, 3, (1,))
    seven = array((2, 7), order=(1, 0))
    assert divided(EXP, [seven], seven, 4) == (1, 4, (1,))  # not 3, which would leave one
    rows = array((33, 41))
    assert divided(EXP, [rows], rows, 1000) == (0, 1, (0,))


@pytest.mark.parametrize(("axis", "expected"), [(0, 1), (1, 0)])
def test_reduced_axes_are_not_cut(axis: int, expected: int) -> None:
    x, result = array((50, 50)), array((50,))
    sum_of = Instruction("sum", (0,), axes=(axis,))
    assert divided(sum_of, [x], result) == (0, 5, (expected,))
    cumsum = Instruction("along_axes", (0,), axes=(axis,), function="cumsum", dtype="float64")
    wide = array((50, 50 * RUN))
    assert divided(cumsum, [wide], wide) == (expected, (5, 5 * RUN)[expected], (expected,))


def test_numbers_that_are_cast_while_they_are_added_are_not_divided() -> None:
    sum_of = Instruction("sum", (0,), axes=(1,))
    x, result = array((50, 50), "float32"), array((50,))
    assert divided(sum_of, [x], result)[2] is None
    integers, sums = array((50, 50), "int32"), array((50,), "int64")
    assert divided(sum_of, [integers], sums) == (0, 5, (0,))
    einsum = Instruction("einsum", (0, 1), letters=((0, 1), (0, 1), (0,)))
    assert divided(einsum, [x, array((50, 50))], result)[2] is None
    assert divided(einsum, [array((50, 50))] * 2, result) == (0, 5, (0, 0))


def test_blocks_that_are_normalised_together_are_not_cut() -> None:
    softmax = Instruction("along_axes", (0,), axes=(1,), function="softmax", dtype="float64")
    x = array((100, BLOCK // 8, 4))
    axis, step, cuts = divided(softmax, [x], x)
    assert (axis, cuts) == (0, (0,))
    assert step % 2 == 0
    turned = array((BLOCK // 8, 4, 100), order=(2, 0, 1))
    axis, step, cuts = divided(softmax._replace(axes=(0,)), [turned], turned)
    assert (axis, cuts) == (2, (2,))
    assert step % 2 == 0
    across = array((100, BLOCK // 4))
    assert divided(softmax._replace(axes=(0,)), [across], across)[2] is None


def test_only_batches_of_matrices_are_divided() -> None:
    product = Instruction("matmul", (0, 1))
    assert divided(product, [array((20, 5, 6)), array((6, 7))], array((20, 5, 7))) == (0, 2, (0, None))
    assert divided(product, [array((50, 60)), array((60, 70))], array((50, 70)))[2] is None


def test_parts_of_error_functions_are_long_enough_for_the_algorithm_of_the_whole() -> None:
    gelu = EXP._replace(function="gelu")
    for rows in (3300, 6583, 8000):
        axis, step, _ = divided(gelu, [array((rows, 40))], array((rows, 40)))
        assert axis == 0
        assert 1639 <= step < rows
        assert rows % step == 0 or rows % step * 40 >= 8 * LONG


def test_other_layouts_and_errors_of_all_elements_are_left_alone() -> None:
    x = array((40, 40), order=(1, 0))
    clip = EXP._replace(function="clip")
    assert divided(clip, [x], x)[2] is None
    assert divided(clip, [array((800, 40))], array((800, 40)))[2] == (0,)
    whole = EXP._replace(function="to_int")
    assert divided(whole, [array((40, 40))], array((40, 40)))[2] is None
    assert layout_of((4, 5), (10, 2)) is None


def test_what_is_added_in_an_order_of_its_own_is_not_divided() -> None:
    x, result = array((50, 50)), array((50,))
    for function, expected in (("max", (0,)), ("mean", None), ("var", None), ("median", None)):
        reduced = Instruction("reduce", (0,), axes=(1,), function=function)
        assert divided(reduced, [x], result)[2] == expected


def test_diagonals_copies_of_rows_and_bytes_in_another_order_are_not_divided() -> None:
    cube, matrix = array((50, 50, 5 * RUN)), array((50, 5 * RUN))
    diagonal = Instruction("einsum", (0, 1), letters=((0, 0, 1), (0, 1), (0, 1)))
    axis, _, cuts = divided(diagonal, [cube, matrix], matrix)
    assert (axis, cuts) == (1, (2, 1))  # not axis 0, that of the diagonal
    row_major = Instruction("copy", (0,), function="row_major")
    assert divided(row_major, [array((50, 50))], array((50, 50)))[2] is None
    swapped = Array((50, 50), row_major_strides((50, 50)), "float64", 8, is_swapped=True)
    assert divided(EXP, [swapped], array((50, 50)))[2] is None
