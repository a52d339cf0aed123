"""The least time of each of many calls, measured in turns, so that other work on the machine disturbs none of
them in all rounds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

BATCH = 150e-6
"""The shortest duration of a measurement in seconds."""
ROUNDS = 3
"""The least number of rounds."""


def least_times(makes: Sequence[Callable[[], Callable[[], Any]]], seconds: float) -> list[float]:
    """Return the least seconds of one call of each; rounds are repeated for about this long, and at least
    three times.
    """
    least, end, rounds, last = [float("inf")] * len(makes), perf_counter() + seconds, 0, 0.0
    while rounds < ROUNDS or perf_counter() + last < end:
        start = perf_counter()
        for number, make in enumerate(makes):
            least[number] = min(least[number], _timed(make()))
        rounds, last = rounds + 1, perf_counter() - start
    return least


def _timed(call: Callable[[], Any]) -> float:
    """Return the seconds of a call, in a batch of them; an earlier one has filled the caches."""
    call()
    start = perf_counter()
    call()
    once = perf_counter() - start
    count = int(BATCH / max(once, 1e-7))
    if count <= 1:
        return once
    start = perf_counter()
    for _ in range(count):
        call()
    return (perf_counter() - start) / count


def handed_over(times: int = 300) -> float:
    """Return the nanoseconds that it takes to wake another thread, a median."""
    asked, answered = threading.Semaphore(0), threading.Semaphore(0)

    def answer() -> None:
        for _ in range(times):
            asked.acquire()
            answered.release()

    other = threading.Thread(target=answer, daemon=True)
    other.start()
    taken = []
    for _ in range(times):
        start = perf_counter()
        asked.release()
        answered.acquire()
        taken.append((perf_counter() - start) / 2)
    other.join()
    return 1e9 * sorted(taken)[times // 2]
