"""The whole pipeline against the nested loops of `reference.py`, on random expressions.

Two thousand expressions per run, over every row of the language's table, dtypes and memory layouts: values,
shapes, dtypes and names must be equal. A failure names the seed: `generate.seeded_case(seed)` makes the case
again.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import nameexpr as ne
from nameexpr.tensors import wrap
from oracle.generate.expressions import Case, array_of, cases, same, seeded_case
from oracle.reference import expressions as reference

CASES = 2000
BATCH = 250


def result_of(case: Case) -> object:
    with warnings.catch_warnings(), np.errstate(all="ignore" if case.special else "warn", under="ignore"):
        warnings.simplefilter("error")
        return case.run(ne.einsum, wrap=lambda named: wrap(named.array, named.names))


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(BATCH, CASES, BATCH))]
)
def test_random_expressions_equal_the_nested_loops(first: int) -> None:
    for seed in range(first, first + BATCH):
        case = seeded_case(seed)
        assert same(result_of(case), case.run(reference.einsum), case), f"seed {seed}: {case.text!r}"


@pytest.mark.slow
def test_operands_are_never_changed() -> None:
    for seed in range(300):
        case = seeded_case(seed)
        before = [array_of(operand).copy() for operand in case.operands]
        result_of(case)
        for operand, copy in zip(case.operands, before, strict=True):
            np.testing.assert_array_equal(array_of(operand), copy, err_msg=f"seed {seed}: {case.text!r}")


@pytest.mark.slow
def test_results_that_are_not_rearrangements_are_fresh_and_writable() -> None:
    seen = 0
    for seed in range(600):
        case = seeded_case(seed)
        arrays = [array_of(operand) for operand in case.operands]
        result = array_of(result_of(case))
        is_combined = (
            len(arrays) > 1 or ":" in case.text.replace("# a dim, -> ( é", "") or case.reduce is not None
        )
        if is_combined:
            seen += 1
            assert result.flags.writeable, f"seed {seed}: {case.text!r}"
            assert not any(np.may_share_memory(result, array) for array in arrays), (
                f"seed {seed}: {case.text!r}"
            )
    assert seen > 300


@pytest.mark.slow
def test_every_order_of_contraction_gives_the_same_values() -> None:
    seen = 0
    for seed in range(1200):
        case = seeded_case(seed)
        if len(case.operands) < 3 or case.special:
            continue
        seen += 1
        expected = case.run(reference.einsum)
        for optimize in (False, "greedy", "optimal", "dp", "random-greedy"):

            def run(text: str, *operands: object, how: object = optimize, **options: object) -> object:
                return ne.einsum(text, *operands, optimize=how, **options)

            actual = case.run(run, wrap=lambda named: wrap(named.array, named.names))
            assert same(actual, expected, case), f"seed {seed}, optimize={optimize!r}: {case.text!r}"
    assert seen > 100


@pytest.mark.slow
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cases())
def test_hypothesis_finds_no_expression_that_differs(case: Case) -> None:
    assert same(result_of(case), case.run(reference.einsum), case)
