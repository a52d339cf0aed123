"""`compile` of a formula: signature, plan, code to paste, programs that are those of expressions, pickles."""

from __future__ import annotations

import ast
import copy
import pickle
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import nameexpr as ne
from nameexpr.backends.numpy.codegen import function
from nameexpr.backends.numpy.target import TARGET
from nameexpr.compiler.analysis.infer import type_expression
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.compilation import Options
from nameexpr.compiler.ir.dtypes import choose_dtypes
from nameexpr.compiler.pipeline import compile_expression, read
from nameexpr.runtime.compiled_expression import CompiledExpression
from nameexpr.runtime.compiled_formula import CompiledFormula
from nameexpr.runtime.evaluate import find_formula
from nameexpr.runtime.operands import spec_of
from nameexpr.tensors import wrap
from oracle.generate.expressions import array_of
from oracle.generate.formulas import seeded_case

RNG = np.random.default_rng(0)
A, B = RNG.random((3, 4)), RNG.random((4, 5))
MATMUL = "y[A C] = sum[B](x[A B] * w[B C])"


def run_code(code: str, *operands: Any) -> Any:
    names: dict[str, Any] = {}
    exec(code, names)
    return names["compute"](*operands)


def test_a_compiled_formula_is_called_by_name() -> None:
    formula = ne.compile(MATMUL)
    assert isinstance(formula, CompiledFormula)
    assert_allclose(formula(x=A, w=B), A @ B)
    assert_allclose(formula(operands={"x": A, "w": B}), A @ B)
    assert_allclose(formula(operands={"x": A}, w=B), A @ B)
    out = np.zeros((3, 5))
    assert formula(x=A, w=B, out=out) is out
    assert_allclose(out, A @ B)
    assert repr(formula) == f"nameexpr.compile({MATMUL!r})"
    assert formula.text == MATMUL


def test_its_signature_says_what_goes_in_and_comes_out() -> None:
    formula = ne.compile("s = x[i D]*y[j D] - x[j D]; t[j i]=sum[D](s)+ b\nt *2", sizes=None)
    assert formula.signature.inputs == ("x[i D], x[j D]", "y[j D]", "b")
    assert formula.signature.outputs == ("",)
    assert str(formula.signature) == "s = x[i D] * y[j D] - x[j D]\nt[j i] = sum[D](s) + b\nt * 2"
    assert ne.compile("s = x[i]; t = s", outputs=("t", "s")).signature.outputs == ("t", "s")
    assert ne.compile("s = x[i]; t = s").signature.outputs == ("t",)
    last = ne.compile("s = x[i]; t = s").signature.outputs
    assert [type(name) for name in last] == [str]
    assert ne.compile("s = x[i]; t = s", outputs=last).signature.outputs == ("t",)


def test_texts_without_an_arrow_are_formulas_and_with_one_expressions() -> None:
    assert isinstance(ne.compile("y = x"), CompiledFormula)
    assert isinstance(ne.compile("x[N]"), CompiledFormula)
    assert isinstance(ne.compile("a b -> b a"), CompiledExpression)
    with pytest.raises(ne.RuleError):
        ne.compile("a b")  # an assertion


def test_options_are_those_of_evaluate() -> None:
    formula = ne.compile(
        "s = x[i (h d)] * 2; t = sum[h](s)", outputs=("t", "s"), sizes={"h": 2}, memory_limit=10_000
    )
    t, s = formula(x=np.ones((3, 6)))
    assert s.shape == (3, 2, 3)
    assert_array_equal(t, np.full((3, 3), 4.0))
    with pytest.raises(ne.LimitError):
        formula(x=np.ones((300, 6)))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_hold_the_text_and_the_options(protocol: int) -> None:
    formula = ne.compile(
        "s = x[i (h d)] * 2; t = sum[h](s)", outputs=("t",), sizes={"h": 2}, memory_limit=10_000
    )
    formula(x=np.ones((3, 6)))
    again = pickle.loads(pickle.dumps(formula, protocol))
    assert again.signature == formula.signature
    assert_array_equal(again(x=np.ones((3, 6)))[0], formula(x=np.ones((3, 6)))[0])
    with pytest.raises(ne.LimitError):
        again(x=np.ones((3000, 6)))
    assert copy.deepcopy(formula)(x=np.ones((3, 6)))[0].shape == (3, 3)


