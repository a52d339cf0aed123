"""`tune=True` on a made-up clock: the fastest of a few strategies is chosen, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from nameexpr.runtime import tuning
from nameexpr.runtime.tuning import LONG, STEPS, TRIED, Tuning, autotune


class Clock:
    """A clock that only runs while a strategy does; `made` are the ranks that were compiled."""

    def __init__(self, seconds: Any, offers: Sequence[int]) -> None:
        self.now, self.seconds, self.offers = 0.0, seconds, list(offers)
        self.made: list[tuple[int, ...]] = []

    def make(self, ranks: tuple[int, ...]) -> tuple[Any, list[int]]:
        self.made.append(ranks)

        def run() -> None:
            self.now += self.seconds(ranks)

        return run, self.offers


def tuned(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Tuning:
    monkeypatch.setattr(tuning, "perf_counter", lambda: clock.now)
    return autotune(clock.make)


def test_the_fastest_strategy_of_each_step_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = (2, 0, 1)

    def seconds(ranks: tuple[int, ...]) -> float:
        return 1e-4 + 1e-5 * sum(abs(one - best) for one, best in zip(ranks, wanted, strict=False))

    assert tuned(monkeypatch, Clock(seconds, (3, 1, 2))) == Tuning(wanted, (3, 1, 2))


def test_few_strategies_of_few_steps_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(lambda ranks: 1e-4, [TRIED + 3] * (STEPS + 2))
    assert tuned(monkeypatch, clock) == Tuning((0,) * STEPS, (TRIED + 3,) * STEPS)
    assert max(map(len, clock.made)) == STEPS
    assert max(rank for ranks in clock.made for rank in ranks) == TRIED - 1
    clock = Clock(lambda ranks: 1e-4, [2])
    tuned(monkeypatch, clock)
    assert clock.made == [(), (0,), (1,)]


def test_long_calls_are_not_timed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(lambda ranks: 2 * LONG, (3, 3))
    assert tuned(monkeypatch, clock) == Tuning((), ())
    assert clock.made == [()]
