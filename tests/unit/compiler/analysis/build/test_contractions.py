"""Which sums are contractions, what is computed once, what is folded; that memory is taken over rightly."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.compiler.ir.graph import merged
from oracle.generate.formulas import same
from oracle.reference.formulas import Refused, answers

RNG = np.random.default_rng(0)
SHAPES: dict[str, tuple[int, ...]] = {"x": (30, 40), "w": (40, 50), "b": (40,), "a": ()}
PRODUCTS = {"dot", "matmul", "einsum", "integermatmul"}


def reference(text: str, given: dict[str, Any]) -> Any:
    """Return the reference's answer; it wants a name for the last statement."""
    *first, last = text.split("; ")
    named = last if re.match(r"\w+(\[[^]]*\])? = ", last) else f"last = {last}"
    return answers("; ".join([*first, named]), **given)[-1]


def plan_of(text: str, dtype: str = "f8", **shapes: tuple[int, ...]) -> Any:
    wanted = {
        name: shape
        for name, shape in (SHAPES | shapes).items()
        if re.search(rf"\b{name}\[", text) or name in shapes
    }
    if " a" in text or "a *" in text or "/ a" in text:
        wanted |= {"a": ()}
    return ne.compile(text).plan(**{name: np.ones(shape, dtype) for name, shape in wanted.items()})


def kinds(text: str, dtype: str = "f8", **shapes: tuple[int, ...]) -> list[str]:
    return [step.what for step in plan_of(text, dtype, **shapes).steps]


CONTRACTIONS = [
    "sum[k](x[i k] * w[k j])",
    "sum[k](w[k j] * x[i k])",
    "sum[k](-(x[i k] * w[k j]))",
    "sum[k](-x[i k] * w[k j])",
    "sum[k](x[i k] * -w[k j])",
    "sum[k](2 * x[i k] * w[k j])",
    "sum[k](x[i k] * w[k j] * 0.5)",
    "sum[k](x[i k] * w[k j] / 8)",
    "sum[k](x[i k] * (w[k j] / 8))",
    "sum[k]((x[i k] / 3) * (2 * w[k j]))",
    "sum[k](x[i k] * w[k j] / size[k])",
    "sum[k](x[i k] * (w[k j] * a))",
    "sum[k](x[i k] * w[k j] / a)",
    "sum[k](x[i k] * w[k j]) / sqrt(size[k])",
    "mean[k](x[i k] * w[k j])",
    "exp(sum[k](x[i k] * w[k j]) + 1)",
    "1 - sum[k](x[i k] * w[k j]) / 2",
    "sum[k](exp(x[i k]) * w[k j])",
    "sum[k]((x[i k] + 1) * w[k j])",
    "softmax[j](sum[k](x[i k] * w[k j]))",
    "s = x[i k] * w[k j]; sum[k](s)",
    "sum[k](sqrt(x[i k]) * tanh(w[k j]))",
    "sum[k](x[i k] ** 2 * w[k j])",
    "sum[k](square(x[i k]) * w[k j])",
    "sum[k](x[i k] * (b[k] * w[k j]))",
]


@pytest.mark.parametrize("text", CONTRACTIONS)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_a_sum_over_a_product_is_a_contraction(text: str, dtype: str) -> None:
    plan = plan_of(text, dtype)
    assert PRODUCTS & {step.what for step in plan.steps}, plan
    assert plan.peak_bytes < 30 * 40 * 50 * 4 // 2, plan


@pytest.mark.parametrize(
    "text",
    [
        "max[k](x[i k] * w[k j])",
        "sum[k](x[i k] + w[k j])",
        "sum[k](x[i k] / w[k j])",
        "sum[k](maximum(x[i k], w[k j]))",
        "sum[k](x[i k] ** w[k j])",
        "prod[k](x[i k] * w[k j])",
        "sum[k](abs(x[i k] * w[k j]))",
    ],
)
def test_what_is_no_sum_of_products_is_none(text: str) -> None:
    found = kinds(text)
    assert "pointwise" in found or "multiply" in found
    products = [kind for kind in found if kind in PRODUCTS]
    assert len(products) <= found.count("ones"), "a product, but not with ones: a sum"


