"""Splitting a program: what moves into the prelude, what stays, what may be written to."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import nameexpr as ne
from nameexpr.backends.numpy.target import TARGET
from nameexpr.compiler.analysis.infer import type_expression
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.compilation import Options
from nameexpr.compiler.ir.dtypes import choose_dtypes
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Instruction, Note, Program
from nameexpr.compiler.pipeline import compile_expression, read
from nameexpr.compiler.planning.bound import plan_for_calls
from nameexpr.compiler.schedule.partial import Folded, fold, work_of
from oracle.generate import instructions as ir

Shape = tuple[int, ...]


def stages(text: str, *shapes: Shape, dtypes: Any = None) -> Any:
    tree = read(text)
    typed = type_expression(tree, [Operand(shape) for shape in shapes], {})
    names = tuple(dtypes or ("float64",) * len(shapes))
    product = str(np.result_type(*names))
    chosen = choose_dtypes(names, product, typed.reducer, drops=bool(typed.dropped))
    return compile_expression(tree, typed, chosen, [None] * len(shapes), Options(TARGET))


def folded(text: str, bound: set[int], *shapes: Shape, dtypes: Any = None) -> Folded:
    compiled = stages(text, *shapes, dtypes=dtypes)
    made = fold(compiled.program, compiled.shapes, bound, TARGET)
    assert shapes_of(made.rest)[made.rest.result] == compiled.shapes[compiled.program.result]
    if made.prelude is not None:
        given = [shapes_of(made.prelude)[value] for value in made.prelude.results]
        assert list(made.rest.operands[len(made.rest.operands) - len(given) :]) == given
    return made


def of_formula(text: str, bound: set[str], **operands: Any) -> tuple[Folded, Any]:
    formula = ne.compile(text)
    formula(**operands)
    compiled = formula._entry.compile(*formula._entry.latest)
    places = {place for place, name in enumerate(compiled.tree.operands) if name in bound}
    return fold(compiled.program, compiled.shapes, places, TARGET), compiled


def kinds(program: Program | None) -> list[str]:
    return [] if program is None else [one.primitive for one in program.instructions]


def test_nothing_bound_leaves_the_program_as_it_is() -> None:
    compiled = stages("a b, b c -> a c", (200, 300), (300, 400))
    made = fold(compiled.program, compiled.shapes, set(), TARGET)
    assert made == Folded(compiled.program, None, compiled.program, ())


def test_what_depends_on_bound_operands_alone_moves_into_the_prelude() -> None:
    made = folded("n a, a b, b c -> n c", {1, 2}, (900, 20), (20, 30), (30, 40))
    assert kinds(made.prelude) == ["dot"]
    assert kinds(made.rest) == ["dot"]
    chained = folded("a b, b c, n c -> n a", {0, 1}, (20, 30), (30, 40), (900, 40))
    assert "dot" in kinds(chained.prelude)
    assert kinds(chained.rest).count("dot") == 1


def test_reshapes_and_casts_of_bound_operands_are_done_once() -> None:
    made = folded("n i j, j k i -> n k", {1}, (5, 30, 40), (40, 50, 30))
    assert kinds(made.prelude)[-1] == "reshape"
    bound = len(made.rest.operands) - 1
    assert not any(one.primitive == "reshape" and one.sources[0] == bound for one in made.rest.instructions)
    made = folded("n i, i k -> n k", {1}, (50, 300), (300, 400), dtypes=("float64", "int8"))
    assert kinds(made.prelude) == ["cast"]
    assert "cast" not in kinds(made.rest)


def test_repeats_and_outer_products_are_not_held() -> None:
    made = folded("i, j, n i j -> n i j", {0, 1}, (500,), (400,), (2, 500, 400))
    assert all(np.prod(shape) <= 500 for shape in made.rest.operands[1:])
    made = folded("a -> a b=5000", {0}, (300,))
    assert kinds(made.rest) == ["repeat"] or "repeat" in kinds(made.rest)
    assert made.rest.operands in (((300,),), ((300, 1),))


def test_what_is_small_is_always_held() -> None:
    made = folded("i, j, n i j -> n", {0, 1}, (8,), (9,), (2000, 8, 9))
    assert all(np.prod(shape) <= TARGET.held_cells for shape in made.rest.operands[1:])


@pytest.mark.parametrize(
    ("inner", "limit", "is_held"), [(16, None, True), (16, 100, False), (4, None, False)]
)
def test_large_products_are_held_for_the_work_they_save(
    inner: int, limit: int | None, *, is_held: bool
) -> None:
    notes = (Note(("i", "j"), "float64", 0), Note(("n", "i", "j"), "float64", 1))
    operands = ((300, inner), (inner, 200), (2, 300, 200))
    program = Program(operands, (ir.dot(0, 1), ir.multiply(2, 3)), notes, 4, depends_on_layout=False)
    made = fold(program, shapes_of(program), {0, 1}, TARGET, limit)
    assert kinds(made.prelude) == (["dot"] if is_held else [])
    assert kinds(made.rest) == (["multiply"] if is_held else ["dot", "multiply"])


def test_results_that_are_held_are_copied() -> None:
    made = folded("a b, b c -> a c", {0, 1}, (90, 80), (80, 70))
    assert kinds(made.prelude) == ["dot"]
    assert kinds(made.rest) == ["copy"]
    moved = folded("a b -> b a", {0}, (90, 80))
    assert kinds(moved.prelude) == ["transpose", "copy"]
    assert kinds(moved.rest) == ["copy"]
    product = folded("a, b -> a b", {0, 1}, (900,), (800,))
    assert "copy" not in kinds(product.rest)
    small = folded("a, b -> a b", {0, 1}, (9,), (8,))
    assert "copy" not in kinds(small.rest)


def test_nothing_takes_over_the_memory_of_what_is_held() -> None:
    big = np.ones((400, 300))
    made, compiled = of_formula("y = exp(w[N C]) + x[N C]; z = y * 2", {"w"}, w=big, x=big)
    assert any(one.over is not None for one in compiled.program.instructions)
    for program in (made.prelude, made.rest):
        assert program is not None
        for one in program.instructions:
            assert one.over is None or one.sources[one.over] >= len(program.operands)
    assert [one.function for one in made.prelude.instructions if one.primitive == "pointwise"] == ["exp"]


def test_steps_of_blocks_that_are_bound_leave_the_block() -> None:
    x, w, v = np.ones((600, 800)), np.full((600, 800), 2.0), np.full(800, 9.0)
    text = "y[N] = max[C](abs(x[N C] - exp(w[N C]) / sqrt(v[C] + 1)) * 2)"
    made, compiled = of_formula(text, {"w", "v"}, x=x, w=w, v=v)
    before = next(one for one in compiled.program.instructions if one.primitive == "fused")
    after = next(one for one in made.rest.instructions if one.primitive == "fused")
    assert [step.function for step in after.steps] == ["subtract", "absolute", "multiply"]
    assert len(before.steps) > len(after.steps)
    assert len(after.sources) == 2
    expected = np.full(600, 2 * abs(1 - np.exp(2) / np.sqrt(10)))
    assert_allclose(ne.compile(text).bind(w=w, v=v)(x=x), expected)
    many = "y[N] = max[C](abs(x[N] - exp(w[C] * v[N])))"
    made, compiled = of_formula(many, {"w", "v"}, x=np.ones(900), w=np.ones(800), v=np.ones(900))
    assert "fused" in kinds(made.rest)
    assert "pointwise" not in [*kinds(made.prelude), *kinds(made.rest)]


def test_a_reducer_s_large_argument_is_only_on_the_way() -> None:
    made = folded("i, j, n -> n : max", {0, 1}, (500,), (400,), (300,))
    assert all(len(shape) < 3 for shape in made.rest.operands)
    held = folded("i j -> i : max", {0}, (500, 400))
    assert kinds(held.prelude) == ["reduce"]
    assert kinds(held.rest) == ["copy"]


def test_several_results_are_told_apart() -> None:
    formula = ne.compile("a = w[i] * 2; b = x[i] + a; c = w[i]", outputs=("a", "b", "c")).bind(w=np.ones(3))
    a, b, c = formula(x=np.ones(3))
    assert_allclose([a, b, c], [[2] * 3, [3] * 3, [1] * 3])
    a[:] = b[:] = c[:] = 9
    assert_allclose(formula(x=np.ones(3)), [[2] * 3, [3] * 3, [1] * 3])


@pytest.mark.parametrize(
    ("one", "sources", "result", "expected"),
    [
        (ir.dot(0, 1), [(2, 3), (3, 4)], (2, 4), 48),
        (ir.multiply(0, 1), [(2, 3), (3,)], (2, 3), 6),
        (ir.reduce(0, "max", 1), [(2, 3)], (2,), 6),
        (ir.transpose(0, (1, 0)), [(2, 3)], (3, 2), 0),
    ],
)
def test_work_is_counted_in_scalar_operations(
    one: Instruction, sources: list[Shape], result: Shape, expected: int
) -> None:
    assert work_of(one, sources, result) == expected


def cost_per_call(text: str, bound: set[int], shapes: list[Shape], constants: tuple[int, ...]) -> int:
    tree = read(text)
    typed = type_expression(tree, [Operand(shape) for shape in shapes], {})
    dtypes = choose_dtypes(("float64",) * len(shapes), "float64", None, drops=True)
    made = compile_expression(tree, typed, dtypes, [None] * len(shapes), Options(TARGET, constants=constants))
    rest = fold(made.program, made.shapes, bound, TARGET).rest
    return sum(
        work_of(one, [shapes_of(rest)[s] for s in (one.sources[0], one.sources[1])], shapes_of(rest)[number])  # type: ignore[union-attr]
        for number, one in enumerate(rest.instructions, len(rest.operands))
        if one.primitive == "dot"
    )


@pytest.mark.parametrize("count", [4, 9])
def test_a_chain_of_bound_matrices_becomes_one(count: int) -> None:
    labels = "abcdefghij"[: count + 1]
    text = ", ".join(f"{one} {other}" for one, other in pairwise(labels))
    text += f" -> {labels[0]} {labels[-1]}"
    shapes = [(1, 30)] + [(30, 30)] * (count - 1)
    bound = set(range(1, count))
    assert cost_per_call(text, bound, shapes, ()) == (count - 1) * 1800
    assert cost_per_call(text, bound, shapes, tuple(bound)) == 1800


def test_the_usual_order_stays_where_no_other_costs_less() -> None:
    thin = stages("n a, a b, b c -> n c", (1, 1000), (1000, 5), (5, 1000)).plans[0]
    assert plan_for_calls(thin, {1, 2}, TARGET) is thin
    pair = stages("n a, a b -> n b", (5, 6), (6, 7)).plans[0]
    assert plan_for_calls(pair, {1}, TARGET) is pair
    whole = stages("n a, a b, b c -> n c", (1, 4), (4, 4), (4, 4)).plans[0]
    assert plan_for_calls(whole, {0, 1, 2}, TARGET) is whole
    assert plan_for_calls(whole, set(), TARGET) is whole


def test_sums_of_one_operand_do_not_confuse_the_order() -> None:
    text = "n a p, a b, b c q -> n c : sum"
    shapes = [(1, 40, 2), (40, 40), (40, 40, 3)]
    plan = plan_for_calls(stages(text, *shapes).plans[0], {1, 2}, TARGET)
    assert [step.values for step in plan.steps] == [(0,), (2,), (1, 4), (3, 5)]
    arrays = [np.random.default_rng(1).random(shape) for shape in shapes]
    bound = ne.compile(text).bind({1: arrays[1], 2: arrays[2]})
    assert_allclose(bound(arrays[0]), np.einsum("nap,ab,bcq->nc", *arrays))
