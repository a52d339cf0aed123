"""The time to expect: every instruction has one, larger arrays take longer, products agree with `costs`."""

from __future__ import annotations

import os
import subprocess
import sys
from math import isfinite
from typing import Any, get_args

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.backends.numpy.costs import GENERIC
from nameexpr.backends.numpy.costs.calls import NumpyCosts
from nameexpr.backends.numpy.costs.passes import CELLS as TIMED
from nameexpr.backends.numpy.costs.program import CALL, duration, estimate_seconds
from nameexpr.compiler.ir.layouts import OperandLayout
from nameexpr.compiler.ir.pieces import Piece
from nameexpr.compiler.ir.primitives import is_view, shapes_of
from nameexpr.compiler.ir.program import Collected, Instruction, Loop, Note, Primitive, Program, StepLoop
from nameexpr.ops import FUNCTIONS, REDUCTIONS
from nameexpr.records import replace
from oracle.generate import instructions as ir

Shapes = tuple[tuple[int, ...], ...]
costs = NumpyCosts(GENERIC)


def program(one: Instruction, *operands: tuple[int, ...], dtype: str = "float64") -> Program:
    return Program(operands, (one,), (Note((), dtype, None),), len(operands), depends_on_layout=False)


def seconds(one: Instruction, *operands: tuple[int, ...], dtype: str = "float64", given: Any = ()) -> float:
    made = program(one, *operands, dtype=dtype)
    return estimate_seconds(made, shapes_of(made), given or [OperandLayout(dtype)] * len(operands))[0]


def exponential(shape: tuple[int, ...]) -> Instruction:
    return ir.pointwise("exp", (0,), (None,), shape, "float64")


def examples(n: int) -> tuple[tuple[Instruction, Shapes], ...]:
    """One of each class of instructions, on arrays whose sizes grow with n."""
    square = (n, n)
    body = program(exponential(square), square)
    window = (0, 0), ((1, 1, 0), (0, 0, 1))
    step = ir.pointwise("exp", (0,), (None,), (), "float64")
    return (
        (ir.cast(0, "float32"), (square,)),
        (ir.reshape(0, (n * n,)), (square,)),
        (ir.transpose(0, (1, 0)), (square,)),
        (ir.diagonal(0, (0, 0)), (square,)),
        (ir.window(0, (0, 1), ((1, 0), (0, 1)), (n, n - 1)), (square,)),
        (ir.inside(0, n), (square,)),
        (ir.take(0, 1, 0), (square, (n,))),
        (ir.bins(0, square, 4), (square,)),
        (ir.scatter(0, 1, (4, n)), ((n,), square)),
        (ir.as_real(0), (square,)),
        (ir.as_complex(0), ((n, 2),)),
        (ir.repeat(0, (3, n, n)), (square,)),
        (ir.embed(0, square, (0, 0)), ((n,),)),
        (ir.concatenate((0,), (n, n + 2), (Piece((0, 1), square, square),), "float64"), (square,)),
        (ir.copy(0), (square,)),
        (ir.full(square, 0.0, "float64"), ()),
        (ir.ones(square, "float64"), ()),
        (ir.slices(0, "sum", (1,)), ((n, 4),)),
        (ir.window_multiply(0, 1, window, (n - 1, 2, n), 1), (square, (2 * n, 3))),
        (ir.window_weigh(0, 1, window, (n - 1, 2, n), 1), (square, (1, 2, n))),
        (ir.window_reduce(0, "sum", (0,), ((0, 1, 1, 2),), (n - 1, n)), (square,)),
        (ir.add_up(0, (1,)), (square,)),
        (ir.reduce(0, "max", 1), (square,)),
        (ir.apply(0), (square,)),
        (ir.divide(0, 3), (square,)),
        (ir.multiply(0, 1), (square, square)),
        (ir.dot(0, 1), (square, square)),
        (ir.tiny_matmul(0, 1), ((n, 2, 3), (n, 3, 2))),
        (ir.vecdot(0, 1), (square, square)),
        (ir.matmul(0, 1), ((2, n, n), (2, n, n))),
        (ir.integer_matmul(0, 1, "int64"), (square, square)),
        (ir.einsum((0, 1), ((0, 1), (0, 1)), (0,)), (square, square)),
        (ir.constant(1.0), ()),
        (ir.arange(n), ()),
        (exponential(square), (square,)),
        (ir.along_axes("softmax", 0, (1,)), (square,)),
        (ir.fused((0,), square, (4, n), (step,), (1,), "float64", "sum", (1,)), (square,)),
        (ir.loop((0,), Loop((5,), 0, ((0,),), body, layout=(0, 1, 2)), "float64"), ((5, n, n),)),
        (looped(n, 5), ((5 * n, n),)),
        (ir.item(0, 0, square), (square,)),
        (ir.output(0, 0, square), (square,)),
        (stepped(n), ((n,), square)),
    )


