"""What the cost of a call depends on: kernels for small matrices, cache lines, blocks of an inner product."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from nameexpr.backends.numpy.costs import GENERIC
from nameexpr.backends.numpy.costs.calls import NumpyCosts
from nameexpr.records import replace

costs = NumpyCosts(GENERIC)
direct = NumpyCosts(replace(GENERIC, direct_product=100**3))
SIZES = {"a": 64, "b": 64, "c": 64}
STEPS = {"a": 4096, "b": 64, "c": 1}


def product(costs: NumpyCosts, *sizes: int, dtype: str = "float64", is_turned: bool = False) -> float:
    return costs.product_cost(1, *sizes, dtype, is_by_dots=False, is_turned=is_turned)


@pytest.mark.parametrize("sizes", [(8, 8, 8), (100, 100, 100)])
def test_small_matrices_are_not_packed_where_blas_has_kernels_for_them(sizes: tuple[int, int, int]) -> None:
    assert product(direct, *sizes) < product(costs, *sizes)
    assert product(direct, *sizes, dtype="complex128") == product(costs, *sizes, dtype="complex128")


def test_large_matrices_are_packed_by_every_blas() -> None:
    assert product(direct, 101, 100, 100) == product(costs, 101, 100, 100)


@pytest.mark.parametrize(
    ("sizes", "is_direct"), [((8, 64, 8), True), ((8, 16, 8), False), ((64, 64, 64), False)]
)
def test_a_turned_matrix_is_read_in_place_if_the_result_is_small(
    sizes: tuple[int, int, int], is_direct: bool
) -> None:
    assert (product(direct, *sizes, is_turned=True) < product(costs, *sizes, is_turned=True)) is is_direct


def test_what_is_left_of_the_blocks_of_an_inner_product_takes_longer() -> None:
    assert costs.vecdot_cost(100, 31, "float64") > costs.vecdot_cost(100, 32, "float64")
    assert costs.vecdot_cost(100, 31, "float32") > costs.vecdot_cost(100, 32, "float32")


def loop(left: dict[str, int], right: dict[str, int], result: str, dtype: str = "float64") -> float:
    sizes = dict.fromkeys("ab", 100)
    return costs.loop_cost(sizes, [left, right], list(result), dtype)


def test_the_loop_takes_elements_of_any_size_one_by_one_unless_they_are_adjacent() -> None:
    rows, columns = {"a": 100, "b": 1}, {"b": 100, "a": 1}
    assert loop(rows, rows, "", "float32") < loop(rows, rows, "")
    assert loop(rows, columns, "", "float32") == pytest.approx(loop(rows, columns, ""), rel=0.02)


def test_a_loop_that_adds_one_operand_up_is_faster_than_one_that_multiplies_two() -> None:
    rows = {"a": 100, "b": 1}
    assert loop(rows, {"a": 1}, "a") < loop(rows, rows, "a")


def test_a_copy_takes_longer_if_cache_lines_are_read_again() -> None:
    """Copying "c a b" reads 4,096 lines between two elements of one; "a c b" reads 64."""
    again, once = (costs.copy_cost(SIZES, STEPS, order, "float64") for order in ("cab", "acb"))
    assert again > 1.3 * once


def test_labels_along_which_nothing_moves_read_no_lines() -> None:
    steps = {"a": 0, "b": 64, "c": 1}
    copies = [costs.copy_cost(SIZES, steps, order, "float64") for order in ("cab", "acb")]
    assert copies[0] == copies[1]


def test_bytes_that_stay_in_the_second_cache_are_read_without_extra_cost() -> None:
    assert costs.stream_cost(GENERIC.second_cache) == 0
    assert costs.stream_cost(2 * GENERIC.second_cache) == GENERIC.second_cache * GENERIC.streamed_byte


def test_blas_takes_longer_to_start_inner_products_of_complex_numbers() -> None:
    assert product(costs, 1, 8, 1, dtype="complex64") > product(costs, 1, 8, 1, dtype="float64") + 5


def test_a_matrix_that_is_read_against_its_layout_is_slower_to_multiply_with_a_vector() -> None:
    cells, steps = 1 << 18, (8, 1 << 15)
    swept = costs.read_cost(cells, steps, "float64", is_swept=True)
    assert swept > 1.5 * costs.read_cost(cells, steps, "float64")


def test_tiny_products_of_complex_numbers_start_sooner_than_a_fit_to_real_ones_tells() -> None:
    """With SkylakeX kernels 9,000 products of 3x3 and 3x6 take 0.5 ms, and 27,000 of a row 0.8 ms."""
    slow = NumpyCosts(replace(GENERIC, gemm=65.0))
    real, complex_ = (
        slow.product_cost(9000, 3, 3, 6, one, is_by_dots=False) for one in ("float64", "complex128")
    )
    assert complex_ < 9000 * 80 < real


TABLE = {"a": 300, "b": 200}
ROWS, COLUMNS = {"a": 200, "b": 1}, {"a": 1, "b": 300}
NEAR = {"a": 30, "b": 20}, {"a": 20, "b": 1}, {"a": 1, "b": 30}
CUBE = {"a": 5, "b": 30, "c": 20}, [{"a": 600, "b": 20, "c": 1}, {"b": 1}]
Cost = Callable[[NumpyCosts], float]


def products(
    count: int, rows: int, columns: int, dtype: str = "float64", *, is_by_dots: bool = False
) -> Cost:
    return lambda costs: costs.product_cost(count, rows, 70, columns, dtype, is_by_dots=is_by_dots)


def by_loop(operands: Sequence[Mapping[str, int]], kept: str, sizes: Mapping[str, int] = TABLE) -> Cost:
    return lambda costs: costs.loop_cost(sizes, operands, list(kept), "float64")


UNITS: Sequence[tuple[str, Cost, float]] = [
    ("copy_run", lambda costs: costs.copy_cost(TABLE, ROWS, "ab", "float64"), 1),
    ("copy_run", lambda costs: costs.copy_cost(TABLE, {"a": 400, "b": 1}, "ab", "float64"), 300),
    ("copy_run", lambda costs: costs.copy_cost(TABLE, ROWS, "ba", "float64"), 200),
    ("copy_cell", lambda costs: costs.copy_cost(TABLE, ROWS, "ab", "float32"), 30_000),
    ("strided_cell", lambda costs: costs.copy_cost(TABLE, ROWS, "ab", "float64"), 0),
    ("strided_cell", lambda costs: costs.copy_cost(TABLE, ROWS, "ba", "float64"), 60_000),
    ("spilled_byte", lambda costs: costs.spill_cost(GENERIC.second_cache), 0),
    ("spilled_byte", lambda costs: costs.spill_cost(GENERIC.second_cache + 100), 100),
    ("dot_call", products(1, 60, 80), 1),
    ("matmul_call", products(1, 60, 80), 0),
    ("matmul_call", products(2, 60, 80), 1),
    ("gemm", products(9, 60, 80), 9),
    ("packed_cell", products(9, 60, 80), 9 * 70 * (60 + 80)),
    ("result_cell", products(9, 60, 80), 9 * 60 * 80),
    ("result_cell", products(9, 60, 80, "float32"), 9 * 60 * 80 / 2),
    ("streamed_cell", products(1, 60, 1), 60 * 70),
    ("vector_cell", products(1, 60, 1, is_by_dots=True), 60),
    ("vector_cell", products(1, 60, 1), 70),
    ("left_cell", lambda costs: costs.vecdot_cost(60, 37, "float64"), 60 * 5),
    ("left_cell", lambda costs: costs.vecdot_cost(60, 40, "float32"), 60 * 8),
    ("loop_both", by_loop([ROWS, ROWS], "ab"), 60_000),
    ("loop_axpy", by_loop([ROWS, {"a": 1}], "ab"), 60_000),
    ("loop_dot", by_loop([ROWS, ROWS], ""), 60_000),
    ("loop_sum", by_loop([ROWS], "a"), 60_000),
    ("loop_strided", by_loop([ROWS, COLUMNS], "ab"), 60_000),
    ("loop_gather", by_loop([ROWS, COLUMNS], ""), 60_000),
    ("loop_run", by_loop([ROWS, ROWS], "ab"), 1),
    ("loop_run", by_loop([ROWS, {"a": 1}], "ab"), 300),
    ("loop_run", by_loop(CUBE[1], "abc", CUBE[0]), 5 * 30),
    ("loop_nest", by_loop(CUBE[1], "abc", CUBE[0]), 5),
    ("far_cell", by_loop([ROWS, COLUMNS], "ab"), 60_000),
    ("far_cell", by_loop(NEAR[1:], "ab", NEAR[0]), 0),
    ("strided_cell", lambda costs: costs.tiny_cost(9000, 3, 3, 3, 18, "float64"), 18 * 9000),
    ("sum_run", lambda costs: costs.sum_cost(TABLE, ROWS, "float64"), 300),
    ("sum_run", lambda costs: costs.maximum_cost(TABLE, ROWS, "float64"), 2 * 300),
    ("reduce_call", lambda costs: costs.maximum_cost(TABLE, ROWS, "float64"), 1),
    ("slice_near", lambda costs: costs.slices_cost(4, 100, "float64", is_near=True), 300),
    ("slice_near", lambda costs: costs.slices_cost(4, 100, "float64", is_near=False), 0),
    ("slice_far", lambda costs: costs.slices_cost(4, 100, "float32", is_near=False), 150),
]  # fmt: skip
"""A figure of the profile, a call, and how often the call takes that time."""


@pytest.mark.parametrize("place", range(len(UNITS)), ids=[f"{at}-{row[0]}" for at, row in enumerate(UNITS)])
def test_a_call_takes_as_much_of_a_figure_as_it_has_of_what_it_is_the_time_of(place: int) -> None:
    figure, cost, units = UNITS[place]
    more = replace(GENERIC, **{figure: getattr(GENERIC, figure) + 1})
    assert cost(NumpyCosts(more)) - cost(costs) == pytest.approx(units, abs=1e-3)
