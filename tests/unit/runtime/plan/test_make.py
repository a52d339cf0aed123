"""An outline is what the plan says of the whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import nameexpr as ne

X = ne.tensor(np.ones((4, 3)), names="N C")
W = np.ones((3, 5), "float32")
FORMULA = "y[N K] = softmax[K](sum[C](x[N C] * w[C K]) + 1)"


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("N C, C K -> N K", (X, W)),
        ("a b, b c, c d -> a d", ((10, 200), (200, 30), (30, 4))),
        ("N C -> C N", (X,)),
        ("N C -> N : max", (X,)),
        ("a b, b c -> : sum", ((50, 60), (60, 70))),
    ],
)
def test_of_an_expression(text: str, operands: tuple[Any, ...]) -> None:
    compiled = ne.compile(text)
    plan, outline = compiled.plan(*operands), compiled.outline(*operands)
    assert (outline.shape, outline.names, outline.dtype) == (plan.result_shape, plan.result_names, plan.dtype)
    assert (outline.flops, outline.peak_bytes) == (plan.flops, plan.peak_bytes)
    assert outline.seconds == pytest.approx(plan.seconds)


@pytest.mark.parametrize("operands", [{"x": X, "w": W}, {"x": (4, 3), "w": (3, 5)}])
def test_of_a_formula(operands: dict[str, Any]) -> None:
    compiled = ne.compile(FORMULA)
    plan, outline = compiled.plan(operands=operands), compiled.outline(**operands)
    assert (outline.shape, outline.names, outline.dtype) == (plan.result_shape, plan.result_names, plan.dtype)
    assert (outline.flops, outline.peak_bytes) == (plan.flops, plan.peak_bytes)
    assert outline.seconds == pytest.approx(plan.seconds)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda f: f.outline(X), "NE527"),
        (lambda f: f.outline(operands=[1]), "NE527"),
        (lambda f: f.outline(operands={1: X}), "NE527"),
        (lambda f: f.outline(x=X), "NE521"),
        (lambda f: f.outline(x=(4, 2), w=W), "NE3"),
    ],
)
def test_operands_that_do_not_fit_are_refused_as_by_plan(call: Any, code: str) -> None:
    with pytest.raises(ne.NameExprError) as fault:
        call(ne.compile(FORMULA))
    assert fault.value.code.startswith(code)


def test_a_plan_that_saves_nothing_reports_no_saving() -> None:
    plan = ne.compile("a b, b c, c d -> a d").plan((10, 20), (20, 30), (30, 40))
    assert "(20 times fewer)" in str(plan)
    assert "fewer" not in str(replace(plan, naive_flops=plan.flops + 1))


def test_a_plan_has_the_shapes_of_all_results() -> None:
    plan = ne.compile("N (a + b) -> a N, N b", a=4).plan((6, 10))
    assert plan.result_shapes == ((4, 6), (6, 6))
    assert "results: shapes (4, 6) and (6, 6)" in str(plan)
    plan = ne.compile("y[K N] = x[N K] * 2; z = sum[K](y)", outputs=["y", "z"]).plan(x=X.rename("N", "K"))
    assert plan.result_shapes == ((3, 4), (4,))
    assert "shapes (3, 4) and (4,), names of the last ('N',)" in str(plan)


def test_a_loop_of_a_plan_has_the_dims_of_its_rows() -> None:
    plan = ne.compile("h[(1 + T) D] = 0, cos(h[_@T D]) * x[T D]").plan(x=(4, 3))
    assert [step.names for step in plan.steps if step.what == "loop"] == ["x -> T D"]


def test_results_that_are_parts_of_a_factor_are_views() -> None:
    x = np.arange(12.0)
    first, second = ne.einsum("((a + b) c) -> a c, b c", x, a=2, c=2)
    assert np.shares_memory(first, x)
    assert np.shares_memory(second, x)
    assert not np.shares_memory(first, second)


def test_results_that_share_elements_are_apart() -> None:
    x = np.arange(6.0)
    first, second = ne.evaluate(
        "a[b c] = x[(b c)]; y[c b] = a[b c]; z[c n] = a[(n=1 + _) c]", outputs=["y", "z"], x=x, sizes={"c": 2}
    )
    assert not np.shares_memory(first, second)
