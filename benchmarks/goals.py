"""A verdict for each goal, with its figure: the gates of this stage first, then the goals of later stages.

Nothing here changes the exit code. A goal whose workloads or peers were not measured says so, and none is
judged when hand against itself is off.
"""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.adapters import STRING, XARRAY
from benchmarks.harness import HAND
from benchmarks.results import Results, geomean, quotient
from benchmarks.workloads import Workload
from benchmarks.workloads.formulas import ATTENTION, DISTANCES, MIN_PLUS, SAME, FormulaWorkload
from benchmarks.workloads.named import METHOD, POINTWISE

BLOCKS = 2.0
"""Megabytes that a few blocks may take: no intermediate over all three dims."""


@dataclass(frozen=True)
class Goal:
    """What was asked, what was found, and whether that is enough; ``is_met`` None is not measured.

    What is counted, not timed (flops, modules), is judged on the busiest machine.
    """

    stage: str  # now or later
    group: str
    asked: str
    figure: str
    is_met: bool | None
    is_timed: bool = True


def judge(results: Results) -> list[Goal]:
    """Return the verdicts on everything that is asked."""
    return [*_now(results), *_later(results)]


def verdict(goal: Goal, is_steady: bool) -> str:
    """Return the goal's verdict in words."""
    if goal.is_met is None:
        return "not measured"
    if not is_steady and goal.is_timed:
        return "not judged"
    return "met" if goal.is_met else "NOT MET"


def _now(results: Results) -> Iterable[Goal]:
    for workload in results.of("a"):
        asked = f"{workload.name}: string call at most hand + 1 us"
        yield _at_most("now", "a", asked, results.over(workload), 1.0, "{:+.2f} us over hand")
    for workload in results.of("b", "bmm"):
        asked = f"{workload.name}: at most 1.15 of hand"
        yield _at_most("now", "b", asked, results.ratio(workload, STRING), 1.15)
    for workload in results.of("b", "chain"):
        yield _best_order(workload)
    yield from _now_cold(results.cold)
    yield from _now_named(results)
    yield from _now_formulas(results)


def _now_named(results: Results) -> Iterable[Goal]:
    for tag, limit in ((POINTWISE, 1.0), (METHOD, 2.0)):
        over = {w.name: results.over(w) for w in results.of("n", tag)}
        yield _everywhere(f"{tag} on 4x4 at most hand + {limit:.1f} us", over, limit, "{:+.2f} us")
    ahead = {w.name: results.ahead(w, XARRAY) for tag in (POINTWISE, METHOD) for w in results.of("n", tag)}
    mean = geomean(ahead.values())
    figure = "-" if mean is None else f"{mean:.1f}x"
    yield Goal(
        "now", "n", "on 4x4 at least 20x xarray, geomean", figure, None if mean is None else mean >= 20
    )
    yield _everywhere("on 4x4 at least 20x xarray, everywhere", ahead, 20, "{:.1f}x", is_least=True)


def _now_formulas(results: Results) -> Iterable[Goal]:
    for workload in results.of("f", ATTENTION):
        asked = f"{workload.name}: time at most 1.1 of hand"
        yield _at_most("now", "f", asked, results.ratio(workload, STRING), 1.1)
        peak = quotient(results.peak(workload, STRING), results.peak(workload, HAND))
        asked = f"{workload.name}: peak memory at most 1.1 of hand"
        yield _at_most("now", "f", asked, peak, 1.1, is_timed=False)
    for workload in results.of("f", DISTANCES):
        over = results.peak(workload, STRING)
        over = (
            None
            if over is None
            else (over - np.asarray(results.lanes[workload.name][HAND].call()).nbytes) / 1e6
        )
        asked = f"{workload.name}: peak at most the result and {BLOCKS} MB"
        yield _at_most("now", "f", asked, over, BLOCKS, "{:+.2f} MB", is_timed=False)
    for workload in results.of("f", MIN_PLUS):
        asked = f"{workload.name}: at most 1.3 of hand"
        yield _at_most("now", "f", asked, results.ratio(workload, STRING), 1.3)
    for workload in results.of("f", SAME):
        yield _same_program(workload)


