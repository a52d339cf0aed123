"""What a goal is, and the few forms in which all of them are asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from benchmarks.call import STRING
from benchmarks.results import Results
from benchmarks.workloads import Workload

GATE, GOAL = "gate", "goal"


@dataclass(frozen=True)
class Goal:
    """What was asked, what was found, and whether that is enough; ``is_met`` None is not measured.

    What is counted, not timed (flops, modules, bytes), is judged on the busiest machine.
    """

    kind: str
    group: str
    asked: str
    figure: str
    is_met: bool | None
    is_timed: bool = True


def verdict(goal: Goal, is_steady: bool) -> str:
    """Return the goal's verdict in words."""
    if goal.is_met is None:
        return "not measured"
    if not is_steady and goal.is_timed:
        return "not judged"
    return "met" if goal.is_met else "NOT MET"


def at_most(
    kind: str,
    group: str,
    asked: str,
    value: float | None,
    limit: float,
    pattern: str = "{:.2f}",
    *,
    is_timed: bool = True,
) -> Goal:
    """Ask for a figure of at most so much."""
    figure = "-" if value is None else pattern.format(value)
    return Goal(kind, group, asked, figure, None if value is None else value <= limit, is_timed)


def ahead(
    results: Results,
    chosen: list[Workload],
    group: str,
    peer: str,
    times: float,
    mean: Callable[..., float | None],
    of: str = "",
) -> Goal:
    """Ask that nameexpr is so many times as quick as the peer, on average or everywhere as ``mean`` says."""
    value = mean(results.ahead(w, peer) for w in chosen)
    figure = "-" if value is None else f"{value:.2f}x"
    is_met = None if value is None else value >= times
    return Goal(GOAL, group, f"{of}at least {times}x {peer}", figure, is_met)


def everywhere(
    group: str,
    asked: str,
    found: dict[str, float | None],
    limit: float,
    pattern: str = "{:.2f}",
    *,
    is_least: bool = False,
    is_timed: bool = True,
) -> Goal:
    """Ask for at most, or at least, so much everywhere; the figure is the worst, with those that miss."""
    known = sorted(
        ((value, name) for name, value in found.items() if value is not None), reverse=not is_least
    )
    if not known:
        return Goal(GOAL, group, asked, "-", None, is_timed)
    missed = [name for value, name in known if (value < limit if is_least else value > limit)]
    figure = f"{pattern.format(known[0][0])} ({known[0][1]})"
    if missed:
        few = ", ".join(missed[:4]) + ", ..." * (len(missed) > 4)
        figure += f"; {len(missed)} of {len(known)} miss it: {few}"
    return Goal(GOAL, group, asked, figure, not missed, is_timed)


def by_name(chosen: Iterable[Workload], find: Callable[[Workload], float | None]) -> dict[str, float | None]:
    """Return a figure for each workload by its name."""
    return {workload.name: find(workload) for workload in chosen}


def ratios(results: Results, chosen: Iterable[Workload], name: str = STRING) -> dict[str, float | None]:
    """Return a column's ratio to hand for each workload by its name."""
    return by_name(chosen, lambda workload: results.ratio(workload, name))


def least(values: Iterable[float | None]) -> float | None:
    """Return the smallest of the figures there are; None if there are none."""
    return min((value for value in values if value is not None), default=None)
