"""Formulas against the naive reference, on random texts.

A thousand formulas per run, over the whole language, dtypes and memory layouts: values, shapes, dtypes and
names must agree. A failure names the seed: `formula_generate.seeded_case(seed)` makes the case again.
"""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import nameexpr as ne
from nameexpr.tensors import wrap
from oracle.generate.expressions import array_of
from oracle.generate.formulas import Case, cases, draft_case, same, seeded_case
from oracle.reference.formulas import Refused, answers

CASES = 1000
BATCH = 125


def results_of(case: Case) -> list[object]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        found = case.run(ne.evaluate, wrap=lambda named: wrap(named.array, named.names))
    return [found] if case.outputs is None else list(found)


def agrees(case: Case) -> bool:
    expected = case.run(answers)
    return all(same(*pair) for pair in zip(results_of(case), expected, strict=True))


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(BATCH, CASES, BATCH))]
)
def test_random_formulas_equal_the_naive_reference(first: int) -> None:
    for seed in range(first, first + BATCH):
        case = seeded_case(seed)
        assert agrees(case), f"seed {seed}:\n{case.text}"


@pytest.mark.slow
def test_operands_of_formulas_are_never_changed() -> None:
    for seed in range(200):
        case = seeded_case(seed)
        before = {name: array_of(operand).copy() for name, operand in case.operands.items()}
        results_of(case)
        for name, copy in before.items():
            same_array = array_of(case.operands[name])
            np.testing.assert_array_equal(same_array, copy, err_msg=f"seed {seed}: {case.text!r}")


@pytest.mark.slow
def test_a_compiled_formula_gives_what_evaluate_gives() -> None:
    for seed in range(200):
        case = seeded_case(seed)
        if case.outputs is not None:
            continue

        def run(text: str, sizes: dict[str, int] | None = None, **operands: object) -> object:
            return ne.compile(text, **({"sizes": sizes} if sizes else {}))(**operands)

        with np.errstate(all="ignore"):
            actual = case.run(run, wrap=lambda named: wrap(named.array, named.names))
        assert same(actual, case.run(answers)[0]), f"seed {seed}:\n{case.text}"


@pytest.mark.slow
def test_few_drafts_are_refused_and_few_answers_are_vague() -> None:
    refused = vague = 0
    for seed in range(300):
        try:
            case = draft_case(random.Random(seed))
            found = case.run(answers) if case else []
        except Refused:
            refused += 1
            continue
        vague += any(
            np.mean(one.error > 1e-2 * np.maximum(1, abs(one.array))) > 0.1 for one in found if one.array.size
        )
    assert refused < 40
    assert vague < 40


def test_a_wrong_answer_is_noticed() -> None:
    case = seeded_case(3)
    (expected,) = answers("y = sum[j](x[i j] * w[j])", x=np.ones((2, 3), "float32"), w=np.ones(3, "float32"))
    assert same(np.array([3, 3], "float32"), expected) and case.text
    for wrong in ([3, 3.001], [3, np.nan], [3, np.inf], [[3, 3]], [3]):
        assert not same(np.array(wrong, "float32"), expected)
    assert not same(np.array([3, 3.0]), expected)


@pytest.mark.slow
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cases())
def test_hypothesis_finds_no_formula_that_differs(case: Case) -> None:
    assert agrees(case), case.text
