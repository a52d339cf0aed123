"""`tune=True`: the ways that the cost model thinks best are timed on the operands at hand, and the quickest
stays.

The model is right about the order of most ways, and within a tenth for nearly all; where calls are made many
times, timing the best three of each step once is worth it. Which way is taken changes no value beyond the
rounding of float sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

TRIED = 4
"""Ways that are timed for one step."""
STEPS = 6
"""Steps of a plan that are tuned, the first ones."""
ROUNDS = 5
BATCH = 200e-6
"""Seconds that one measurement takes at least."""
LONG = 0.5
"""Seconds of a call from which nothing is tried."""

Run = Callable[[], Any]
Make = Callable[[tuple[int, ...]], tuple[Run, Sequence[int]]]


def autotune(make: Make) -> tuple[int, ...]:
    """Return the rank of the way to take at each choice; `make` takes ranks, and returns a function that
    computes with them and the number of ways at each choice.
    """
    ranks: tuple[int, ...] = ()
    run, offers = make(ranks)
    if _seconds_of_one(run) > LONG:
        return ranks
    for choice in range(min(STEPS, len(offers))):
        tried = [(*ranks, rank) for rank in range(min(TRIED, offers[choice]))]
        ranks = _quickest(make, tried) if len(tried) > 1 else (*ranks, 0)
    return ranks


def _quickest(make: Make, tried: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the ranks whose function is the quickest, timed in turns."""
    runs = [make(ranks)[0] for ranks in tried]
    counts = [max(1, round(BATCH / max(_seconds_of_one(run), 1e-7))) for run in runs]
    least = [float("inf")] * len(runs)
    for _ in range(ROUNDS):
        for number, (run, count) in enumerate(zip(runs, counts, strict=True)):
            start = perf_counter()
            for _ in range(count):
                run()
            least[number] = min(least[number], (perf_counter() - start) / count)
    return tried[least.index(min(least))]


def _seconds_of_one(run: Run) -> float:
    """Return the time of one call; an earlier one has brought everything into the cache."""
    run()
    start = perf_counter()
    run()
    return perf_counter() - start
