"""What is asked of networks, of plans, and of memory: group d, the scores p and the limits m."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from benchmarks.call import STRING
from benchmarks.goals.base import GOAL, Goal, ahead, at_most, by_name, everywhere
from benchmarks.results import Results, geomean, quotient
from benchmarks.scores import GREEDY
from benchmarks.workloads.networks import CHAIN, SMALL, NetworkWorkload

EXPRESSION = "opt_einsum.expression"


def judge(results: Results) -> Iterable[Goal]:
    """Yield the verdicts on networks, plans and memory."""
    yield ahead(results, results.of("d", SMALL), "d", EXPRESSION, 2, geomean, "small tensors: ")
    yield ahead(results, results.of("d", CHAIN), "d", EXPRESSION, 4, geomean, "chains by `auto`: ")
    over = by_name(results.of("d", SMALL), lambda w: _step(results, w))
    yield everywhere("d", "small tensors: at most 1.5 us a step in all", over, 1.5, "{:.2f} us")
    yield from _plans(results)
    yield from _memory(results)


def _step(results: Results, workload: NetworkWorkload) -> float | None:
    """Return the microseconds of one step, where what it computes is next to nothing."""
    seconds = results.lanes[workload.name][STRING].seconds
    return 1e6 * statistics.median(seconds) / workload.steps if seconds else None


def _plans(results: Results) -> Iterable[Goal]:
    scores = results.scores
    work = {one.name: one.work(GREEDY) for one in scores}
    yield everywhere("d", f"plans: work at most {GREEDY}'s", work, 1.0, is_timed=False)
    times = {one.name: one.time(GREEDY) for one in scores}
    yield everywhere("d", "plans: in at most its time", times, 1.0)
    hyper = {one.name: one.work_of_hyper for one in scores}
    yield everywhere("d", "plans: work at most 1.5x cotengra's hyper search", hyper, 1.5, is_timed=False)
    times = {one.name: one.time_of_hyper for one in scores}
    yield everywhere("d", "plans: in at most a fifth of its time", times, 0.2, "{:.4f}")
    refused = [f"{one.name} ({one.failure})" for one in scores if one.failure]
    most = max((one.operands for one in scores), default=0)
    figure = "; ".join(refused) or f"{len(scores)} planned, up to {most} operands" * bool(scores) or "-"
    asked = "nothing refused up to 200 operands"
    yield Goal(GOAL, "d", asked, figure, not refused if scores else None, is_timed=False)


def _memory(results: Results) -> Iterable[Goal]:
    off = {name: _off(results.peak_of(name, STRING), value) for name, value in results.predicted.items()}
    yield everywhere("f", "peak memory as predicted within 10 %", off, 0.10, "off by {:.0%}", is_timed=False)
    kept = [one for one in results.limited if not one.failure]
    failed = [one.name for one in results.limited if one.failure or not one.is_kept]
    asked = "memory_limit at a quarter of the peak: at most 2x the flops"
    worst = max(kept, key=lambda one: one.work or 0.0, default=None)
    goal = at_most(GOAL, "f", asked, worst.work if worst else None, 2.0, is_timed=False)
    figure = f"{goal.figure} ({worst.name})" if worst else goal.figure
    if failed:
        few = ", ".join(failed[:4]) + ", ..." * (len(failed) > 4)
        figure += f"; {len(failed)} of {len(results.limited)} cannot, or go over: {few}"
    is_met = bool(goal.is_met) and not failed if results.limited else None
    yield Goal(GOAL, "f", asked, figure, is_met, is_timed=False)


def _off(measured: int | None, predicted: int) -> float | None:
    ratio = quotient(measured, predicted)
    return None if ratio is None else abs(ratio - 1)
