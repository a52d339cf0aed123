"""The run as text."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from benchmarks.call import STRING, XARRAY
from benchmarks.goals import TITLES, Goal, verdict
from benchmarks.harness import AGAIN, HAND, Lane
from benchmarks.results import STEADY, Results, geomean, quotient
from benchmarks.scores import AUTO, GREEDY, Score, means
from benchmarks.workloads import GROUPS, Workload

SHORT = {
    "nameexpr.compile": "compiled",
    "nameexpr.tune": "tuned",
    "np.einsum.optimize": "np.opt",
    "opt_einsum.expression": "oe.expr",
    "opt_einsum.contract": "oe.contr",
    "compat.numpy": "compat.n",
}
MARKS = {"absent": "-", "unlike": "~", "failed": "failed", "wrong": "WRONG"}
LEGEND = (
    "Figures are time / hand, medians over rounds; * the best peer; - cannot say it; ~ another answer "
    "by its dtype rule.\nGroup c: every result is brought to C order within its time. "
    "Groups n and f: us over hand;\nn: how many times as long xarray takes; "
    "f and u: MB at the peak without the operands, nameexpr's and others'; "
    "u: ms that a first call takes more."
)
SHOWN = 10
"""The number of random workloads that have a line: those on which nameexpr is slowest compared with hand."""

Extra: TypeAlias = Callable[[Results, Workload], str]


def table(results: Results, names: dict[str, list[str]]) -> str:
    """Return the ratios, a row for each workload and a geometric mean for each group of columns by name."""
    lines = [LEGEND, ""]
    for group, title in GROUPS.items():
        chosen = results.of(group)
        columns = [*names[group], AGAIN]
        extra = EXTRA.get(group, {})
        if chosen:
            heads = (*(SHORT.get(name, name) for name in columns), *extra)
            lines += [_row(f"{group}. {title}", "hand us", heads)]
            shown = _worst(results, chosen) if group == "r" else chosen
            lines += [_workload(results, workload, columns, extra.values()) for workload in shown]
            if len(shown) < len(chosen):
                lines += [_spread(results, chosen)]
            means_of = (_number(geomean(results.ratio(w, name) for w in chosen)) for name in columns)
            lines += [_row("geomean (of what it can say)", "", means_of), ""]
    return "\n".join(lines)


def ahead_of_hand(results: Results) -> str:
    """Return the workloads on which another adapter is clearly faster than hand, so that hand can be
    improved.
    """
    found = []
    for workload in results.workloads:
        lanes = [lane for lane in results.lanes[workload.name].values() if lane.ratio is not None]
        least = min(lanes, key=lambda lane: lane.ratio or 1.0)
        if least.name not in (HAND, AGAIN) and (least.ratio or 1.0) < 1 - STEADY:
            found.append(f"{workload.name} ({least.name} {least.ratio:.2f})")
    return f"Ahead of hand, which could be better: {', '.join(found)}\n" if found else ""


def _worst(results: Results, chosen: list[Workload]) -> list[Workload]:
    return sorted(chosen, key=lambda w: results.ratio(w, STRING) or 0, reverse=True)[:SHOWN]


def _spread(results: Results, chosen: list[Workload]) -> str:
    """Return the results of the workloads without a separate line."""
    found = sorted(ratio for w in chosen if (ratio := results.ratio(w, STRING)) is not None)
    if not found:
        return ""
    behind = sum(ratio > 1.1 for ratio in found) / len(found)
    return (
        f"({len(chosen)} in all, the worst {SHOWN} shown: nameexpr's median {statistics.median(found):.2f}, "
        f"{behind:.0%} more than 10 % behind hand)"
    )


def scores(found: list[Score]) -> str:
    """Return the plans of the large networks."""
    heads = ("tensors", "best", "found by", "work/best", "/auto", "/rg128", "plan ms", "auto ms", "rg128 ms")
    lines = [f"{'p. ' + GROUPS['p']:<26}" + "".join(f"{head:>11}" for head in heads)]
    for one in found:
        ours, auto, greedy = (_milli(one.seconds.get(name)) for name in (STRING, AUTO, GREEDY))
        work = (_number(one.work(name)) for name in ("", AUTO, GREEDY))
        best = one.known.get("flops")
        by = {"random-greedy-128": "rg128"}.get(one.known.get("by", ""), one.known.get("by", ""))
        cells = (str(one.operands), f"{best:.2e}" if best else "", by, *work, ours, auto, greedy)
        lines.append(f"{one.name:<26}" + "".join(f"{cell:>11}" for cell in cells))
    mean = ", ".join(f"{name} {_number(value)}" for name, value in means(found).items() if value is not None)
    return "\n".join([*lines, f"geomeans of nameexpr's: {mean}", ""])


def _milli(seconds: float | None) -> str:
    return "" if seconds is None else f"{1e3 * seconds:.1f}"


def memory(results: Results) -> str:
    """Return the predictions with the measurements, the worst first, and the limited runs."""
    off = {
        name: quotient(results.peak_of(name, STRING), value) or 1.0
        for name, value in results.predicted.items()
    }
    lines = []
    if off:
        good = sum(abs(ratio - 1) <= 0.1 for ratio in off.values())
        lines += [f"m. peak memory, measured / predicted: {good} of {len(off)} within 10 %, the worst:"]
        for name in sorted(off, key=lambda name: abs(off[name] - 1), reverse=True)[:SHOWN]:
            megabytes = (results.peak_of(name, STRING) or 0) / 1e6, results.predicted[name] / 1e6
            lines.append(f"  {name:<37}{megabytes[0]:9.2f} /{megabytes[1]:7.2f} MB {off[name]:8.2f}")
    if results.limited:
        lines += [
            "",
            f"m. {'memory_limit at a quarter of the peak':<36} peak MB  limit   held  flops   time plan s",
        ]
        lines += [_limited(one) for one in results.limited]
    return "\n".join([*lines, ""])


def _limited(one: Any) -> str:
    start = f"  {one.name:<37}{one.peak / 1e6:9.2f}{one.limit / 1e6:7.2f}"
    if one.failure:
        return f"{start}   {one.failure}"
    return f"{start}{one.measured / 1e6:7.2f}{one.work:6.2f}x{one.time:6.2f}x{one.plan_seconds:7.2f}"


def cold(figures: dict[str, Any]) -> str:
    """Return the figures of fresh processes."""
    lines = ["g. cold, in fresh processes"]
    for name, seconds in figures["imports"].items():
        lines.append(
            f"  import {name:<20} {1e3 * seconds:8.1f} ms  {figures['import_ratio'][name]:.2f} of numpy"
        )
    for name, seconds in figures["first"].items():
        loaded = ", ".join(figures["first_loaded"][name]) or "neither lark nor opt_einsum"
        lines.append(f"  first text, {name:<15} {1e3 * seconds:8.2f} ms  loads {loaded}")
    for name, seconds in figures["new"].items():
        lines.append(f"  new text, {name:<17} {1e6 * seconds:8.1f} us")
    return "\n".join([*lines, ""])


def goals(found: list[Goal], results: Results) -> str:
    """Return a line for each goal, and what prevents judging them."""
    lines = []
    steadiness = results.steadiness()
    if steadiness is not None:
        lines.append(f"hand against itself: {steadiness:.3f}")
    if not results.is_steady():
        lines.append(f"That is off by more than {STEADY:.0%}: nothing that was timed is judged.")
    for kind, title in TITLES.items():
        lines += ["", title]
        for goal in found:
            if goal.kind == kind and (goal.is_met is not None or results.is_whole):
                lines.append(
                    f"  {verdict(goal, results.is_steady()):<13}{goal.group:<3}{goal.asked:<62} {goal.figure}"
                )
    return "\n".join(lines)


def wrong(results: Results) -> str:
    """Return a line for each thing that was wrong, with the workloads it was wrong on."""
    where: dict[str, list[str]] = {}
    for what, name in results.wrong():
        where.setdefault(what, []).append(name)
    few = {what: f"{', '.join(names[:4])}{', ...' * (len(names) > 4)}" for what, names in where.items()}
    return "\n".join(
        ["", "Wrong or failed", *(f"  {what} ({len(where[what])}: {few[what]})" for what in where)]
    )


def _workload(results: Results, workload: Workload, columns: list[str], extra: Iterable[Extra]) -> str:
    best = results.best_peer(workload)
    lanes = results.lanes[workload.name]
    hand = 1e6 * statistics.median(lanes[HAND].seconds)
    cells = (_cell(lanes[name], is_best=best is not None and best[0] == name) for name in columns)
    return _row(workload.name, f"{hand:.4g}", (*cells, *(find(results, workload) for find in extra)))


def _cell(lane: Lane, *, is_best: bool) -> str:
    return _number(lane.ratio) + "*" * is_best if lane.status == "ok" else MARKS[lane.status]


def _over(results: Results, workload: Workload) -> str:
    over = results.over(workload)
    return "" if over is None else f"{over:+.2f}"


def _ahead(results: Results, workload: Workload) -> str:
    return _number(results.ahead(workload, XARRAY))


def _first(results: Results, workload: Workload) -> str:
    return _milli(results.first.get(workload.name))


def _peak(name: str) -> Extra:
    def find(results: Results, workload: Workload) -> str:
        peak = results.peak(workload, name)
        return "" if peak is None else f"{peak / 1e6:.1f}"

    return find


EXTRA: dict[str, dict[str, Extra]] = {
    "n": {"us over": _over, "x ahead": _ahead},
    "f": {"us over": _over, "MB": _peak(STRING), "MB hand": _peak(HAND)},
    "u": {
        "first ms": _first,
        "MB": _peak(STRING),
        "MB hand": _peak(HAND),
        "MB np.opt": _peak("np.einsum.optimize"),
        "MB oe": _peak("opt_einsum.contract"),
    },
}


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def _row(name: str, hand: str, cells: Iterable[str]) -> str:
    # The mark of the best peer hangs out to the right, so that the figures stay aligned.
    padded = "".join(f"{cell:>10}" if cell.endswith("*") else f"{cell:>9} " for cell in cells)
    return f"{name:<39}{hand:>8}{padded}".rstrip()
