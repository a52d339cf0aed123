"""What is asked of the expressions that users of other libraries complained of: group u."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.call import STRING
from benchmarks.goals.base import GOAL, Goal, at_most, by_name, everywhere, ratios
from benchmarks.goals.others import BLOCKS
from benchmarks.harness import HAND
from benchmarks.results import Results, geomean, quotient
from benchmarks.workloads import Workload
from benchmarks.workloads.base import MEMORY

FEW = 5
"""From more operands than this a first call may take longer, to search for an order."""


def judge(results: Results) -> Iterable[Goal]:
    """Yield the verdicts on the users' expressions."""
    chosen = results.of("u")
    yield at_most(GOAL, "u", "geomean at most 1.0 of hand", geomean(ratios(results, chosen).values()), 1.0)
    behind = by_name(chosen, lambda w: _behind(results, w))
    yield everywhere("u", "at most 1.05 of the best of hand and peers on any", behind, 1.05)
    few = [w for w in chosen if w.terms.count(",") < FEW]
    firsts = by_name(few, lambda w: _milliseconds(results.first.get(w.name)))
    yield everywhere("u", f"first call at most hot + 3 ms (up to {FEW} operands)", firsts, 3.0, "{:.1f} ms")
    memory = by_name(results.of("u", MEMORY), lambda w: _megabytes_over(results, w))
    asked = f"memory: peak at most hand's and {BLOCKS:.0f} MB"
    yield everywhere("u", asked, memory, BLOCKS, "{:+.1f} MB", is_timed=False)


def _behind(results: Results, workload: Workload) -> float | None:
    best = results.best_peer(workload)
    return quotient(results.ratio(workload, STRING), min(1.0, best[1]) if best else 1.0)


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else 1e3 * seconds


def _megabytes_over(results: Results, workload: Workload) -> float | None:
    ours, hand = results.peak(workload, STRING), results.peak(workload, HAND)
    return None if ours is None or hand is None else (ours - hand) / 1e6