def test_plans_take_shapes_arrays_tensors_and_numbers() -> None:
    formula = ne.compile("y = sum[C](x[N C] * w[C]) * a")
    plans = [
        formula.plan(x=(2, 3), w=(3,), a=()),
        formula.plan(x=np.ones((2, 3)), w=np.ones(3), a=2.0),
        formula.plan(operands={"x": (2, 3), "w": (3,)}, a=2),
        formula.plan(x=ne.tensor(np.ones((2, 3)), names="N C"), w=(3,), a=1.0),
    ]
    assert {plan.result_shape for plan in plans} == {(2,)}
    assert plans[0].result_names is None and plans[3].result_names == ("N",)
    assert plans[0].text == "y = sum[C](x[N C] * w[C]) * a"
    assert plans[0].operand_bytes == (6 + 3 + 1) * 8
    assert plans[0].flops == plans[0].naive_flops == 2 * 6 + 2
    table = str(plans[0])
    assert "a0.dot(a1)" in table and "result: shape (2,)" in table
    with pytest.raises(ne.SizeError):
        formula.plan(x=(2, 3), w=(4,), a=1)
    with pytest.raises(ne.OperandError):
        formula.plan(x=(2, 3), w=(3,))


MEAN = "mean[pixel](image[pixel])"
ASKED = {
    "plan": lambda given: ne.compile(MEAN).plan(**given),
    "plan of shapes": lambda given: ne.compile(MEAN).plan(operands=dict.fromkeys(given, (3,))),
    "outline": lambda given: ne.compile(MEAN).outline(**given),
    "explain": lambda given: ne.explain(MEAN, **given),
    "names": lambda given: ne.compile(MEAN).result_names(dict.fromkeys(given, (3,))),
    "call": lambda given: ne.compile(MEAN)(**given),
    "bound call": lambda given: ne.compile(MEAN).bind()(**given),
    "bound plan": lambda given: ne.compile(MEAN).bind().plan(**given),
}


@pytest.mark.parametrize(
    "given",
    [{"imaeg": np.ones(3)}, {"imaeg": "text"}, {"image": np.ones(3), "imag": np.ones(3)}, {}],
    ids=["misspelt", "misspelt text", "one too many", "none"],
)
@pytest.mark.parametrize("way", ASKED)
def test_operands_that_the_formula_has_not_are_told_alike_whatever_is_asked(
    way: str, given: dict[str, Any]
) -> None:
    with pytest.raises(ne.OperandError) as expected:
        ne.evaluate(MEAN, **given)
    with pytest.raises(ne.OperandError) as fault:
        ASKED[way](given)
    assert str(fault.value) == str(expected.value)


def test_plans_count_what_contractions_save() -> None:
    plan = ne.compile("y[i l] = sum[j k](a[i j] * b[j k] * c[k l])").plan(a=(50, 50), b=(50, 50), c=(50, 1))
    assert plan.flops == 2 * 2 * 50 * 50
    assert plan.naive_flops == 3 * 50**3  # two products and a sum for each of i, j, k; l is 1
    assert plan.speedup == 37.5


def test_the_plan_of_what_is_never_built_is_small() -> None:
    tropical = ne.compile("min[k](a[i k] + b[k j])").plan(a=(1000, 1000), b=(1000, 1000))
    assert tropical.peak_bytes < 20e6  # the result, an operand laid out again, a block; n ** 3 is 8 GB
    distances = ne.compile("sum[D]((x[i D] - y[j D]) ** 2)").plan(x=(2000, 64), y=(2000, 64))
    assert distances.peak_bytes < 2000 * 2000 * 8 + 2e6


