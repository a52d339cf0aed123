"""Bound expressions and formulas against the references, with random operands bound."""

from __future__ import annotations

import copy
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import nameexpr as ne
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.lowering import fusion
from nameexpr.compiler.lowering.fusion import FusionPlan
from nameexpr.compiler.schedule import partial as fold
from nameexpr.compiler.schedule.partial import hoist_invariants
from nameexpr.records import replace
from nameexpr.tensors import wrap
from oracle.generate import formulas as formula_generate
from oracle.generate.expressions import array_of, same, seeded_case
from oracle.reference import expressions as reference
from oracle.reference.formulas import answers


def tensor_of(named: Any) -> Any:
    return wrap(named.array, named.names)


def bound_to_some(seed: int, kept: list[Any]) -> Callable[..., Any]:
    """Return `einsum` by way of `bind`, once or twice, of operands that the seed chooses.

    What is bound is overwritten before the call, and so is the first result.
    """
    rng = random.Random(seed)

    def run(text: str, *operands: Any, **options: Any) -> Any:
        compiled = ne.compile(text, **options)
        if compiled._entry.tree.leaves_inputs_out:
            return compiled(*operands)
        left = list(range(len(operands)))
        for _ in range(rng.choice([1, 1, 2])):
            chosen = [place for place in range(len(left)) if rng.random() < rng.choice([0, 0.5, 0.5, 1])]
            given = {place - rng.choice([0, len(left)]): operands[left[place]] for place in chosen}
            compiled = compiled.bind(copy.deepcopy(given))
            left = [one for place, one in enumerate(left) if place not in chosen]
        free = [operands[place] for place in left]
        kept.append(compiled)
        first = compiled(*free)
        expected = array_of(first).copy()
        if array_of(first).flags.writeable and not any(
            np.shares_memory(array_of(first), x) for x in map(array_of, free)
        ):
            array_of(first)[...] = 77
        again = compiled(*free)
        assert_array_equal(array_of(again), expected)
        return again

    return run


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(150, 600, 150))]
)
def test_bound_expressions_equal_the_nested_loops(first: int) -> None:
    kept: list[Any] = []
    for seed in range(first, first + 150):
        case = seeded_case(seed)
        expected = case.run(reference.einsum)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")
            found = case.run(bound_to_some(seed, kept), wrap=tensor_of)
        assert same(found, expected, case), f"seed {seed}: {case.text!r}"
    assert len(kept) > 100


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(100, 400, 100))]
)
def test_bound_formulas_equal_the_naive_reference(first: int) -> None:
    for seed in range(first, first + 100):
        case = formula_generate.seeded_case(seed)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")
            found = case.run(bound_formula_to_some(seed), wrap=tensor_of)
        expected = case.run(answers)
        results = [found] if case.outputs is None else list(found)
        assert all(formula_generate.same(*pair) for pair in zip(results, expected, strict=True)), (
            f"seed {seed}:\n{case.text}"
        )


def bound_formula_to_some(seed: int) -> Callable[..., Any]:
    rng = random.Random(seed)

    def run(text: str, outputs: Any = None, sizes: Any = None, **operands: Any) -> Any:
        bound = ne.compile(text, outputs=outputs, sizes=sizes)
        share = rng.choice([0, 0.5, 0.5, 1])
        chosen = {name: value for name, value in operands.items() if rng.random() < share}
        bound = bound.bind(operands=copy.deepcopy(chosen))
        free = {name: value for name, value in operands.items() if name not in chosen}
        results = bound(operands=free)
        given = [array_of(one) for one in free.values()]
        for one in map(array_of, results if isinstance(results, tuple) else (results,)):
            if not any(np.shares_memory(one, other) for other in given):
                one[...] = 1
        return bound(operands=free)

    return run


@pytest.mark.slow
@pytest.mark.parametrize("block", [1, 7, 64])
def test_bound_formulas_in_blocks_equal_the_naive_reference(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plan(graph: Any, uses: Any, target: Any) -> FusionPlan:
        return FusionPlan(graph, uses, replace(target, block_cells=block, fused_cells=1))

    monkeypatch.setattr(fusion, "FusionPlan", plan)
    moved: list[int] = []

    def counted(program: Program, *given: Any) -> Program:
        made = hoist_invariants(program, *given)
        moved.append(len(made.instructions) > len(program.instructions))
        return made

    monkeypatch.setattr(fold, "hoist_invariants", counted)
    for seed in range(30_000 + 200 * block, 30_140 + 200 * block):
        case = formula_generate.seeded_case(seed)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")
            found = case.run(bound_formula_to_some(seed), wrap=tensor_of)
        expected = case.run(answers)
        results = [found] if case.outputs is None else list(found)
        assert all(formula_generate.same(*pair) for pair in zip(results, expected, strict=True)), (
            f"seed {seed}:\n{case.text}"
        )
    assert sum(moved) > 10