def stepped(n: int) -> Instruction:
    added = ir.pointwise("add", (0, 1), (None, None), (n,), "float64")
    return ir.recurrence(
        (0, 1), StepLoop(program(added, (n,), (n,)), ((n,),), n, ((1,),), (True,), ((0, 0),))
    )


def looped(n: int, count: int) -> Instruction:
    body = program(exponential((n, n)), (n, n))
    return ir.loop((0,), Loop((count * n,), n, ((0,),), body, None, (Collected(0, "add"),), "a"), "float64")


def test_there_is_an_example_of_every_primitive() -> None:
    assert {one.primitive for one, _ in examples(8)} == set(get_args(Primitive))


@pytest.mark.parametrize("place", range(len(examples(8))))
def test_every_instruction_has_a_time_and_larger_arrays_take_no_less(place: int) -> None:
    times = [seconds(one, *shapes) for one, shapes in (examples(n)[place] for n in (8, 9, 31, 64, 500, 2000))]
    assert all(isfinite(time) and 1e-8 < time < 100 for time in times)
    assert times == sorted(times)
    one, _ = examples(8)[place]
    moves_nothing = one.primitive in {"ones", "constant", "output"} or (
        is_view(one) and one.primitive not in {"cast", "inside"}
    )
    assert (times[-1] > 2 * times[0]) != moves_nothing


@pytest.mark.parametrize("place", range(len(examples(8))))
def test_arrays_without_elements_take_a_call_at_most(place: int) -> None:
    one, shapes = examples(1)[place]
    if one.primitive in {
        "multiply",
        "dot",
        "vecdot",
        "matmul",
        "cast",
        "copy",
        "transpose",
        "sum",
        "reduce",
        "apply",
        "divide",
    }:
        empty = tuple((*shape[:-2], 0, 0) for shape in shapes)
        assert 0 < seconds(one, *empty) < 2e-5


@pytest.mark.parametrize(
    "view", [ir.transpose(0, (1, 0)), ir.reshape(0, (10_000,)), ir.diagonal(0, (0, 0)), ir.as_real(0)]
)
def test_a_view_takes_less_than_a_copy_of_its_array(view: Instruction) -> None:
    dtype = "complex128" if view.primitive == "as_real" else "float64"
    assert seconds(view, (100, 100), dtype=dtype) < seconds(ir.copy(0), (100, 100), dtype=dtype)


def test_a_reshape_that_cannot_be_a_view_takes_as_long_as_a_copy() -> None:
    across = [OperandLayout("float64", (1, 300))]
    copied = seconds(ir.copy(0), (300, 300), given=across)
    assert seconds(ir.reshape(0, (90_000,)), (300, 300), given=across) == copied
    assert seconds(ir.reshape(0, (90_000,)), (300, 300)) < copied / 10


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_products_take_what_choosing_goes_by(dtype: str) -> None:
    sizes = {"0": 60, "1": 70, "2": 80}
    dot = 1e-9 * costs.product_cost(1, 60, 70, 80, dtype, is_by_dots=False)
    assert dot <= seconds(ir.dot(0, 1), (60, 70), (70, 80), dtype=dtype) <= 1.2 * dot
    batch = 1e-9 * costs.product_cost(9, 60, 70, 80, dtype, is_by_dots=False)
    assert batch <= seconds(ir.matmul(0, 1), (9, 60, 70), (9, 70, 80), dtype=dtype) <= 1.2 * batch
    vector = 1e-9 * costs.product_cost(1, 60, 70, 1, dtype, is_by_dots=True)
    assert seconds(ir.dot(0, 1), (60, 70), (70,), dtype=dtype) == pytest.approx(vector)
    rows = 1e-9 * costs.vecdot_cost(60, 70, dtype)
    assert seconds(ir.vecdot(0, 1), (60, 70), (60, 70), dtype=dtype) == pytest.approx(rows)
    loop = 1e-9 * costs.loop_cost(sizes, [{"0": 70, "1": 1}, {"1": 80, "2": 1}], ["0", "2"], dtype)
    einsum = ir.einsum((0, 1), ((0, 1), (1, 2)), (0, 2))
    assert seconds(einsum, (60, 70), (70, 80), dtype=dtype) == pytest.approx(loop)


def test_a_matrix_of_which_no_axis_is_in_one_piece_takes_longer() -> None:
    given = [OperandLayout("float64", (2 * 300, 2)), OperandLayout("float64", (300, 1))]
    more = seconds(ir.dot(0, 1), (300, 300), (300, 300), given=given)
    assert more > seconds(ir.dot(0, 1), (300, 300), (300, 300))


