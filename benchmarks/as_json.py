"""The run as JSON: everything that was measured."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from benchmarks.goals import Goal, verdict
from benchmarks.harness import Lane
from benchmarks.results import Results, geomean
from benchmarks.scores import means


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
                "predicted_peak_bytes": results.predicted.get(w.name),
                "first_seconds_over": results.first.get(w.name),
                "adapters": {name: _lane(lane) for name, lane in results.lanes[w.name].items()},
            }
            for w in results.workloads
        ],
        "geomeans": {group: _means(results, group) for group in groups},
        "plans": {"networks": [asdict(score) for score in results.scores], "geomeans": means(results.scores)},
        "limited": [asdict(one) for one in results.limited],
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