def test_division_by_what_varies_is_not_moved_out() -> None:
    x, b = RNG.random((3, 4)) + 1, RNG.random(4) + 1
    np.testing.assert_allclose(ne.evaluate("sum[k](x[i k] * 2 / b[k])", x=x, b=b), (x * 2 / b).sum(1))
    np.testing.assert_allclose(ne.evaluate("sum[k](2 / x[i k])", x=x), (2 / x).sum(1))
    np.testing.assert_allclose(ne.evaluate("sum[k](b[k] / a)", b=b, a=3), b.sum() / 3)
    np.testing.assert_allclose(ne.evaluate("sum[k](b[k] / x[i k])", x=x, b=b), (b / x).sum(1))


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan, 0.0])
@pytest.mark.parametrize(
    "text",
    [
        "sum[k](x[i k] * w[k])",
        "sum[k](x[i k] * w[k] * 0)",
        "sum[k](x[i k] * inf)",
        "sum[k](0 * x[i k] / a)",
        "sum[k](x[i k] / a)",
        "sum[k](-x[i k] * w[k])",
        "mean[k](x[i k] * w[k] / 0)",
        "sum[k](x[i k] * w[k] * nan)",
        "sum[k](inf * x[i k] * w[k])",
        "sum[k](x[i k] ** 2 * 0.0)",
    ],
)
def test_rewrites_keep_nan_and_infinity(text: str, special: float) -> None:
    x = np.array([[1.0, special, 2.0], [0.0, 3.0, -1.0], [0.0, 0.0, 0.0]])
    w = np.array([1.0, 0.0, -2.0])
    given = {
        name: value
        for name, value in (("x", x), ("w", w), ("a", 0.0))
        if f"{name}[" in text or f"/ {name}" in text
    }
    with np.errstate(all="ignore"):
        expected = reference(text, given)
        assert same(ne.evaluate(text, **given), expected)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "u4", "?"])
@pytest.mark.parametrize(
    "text",
    [
        "sum[i](x[i] * x[i])",
        "sum[i](x[i] ** 3)",
        "sum[i](-x[i] * x[i])",
        "sum[i](square(x[i]) * x[i])",
        "mean[i](x[i] * x[i])",
        "cumsum[i](x[i] * x[i])",
        "prod[i](x[i] * x[i])",
        "var[i](x[i] * x[i])",
        "sum[i](x[i] * 2)",
        "sum[i]((x[i] + x[i]) * x[i])",
        "p = x[i] * x[i]; sum[i](p)",
        "sum[i](x[i] * x[j])",
        "sum[i](x[i] / x[j])",
        "max[i](x[i] * x[i])",
        "sum[i](+x[i] * x[i])",
        "norm[i](x[i] * x[i])",
    ],
)
def test_integers_are_widened_where_the_rule_says(text: str, dtype: str) -> None:
    x = np.array([100, 101, 99, 3]).astype(dtype)
    try:
        expected = reference(text, {"x": x})
    except Refused:  # -bool
        with pytest.raises(ne.NameExprError):
            ne.evaluate(text, x=x)
        return
    assert same(ne.evaluate(text, x=x), expected)


def counts(text: str, **shapes: tuple[int, ...]) -> Counter[str]:
    return Counter(step.call.partition("(")[0] for step in plan_of(text, **shapes).steps)


@pytest.mark.parametrize(
    ("text", "call", "times"),
    [
        ("exp(x[i k]) + exp(x[i k])", "np.exp", 1),
        ("exp(x[i k]) * sum[k](exp(x))", "np.exp", 1),
        ("s = exp(x[i k]); t = exp(x); s * t + exp(x)", "np.exp", 1),
        ("y[k i] = exp(x[i k]); z = exp(x[i k]); y - z", "np.exp", 1),
        ("exp(x[i k]) + exp(x[k i])", "np.exp", 2),
        ("(x[i k] + 1) * (x + 1)", "np.add", 1),
        ("(x[i k] + 1) * (x + 1.0)", "np.add", 2),
        ("sum[k](x[i k] * w[k j]) + sum[k](x[i k] * w[k j])", "a0.dot", 1),
        ("softmax[k](x[i k]) + softmax[k](x)", "formulas.softmax", 1),
        ("softmax[k](x[i k]) + softmax[i](x)", "formulas.softmax", 2),
        ("max[k](x[i k]) + max[k](x)", "np.maximum.reduce", 1),
        ("index[k] * index[k] + b[k]", "np.arange", 1),
        ("2 * 3 + sqrt(4) - 1 / 2 + b[k]", "np.add", 1),
        ("x[i k] * 1 + exp(2) * 0", "np.exp", 0),
    ],
)  # fmt: skip
def test_an_expression_that_occurs_twice_is_computed_once(text: str, call: str, times: int) -> None:
    assert counts(text, **({"x": (40, 40)} if "x[k i]" in text else {}))[call] == times


def test_statements_that_no_output_needs_are_not_in_the_program() -> None:
    formula_ = ne.compile("s = exp(x[i]); t = log(x); u = sin(x)", outputs=("t",))
    assert [step.call for step in formula_.plan(x=(3,)).steps] == ["np.log(a0)"]