@pytest.mark.parametrize("count", [2, 7, 50])
def test_loops_take_their_body_as_often_as_they_run(count: int) -> None:
    inside = seconds(exponential((40, 40)), (40, 40))
    body = program(exponential((40, 40)), (40, 40))
    slices = ir.loop((0,), Loop((count,), 0, ((0,),), body, layout=(0, 1, 2)), "float64")
    assert count * inside < seconds(slices, (count, 40, 40)) < count * (inside + 1.2e-6)
    assert count * inside < seconds(looped(40, count), (40 * count, 40)) < count * (inside + 1.2e-6)


def test_the_blocks_of_a_fused_instruction_take_a_call_each() -> None:
    step = ir.pointwise("exp", (0,), (None,), (), "float64")
    once, often = (
        seconds(ir.fused((0,), (1000, 50), (tile, 50), (step,), (1,), "float64", "sum", (1,)), (1000, 50))
        for tile in (1000, 1)
    )
    assert often > once + 999e-6


def test_a_call_over_rows_that_share_values_takes_longer_than_one_over_equal_arrays() -> None:
    """NumPy iterates over the rows, and copies their values into a buffer unless the rows are long."""

    def added(shape: tuple[int, ...], other: tuple[int, ...]) -> float:
        return seconds(ir.pointwise("add", (0, 1), (None, None), shape, "float64"), shape, other)

    assert added((4, 4), (4, 1)) > added((4, 4), (4, 4)) + 400e-9
    assert added((1000, 100), (1000, 1)) > 1.5 * added((10, 10_000), (10, 1))


MIB = 1 << 20
STEP = ir.pointwise("exp", (0,), (None,), (), "float64")
SUMMED = ir.fused((0,), (1 << 13, 1 << 10), (4, 1 << 10), (STEP,), (1,), "float64", "sum", (1,))
MEMORY = [
    (
        "cached_byte",
        exponential((MIB >> 4,)),
        [(MIB >> 4,)],
        0,
    ),  # read and written, as much as the second cache
    ("cached_byte", exponential((MIB,)), [(MIB,)], 16 * MIB),
    ("main_byte", exponential((MIB,)), [(MIB,)], 0),
    ("new_byte", exponential((MIB,)), [(MIB,)], 0),
    ("cached_byte", exponential((8 * MIB,)), [(8 * MIB,)], 0),
    ("main_byte", exponential((8 * MIB,)), [(8 * MIB,)], 128 * MIB),
    ("new_byte", exponential((8 * MIB,)), [(8 * MIB,)], 64 * MIB),
    ("streamed_byte", ir.dot(0, 1), [(256, 256)] * 2, MIB >> 1),
    ("main_byte", ir.dot(0, 1), [(1024, 1024)] * 2, 0),
    ("main_byte", ir.dot(0, 1), [(2048, 2048)] * 2, 96 * MIB),
    ("main_byte", SUMMED, [(1 << 13, 1 << 10)], (64 << 20) + (8 << 13)),
]


@pytest.mark.parametrize(("figure", "one", "shapes", "units"), MEMORY)
def test_an_instruction_takes_as_much_of_a_figure_as_it_moves(
    figure: str, one: Instruction, shapes: list[tuple[int, ...]], units: int
) -> None:
    more = replace(GENERIC, **{figure: getattr(GENERIC, figure) + 1})
    made = program(one, *shapes)
    own, other = (sum(estimate_seconds(made, shapes_of(made), (), each)) for each in (GENERIC, more))
    assert 1e9 * (other - own) == pytest.approx(units, rel=1e-6, abs=1)


def test_a_matrix_that_all_products_of_a_batch_share_is_converted_for_each() -> None:
    given = [OperandLayout("float64", (140, 2)), OperandLayout("float64", (5600, 80, 1))]
    made = program(ir.matmul(0, 1), (60, 70), (9, 70, 80))
    more = replace(GENERIC, unpacked_cell=GENERIC.unpacked_cell + 1)
    own, other = (estimate_seconds(made, shapes_of(made), given, each)[0] for each in (GENERIC, more))
    assert 1e9 * (other - own) == pytest.approx(9 * 60 * 70)


def test_elements_that_compete_for_sets_of_the_cache_take_longer() -> None:
    def turned(size: int) -> float:
        added = ir.pointwise("add", (0, 1), (None, None), (size, size), "float64")
        layouts = [OperandLayout("float64", (1, size)), OperandLayout("float64", (size, 1))]
        return seconds(added, (size, size), (size, size), given=layouts) / size**2

    assert turned(512) > 2 * turned(500)
    assert turned(1000) > 1.5 * turned(500)  # pages beyond those that are found at once


def test_a_bound_takes_longer_than_the_larger_one_of_two_arrays() -> None:
    larger = ir.pointwise("maximum", (0, 0), (None, None), (50_000,), "float64")
    bounded = ir.pointwise("maximum", (0,), (None, 0.5), (50_000,), "float64")
    assert seconds(bounded, (50_000,)) > 1.5 * seconds(larger, (50_000,))


