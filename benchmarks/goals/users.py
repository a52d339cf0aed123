"""What is asked of the expressions that users of other libraries complained of: group u."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.call import STRING
from benchmarks.goals.base import Goal, by_name, everywhere
from benchmarks.goals.behind import judge_best
from benchmarks.goals.others import BLOCKS
from benchmarks.harness import HAND
from benchmarks.results import Results
from benchmarks.workloads import Workload
from benchmarks.workloads.base import MEMORY

FEW = 5
"""From more operands than this a first call may take longer, to search for an order."""


def judge(results: Results) -> Iterable[Goal]:
    """Yield the verdicts on the users' expressions."""
    yield from judge_best(results, "u", "hand and peers")
    few = [w for w in results.of("u") if w.terms.count(",") < FEW]
    firsts = by_name(few, lambda w: _milliseconds(results.first.get(w.name)))
    yield everywhere("u", f"first call at most hot + 3 ms (up to {FEW} operands)", firsts, 3.0, "{:.1f} ms")
    memory = by_name(results.of("u", MEMORY), lambda w: _megabytes_over(results, w))
    asked = f"memory: peak at most hand's and {BLOCKS:.0f} MB"
    yield everywhere("u", asked, memory, BLOCKS, "{:+.1f} MB", is_timed=False)


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else 1e3 * seconds


def _megabytes_over(results: Results, workload: Workload) -> float | None:
    ours, hand = results.peak(workload, STRING), results.peak(workload, HAND)
    return None if ours is None or hand is None else (ours - hand) / 1e6