PAIRS = [
    ("A B, B C -> A C", "y[A C] = sum[B](x[A B] * w[B C])", {"x": (3, 4), "w": (4, 5)}),
    ("A B, B C -> C A", "y[C A] = sum[B](x[A B] * w[B C])", {"x": (3, 4), "w": (4, 5)}),
    ("A B -> A : sum", "sum[B](x[A B])", {"x": (3, 4)}),
    ("A B -> B : mean", "mean[A](x[A B])", {"x": (3, 4)}),
    ("A B -> A : max", "max[B](x[A B])", {"x": (3, 4)}),
    ("A B C -> B : logsumexp", "logsumexp[A C](x[A B C])", {"x": (3, 4, 2)}),
    ("A B -> A : argmax", "argmax[B](x[A B])", {"x": (3, 4)}),
    ("A B -> A : var", "var[B](x[A B])", {"x": (3, 4)}),
    ("A B -> B A", "y[B A] = x[A B]", {"x": (3, 4)}),
    ("i i -> i", "x[i i]", {"x": (3, 3)}),
    ("i i ->", "sum[i](x[i i])", {"x": (3, 3)}),
    ("i -> i i", "y[i i] = x[i]", {"x": (3,)}),
    ("A B -> (A B)", "y[(A B)] = x[A B]", {"x": (3, 4)}),
    ("N (A B=2) -> B N A", "y[B N A] = x[N (A B=2)]", {"x": (3, 4)}),
    ("A -> A K=3", "y[A K=3] = x[A]", {"x": (3,)}),
    ("b... C -> b... : sum", "y[b...] = sum[C](x[b... C])", {"x": (3, 2, 4)}),
    ("... a b, ... b c -> ... a c", "y[... a c] = sum[b](x[... a b] * w[... b c])",
     {"x": (2, 3, 4), "w": (4, 5)}),
    ("a b, b c, c d -> a d", "y[a d] = sum[b c](x[a b] * w[b c] * v[c d])",
     {"x": (3, 4), "w": (4, 5), "v": (5, 2)}),
    ("b i, b i -> b", "sum[i](x[b i] * w[b i])", {"x": (50, 20), "w": (50, 20)}),
    ("i, i ->", "sum[i](x[i] * w[i])", {"x": (3,), "w": (3,)}),
    ("b h q d, b h k d -> b h q k", "y[b h q k] = sum[d](x[b h q d] * w[b h k d])",
     {"x": (2, 3, 4, 5), "w": (2, 3, 6, 5)}),
    ("b s h d, h d e -> b s e", "y[b s e] = sum[h d](x[b s h d] * w[h d e])",
     {"x": (8, 9, 4, 5), "w": (4, 5, 7)}),
    ("a b c, b -> : sum", "sum[a b c](x[a b c] * w[b])", {"x": (3, 4, 2), "w": (4,)}),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "formula", "shapes"), PAIRS, ids=[pair[0] for pair in PAIRS])
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i4", "u1", "?", "c16"])
def test_a_formula_has_the_program_of_its_expression(
    expression: str, formula: str, shapes: dict[str, Any], dtype: str
) -> None:
    if dtype == "c16" and any(word in expression for word in ("logsumexp", "max")):
        return
    for layout in (np.asarray, np.asfortranarray):
        arrays = {name: layout(np.ones(shape, dtype)) for name, shape in shapes.items()}
        one, two = ne.compile(expression).plan(*arrays.values()), ne.compile(formula).plan(**arrays)
        assert [step.call for step in one.steps] == [step.call for step in two.steps]
        assert one.result_shape == two.result_shape
        if not any(step.what == "reduce" for step in one.steps):  # whose dtype an expression does not know
            assert one.peak_bytes == two.peak_bytes
        assert (one.flops, one.naive_flops) == (two.flops, two.naive_flops)


