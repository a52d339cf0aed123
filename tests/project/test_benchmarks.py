"""The benchmark measures what it says: its networks, hands, plans, checks and verdicts; never a time."""

from __future__ import annotations

import functools
import json
import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import opt_einsum
import pytest

from benchmarks import adapters, command, expected, goals, interactive, memory, networks, ours, report, scores
from benchmarks.call import STRING, Adapter, Call
from benchmarks.goals.base import GOAL, Goal, at_most, everywhere
from benchmarks.harness import HAND, Effort, Lane, measure
from benchmarks.planned import NETWORKS
from benchmarks.results import Results
from benchmarks.workloads import GROUPS, WORKLOADS, Workload
from benchmarks.workloads.base import normal
from benchmarks.workloads.by_path import hands
from benchmarks.workloads.networks import KNOWN, RUN
from nameexpr.records import replace
from nameexpr.session.commands import new_session
from nameexpr.session.feedback import status

SMALL = (
    networks.chain(5, 2, 5),
    networks.ring(4, 2, 4),
    networks.tree(6, 2, 3),
    networks.lattice(2, 3, 2, 3),
    networks.regular(6, 2, 2),
    networks.state_product(3, 2),
    networks.lattice_state_norm(2, 2, 2),
    networks.tucker(3, 2),
    networks.canonical(3, 2),
    networks.Network(
        "matrix to vector",
        (("a", "b", "c"), ("d", "c", "a"), ("e", "b", "d")),
        ("e",),
        dict(zip("abcde", (2, 3, 4, 2, 3), strict=True)),
    ),
)
ONCE = Effort(rounds=1, budget=0.0)
PLAIN = Workload("plain", "b", "i j, j k -> i k", normal((3, 4), (4, 5)), (np.matmul,))


def named(network: networks.Network) -> str:
    return network.name


def random_path(rng: np.random.Generator, count: int) -> list[tuple[int, int]]:
    pairs = []
    for left in range(count, 1, -1):
        first, second = rng.choice(left, 2, replace=False)
        pairs.append((int(first), int(second)))
    return pairs


def test_every_workload_has_a_name_of_its_own_and_a_known_group() -> None:
    counted = Counter(workload.name for workload in WORKLOADS)
    assert not [name for name, count in counted.items() if count > 1]
    assert {workload.group for workload in WORKLOADS} == set("abcdeflnru") < set(GROUPS)
    by_group = Counter(workload.group for workload in WORKLOADS)
    assert by_group["r"] == 150
    assert sum(by_group[group] for group in "abcdef") >= 80


