"""What is said of a call is what calling it raises: over the case files, random calls, and broken ones."""

from __future__ import annotations

import random
import warnings
from collections import Counter

import numpy as np
import pytest

import nameexpr as ne
from cases.case_files import Case, fault_of, read_cases
from nameexpr.lint import FUNCTIONS, OPEN, LiteralCall
from nameexpr.lint.diagnose import diagnose
from nameexpr.lint.python import check_python
from nameexpr.tensors import wrap
from oracle.generate import expressions as generate
from oracle.generate import formulas as formula_generate

CASES = [case for kind in ("expressions", "formulas") for case in read_cases(kind)]
OTHER_WORDS = {
    'ne.einsum("N, C, H -> H C N", ones(2, 3, 4))',  # the hint counts the operand's dims
    'ne.einsum("a b, b c -> a c", [ones(2, 3), ones(3, 4)])',
    'ne.einsum("a b, b c -> a c", (ones(2, 3), ones(3, 4)))',
    'ne.einsum("a, a ->", [named("a", 2), named("a", 2)])',
    'ne.einsum("a b -> b a", x=ones(2, 3))',
    'ne.einsum(ones(2, 3), "a b -> b a")',
    'ne.check(ones(2, 3), "a b")',
    'ne.evaluate(ones(2), "y = x[N]")',
}
"""Wrong in either case, but what is wrong is said of the values."""
OF_OPERANDS = ("NE3", "NE4", "NE5", "NE6", "NE7", "NE8")
SILENT = {
    'ne.einsum("a b -> a : sum", ones(2, 3), reduce=np.max)',  # np.max might be None
    'ne.einsum("a b -> b a", ones(2, 3), reduce=np.sum)',
    'ne.einsum("-> ...", ones())',  # the operands bring the terms
    'ne.einsum("-> C", named("N C", 2, 3))',
    'ne.einsum("-> chan bacth", named("batch chan", 2, 3))',
    'ne.evaluate("y[batch... C] = x[b... C]", x=ones(2, 3))',  # a pack may have no dims
    'ne.evaluate("y[...] = x[N C]", x=ones(2, 3))',
    'ne.evaluate("y[C] = x[... C]", x=ones(2, 3))',
    'ne.evaluate("y[_] = x[i]", x=ones(3))',
    'ne.einsum("-> (a + b)", np.float64(1), a=1, b=2)',  # the operand could have several parts
    'ne.evaluate("y = sum[f](x[N f=(h d)])", x=ones(2, 6), sizes={"h": 2})',  # needs the sizes
}
"""Mistakes of the text that depend on operands after all."""


def said(diagnostics: object) -> set[tuple[object, ...]]:
    return {(one.code, one.message, one.marks, one.hint) for one in diagnostics}  # type: ignore[attr-defined]


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_a_case_is_reported_as_it_is_raised(case: Case) -> None:
    checked = check_python(f"import nameexpr as ne\n{case.source}\n", "x.py")
    found, raised = [one.diagnostic for one in checked.findings], fault_of(case.source)
    if not found:
        is_silent = checked.texts == 0 or case.source in SILENT or raised.code.startswith(OF_OPERANDS)
        assert is_silent, raised
        return
    assert case.source not in SILENT
    if case.source in OTHER_WORDS:
        assert said(found) != said(raised.diagnostics)
    else:
        assert said(found) == said(raised.diagnostics)


def test_most_cases_are_found_from_the_text() -> None:
    checked = [check_python(f"import nameexpr as ne\n{case.source}\n", "x.py") for case in CASES]
    assert sum(bool(one.findings) for one in checked) > 300


