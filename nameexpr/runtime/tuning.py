"""`tune=True`: the best strategies by the cost model are timed on the given operands, and the fastest is
kept.

The model orders most strategies correctly, and nearly all within a tenth; if a text is called many times,
timing the best three of each step once pays off. The choice changes no value beyond the rounding of float
sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from nameexpr.runtime.specialise import function_of

TRIED = 4
"""The number of strategies that are timed for one step."""
STEPS = 6
"""The number of steps of a plan that are tuned, from the first."""
ROUNDS = 5
BATCH = 200e-6
"""The shortest duration of a measurement in seconds."""
LONG = 0.5
"""The seconds of a call from which nothing is tuned."""

Run = Callable[[], Any]
Make = Callable[[tuple[int, ...]], tuple[Run, Sequence[int]]]


def best_ranks(entry: Any, latest: Any, every: Sequence[Any], operands: Sequence[Any]) -> tuple[int, ...]:
    """Return the rank of the fastest strategy at each choice of the text of an `Entry`, timed on its
    operands, of which `operands` are not bound; `latest` is what a function is specialised for.
    """

    def make(ranks: tuple[int, ...]) -> tuple[Run, Sequence[int]]:
        compiled = entry.compile(latest.specs, ranks, latest.same)
        made = entry.template(compiled, latest.specs, every)
        function = function_of(made.code, made.constants, entry.slow_call, entry._explain)
        return lambda: function(*operands), compiled.program.offers

    return autotune(make)


def autotune(make: Make) -> tuple[int, ...]:
    """Return the rank of the strategy at each choice; `make` takes ranks, and returns a function that
    computes with them and the number of strategies at each choice.
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
    """Return the ranks whose function is the fastest, timed in turns."""
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
    """Return the time of one call; an earlier one has filled the caches."""
    run()
    start = perf_counter()
    run()
    return perf_counter() - start
