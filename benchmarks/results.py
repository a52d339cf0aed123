"""The results of a run: lanes by workload, cold figures, and the means that report and goals share."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks.call import COMPILED, DROP_IN, EXPRESSION, STRING, TUNED
from benchmarks.harness import AGAIN, HAND, Lane
from benchmarks.workloads import Workload

if TYPE_CHECKING:
    from benchmarks.memory import Limited
    from benchmarks.scores import Score

OURS = (STRING, COMPILED, TUNED, EXPRESSION, DROP_IN)
STEADY = 0.03  # A/A further from 1 than this: no verdicts


@dataclass
class Results:
    """Everything measured in one run, which is whole if all groups were asked for."""

    machine: dict[str, Any]
    is_whole: bool = True
    workloads: list[Workload] = field(default_factory=list)
    lanes: dict[str, dict[str, Lane]] = field(default_factory=dict)
    peaks: dict[str, dict[str, int]] = field(default_factory=dict)
    predicted: dict[str, int] = field(default_factory=dict)
    limited: list[Limited] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    first: dict[str, float | None] = field(default_factory=dict)
    cold: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)

    def of(self, group: str | None = None, tag: str | None = None) -> list[Workload]:
        """Return the measured workloads of a group and a tag."""
        return [w for w in self.workloads if group in (None, w.group) and (tag is None or tag in w.tags)]

    def ratio(self, workload: Workload, name: str) -> float | None:
        """Return an adapter's ratio to hand on a workload; None where it was not timed."""
        lane = self.lanes[workload.name].get(name)
        return lane.ratio if lane else None

    def ahead(self, workload: Workload, peer: str) -> float | None:
        """Return how many times the peer's time is nameexpr's; None where one was not timed."""
        return quotient(self.ratio(workload, peer), self.ratio(workload, STRING))

    def over(self, workload: Workload) -> float | None:
        """Return the microseconds that nameexpr takes more than hand; None where it was not timed."""
        lane = self.lanes[workload.name].get(STRING)
        return lane.microseconds_over if lane else None

    def peak(self, workload: Workload, name: str) -> int | None:
        """Return the most bytes an adapter held at once, not counting the operands; None if not measured."""
        return self.peak_of(workload.name, name)

    def peak_of(self, workload: str, name: str) -> int | None:
        """Return the same for a workload's name."""
        return self.peaks.get(workload, {}).get(name)

    def best_peer(self, workload: Workload, without: Collection[str] = ()) -> tuple[str, float] | None:
        """Return the fastest peer and its ratio, of all but those that are left out."""
        others = [
            (lane.name, lane.ratio)
            for lane in self.lanes[workload.name].values()
            if lane.ratio is not None and lane.name not in (HAND, AGAIN, *OURS, *without)
        ]
        return min(others, key=lambda pair: pair[1], default=None)

    def steadiness(self) -> float | None:
        """Return the geometric mean of hand's ratio to itself over all workloads."""
        return geomean(self.ratio(w, AGAIN) for w in self.workloads)

    def is_steady(self) -> bool:
        """Return whether the figures may be judged."""
        mean = self.steadiness()
        return mean is None or abs(mean - 1) <= STEADY

    def wrong(self) -> list[tuple[str, str]]:
        """Return what was wrong, or failed in nameexpr, with the workload it was wrong on."""
        found = [
            (f"{lane.name} {lane.status}: {lane.note}", name)
            for name, lanes in self.lanes.items()
            for lane in lanes.values()
            if lane.status == "wrong" or (lane.status == "failed" and lane.name in OURS)
        ]
        limited = [
            (one.failure, one.name) for one in self.limited if one.failure.startswith(("wrong", "failed"))
        ]
        plans = [(f"nameexpr cannot plan: {one.failure}", one.name) for one in self.scores if one.failure]
        return [*found, *limited, *plans, *self.failures]


def geomean(ratios: Iterable[float | None]) -> float | None:
    """Return the geometric mean of the ratios there are; None if there are none."""
    found = [ratio for ratio in ratios if ratio is not None]
    return math.exp(statistics.fmean(map(math.log, found))) if found else None


def quotient(a: float | None, b: float | None) -> float | None:
    """Return a / b; None where one is missing."""
    return a / b if a is not None and b is not None else None
