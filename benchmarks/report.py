"""The run as text and as JSON."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any, TypeAlias

from benchmarks.adapters import STRING, XARRAY
from benchmarks.goals import Goal, verdict
from benchmarks.harness import AGAIN, HAND, Lane
from benchmarks.results import STEADY, Results, geomean
from benchmarks.workloads import GROUPS, Workload

SHORT = {
    "nameexpr.compile": "compiled",
    "np.einsum.optimize": "np.opt",
    "opt_einsum.expression": "oe.expr",
    "opt_einsum.contract": "oe.contr",
}
MARKS = {"absent": "-", "unlike": "~", "failed": "failed", "wrong": "WRONG"}
LEGEND = (
    "Figures are time / hand, medians over rounds; * the best peer; - cannot say it; ~ another answer "
    "by its dtype rule.\nGroup c: every adapter's result is brought to C order within its time. "
    "Groups n and f: us over hand;\nn: how many times as long xarray takes; "
    "f: MB at the peak beside the operands, nameexpr's and hand's."
)


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
            lines += [_workload(results, workload, columns, extra.values()) for workload in chosen]
            means = (_number(geomean(results.ratio(w, name) for w in chosen)) for name in columns)
            lines += [_row("geomean (of what it can say)", "", means), ""]
    return "\n".join(lines)


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
    """Return a line for each goal, and what stands against judging them."""
    lines = []
    steadiness = results.steadiness()
    if steadiness is not None:
        lines.append(f"hand against itself: {steadiness:.3f}")
    if not results.is_steady():
        lines.append(f"That is off by more than {STEADY:.0%}: nothing that was timed is judged.")
    for stage, title in (("now", "Goals of this stage"), ("later", "Later goals")):
        lines += ["", title]
        for goal in found:
            if goal.stage == stage:
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


def as_json(results: Results, found: list[Goal], options: dict[str, Any]) -> dict[str, Any]:
    """Return everything as plain data; seconds for one call, one figure for each round."""
    groups = sorted({w.group for w in results.workloads})
    return {
        "machine": results.machine,
        "options": options,
        "notes": results.notes,
        "a_a": results.steadiness(),
        "workloads": [
            {
                "name": w.name,
                "group": w.group,
                "text": w.text,
                "peak_bytes": results.peaks.get(w.name),
                "adapters": {name: _lane(lane) for name, lane in results.lanes[w.name].items()},
            }
            for w in results.workloads
        ],
        "geomeans": {group: _means(results, group) for group in groups},
        "cold": results.cold,
        "goals": [{**asdict(goal), "verdict": verdict(goal, results.is_steady())} for goal in found],
        "wrong": results.wrong(),
    }


def _means(results: Results, group: str) -> dict[str, float | None]:
    chosen = results.of(group)
    names = {name for w in chosen for name in results.lanes[w.name]}
    return {name: geomean(results.ratio(w, name) for w in chosen) for name in sorted(names)}


def _lane(lane: Lane) -> dict[str, Any]:
    return {
        "status": lane.status,
        "note": lane.note,
        "ratio": lane.ratio,
        "microseconds_over": lane.microseconds_over,
        "batch": lane.batch,
        "seconds": lane.seconds,
        "ratios": lane.ratios,
    }


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


def _peak(name: str) -> Extra:
    def find(results: Results, workload: Workload) -> str:
        peak = results.peak(workload, name)
        return "" if peak is None else f"{peak / 1e6:.1f}"

    return find


EXTRA: dict[str, dict[str, Extra]] = {
    "n": {"us over": _over, "x ahead": _ahead},
    "f": {"us over": _over, "MB": _peak(STRING), "MB hand": _peak(HAND)},
}


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def _row(name: str, hand: str, cells: Iterable[str]) -> str:
    # The mark of the best peer hangs out to the right, so that the figures stay aligned.
    padded = "".join(f"{cell:>10}" if cell.endswith("*") else f"{cell:>9} " for cell in cells)
    return f"{name:<39}{hand:>8}{padded}".rstrip()