def test_every_function_of_formulas_has_a_time_of_its_own() -> None:
    assert {one.cost for one in FUNCTIONS.values()} <= set(TIMED)


@pytest.mark.parametrize("reducer", sorted(REDUCTIONS))
def test_every_reducer_takes_longer_the_more_it_reduces(reducer: str) -> None:
    times = [seconds(ir.reduce(0, reducer, 1), (size, 100)) for size in (1, 10, 100, 3000, 30_000)]
    assert times == sorted(times)
    assert times[-1] > 20 * times[1]


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int64", "uint64", "float16", "float32", "complex64", "object", ""]
)
def test_every_dtype_has_a_time(dtype: str) -> None:
    for one, shapes in examples(30):
        if not one.dtype:
            assert 0 < seconds(one, *shapes, dtype=dtype) < 1


def test_a_plan_says_what_each_step_takes_and_all_of_them() -> None:
    plan = ne.compile("b i k, b k j -> j b i").plan((8, 32, 64), (8, 64, 16))
    assert plan.steps[-1].what == "transpose"
    assert plan.seconds == pytest.approx(CALL + sum(step.seconds for step in plan.steps))
    lines = str(plan).splitlines()
    assert lines[-1] == f"time: about {duration(plan.seconds)} on one core (estimated)"
    for line, step in zip(lines[2:-4], plan.steps, strict=True):
        shown = duration(step.seconds) if step.what == "matmul" else "-"
        assert f" {shown} " in line.replace(f" {step.bytes or '-'} ", "", 1)


def test_the_steps_inside_a_loop_count_for_all_its_blocks() -> None:
    text, shapes = "a b, b c, c a ->", ((300, 200), (200, 300), (300, 300))
    whole = ne.compile(text).plan(*shapes)
    limited = ne.compile(text, memory_limit=200_000).plan(*shapes)
    assert limited.steps[0].what == "looped"
    assert 0.5 * whole.seconds < limited.seconds < 3 * whole.seconds
    assert limited.steps[0].seconds < 0.1 * limited.seconds


def test_formulas_and_what_is_bound_have_times_too() -> None:
    text = "y[N K] = softmax[K](sum[C](x[N C] * w[C K]) + b[K])"
    shapes = {"x": (500, 100), "w": (100, 200), "b": (200,)}
    plan = ne.compile(text).plan(**shapes)
    assert 1e-4 < plan.seconds < 1e-2
    bound = ne.compile(text).bind(w=np.ones((100, 200)), b=np.ones(200)).plan(x=(500, 100))
    assert bound.seconds == pytest.approx(plan.seconds, rel=0.5)


@pytest.mark.slow
def test_times_are_the_same_whatever_the_seed_of_hashes_is() -> None:
    code = (
        "import nameexpr as ne\n"
        "print([s.seconds for s in ne.compile('a b c, c d b, d a -> b d').plan((9,8,7),(7,6,8),(6,9)).steps],"
        "ne.compile('y[a] = sum[b c](exp(x[a b c]) * w[c b a])').plan(x=(9,8,70),w=(70,8,9)).seconds)"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(found) == 1


def test_the_model_loads_no_numpy() -> None:
    code = "import sys, nameexpr.backends.numpy.costs.program; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (0.0, "0 us"),
        (4e-9, "4.0 ns"),
        (1.5e-7, "0.15 us"),
        (9.96e-8, "0.10 us"),
        (1.26e-3, "1.3 ms"),
        (9.94e-6, "9.9 us"),
        (9.96e-6, "10 us"),
        (9.96e-5, "0.10 ms"),
        (0.5, "0.50 s"),
        (59.6, "60 s"),
        (60.0, "1 minute"),
        (214.0, "3.6 minutes"),
        (3_599.0, "60 minutes"),
        (5_400.0, "1.5 hours"),
        (123_456.0, "1.4 days"),
        (1e10, "320 years"),
        (1e100, "3.17 × 10^92 years"),
    ],
)
def test_times_have_two_digits(time: float, text: str) -> None:
    assert duration(time) == text


@pytest.mark.parametrize("name", ["x", "w"])
def test_what_is_left_of_a_formula_goes_by_the_dtypes_of_its_own_operands(name: str) -> None:
    formula = ne.compile("y[N K] = sum[C](exp(x[N C]) * exp(w[C K]))")
    shapes = {"x": (300, 200), "w": (200, 300)}
    bound = "w" if name == "x" else "x"
    rest = formula.bind(operands={bound: np.ones(shapes[bound])})
    times = [
        next(step.seconds for step in rest.plan(operands={name: np.ones(shapes[name], dtype)}).steps)
        for dtype in ("float32", "float64")
    ]
    assert times[0] < 0.8 * times[1]
