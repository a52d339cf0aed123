"""What is asked of single expressions: groups a, b, c, e and r."""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Iterable
from typing import Any

from benchmarks.call import STRING, TUNED
from benchmarks.goals.base import GATE, GOAL, Goal, ahead, at_most, by_name, everywhere, least, ratios
from benchmarks.goals.behind import judge_group
from benchmarks.results import Results, geomean
from benchmarks.workloads import Workload


def judge(results: Results) -> Iterable[Goal]:
    """Yield the verdicts on single expressions."""
    yield from _calls(results)
    yield from _pairs(results)
    yield from _random(results)
    yield from _layout(results)
    yield from _dtypes(results)


def _calls(results: Results) -> Iterable[Goal]:
    over = by_name(results.of("a"), results.over)
    for name, value in over.items():
        asked = f"{name}: string call at most hand + 1 us"
        yield at_most(GATE, "a", asked, value, 1.0, "{:+.2f} us over hand")
    for count, limit in ((2, 0.35), (1, 0.20)):
        chosen = {w.name: over[w.name] for w in results.of("a") if w.text.count(",") == count - 1}
        asked = f"string call at most hand + {limit:.2f} us ({count} operand{'s'[: count - 1]})"
        yield everywhere("a", asked, chosen, limit, "{:+.2f} us")
    moves = by_name(results.of("a", "rearrange"), lambda w: _median_us(results.lanes[w.name][STRING].seconds))
    yield everywhere("a", "rearrange at most 0.30 us in all", moves, 0.30, "{:.2f} us")
    for peer, times in (("np.einsum", 1.5), ("einops", 2.5), ("opt_einsum.expression", 6), ("einx", 25)):
        yield ahead(results, results.of("a"), "a", peer, times, geomean)
    yield ahead(results, results.of("a", "rearrange"), "a", "einops", 3.5, geomean, "rearrange: ")


def _pairs(results: Results) -> Iterable[Goal]:
    for workload in results.of("b", "bmm"):
        asked = f"{workload.name}: at most 1.15 of hand"
        yield at_most(GATE, "b", asked, results.ratio(workload, STRING), 1.15)
    for workload in results.of("b", "chain"):
        yield _best_order(workload)
    yield from judge_group(results, "b", 1.05)
    yield ahead(results, results.of("b"), "b", "np.einsum.optimize", 1.3, geomean)


def _random(results: Results) -> Iterable[Goal]:
    chosen = results.of("r")
    for name, limit, how in ((STRING, 1.08, "by the model"), (TUNED, 1.03, "with tune=True")):
        mean = geomean(ratios(results, chosen, name).values())
        asked = f"random pairs: geomean at most {limit} of hand {how}"
        yield at_most(GOAL, "r", asked, mean, limit, "{:.3f}")


def _layout(results: Results) -> Iterable[Goal]:
    chosen = results.of("c")
    yield from judge_group(results, "c", 1.05)
    yield ahead(results, chosen, "c", "einops", 1.5, geomean)
    for tag, times in (("power of two", 5), ("pooling", 2.5)):
        yield ahead(results, results.of("c", tag), "c", "einops", times, least, f"{tag}: ")


def _dtypes(results: Results) -> Iterable[Goal]:
    yield from judge_group(results, "e", 1.03)
    for tag, times in (("int64", 20), ("float16", 75), ("real complex", 1.8)):
        yield ahead(results, results.of("e", tag), "e", "np.einsum.optimize", times, least, f"{tag}: ")
    found = ratios(results, results.of("e", "blas"))
    yield everywhere("e", "float32, float64, complex at most 1.03 of hand", found, 1.03)


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
        return Goal(GATE, "b", asked, f"{type(error).__name__}: {error}", is_met=False, is_timed=False)
    return Goal(GATE, "b", asked, f"{flops:,} flops, best {best:,}", flops == best, is_timed=False)


def _median_us(seconds: list[float]) -> float | None:
    return 1e6 * statistics.median(seconds) if seconds else None