def _same_program(workload: FormulaWorkload) -> Goal:
    """Compare the code of a formula and of the expression that says the same."""
    ne: Any = importlib.import_module("nameexpr")
    shapes = [x.shape for x in workload.operands()]
    asked = f"{workload.name}: the same program as the expression"
    try:
        formula = ne.compile(workload.text).plan(**dict(zip(workload.inputs, shapes, strict=True))).code
        expression = ne.compile(workload.expression).plan(*shapes).code
    except Exception as error:  # noqa: BLE001 (the verdict is the report)
        return Goal("now", "f", asked, f"{type(error).__name__}: {error}", is_met=False, is_timed=False)
    ours, theirs = _statements(formula), _statements(expression)
    return Goal("now", "f", asked, "; ".join(ours), ours == theirs, is_timed=False)


def _statements(code: str) -> list[str]:
    """Return the lines of a function's body without their comments."""
    lines = [line.partition("#")[0].strip() for line in code.partition("def ")[2].splitlines()[1:]]
    return [line for line in lines if line]


def _everywhere(
    asked: str, found: dict[str, float | None], limit: float, pattern: str, *, is_least: bool = False
) -> Goal:
    """Ask for at most, or at least, so much everywhere; the figure is the worst, with those that miss."""
    known = sorted(
        ((value, name) for name, value in found.items() if value is not None), reverse=not is_least
    )
    if not known:
        return Goal("now", "n", asked, "-", None)
    missed = [name for value, name in known if (value < limit if is_least else value > limit)]
    figure = f"{pattern.format(known[0][0])} ({known[0][1]})"
    if missed:
        few = ", ".join(missed[:4]) + ", ..." * (len(missed) > 4)
        figure += f"; {len(missed)} of {len(known)} miss it: {few}"
    return Goal("now", "n", asked, figure, not missed)


def _now_cold(cold: dict[str, Any]) -> Iterable[Goal]:
    ratio = cold["import_ratio"]["nameexpr"] if cold else None
    yield _at_most("now", "g", "import nameexpr at most 1.3 of import numpy", ratio, 1.3)
    found = ", ".join(cold["loaded"]) or "neither" if cold else "-"
    is_met = not cold["loaded"] if cold else None
    yield Goal("now", "g", "neither lark nor opt_einsum loaded by it", found, is_met, is_timed=False)
    new = 1e6 * cold["new"]["nameexpr"] if cold else None
    yield _at_most("now", "g", "a new two-operand expression in at most 300 us", new, 300, "{:.0f} us")


def _best_order(workload: Workload) -> Goal:
    """Compare the plan's flops, 2 for each multiply and add as opt_einsum counts, with the better order's."""
    ne: Any = importlib.import_module("nameexpr")
    shapes = [x.shape for x in workload.operands()]
    (i, j), (_, k), (_, n) = shapes
    best = 2 * min(i * j * k + i * k * n, j * k * n + i * j * n)
    asked = f"{workload.name}: planned in the best order"
    try:
        flops = ne.compile(workload.text).plan(*shapes).flops
    except Exception as error:  # noqa: BLE001 (the verdict is the report)
        return Goal("now", "b", asked, f"{type(error).__name__}: {error}", is_met=False, is_timed=False)
    return Goal("now", "b", asked, f"{flops:,} flops, best {best:,}", flops == best, is_timed=False)


def _later(results: Results) -> Iterable[Goal]:
    yield from _later_calls(results)
    yield from _later_pairs(results)
    yield from _later_layout(results)
    yield from _later_dtypes(results)
    cold = results.cold
    ratio, new, first = (
        (cold["import_ratio"]["nameexpr"], 1e6 * cold["new"]["nameexpr"], 1e3 * cold["first"]["grouped"])
        if cold
        else (None, None, None)
    )
    yield _at_most("later", "g", "import nameexpr at most 1.15 of import numpy", ratio, 1.15)
    yield _at_most("later", "g", "a new two-operand expression in at most 30 us", new, 30, "{:.0f} us")
    yield _at_most("later", "g", "first parse in at most 45 ms", first, 45, "{:.1f} ms")


