"""Group u of the benchmark: its expressions are those of the threads, and every way to write them agrees."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import benchmarks
import nameexpr as ne
from benchmarks import first, goals
from benchmarks.call import STRING, Call
from benchmarks.goals.base import Goal
from benchmarks.harness import HAND, Lane
from benchmarks.results import Results
from benchmarks.workloads import Workload
from benchmarks.workloads.users import WORKLOADS

README = Path(benchmarks.__file__).with_name("README.md").read_text()


def named(workload: Workload) -> str:
    return workload.name


@pytest.mark.parametrize("workload", WORKLOADS, ids=named)
def test_every_hand_gives_what_nameexpr_gives(workload: Workload) -> None:
    operands = workload.operands()
    wanted = np.asarray(ne.einsum(workload.text, *operands))
    scale = np.abs(wanted).max()
    rtol = 1e-4 if wanted.dtype == np.float32 else 1e-10
    for hand in workload.hands:
        found = np.asarray(hand(*operands))
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol * scale)


def test_every_thread_of_the_list_has_workloads_or_a_reason() -> None:
    threads = {re.match(r"\w+ \d+", workload.name).group() for workload in WORKLOADS}  # type: ignore[union-attr]
    listed = set(re.findall(r"^\| (\w+ \d+) \|", README, re.MULTILINE))
    assert threads < listed
    assert listed - threads == {"numpy 27260"}


def judged(results: Results) -> dict[str, Goal]:
    return {goal.asked.partition(":")[0]: goal for goal in goals.judge(results) if goal.group == "u"}


def measured(name: str, ours: float, peer: float, peaks: dict[str, int]) -> Results:
    (workload,) = (w for w in WORKLOADS if w.name == name)
    lanes = {
        one: Lane(one, None, ratios=[ratio], seconds=[1.0])
        for one, ratio in ((HAND, 1.0), (STRING, ours), ("np.einsum", peer))
    }
    return Results({}, workloads=[workload], lanes={name: lanes}, peaks={name: peaks}, first={name: 0.002})


def test_the_best_of_hand_and_peers_is_what_counts() -> None:
    name, asked = "numpy 19647, batch of products", "at most 1.05 of the best of hand and peers on any"
    assert judged(measured(name, 1.0, 0.9, {}))[asked].is_met is False
    assert judged(measured(name, 1.0, 1.2, {}))[asked].is_met is True
    assert judged(measured(name, 1.2, 1.2, {}))[asked].is_met is False
    assert judged(measured(name, 1.0, 1.0, {}))["first call at most hot + 3 ms (up to 5 operands)"].is_met


def test_memory_is_compared_with_hand_where_it_was_the_complaint() -> None:
    peaks = {STRING: 30_000_000, HAND: 1_000_000}
    name = "opt_einsum 157, sum of Gram matrices"
    assert judged(measured(name, 1.0, 1.0, peaks))["memory"].is_met is False
    assert judged(measured(name, 1.0, 1.0, {**peaks, STRING: 2_900_000}))["memory"].is_met
    assert judged(measured("numpy 22604, all pairs", 1.0, 1.0, peaks))["memory"].is_met is None


def test_a_first_call_is_slower_than_the_next() -> None:
    (workload,) = (w for w in WORKLOADS if w.name.startswith("numpy 10357"))
    call = Call(ne.einsum, (workload.text, *workload.operands()))
    call()
    found = first.seconds_over(workload, Lane(STRING, call, seconds=[1e-6]))
    assert found is not None and 1e-5 < found < 1
    assert first.seconds_over(workload, Lane(STRING, None)) is None