@pytest.mark.parametrize(("expression", "formula", "shapes"), PAIRS, ids=[pair[0] for pair in PAIRS])
@pytest.mark.parametrize("dtype", ["f4", "i4", "u1", "?", "c8"])
def test_a_formula_has_the_value_of_its_expression(
    expression: str, formula: str, shapes: dict[str, Any], dtype: str
) -> None:
    if dtype in ("c8", "?") and any(word in expression for word in ("logsumexp", "max", "var")):
        return
    arrays = {name: RNG.integers(0, 2, shape).astype(dtype) for name, shape in shapes.items()}
    found, expected = ne.evaluate(formula, **arrays), ne.einsum(expression, *arrays.values())
    assert_array_equal(found, expected)
    assert found.dtype == expected.dtype


@pytest.mark.parametrize(
    ("expression", "formula"),
    [
        ("A B, B C -> A C", "y[A C] = sum[B](x[A B] * w[B C])"),
        ("A B, B C -> C A", "y[C A] = sum[B](x[A B] * w[B C])"),
        ("A B, B C -> A C : mean", "y[A C] = mean[B](x[A B] * w[B C])"),
        ("A B, B C -> A : sum", "sum[B C](x[A B] * w[B C])"),
        ("A B, B C -> : sum", "sum[A B C](x[A B] * w[B C])"),
        ("A B, B C -> (C A)", "s = sum[B](x[A B] * w[B C]); y[(C A)] = s"),
    ],
)
def test_the_program_is_the_same_object_by_object(expression: str, formula: str) -> None:
    tree = read(expression)
    typed = type_expression(tree, [Operand(A.shape), Operand(B.shape)], {})
    dtypes = choose_dtypes(("float64", "float64"), "float64", typed.reducer, drops=bool(typed.dropped))
    one = compile_expression(tree, typed, dtypes, [A.strides, B.strides], Options(TARGET)).program
    entry = find_formula(formula)
    two = entry.compile([spec_of(A), spec_of(B)]).program
    assert one.operands == two.operands
    assert one.instructions == two.instructions
    assert (one.result, one.depends_on_layout) == (two.result, two.depends_on_layout)


@pytest.mark.slow
def test_code_runs_when_pasted_and_gives_what_a_call_gives() -> None:
    ran = 0
    for seed in range(150):
        case = seeded_case(seed)
        formula = ne.compile(case.text, outputs=case.outputs, sizes=case.sizes or None)
        operands = {
            name: value if type(value) in (bool, int, float, complex) else array_of(value)
            for name, value in case.operands.items()
        }
        wrapped = {name: _wrapped(value) for name, value in case.operands.items()}
        with np.errstate(all="ignore"):
            expected = formula(operands=wrapped)
            order = [operands[name] for name in formula._entry.tree.operands]
            found = run_code(formula.code, *order)
        if case.outputs is None:
            found, expected = (found,), (expected,)
        if len(expected) == 1 and not isinstance(found, tuple):
            found = (found,)
        for one, two in zip(found, expected, strict=True):
            assert_array_equal(np.asarray(one), np.asarray(two), err_msg=f"seed {seed}: {case.text}")
        ran += 1
    assert ran == 150


def _wrapped(value: Any) -> Any:
    return wrap(value.array, value.names) if hasattr(value, "names") else value


def test_code_says_which_operand_is_which() -> None:
    code = ne.compile(MATMUL).plan(x=(2, 3), w=(3, 4)).code
    assert "a0: x[A B] (2, 3)" in code and "a1: w[B C] (3, 4)" in code
    assert MATMUL in code


def test_a_text_cannot_get_out_of_its_comment() -> None:
    for text in ("y = (x[N]\n# \n+ 1)", "y = x[N]  # '''\nz = y * 2", "y = x[N]; z = y"):
        code = ne.compile(text).plan(x=(2,)).code
        ast.parse(code)
        assert sum(line.strip().startswith("# ") for line in code.splitlines()) == 2