def test_merged_keeps_every_order_where_they_agree() -> None:
    rng = random.Random(0)
    for _ in range(300):
        whole = rng.sample("abcdefg", 5)
        orders = [tuple(one for one in whole if rng.random() < 0.6) for _ in range(3)]
        found = merged(orders)
        assert sorted(found) == sorted(set().union(*orders))
        for order in orders:
            assert [label for label in found if label in order] == list(order)
        shuffled = [tuple(rng.sample(order, len(order))) for order in orders]
        assert sorted(merged(shuffled)) == sorted(set().union(*shuffled))


def test_where_orders_disagree_the_first_one_decides() -> None:
    assert merged(["ij", "ji"]) == ("i", "j")
    assert merged(["kij", "jik"]) == ("k", "i", "j")


def test_a_value_times_itself_is_divided_once() -> None:
    x, a = RNG.random((3, 4)), np.array([2.0, 4.0, 8.0])
    found = ne.evaluate("sum[k](x[i k] * x / a[i])", x=x, a=a)
    np.testing.assert_allclose(found, (x * x / a[:, None]).sum(1))


def test_a_reduction_over_no_dims_keeps_the_dtype_that_it_has_over_some() -> None:
    x = np.array([2], np.uint8)
    assert ne.evaluate("min[...](x[... 1] * 2)", x=x).dtype == np.uint8
    assert ne.evaluate("max[...](x[...] * 2)", x=x).dtype == np.uint8
    assert ne.evaluate("sum[...](x[... 1] * 2)", x=x).dtype == np.uint64
    assert ne.evaluate("prod[...](x[... 1] * 2)", x=x).dtype == np.uint64


def test_names_under_dots_do_not_outlive_a_term_without_dots() -> None:
    x = ne.tensor(np.ones((2, 3)), names=("i", "P"))
    found = ne.evaluate("s[i ...] = x[i ...] * 2; t[j k ...] = s[j k] * y[...]", x=x, y=np.ones(4))
    assert found.names == ("j", "k", None)


HALVES = np.full(1000, 200, np.float16)


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("sum[i](x[i] / 255)", 1000 * 200 / 255),
        ("sum[i](-x[i] / 255)", -1000 * 200 / 255),
        ("sum[i](x[i] * 0.001)", 200.0),
        ("sum[i](x[i] / size[i])", 200.0),
        ("sqrt(sum[i](x[i] * x / 40000))", 1000**0.5),
        ("mean[i](x[i] * x * x / 1000)", 8000.0),
        ("sum[i](x[i] * w[j] / 300) + 0 * w[j]", 1000 * 200 / 300),
        ("sum[i](x[i] * 1e-3 * (x / 1e4) * w[j])", 4.0),
    ],
)
def test_numbers_keep_a_sum_of_halves_from_overflowing(text: str, exact: float, large: bool) -> None:
    count = 200 if large else 1  # so many more cells in all, that it is computed in blocks
    x = np.tile(HALVES, (count, 1))
    given = {"w": np.ones(3, np.float16)} if "w[" in text else {}
    found = ne.evaluate(text.replace("x[i]", "x[n i]"), x=x, **given)
    assert found.dtype == np.float16
    np.testing.assert_allclose(found.astype(float), exact, rtol=2e-3)


EDGES = {"f4": 3e38, "f8": 1.5e308, "c8": 3e38, "c16": 1.5e308}


@pytest.mark.parametrize("dtype", EDGES)
@pytest.mark.parametrize("count", [10, 1000, 300_000])
@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("sum[i](x[i] * 1e-10)", 1e-10),
        ("sum[i](0.5e-6 * x[i])", 0.5e-6),
        ("sum[i](x[i] / 1e7)", 1e-7),
        ("sum[i](-x[i] * 1e-9)", -1e-9),
        ("sum[i](x[i] * 0.01 / 1e5)", 1e-7),
        ("sum[i](x[j i] * 1e-8)", 1e-8),
        ("sum[i](x[i j] * 1e-8)", 1e-8),
        ("sum[i](x[i] * w[i k l] / 1e7)", 1e-7),
    ],
)
def test_numbers_keep_a_sum_of_floats_from_overflowing(
    text: str, scale: float, count: int, dtype: str
) -> None:
    x = np.full(
        {"j i": (2, count), "i j": (count, 2)}.get(
            text[text.index("[", 4) + 1 : text.index("]", 6)], (count,)
        ),
        EDGES[dtype],
        dtype,
    )
    given = {"w": np.ones((count, 2, 3), dtype)} if "w[" in text else {}
    with np.errstate(all="ignore"):
        found = ne.evaluate(text, x=x, **given)
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found.real.astype("g"), np.longdouble(EDGES[dtype]) * scale * count, rtol=5e-3)


