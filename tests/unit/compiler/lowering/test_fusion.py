"""Memory is taken over only from what is dead, and blocks of any size give what whole arrays give."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import nameexpr as ne
from nameexpr.compiler import pipeline
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.lowering import fusion
from nameexpr.compiler.lowering.fusion import FusionPlan
from nameexpr.compiler.schedule import reuse
from nameexpr.records import replace
from nameexpr.runtime import formula
from nameexpr.runtime.options import read_options
from nameexpr.syntax.parser.formula import parse_formula
from nameexpr.tensors import wrap
from oracle.generate.formulas import Case, same, seeded_case
from oracle.reference.formulas import answers

RNG = np.random.default_rng(0)


def reference(text: str, given: dict[str, Any]) -> Any:
    """Return the reference's answer; it wants a name for the last statement."""
    *first, last = text.split("; ")
    named = last if re.match(r"\w+(\[[^]]*\])? = ", last) else f"last = {last}"
    return answers("; ".join([*first, named]), **given)[-1]


def blocks_of(cells: int, **thresholds: int) -> Any:
    """Return what plans fusion in blocks of so many cells, however small arrays are."""

    def plan(graph: Any, uses: Any, target: Any) -> FusionPlan:
        return FusionPlan(graph, uses, replace(target, block_cells=cells, fused_cells=1, **thresholds))

    return plan


def overwritten(program: Program) -> int:
    return sum(one.over is not None for one in program.instructions)


def check_lives(program: Program) -> None:
    """No instruction writes over an operand, a result, or what a later one reads."""
    count = len(program.operands)
    for number, one in enumerate(program.instructions):
        if one.over is not None:
            over = one.sources[one.over]
            assert over >= count and over not in program.outputs
            assert all(over not in later.sources for later in program.instructions[number + 1 :])


def programs_of(case: Case, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[Program]]:
    found: list[Program] = []
    original = pipeline.compile_formula

    def kept(*given: Any, **options: Any) -> Any:
        compiled = original(*given, **options)
        found.append(compiled.program)
        return compiled

    monkeypatch.setattr(formula, "compile_formula", kept)
    ne.cache_clear()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        result = case.run(evaluate_anew, wrap=lambda named: wrap(named.array, named.names))
    return result, found


def evaluate_anew(text: str, outputs: Any = None, sizes: Any = None, **operands: Any) -> Any:
    """Evaluate without any cache."""
    options = read_options(sizes, outputs=outputs, formula=text)
    return formula.FormulaEntry(text, options).call_named(operands)


@pytest.mark.slow
def test_reuse_changes_no_value_and_writes_over_nothing_that_is_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken = 0
    for seed in range(240):
        case = replace_outputs(seeded_case(20_000 + seed))
        with monkeypatch.context() as patch:
            result, programs = programs_of(case, patch)
        for program in programs:
            check_lives(program)
            taken += overwritten(program)
        with monkeypatch.context() as patch:
            patch.setattr(reuse, "reuse", lambda program, shapes: program)
            plain, programs = programs_of(case, patch)
        assert not any(map(overwritten, programs))
        assert_same(result, plain, f"seed {seed}: {case.text}")
    assert taken > 60


def replace_outputs(case: Case) -> Case:
    """Return the case with all its statements as outputs, which must then all be left alone."""
    names = tuple(str(one.name) for one in parse_formula(case.text).statements if one.name is not None)
    return replace(case, outputs=names) if names and case.seed % 2 else case


def assert_same(one: Any, two: Any, title: str) -> None:
    pairs = zip(one, two, strict=True) if isinstance(one, tuple) else [(one, two)]
    for left, right in pairs:
        assert getattr(left, "names", None) == getattr(right, "names", None)
        left, right = np.asarray(left), np.asarray(right)
        assert left.dtype == right.dtype
        assert_array_equal(left, right, err_msg=title)