@pytest.mark.parametrize("network", SMALL, ids=named)
def test_every_way_to_run_any_path_gives_the_contraction(network: networks.Network) -> None:
    rng = np.random.default_rng(5)
    operands = [rng.standard_normal(shape) for shape in network.shapes]
    wanted = np.einsum(network.symbols, *operands)
    paths = [random_path(rng, len(operands)) for _ in range(6)]
    for hand in hands(network, paths):
        np.testing.assert_allclose(hand(*operands), wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("network", [*NETWORKS, *(given[0] for given in RUN.values())], ids=named)
def test_a_network_is_the_same_every_time_and_its_sizes_fit(network: networks.Network) -> None:
    held = Counter(label for term in network.terms for label in set(term))
    held.update(network.out)
    assert set(held) == set(network.size)
    if network.name != "CP 5":
        assert set(held.values()) == {2}
    inputs, _, _ = network.symbols.partition("->")
    lengths = [len(term) for term in inputs.split(",")]
    assert lengths == [len(shape) for shape in network.shapes]
    again = network.renamed("new_")
    assert again.shapes == network.shapes
    assert again.symbols == network.symbols
    assert not set(again.size) & set(network.size)


def test_the_generators_give_what_their_names_say() -> None:
    assert networks.regular(20, 2, 4, 1) == networks.regular(20, 2, 4, 1) != networks.regular(20, 2, 4, 2)
    assert {len(term) for term in networks.regular(50, 2, 2).terms} == {3}
    assert len(networks.lattice(3, 4, 2, 2).size) == 3 * 3 + 2 * 4
    assert len(networks.tree(30, 2, 4).size) == 29
    assert max(len(one.terms) for one in NETWORKS) == 200
    assert min(len(one.terms) for one in NETWORKS) == 10


def test_something_is_known_of_every_network() -> None:
    known = json.loads(KNOWN.read_text())
    assert set(known["planned"]) == {network.name for network in NETWORKS}
    assert all(0 < one["flops"] <= one["hyper_flops"] for one in known["planned"].values())
    assert set(known["paths"]) == set(RUN)
    for name, (network, *_) in RUN.items():
        assert all(len(path) == len(network.terms) - 1 for path in known["paths"][name])


@pytest.mark.parametrize("network", [one for one in NETWORKS if one.name.startswith("chain")], ids=named)
def test_what_is_known_of_a_chain_is_the_optimum(network: networks.Network) -> None:
    sizes = [*(shape[0] for shape in network.shapes), network.shapes[-1][1]]

    @functools.cache
    def least(i: int, j: int) -> int:
        if j - i == 1:
            return 0
        return min(least(i, k) + least(k, j) + 2 * sizes[i] * sizes[k] * sizes[j] for k in range(i + 1, j))

    for width in range(2, len(sizes)):  # from short ones up, so that nothing recurses deeply
        least(0, width)
    assert json.loads(KNOWN.read_text())["planned"][network.name]["flops"] == least(0, len(sizes) - 1)


def test_the_best_stored_path_is_no_worse_than_a_greedy_one() -> None:
    known = json.loads(KNOWN.read_text())["paths"]
    for name, (network, *_) in RUN.items():
        work = [work_of(network, path) for path in (known[name][0], "greedy")]
        assert work[0] <= work[1], name


def work_of(network: networks.Network, path: Any) -> float:
    path = path if isinstance(path, str) else [tuple(pair) for pair in path]
    return float(
        opt_einsum.contract_path(network.symbols, *network.shapes, shapes=True, optimize=path)[1].opt_cost
    )


def bound(result: Any, **given: Any) -> Adapter:
    def bind(_: Any, workload: Workload, operands: Any) -> Call:
        return Call(result, operands, **given)

    return Adapter("other", "numpy", bind, "b")


@pytest.mark.parametrize(
    ("result", "note"),
    [
        (lambda a, b: (a @ b).T, "shape"),
        (lambda a, b: (a @ b).astype(np.float64), "dtype"),
        (lambda a, b: a @ b * np.float32(1.001), "off by"),
    ],
    ids=["shape", "dtype", "value"],
)
def test_a_wrong_result_is_found_and_not_timed(result: Any, note: str) -> None:
    lane = measure(PLAIN, [bound(result)], ONCE)["other"]
    assert lane.status == "wrong"
    assert lane.note.startswith(note)
    assert not lane.seconds


def test_a_right_result_is_timed_beside_hand() -> None:
    lanes = measure(PLAIN, [bound(np.dot)], ONCE)
    assert [lane.status for lane in lanes.values()] == ["ok"] * 3
    assert all(lane.ratios for lane in lanes.values())


def test_who_promises_c_order_must_give_it() -> None:
    turned = replace(PLAIN, materialise=True)
    view = bound(lambda a, b: (b.T @ a.T).T, is_in_order=True)
    lane = measure(turned, [view], ONCE)["other"]
    assert (lane.status, lane.note) == ("wrong", "not in C order")
    assert measure(turned, [bound(lambda a, b: (b.T @ a.T).T)], ONCE)["other"].status == "ok"


def test_an_option_that_is_not_there_is_no_failure() -> None:
    ne = adapters.OURS[0].load()
    assert not ours._can(ne, lambda: ne.einsum("i j -> j i", np.ones((2, 3)), no_such_option="C"))
    assert ours._can(ne, lambda: ne.einsum("i j -> i j", np.ones((2, 3))))


@pytest.mark.slow
def test_slow_peers_run_only_when_they_are_named() -> None:
    usual, _ = adapters.installed(None, {"b"})
    assert "np.einsum" in {peer.name for peer in usual}
    assert not [peer for peer in usual if peer.is_slow]
    asked, notes = adapters.installed([adapters.ALL], {"b"})
    assert len(asked) + len(notes) > len(usual)
    assert adapters.installed([], {"b"}) == ((), [])


@pytest.mark.slow
def test_the_peak_of_a_call_is_what_it_holds_at_once() -> None:
    assert 0.99 < memory.peak(lambda: np.concatenate((np.ones(10**6), np.ones(10**6)))) / 32e6 < 1.01
    assert 0.99 < memory.peak(lambda: [np.ones(10**6).sum(), np.ones(10**6)][1]) / 8e6 < 1.01


def test_a_verdict_needs_a_measurement_and_a_steady_machine() -> None:
    assert goals.verdict(at_most(GOAL, "b", "", None, 1.05), is_steady=True) == "not measured"
    assert goals.verdict(at_most(GOAL, "b", "", 1.05, 1.05), is_steady=True) == "met"
    assert goals.verdict(at_most(GOAL, "b", "", 1.06, 1.05), is_steady=True) == "NOT MET"
    assert goals.verdict(at_most(GOAL, "b", "", 1.06, 1.05), is_steady=False) == "not judged"
    assert goals.verdict(at_most(GOAL, "b", "", 2, 1, is_timed=False), is_steady=False) == "NOT MET"


def test_a_goal_for_all_names_the_worst_and_who_misses_it() -> None:
    goal = everywhere("n", "", {"x": 1.0, "y": 3.0, "z": None, "w": 2.5}, 2.0)
    assert (goal.figure, goal.is_met) == ("3.00 (y); 2 of 3 miss it: y, w", False)
    goal = everywhere("n", "", {"x": 1.0, "y": 3.0}, 1.0, is_least=True)
    assert (goal.figure, goal.is_met) == ("1.00 (x)", True)


def judged(name: str, hand: float, **peers: float) -> dict[str, Goal]:
    """Return the goals of a workload that takes 1.2 times as long as hand."""
    (workload,) = (one for one in WORKLOADS if one.name == name)
    times = {HAND: 1.0, STRING: 1.2, **peers}
    lanes = {
        key: Lane(key, None, ratios=[ratio], seconds=[hand * ratio], over=[hand * (ratio - 1)])
        for key, ratio in times.items()
    }
    found = goals.judge(Results({}, workloads=[workload], lanes={name: lanes}))
    return {goal.asked: goal for goal in found if goal.group == workload.group}


def test_torch_is_left_out_where_numpy_lacks_its_loops_and_that_is_said() -> None:
    asked = "at most 1.05 of the best of peers on any"
    figure = judged("outer", 1e-4, torch=0.4, einops=0.8)[asked].figure
    assert figure.startswith("1.50 (outer)")
    assert figure.endswith("without torch, whose loops NumPy lacks, for products with broadcasting")
    assert judged("matvec", 1e-4, torch=0.4)[asked].figure.startswith("3.00 (matvec)")


def test_hand_is_no_peer() -> None:
    asked = "at most 1.05 of the best of peers on any"
    assert judged("matvec", 1e-4, torch=1.3)[asked].is_met is True
    assert judged("matvec", 1e-4)[asked].is_met is None


def test_a_short_call_is_judged_by_what_it_adds() -> None:
    asked = "calls under 1 us at most hand + 0.35 us"
    found = judged("gemm small", 0.5e-6)
    assert found[asked].figure == "+0.10 us (gemm small)"
    assert found["worst at most 1.25 of hand"].is_met is None
    assert asked not in judged("gemm small", 2e-6)


def test_without_measurements_no_goal_is_judged() -> None:
    results = Results({})
    found = goals.judge(results)
    assert {goal.group for goal in found} == set("abcdefgnru")
    assert {goal.is_met for goal in found} == {None}
    assert "not measured" in report.goals(found, results)


def test_the_plans_of_nameexpr_are_scored_in_the_same_unit() -> None:
    network = networks.chain(12, 4, 64)
    score = scores.Score(network.name, 12, {"flops": 1})
    scores._plan(score, network)
    scores._compare(score, network)
    assert not score.failure
    assert score.flops[scores.AUTO] == work_of(network, "auto")
    assert score.flops[STRING] <= score.flops[scores.AUTO]
    assert score.work() == score.flops[STRING]


def test_a_limit_that_cannot_be_kept_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    outer = Workload("outer", "b", "i, j -> i j", normal((300,), (300,)), ())
    (found,) = memory.measure_limited([outer])
    assert found.failure.startswith("cannot: ") or not found.is_kept
    monkeypatch.setattr(memory, "_seconds", lambda call: 1.0)
    assert found.limit == found.peak // 4 > 0


def test_a_run_writes_what_it_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "run.json"
    given = [
        "--quick",
        "--rounds",
        "1",
        "--peers",
        "np.einsum",
        "--workload",
        "tiny dot",
        "--json",
        str(kept),
    ]
    assert command.main(given) == 0
    found = json.loads(kept.read_text())
    assert [one["name"] for one in found["workloads"]] == ["tiny dot"]
    assert set(found["workloads"][0]["adapters"]) == {HAND, "A/A", STRING, "nameexpr.compile", "np.einsum"}
    assert {"goals", "geomeans", "machine", "plans", "limited", "cold"} <= set(found)
    assert "tiny dot" in capsys.readouterr().out


def test_a_wrong_result_gives_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = replace(PLAIN, hands=(lambda a, b: a @ b + np.float32(1),))
    monkeypatch.setattr(command, "WORKLOADS", (bad,))
    assert command.main(["--quick", "--rounds", "1", "--peers", "", "--workload", "plain"]) == 1
    assert "Wrong or failed" in capsys.readouterr().out


@pytest.mark.parametrize("given", [["--peers", "nobody"], ["--workload", "nothing"], ["--rounds", "0"]])
def test_a_mistake_on_the_command_line_gives_exit_code_2(given: list[str], capsys: Any) -> None:
    with pytest.raises(SystemExit) as stopped:
        command.main(given)
    assert stopped.value.code == 2
    capsys.readouterr()


def test_the_random_workloads_are_reported_by_the_worst_of_them() -> None:
    chosen = [workload for workload in WORKLOADS if workload.group == "r"]
    results = Results({}, workloads=chosen)
    for number, workload in enumerate(chosen):
        lanes = [
            Lane(name, None, ratios=[1.0 + number / 100], seconds=[1.0]) for name in (HAND, STRING, "A/A")
        ]
        results.lanes[workload.name] = {lane.name: lane for lane in lanes}
    text = report.table(results, {group: [STRING] for group in GROUPS})
    shown = [line.split("  ")[0] for line in text.splitlines() if line.startswith("random ")]
    assert shown == [f"random {number}" for number in range(149, 139, -1)]
    mean = math.exp(sum(math.log(1 + number / 100) for number in range(150)) / 150)
    assert f"{mean:.2f}" in next(line for line in text.splitlines() if line.startswith("geomean"))


def test_the_lines_that_are_typed_are_right_and_as_long_as_the_goal_says() -> None:
    session = new_session()
    for line in interactive.TENSORS:
        assert not session.run(line).is_fault
    for line in interactive.LINES.values():
        assert 185 <= len(line) <= 215
        assert status(session, line).kind == "type"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # what random functions do to random numbers
@pytest.mark.parametrize("make", [expected._expression, expected._formula])
def test_random_texts_are_planned_as_they_are_called(make: Any) -> None:
    drawn = random.Random(3)
    for _ in range(15):
        plan, call = make(drawn)
        assert call().shape == plan.result_shape
        assert plan.seconds > 0


def test_the_share_within_a_factor_counts_both_sides() -> None:
    told = expected._summary([0.4, 0.5, 1.0, 2.0, 2.5, 3.1, 0.3, 1.0])
    assert "8 calls" in told and "50% within 2" in told and "75% within 3" in told