def raised_by(run: object) -> str:
    """Return the code of what a call raises, "" if it raises nothing."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            run()  # type: ignore[operator]
    except ne.NameExprError as fault:
        return fault.code
    return ""


def expression_call(case: generate.Case, text: str) -> LiteralCall:
    keywords = {
        **case.keywords,
        "sizes": case.sizes,
        "reduce": OPEN if callable(case.reduce) else case.reduce,
    }
    return LiteralCall("einsum", text, len(case.operands), keywords)


def formula_call(case: formula_generate.Case, text: str) -> LiteralCall:
    keywords = dict.fromkeys(case.operands, OPEN) | {"sizes": case.sizes, "outputs": case.outputs}
    return LiteralCall("evaluate", text, 0, keywords)


def broken(rng: random.Random, text: str) -> str:
    """Return the text with a character less, more, or another one."""
    place = rng.randrange(len(text) + 1)
    return (
        text[:place]
        + rng.choice(["", "x", " ", ",", "->", "(", "]", "="])
        + text[place + rng.randint(0, 1) :]
    )


def test_valid_expressions_have_no_problems() -> None:
    for seed in range(300):
        case = generate.seeded_case(seed)
        assert diagnose(expression_call(case, case.text)) == [], seed


@pytest.mark.slow
def test_valid_formulas_have_no_problems() -> None:
    for seed in range(300):
        case = formula_generate.seeded_case(seed)
        assert diagnose(formula_call(case, case.text)) == [], seed


@pytest.mark.slow
def test_broken_expressions_are_reported_as_they_are_raised() -> None:
    rng, counts = random.Random(0), Counter[str]()
    for seed in range(400):
        case = generate.seeded_case(seed)
        text = broken(rng, case.text)
        found = [one.diagnostic.code for one in diagnose(expression_call(case, text))]
        changed = generate.Case(text, case.operands, case.sizes, case.keywords, case.reduce, case.dtype)
        raised = raised_by(lambda: changed.run(ne.einsum, lambda named: wrap(named.array, named.names)))  # noqa: B023
        if found:
            assert found[0] == raised, text
        elif not callable(case.reduce) and not text.lstrip().startswith("->"):
            assert not raised.startswith(("NE1", "NE2")), text
        counts[bool(found) * "found"] += 1
    assert counts["found"] > 100


@pytest.mark.slow
def test_broken_formulas_are_reported_as_they_are_raised() -> None:
    rng, found_some = random.Random(1), 0
    for seed in range(400):
        case = formula_generate.seeded_case(seed)
        text = broken(rng, case.text)
        found = [one.diagnostic.code for one in diagnose(formula_call(case, text))]
        changed = formula_generate.Case(text, case.operands, case.sizes, case.outputs, True, seed)
        raised = raised_by(lambda: changed.run(ne.evaluate, lambda named: wrap(named.array, named.names)))  # noqa: B023
        if found:
            assert raised, f"{found}: {text}"
            assert found[0] == raised or raised.startswith(OF_OPERANDS), f"{found} {raised}: {text}"
        else:
            assert not raised.startswith("NE1"), text
        found_some += bool(found)
    assert found_some > 100


def test_the_functions_are_where_they_are_said_to_be() -> None:
    for path, name in FUNCTIONS.items():
        home, _, function = path.rpartition(".")
        assert function == name
        assert getattr(__import__(home, fromlist=[name]), name) is getattr(ne, name)


@pytest.mark.parametrize(
    ("call", "codes"),
    [
        (LiteralCall("einsum", "a b -> a", 1, {"reduce": OPEN}), []),
        (LiteralCall("einsum", "a b -> a", 1, is_open=True), []),
        (LiteralCall("einsum", "a b -> a a2 : maen", 1, is_open=True), ["NE202"]),
        (LiteralCall("einsum", "a b -> a", 1, {"reduce": "max"}), []),
        (LiteralCall("einsum", "a b -> a", 1, {"reduce": None}), ["NE217"]),
        (LiteralCall("einsum", "a, b -> a b", None), []),
        (LiteralCall("einsum", "-> a", 7, {"q": 1}), []),
        (LiteralCall("einsum", "a -> a", 1, {"axis": 0, "b": OPEN, "a": 4}), ["NE602", "NE602"]),
        (LiteralCall("einsum", "a -> a", 1, {"sizes": {"b": 2}}), ["NE602"]),
        (LiteralCall("einsum", "a -> a", 1, {"sizes": OPEN, "out": OPEN, "tune": True}), []),
        (LiteralCall("compile", "a, b -> a b"), []),
        (LiteralCall("compile", "y[N] = x[N C]"), ["NE240"]),
        (LiteralCall("compile", "y[D] = x[C@i[N] D]"), ["NE240"]),
        (LiteralCall("compile", "y[D] = x[C@(i[N] + 1) D]"), ["NE240"]),
        (LiteralCall("compile", "y[D] = x[_@(t+1) D]"), ["NE240"]),
        (LiteralCall("compile", "y[(1 + T)] = 0, x[T D]"), ["NE240"]),
        (LiteralCall("compile", "y[N D] = x[C@i[N] D]"), []),
        (LiteralCall("compile", "y[N] = x[N"), ["NE143"]),
        (LiteralCall("explain", "a, b -> a b", 1), ["NE501"]),
        (LiteralCall("explain", "y = x[N]", 0, {"x": (2,)}), []),
        (LiteralCall("explain", "y = x[N]", 1), ["NE527"]),
        (LiteralCall("evaluate", "y = sum[N](x[N] ** 2); g[N] = grad(y, x[N])", 0, {"x": (2,)}), []),
        (LiteralCall("evaluate", "y = x[N] ** 2; g = grad(y, x[N])", 0, {"x": (2,)}), ["NE530"]),
        (LiteralCall("evaluate", "y = sum[N](round(x[N])); g = grad(y, x)", 0, {"x": (2,)}), ["NE532"]),
        (
            LiteralCall("evaluate", "h[(1 + T)] = 0, sum[S](grad(h[_@T] * x[T], x[S]))", 0, {"x": (2,)}),
            ["NE536"],
        ),
        (LiteralCall("evaluate", "y = sum[N](x[N]); g = grad(y, 2 * x)"), ["NE537"]),
        (LiteralCall("evaluate", "y = sum[N](x[N] ** 2); g[D] = grad(y, x[N])", 0, {"x": (2,)}), ["NE240"]),
        (LiteralCall("check", "a b", 2), ["NE502"]),
        (LiteralCall("check", "a b", 1, {"dtype": 3}), ["NE602"]),
        (LiteralCall("evaluate", "y = x[N]", 0, is_open=True), []),
        (LiteralCall("evaluate", "y[C] = x[... C]", 0, {"x": OPEN}), []),
        (LiteralCall("evaluate", "y[N] = x[N C] * w", 0, {"x": OPEN, "w": OPEN}), ["NE240"]),
        (LiteralCall("evaluate", "y = sum[C](x[N] * w)", 0, {"x": OPEN, "w": OPEN}), []),
        (LiteralCall("evaluate", "y = sum[C](x[N] * 2)", 0, {"x": OPEN}), ["NE241"]),
        (LiteralCall("evaluate", "y = x[N]", 0, {"operands": OPEN}), []),
        (LiteralCall("evaluate", "y = x[N]", 0, {"operands": {"x": OPEN, "z": OPEN}}), ["NE522"]),
        (LiteralCall("evaluate", "y = x[N]", 0, {"x": OPEN, "y": OPEN}), ["NE522"]),
        (LiteralCall("evaluate", "y = x[N]", 0, {"x": OPEN, "outputs": ("z",)}), ["NE620"]),
        (LiteralCall("evaluate", "y = x[N]", 0, {"x": OPEN, "outputs": OPEN, "optimize": False}), []),
    ],
)
def test_arguments_are_judged_as_far_as_they_are_literal(call: LiteralCall, codes: list[str]) -> None:
    assert [one.diagnostic.code for one in diagnose(call)] == codes