@pytest.mark.slow
@pytest.mark.parametrize("block", [1, 7, 64])
def test_blocks_of_any_size_give_the_reference_s_values(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, "FusionPlan", blocks_of(block))
    fused = 0
    for seed in range(140):
        case = seeded_case(30_000 + 200 * block + seed)
        with monkeypatch.context() as patch:
            result, programs = programs_of(case, patch)
        fused += sum(one.primitive == "fused" for program in programs for one in program.instructions)
        for program in programs:
            check_lives(program)
        expected = case.run(answers)
        found = [result] if case.outputs is None else list(result)
        for one, two in zip(found, expected, strict=True):
            assert same(one, two), f"seed {case.seed}, blocks of {block}:\n{case.text}"
    assert fused > 60


FUSED = [
    "max[k](x[i k] + w[k j])",
    "min[k](x[i k] - w[k j])",
    "sum[k](abs(x[i k] - w[k j]))",
    "mean[k](exp(x[i k] - w[k j]))",
    "prod[k](cos(x[i k] - w[k j]))",
    "sum[i j k](sin(x[i k] + w[k j]))",
    "any[k](x[i k] > w[k j])",
    "all[i](x[i k] > w[k j] - 2)",
    "count_nonzero[k](x[i k] > w[k j])",
    "logsumexp[k](x[i k] * w[k j] + 1)",
    "var[k](x[i k] + w[k j])",
    "std[i](x[i k] * w[k j] + x[i k])",
    "norm[k](x[i k] - w[k j])",
    "sum[k]((x[i k] - w[k j]) ** 2 * b[k])",
    "exp(x[i k] * w[k j]) * 2 + x[i k]",
    "where(index[i] >= index[j], x[i k] * w[k j], -inf)",
    "sum[k](where(x[i k] > w[k j], 1, 0))",
    "y[j i] = max[k](x[i k] + w[k j]) * 2",
    "max[k i](x[i k] + w[k j])",
]


@pytest.mark.parametrize("text", FUSED)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "f2", "i1"])
def test_blocks_give_what_whole_arrays_give(text: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"x": (5, 7), "w": (7, 6), "b": (7,)}
    given = {
        name: RNG.integers(-3, 4, shape).astype(dtype)
        for name, shape in small.items()
        if re.search(rf"\b{name}\[", text)
    }
    expected = reference(text, given)
    for block in (1, 3, 10, 64, 1000):
        with monkeypatch.context() as patch:
            patch.setattr(
                fusion,
                "FusionPlan",
                blocks_of(block),
            )
            with np.errstate(all="ignore"):
                assert same(evaluate_anew(text, **given), expected), block


REDUCED = [
    text for text in FUSED if "[" in text.replace("x[i k]", "").replace("w[k j]", "").partition("(")[0]
]


@pytest.mark.parametrize("text", REDUCED)
def test_what_is_reduced_is_never_built(text: str) -> None:
    shapes: dict[str, tuple[int, ...]] = {"x": (100, 100), "w": (100, 100), "b": (100,)}
    used = {name: shape for name, shape in shapes.items() if re.search(rf"\b{name}\[", text)}
    plan = ne.compile(text).plan(**used)
    assert "fused" in [step.what for step in plan.steps], plan
    assert plan.peak_bytes < 100**3 * 8 / 2, plan


