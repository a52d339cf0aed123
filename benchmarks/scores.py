"""Group p: the planner's orders for networks too large to run, and their planning time.

Work is flops as opt_einsum counts them, compared with the least that long searches have found (`known.json`)
and with the result of opt_einsum at the same moment on the same machine.
"""

from __future__ import annotations

import importlib
import json
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.networks import Network, chain
from benchmarks.planned import NETWORKS
from benchmarks.results import geomean, quotient
from benchmarks.workloads.networks import KNOWN

AUTO, GREEDY = "auto", "random-greedy-128"
PATIENCE = 2.0  # seconds: a search of opt_einsum's that would take longer is left out
QUICK = 0.05  # seconds: a plan this fast is repeated three times


@dataclass
class Score:
    """The plans of one network: flops and seconds by planner, ``nameexpr``'s among them."""

    name: str
    operands: int
    known: dict[str, Any]
    flops: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failure: str = ""

    def work(self, name: str = "") -> float | None:
        """Return nameexpr's flops by those of another planner, or by the least known."""
        return quotient(self.flops.get("nameexpr"), self.flops.get(name) if name else self.known.get("flops"))

    def time(self, name: str) -> float | None:
        """Return nameexpr's time by that of another planner."""
        return quotient(self.seconds.get("nameexpr"), self.seconds.get(name))

    @property
    def work_of_hyper(self) -> float | None:
        """The flops by those of cotengra's hyper search."""
        return quotient(self.flops.get("nameexpr"), self.known.get("hyper_flops"))

    @property
    def time_of_hyper(self) -> float | None:
        """The time by what the stored hyper search took, on the machine that it ran on."""
        return quotient(self.seconds.get("nameexpr"), self.known.get("hyper_seconds"))


def measure_scores(has_opt_einsum: bool, is_quick: bool, show: Callable[[str], None]) -> list[Score]:
    """Return the scores of all networks, every other one for a quick run."""
    known = json.loads(KNOWN.read_text())["planned"]
    chosen = NETWORKS[::2] if is_quick else NETWORKS
    _ours(chain(5, 2, 9), 0)  # what is imported at the first plan is not the planner's time
    found = []
    for network in chosen:
        show(f"plans: {network.name}")
        score = Score(network.name, len(network.terms), known.get(network.name, {}))
        _plan(score, network)
        if has_opt_einsum:
            _compare(score, network)
        found.append(score)
    return found


def _plan(score: Score, network: Network) -> None:
    times = []
    try:
        for number in range(3):
            flops, taken = _ours(network, number)
            times.append(taken)
            if taken > QUICK:
                break
    except Exception as error:  # noqa: BLE001 (a network that cannot be planned is a line of the table)
        score.failure = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
        return
    score.flops["nameexpr"], score.seconds["nameexpr"] = flops, statistics.median(times)


def _ours(network: Network, number: int) -> tuple[int, float]:
    """Plan the network under new labels with nothing cached."""
    ne: Any = importlib.import_module("nameexpr")
    new = network.renamed(f"v{number}_")
    ne.cache_clear()
    compiled = ne.compile(new.text)
    start = time.perf_counter()
    plan = compiled.plan(*new.shapes)
    return int(plan.flops), time.perf_counter() - start


def _compare(score: Score, network: Network) -> None:
    """Plan with opt_einsum: its greedy search repeats 128 times what ``auto`` does about once here."""
    oe: Any = importlib.import_module("opt_einsum")
    for name in (AUTO, GREEDY):
        if name == GREEDY and 128 * score.seconds[AUTO] > 4 * PATIENCE:
            continue
        random.seed(0)
        start = time.perf_counter()
        _, info = oe.contract_path(network.symbols, *network.shapes, shapes=True, optimize=name)
        score.seconds[name] = time.perf_counter() - start
        score.flops[name] = int(info.opt_cost)


def means(scores: list[Score]) -> dict[str, float | None]:
    """Return the geometric means of the ratios in the table."""
    return {
        "work / best": geomean(one.work() for one in scores),
        "work / hyper": geomean(one.work_of_hyper for one in scores),
        "work / auto": geomean(one.work(AUTO) for one in scores),
        "work / rg128": geomean(one.work(GREEDY) for one in scores),
        "time / auto": geomean(one.time(AUTO) for one in scores),
        "time / rg128": geomean(one.time(GREEDY) for one in scores),
    }
