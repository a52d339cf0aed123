"""Random formulas and their gradients, computed in loops over random labels, against whole arrays."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from nameexpr.compiler import pipeline
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.schedule.limit import jointly
from nameexpr.compiler.schedule.limit.joint import joint_loops
from nameexpr.compiler.schedule.limit.regions import GraphLoops, users_of
from nameexpr.errors import NameExprError
from nameexpr.records import replace
from properties.test_gradients_random import drawn, whole_term

BATCH = 30
SEEDS = 60


def random_loops(
    graph: Graph, outputs: Sequence[int], given: Collection[int], rng: np.random.Generator, around: str = ""
) -> GraphLoops:
    """Return the joint loops over a random label, with blocks of random sizes."""
    needed = sorted(users_of(graph, outputs, (), given))
    for label in rng.permutation(
        [label for label, size in sorted(graph.sizes.items()) if size > 1 and label != around]
    ):
        loops = joint_loops(graph, outputs, needed, str(label), given, again=bool(rng.integers(2)))
        if loops:
            block = int(rng.integers(1, graph.sizes[label]))
            sized = replace(graph, sizes={**graph.sizes, str(label): block})
            is_nested = not around and rng.random() < 0.5
            inner = [
                random_loops(sized, one.tops, one.reads, rng, str(label)) if is_nested else ()
                for one in loops
            ]
            return tuple(
                [replace(one, block=block, inner=own) for one, own in zip(loops, inner, strict=True)]
            )
    return ()


@pytest.fixture
def forced(monkeypatch: pytest.MonkeyPatch) -> list[GraphLoops]:
    """Compute every formula in loops over a random label while the list is not empty; what was chosen is
    appended.
    """
    chosen: list[GraphLoops] = []
    rng = np.random.default_rng(17)

    def choose(graph: Graph, outputs: Sequence[int], *rest: Any) -> GraphLoops:
        if chosen:
            chosen.append(random_loops(graph, outputs, rest[-1], rng))
            return chosen[-1]
        return ()

    monkeypatch.setattr(jointly, "chosen_loops", choose)
    monkeypatch.setattr(
        pipeline,
        "_joint",
        lambda _, given, program, __, *rest: jointly.lower_jointly(*given, program, *rest),
    )
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")
    return chosen


def agree(got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> None:
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    finite = np.isfinite(want)
    most = float(np.abs(want[finite]).max(initial=0)) if want.dtype.kind in "fc" else 0
    tolerance = {"e": 2e-2, "f": 1e-4, "F": 1e-4}.get(want.dtype.char, 1e-9)
    assert_allclose(got, want, rtol=tolerance, atol=tolerance * most + 1e-13)


@pytest.mark.parametrize("start", range(0, SEEDS, BATCH))
def test_loops_over_random_labels_change_no_value(start: int, forced: list[GraphLoops]) -> None:
    looped = 0
    for seed in range(start, start + BATCH):
        rng = np.random.default_rng(seed)
        case = drawn(seed, rng)
        if case is None:
            continue
        texts = [case.text, case.with_loss()]
        for name, operand in case.operands.items():
            if np.asarray(operand).dtype.kind == "f":
                texts.append(f"{case.with_loss()}\ng_g = grad(loss, {name}{whole_term(case, name)})")
        for text in texts:
            forced.clear()
            try:
                want = case.evaluate(text + f" # {seed}", case.operands)
            except NameExprError:
                continue
            forced.append(())
            got = case.evaluate(text + f" # {seed} again", case.operands)
            looped += any(forced)
            try:
                agree(got, want)
            except AssertionError as fault:
                raise AssertionError(f"seed {seed}: {text}\n{forced[1:]}") from fault
    assert looped > BATCH / 2