def _later_calls(results: Results) -> Iterable[Goal]:
    for count, limit in ((2, 0.35), (1, 0.20)):
        chosen = [w for w in results.of("a") if w.text.count(",") == count - 1]
        asked = f"string call at most hand + {limit:.2f} us ({count} operand{'s'[: count - 1]}), worst"
        yield _at_most("later", "a", asked, _worst(map(results.over, chosen)), limit, "{:+.2f} us")
    moves = [results.lanes[w.name][STRING] for w in results.of("a", "rearrange")]
    slowest = _worst(_median_us(lane.seconds) for lane in moves)
    yield _at_most("later", "a", "rearrange at most 0.30 us in all, worst", slowest, 0.30, "{:.2f} us")
    for peer, times in (("np.einsum", 1.5), ("einops", 2.5), ("opt_einsum.expression", 6)):
        yield _ahead(results, results.of("a"), peer, times, geomean)
    yield _ahead(results, results.of("a", "rearrange"), "einops", 3.5, geomean, "rearrange: ")


def _later_pairs(results: Results) -> Iterable[Goal]:
    chosen = results.of("b")
    ratios = [results.ratio(w, STRING) for w in chosen]
    yield _at_most("later", "b", "geomean at most 1.05 of hand", geomean(ratios), 1.05)
    yield _at_most("later", "b", "worst at most 1.25 of hand", _worst(ratios), 1.25)
    yield _ahead(results, chosen, "np.einsum.optimize", 1.3, geomean)
    behind = _worst(_behind_best(results, w) for w in chosen)
    yield _at_most("later", "b", "at most 1.05 of the best peer, worst", behind, 1.05)
    drawn = geomean(results.ratio(w, STRING) for w in results.of("r"))
    yield _at_most("later", "r", "random pairs: geomean at most 1.08 of hand", drawn, 1.08)


def _later_layout(results: Results) -> Iterable[Goal]:
    chosen = results.of("c")
    mean = geomean(results.ratio(w, STRING) for w in chosen)
    yield _at_most("later", "c", "geomean at most 1.05 of hand", mean, 1.05)
    yield _ahead(results, chosen, "einops", 1.5, geomean)
    yield _ahead(results, chosen, "einops", 1.0, _least, "everywhere: ")
    yield _ahead(results, results.of("c", "power of two"), "einops", 5, _least, "power of two: ")
    yield _ahead(results, results.of("c", "pooling"), "einops", 2.5, _least, "pooling: ")


def _later_dtypes(results: Results) -> Iterable[Goal]:
    for tag, times in (("int64", 20), ("float16", 75), ("bool", 20), ("real complex", 1.8)):
        yield _ahead(results, results.of("e", tag), "np.einsum.optimize", times, _least, f"{tag}: ")
    worst = _worst(results.ratio(w, STRING) for w in results.of("e", "blas"))
    yield _at_most("later", "e", "float and complex at most 1.03 of hand, worst", worst, 1.03)


def _at_most(
    stage: str,
    group: str,
    asked: str,
    value: float | None,
    limit: float,
    pattern: str = "{:.2f}",
    *,
    is_timed: bool = True,
) -> Goal:
    figure = "-" if value is None else pattern.format(value)
    return Goal(stage, group, asked, figure, None if value is None else value <= limit, is_timed)


def _ahead(
    results: Results,
    chosen: list[Workload],
    peer: str,
    times: float,
    mean: Callable[..., float | None],
    of: str = "",
) -> Goal:
    """Ask that nameexpr is so many times as quick as the peer, on average or everywhere as ``mean`` says."""
    value = mean(results.ahead(w, peer) for w in chosen)
    figure = "-" if value is None else f"{value:.2f}x"
    asked = f"{of}at least {times}x {peer}"
    return Goal(
        "later", chosen[0].group if chosen else "-", asked, figure, None if value is None else value >= times
    )


def _behind_best(results: Results, workload: Workload) -> float | None:
    best, ours = results.best_peer(workload), results.ratio(workload, STRING)
    return ours / best[1] if best and ours is not None else None


def _median_us(seconds: list[float]) -> float | None:
    return 1e6 * statistics.median(seconds) if seconds else None


def _worst(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _least(values: Iterable[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)