BOUND = re.compile(
    r"(np|dtype|scalar|copies|formulas|joining|kernels|reading|rolling)_[a-z0-9_]+|t[0-9]+_[a-z]?[0-9]+"
)
"""Names under which NumPy functions's are bound."""


def names_of_ours(source: str) -> None:
    words = """np kernels formulas copies c_einsum range complex
        wrap wrap_all names missing miss explain fault rest type call
        Exception float ndarray NamedTensor a b d g i j n p q r s t v x"""
    allowed = set(words.split())
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            word = node.id.rstrip("0123456789_")
            assert word in allowed or BOUND.fullmatch(node.id), node.id
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert set(node.value) <= set(
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789,->"
            ), node.value
        assert not isinstance(node, ast.Import | ast.ImportFrom | ast.Lambda | ast.Global | ast.While), (
            ast.dump(node)
        )


def test_generated_source_holds_nothing_of_the_user_s(monkeypatch: pytest.MonkeyPatch) -> None:
    sources: list[str] = []
    build = function._source
    monkeypatch.setattr(function, "_source", lambda *given: sources.append(build(*given)) or sources[-1])
    for seed in range(1000, 1150):
        case = seeded_case(seed)
        with np.errstate(all="ignore"):
            case.run(lambda text, **given: ne.compile(text, **_options(given))(operands=given), wrap=_wrapped)
    assert len(sources) >= 150
    for source in sources:
        names_of_ours(source)


def _options(given: dict[str, Any]) -> dict[str, Any]:
    return {word: given.pop(word) for word in ("outputs", "sizes") if word in given}


@pytest.mark.slow
def test_the_same_code_whatever_the_hash_seed() -> None:
    source = (
        "import nameexpr as ne;"
        "t = 's[i j] = sum[k l](a[i k] * b[k l] * c[l j]) + sum[k l](a[i k] * c[l j]);';"
        "t += 'y = softmax[j i](s * s + d) - sum[...](e[... j])';"
        "print(ne.compile(t).plan(a=(3, 4), b=(4, 5), c=(5, 6), d=(), e=(2, 3, 6)).code)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", source],
            env={"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(4)
    }
    assert len(outputs) == 1


def test_formulas_of_one_text_do_not_see_each_other_s_calls() -> None:
    one, two = ne.compile("alone = x[N] + 1"), ne.compile("alone = x[N] + 1")
    one(x=np.ones(2))
    ne.evaluate("alone = x[N] + 1", x=np.ones(5))
    assert "(2,)" in one.code
    with pytest.raises(ne.OptionError):
        _ = two.code


def test_each_of_several_results_has_its_names() -> None:
    x = ne.tensor(A, names="N C")
    formula = ne.compile(
        "s = x * 2; t[C N] = s; u = sum[N C](s); v[all=(N C)] = x", outputs=("s", "t", "u", "v")
    )
    assert [result.names for result in formula(x=x)] == [("N", "C"), ("C", "N"), (), ("all",)]


def test_out_takes_the_result_in_any_layout_and_never_an_operand_too_early() -> None:
    formula = ne.compile("y[j i] = x[i j] + sum[i](x)")
    x = RNG.random((4, 4))
    expected = formula(x=x)
    out = np.zeros((4, 4), order="F")
    assert formula(x=x, out=out) is out
    assert_array_equal(out, expected)
    assert_array_equal(formula(x=x, out=x), expected)


def test_the_layout_of_an_operand_is_known_behind_its_split() -> None:
    """Where a group is split the strides go with its labels: columns are not added up as rows are."""
    x = np.random.default_rng(7).normal(size=(600, 500))
    codes = []
    for operand in (x, np.asfortranarray(x)):
        formula = ne.compile("sum[d](x[(h d) c])", sizes={"h": 2})
        np.testing.assert_allclose(formula(x=operand), x.reshape(2, 300, 500).sum(1), rtol=1e-10)
        codes.append(formula.code)
    assert codes[0] != codes[1]
