"""How far nameexpr may be behind hand and peers. Where a peer has what NumPy does not, that is named."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import replace

from benchmarks.call import STRING
from benchmarks.goals.base import GOAL, Goal, at_most, by_name, everywhere, ratios
from benchmarks.harness import HAND
from benchmarks.results import Results, geomean, quotient
from benchmarks.workloads import Workload

LIMIT = 1.05
WORST = 1.25
SHORT = 1e-6
"""Seconds that hand takes, below which a call is judged by what it adds."""
ADDED = 0.35
"""The microseconds that a call of two operands may add, as in group a: Python compares their types, shapes
and dtypes.
"""
KERNELS = {
    "outer": "products with broadcasting",
    "batched outer": "products with broadcasting",
    "channel scale": "products with broadcasting",
    "channel scale, permuted": "products with broadcasting",
    "int64, wide": "matrix products of integers",
    "float16 row sums": "sums of float16",
}
"""The workloads for which torch has vector loops and NumPy has not."""


def judge_group(results: Results, group: str, mean: float) -> Iterable[Goal]:
    """Yield the verdicts on a group: the mean, the worst, and all peers."""
    chosen = results.of(group)
    asked = f"geomean at most {mean} of hand"
    yield at_most(GOAL, group, asked, geomean(ratios(results, chosen).values()), mean)
    long = [workload for workload in chosen if not _is_short(results, workload)]
    yield everywhere(group, f"worst at most {WORST} of hand", ratios(results, long), WORST)
    yield from judge_best(results, group, "peers")


def judge_best(results: Results, group: str, best: str) -> Iterable[Goal]:
    """Yield the verdicts on the best of the peers, and of hand if it is asked for ("hand and peers"), and on
    calls that are too short for a ratio.
    """
    chosen = results.of(group)
    short = [workload for workload in chosen if _is_short(results, workload)]
    with_hand = best.startswith("hand")
    behind = by_name([w for w in chosen if w not in short], lambda w: _behind(results, w, with_hand))
    goal = everywhere(group, f"at most {LIMIT} of the best of {best} on any", behind, LIMIT)
    kernels = dict.fromkeys(
        KERNELS[w.name] for w in chosen if w.name in KERNELS and results.ratio(w, "torch") is not None
    )
    left_out = f"; without torch, whose loops NumPy lacks, for {', '.join(kernels)}" if kernels else ""
    yield replace(goal, figure=goal.figure + left_out)
    if short:
        asked = f"calls under {1e6 * SHORT:.0f} us at most hand + {ADDED} us"
        yield everywhere(group, asked, by_name(short, results.over), ADDED, "{:+.2f} us")


def _is_short(results: Results, workload: Workload) -> bool:
    lane = results.lanes[workload.name].get(HAND)
    return lane is not None and bool(lane.seconds) and statistics.median(lane.seconds) < SHORT


def _behind(results: Results, workload: Workload, with_hand: bool) -> float | None:
    best = results.best_peer(workload, ("torch",) if workload.name in KERNELS else ())
    others = [1.0] * with_hand + ([best[1]] if best else [])
    return quotient(results.ratio(workload, STRING), min(others, default=None))
