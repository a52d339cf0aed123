"""What is asked of parts, positions and recurrences: group l."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.call import STRING
from benchmarks.goals.base import GOAL, Goal, at_most
from benchmarks.results import Results
from benchmarks.workloads import language

LIMITS = {
    language.CONVOLUTION: (1.35, "of conv2d"),
    language.WINDOW: (1.0, "of pandas and ndimage"),
    language.FILTER: (1.0, "of ndimage and signal"),
    language.GATHER: (1.1, "of NumPy's own"),
    language.EMBEDDING: (1.2, "of table[ids]"),
    language.SEGMENT: (1.1, "of the best of four ways"),
    language.JOIN: (1.05, "of out="),
    language.STEPS: (1.05, "of the loop"),
}


def judge(results: Results) -> Iterable[Goal]:
    """Yield the verdicts on the forms of the language."""
    for tag, (limit, what) in LIMITS.items():
        for workload in results.of("l", tag):
            asked = f"{workload.name}: at most {limit} {what}"
            yield at_most(GOAL, "l", asked, results.ratio(workload, STRING), limit)