def test_a_number_that_makes_a_sum_larger_is_applied_to_the_sum() -> None:
    for text in ("sum[k](3 * x[i k])", "sum[k](x[i k] / 0.25)"):
        assert kinds(text)[-1] == "pointwise"
    x = np.full((30, 40), 5e-324)
    assert ne.evaluate("sum[k](x[i k] * w)", x=x, w=2.0).tolist() == [80 * 5e-324] * 30
    assert ne.evaluate("sum[k](x[i k] * 2)", x=x).tolist() == [80 * 5e-324] * 30


def test_a_number_is_applied_to_a_factor_that_is_small_beside_the_product() -> None:
    steps = plan_of("sum[k](x[i k] * w[k j] / 8)").steps
    assert [step.what for step in steps] == ["pointwise", "dot"]
    assert steps[0].bytes == 30 * 40 * 8
    assert kinds("sum[k](x[i k] ** 2 / 8)")[-1] == "pointwise"


def test_statements_that_multiply_by_the_one_before_make_a_program_in_proportion() -> None:
    def steps_of(count: int) -> int:
        lines = ["a0 = x[i]", *(f"a{k} = a{k - 1} * sum[i](a{k - 1})" for k in range(1, count))]
        return len(ne.compile("; ".join(lines)).plan(x=(3,)).steps)

    assert steps_of(400) - steps_of(200) <= 200 * 4
    assert steps_of(800) - steps_of(400) <= 400 * 4  # split to the end they would have 400 factors each


def test_a_long_chain_of_products_gives_what_loops_give() -> None:
    expected = value = np.array([0.3, 0.5, 0.1])
    for _ in range(99):
        value = value * value.sum()
        expected = value
    text = "a0 = x[i]; " + "; ".join(f"a{k} = a{k - 1} * sum[i](a{k - 1})" for k in range(1, 100))
    np.testing.assert_allclose(ne.evaluate(text, x=np.array([0.3, 0.5, 0.1])), expected, rtol=1e-11)


def test_products_of_a_statement_are_taken_apart_after_many_of_their_own_text() -> None:
    """Only what comes out of statements and powers is counted: a long formula keeps its contractions."""
    own = "; ".join(f"s{k} = sum[i](x[i] * {k + 1} * w[i j])" for k in range(500))
    plan = ne.compile(f"{own}; p = x[i] * w[i j]; sum[i](p)").plan(x=(3,), w=(3, 4))
    assert not any("i j" in step.names.partition("->")[2] for step in plan.steps)


@pytest.mark.parametrize(
    "text", ["sum[i](a[i] * -2 * x[i j])", "sum[i](x[i j] * (a[i] * b[i]))", "mean[i](a[i] * 3 * x[i j] / 2)"]
)
@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_integers_in_a_product_do_not_widen_its_floats(text: str, dtype: str) -> None:
    given = {"a": np.array([3, -2], "i1"), "x": np.array([[1, 2, 3], [4, 5, 6]], dtype)}
    given |= {"b": np.array([2, 5], "i1")} if "b" in text else {}
    result, expected = ne.evaluate(text, **given), reference(text, given)
    assert same(result, expected)
    assert result.dtype == np.dtype(dtype)


def test_a_sum_over_no_elements_is_0_beside_a_factor_that_is_nan() -> None:
    nothing = np.zeros((0, 3))
    assert ne.evaluate("sum[i](w[] * x[i j])", w=np.array(np.nan), x=nothing).tolist() == [0, 0, 0]
    assert ne.evaluate("sum[i](std[i j](x[i j]) * x[i j])", x=nothing).tolist() == [0, 0, 0]


def test_factors_of_float16_are_divided_in_the_dtype_of_the_product() -> None:
    q, x, b = np.array([-2, 3], "f2"), np.array([1, 1, 2], "f2"), np.arange(6).reshape(3, 2)
    found = ne.evaluate("sum[c](q[o] / (abs(x[c]) + 1) * b[c B] / (abs(q) + 1))", q=q, x=x, b=b)
    q, x = q.astype(float), x.astype(float)
    np.testing.assert_allclose(found, np.einsum("o,c,cB->oB", q / (abs(q) + 1), 1 / (x + 1), b), rtol=1e-15)


def test_factors_of_a_factor_are_multiplied_by_numbers_in_the_dtype_of_the_product() -> None:
    a, b, c = np.array([0.3, 1.7], "f4"), np.array([1.1, -0.7, 0.9], "f4"), np.arange(18.0).reshape(3, 3, 2)
    found = ne.evaluate("sum[j k](a[j] * b[k] * c[i k j] * 0.1)", a=a, b=b, c=c)
    wanted = np.einsum("j,k,ikj->i", a.astype(float), b.astype(float), c) * 0.1
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
