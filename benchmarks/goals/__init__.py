"""A verdict for each goal, with its figure: first the gates, which an earlier state already passed.

Nothing here changes the exit code. A goal whose workloads or peers were not measured says so, and none is
judged when hand against itself is off.
"""

from __future__ import annotations

from benchmarks.goals import expressions, language, networks, others, users
from benchmarks.goals.base import GATE, GOAL, Goal, verdict
from benchmarks.results import Results

TITLES = {GATE: "Gates", GOAL: "Goals"}


def judge(results: Results) -> list[Goal]:
    """Return the verdicts on everything that is asked, gates first, by group."""
    found = [
        *expressions.judge(results),
        *networks.judge(results),
        *others.judge(results),
        *language.judge(results),
        *users.judge(results),
    ]
    return sorted(found, key=lambda goal: (goal.kind == GOAL, ORDER.index(goal.group)))


ORDER = "abrcdeflugn"

__all__ = ["TITLES", "Goal", "judge", "verdict"]