@pytest.mark.parametrize("block", [7, 1 << 15])
def test_a_value_seen_through_two_views_is_not_written_over(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fusion, "FusionPlan", blocks_of(block))
    x = np.random.default_rng(0).random((13, 13))
    p = np.exp(x)
    formulas = {
        "(p[i j] + p[j i]) * p[i j] - sqrt(p[j i]) * p[i j] * abs(p[j i]) + p[i j]": (
            (p + p.T) * p - np.sqrt(p.T) * p * p.T + p
        ),
        "where(p[j i] > 1.5, p[i j] * 2 + p[j i] * 3, 0.0) * p[j i]": (
            np.where(p.T > 1.5, p * 2 + p.T * 3, 0) * p.T
        ),
        "p[i j] - p[j i]": p - p.T,
        "where(p[i j] > 1.5, p[i j], p[j i])": np.where(p > 1.5, p, p.T),
    }
    for text, expected in formulas.items():
        found = evaluate_anew(f"p[i j] = exp(x[i j]); y[i j] = {text}", x=x)
        np.testing.assert_allclose(found, expected, err_msg=text)


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
def test_negation_is_right_where_memory_is_strided(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy 2.2 to 2.4 gives wrong numbers for np.negative(x, out=y) of a strided x and a strided y."""
    monkeypatch.setattr(fusion, "FusionPlan", blocks_of(3, chain_length=1))
    u, w = np.array([-2, 1, 2], dtype), np.array([-1, 2, 0, 2], dtype)
    found = evaluate_anew("y[k j o] = -(u[k] * w[j 1 o])", u=u, w=w.reshape(4, 1, 1))
    assert_array_equal(found[..., 0], -(u[:, None] * w))
    square = np.arange(81).reshape(9, 9).astype(dtype)
    found = evaluate_anew("d[i j] = x[i j] * 2; -d[i i]", x=square)
    assert_array_equal(found, -2 * square.diagonal())
    x, y = np.arange(24).reshape(3, 2, 4).astype(dtype), np.arange(6).reshape(3, 2).astype(dtype)
    found = evaluate_anew("minimum(9, -(x[k n i] * 2))", x=x)
    assert_array_equal(found, np.minimum(9, -2 * x))
    found = evaluate_anew("z[k n i] = -sum[j](x[k j i] * y[k n j])", x=x, y=np.repeat(y[:, :, None], 2, 2))
    assert_array_equal(found, -(x.sum(1)[:, None] * y[:, :, None]))


def test_differences_of_all_pairs_are_computed_again_where_they_are_read() -> None:
    text = "d[I J] = sum[D]((x[I D] - y[J D]) ** 2); g[J D] = sum[I](a[I J] * (x[I D] - y[J D]))"
    x, y, a = (RNG.standard_normal(shape) for shape in ((200, 30), (100, 30), (200, 100)))
    compiled = ne.compile(text, outputs=("d", "g"))
    difference = x[:, None] - y
    for found, wanted in zip(
        compiled(x=x, y=y, a=a),
        ((difference**2).sum(-1), np.einsum("ij,ijd->jd", a, difference)),
        strict=True,
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-10)
    assert compiled.plan(x=x, y=y, a=a).peak_bytes < difference.nbytes / 2
    assert compiled.code.count("np.subtract") == 2
    # A function that costs more than reading its result is computed once.
    compiled = ne.compile(text.replace("- y", "** y"), outputs=("d", "g"))
    assert compiled.plan(x=abs(x), y=y, a=a).peak_bytes >= difference.nbytes


def test_a_factor_that_is_stored_is_not_computed_again_by_a_reduction() -> None:
    text = "e[N C] = exp(x[N C] * 2 - 1); s[N] = sum[C](e * sin(exp(x[N C]))); t[N C] = e + s"
    x = RNG.standard_normal((400, 500))
    compiled = ne.compile(text)
    e = np.exp(x * 2 - 1)
    wanted = e + (e * np.sin(np.exp(x))).sum(1, keepdims=True)
    np.testing.assert_allclose(compiled(x=x), wanted, rtol=1e-12, atol=1e-10)
    assert compiled.code.count("np.exp") == 2


@pytest.mark.parametrize(
    ("text", "is_fused"),
    [
        ("y[A] = any[B](x[A B] < 0)", False),
        ("y[A] = any[B](x[A B] < x * w[B] + 1)", False),
        ("y[A] = count_nonzero[B](x[A B] < 0)", False),
        ("y = any[A B](w[A] < v[B])", True),
        ("y[A] = sum[B](exp(x[A B]))", True),
    ],
)
def test_truths_of_numbers_that_memory_contains_are_stored(text: str, is_fused: bool) -> None:
    formula = ne.compile(text)
    shapes = {"x": (2000, 1000), "w": (2000,) if "w[A]" in text else (1000,), "v": (1000,)}
    code = formula.plan(**{name: shapes[name] for name in formula.operands}).code
    assert bool(re.search(r"reduce\(b\d", code)) == is_fused, code
