"""The command: options, the run in order, the exit code."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import adapters, cold, first, goals, machine, memory, report, scores
from benchmarks.as_json import as_json
from benchmarks.call import STRING
from benchmarks.harness import Effort, measure
from benchmarks.ours import OURS
from benchmarks.peers import PEERS
from benchmarks.results import Results
from benchmarks.workloads import GROUPS, WORKLOADS, Workload
from benchmarks.workloads.base import LIMITED, MEMORY
from benchmarks.workloads.networks import LIMITS

QUICK = Effort(rounds=7, budget=0.06)
MANY = Effort(rounds=9, budget=0.04)
QUICK_MANY = Effort(rounds=5, budget=0.02)
"""The time limit of each workload of group r, which has many."""
PREDICTED = "bdfu"
"""The groups in which the predicted peak is compared with the measured one."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the requested benchmarks; return 0, 1 if a result was wrong, 2 if nothing could be run."""
    options = _options(arguments)
    try:
        for adapter in OURS:
            if not hasattr(adapter.load(), "einsum"):
                raise ImportError("it has no einsum")
    except ImportError as error:
        print(f"nameexpr cannot be imported ({error}); run from the root of the checkout", file=sys.stderr)
        return 2
    start = time.perf_counter()
    results = Results(machine.describe(), not (options.group or options.workload), _chosen(options))
    print(machine.header(results.machine) + "\n")
    found = _run(results, options)
    print(f"\n{time.perf_counter() - start:.0f} s")
    if options.json:
        given = {
            key: str(value) if isinstance(value, Path) else value for key, value in vars(options).items()
        }
        options.json.write_text(json.dumps(as_json(results, found, given), indent=1) + "\n")
    return 1 if results.wrong() else 0


def _run(results: Results, options: argparse.Namespace) -> list[goals.Goal]:
    """Measure, print, and return the verdicts."""
    groups = {workload.group for workload in results.workloads} or {options.group}
    peers, results.notes = adapters.installed(options.peers, groups | {"b"})
    columns = {group: adapters.columns(group, peers) for group in GROUPS}
    for number, workload in enumerate(results.workloads, 1):
        _progress(f"{number}/{len(results.workloads)} {workload.name}")
        lanes = measure(workload, columns[workload.group], _effort(options, workload.group))
        results.lanes[workload.name] = lanes
        _measure_peaks(results, workload)
        if workload.group == "u":
            results.first[workload.name] = first.seconds_over(workload, lanes[STRING])
    _measure_rest(results, options, [peer.name for peer in peers])
    _progress("")
    for note in results.notes:
        print(f"note: {note}")
    if results.workloads:
        print(report.table(results, {group: [one.name for one in found] for group, found in columns.items()}))
        print(report.ahead_of_hand(results), end="")
    if results.scores:
        print(report.scores(results.scores))
    if results.predicted or results.limited:
        print(report.memory(results))
    if results.cold:
        print(report.cold(results.cold))
    found = goals.judge(results)
    print(report.goals(found, results))
    if results.wrong():
        print(report.wrong(results))
    return found


def _measure_peaks(results: Results, workload: Workload) -> None:
    """Measure the peak of nameexpr's call, with hand's if requested, and predict it."""
    if workload.group not in PREDICTED:
        return
    lanes = results.lanes[workload.name]
    names = memory.COMPARED if MEMORY in workload.tags else (STRING,)
    peaks = memory.peaks(lanes, names)
    results.peaks[workload.name] = peaks
    if lanes[STRING].status == "ok" and peaks[STRING] >= memory.NOTABLE:
        try:
            results.predicted[workload.name] = memory.plan(workload).peak_bytes
        except Exception as error:  # noqa: BLE001 (a plan that fails is one of the things that went wrong)
            results.failures.append((f"the plan failed: {type(error).__name__}: {error}", workload.name))


def _measure_rest(results: Results, options: argparse.Namespace, peers: list[str]) -> None:
    """Measure what has no columns: plans, limited memory and fresh processes."""
    asked = set() if options.workload else set(GROUPS) if options.group is None else {options.group}
    if "p" in asked:
        has_opt_einsum = any(name.startswith("opt_einsum") for name in peers)
        results.scores = scores.measure_scores(has_opt_einsum, options.quick, _progress)
    if "m" in asked:
        _progress("limited memory")
        results.limited = memory.measure_limited([*(w for w in WORKLOADS if LIMITED in w.tags), *LIMITS])
    if "g" in asked:
        _progress("fresh processes")
        try:
            results.cold = cold.measure_cold(peers, 8 if options.quick else 12)
        except cold.FreshProcessError as error:
            results.failures.append((str(error), "fresh processes"))


def _effort(options: argparse.Namespace, group: str) -> Effort:
    quick, thorough = (QUICK_MANY, MANY) if group == "r" else (QUICK, Effort())
    usual = quick if options.quick else thorough
    if options.rounds is None:
        return usual
    return Effort(options.rounds, max(usual.budget, 0.01 * options.rounds))


def _chosen(options: argparse.Namespace) -> list[Workload]:
    return [
        w
        for w in WORKLOADS
        if options.group in (None, w.group) and (not options.workload or w.name in options.workload)
    ]


def _progress(text: str) -> None:
    """Show what is being measured, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    known = [*(peer.name for peer in PEERS), adapters.ALL]
    slow = ", ".join(peer.name for peer in PEERS if peer.is_slow)
    parser = argparse.ArgumentParser(
        "python -m benchmarks", description="Compare nameexpr with NumPy and its peers."
    )
    parser.add_argument(
        "--peers",
        type=_names,
        metavar="A,B",
        help=f"only these, of {', '.join(known)}; '' for none; {slow} only run when they are named",
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds: figures to look at, not to keep")
    parser.add_argument(
        "--group", choices=GROUPS, help="; ".join(f"{key}: {title}" for key, title in GROUPS.items())
    )
    parser.add_argument(
        "--workload", action="append", metavar="NAME", help="only this workload; may be repeated"
    )
    parser.add_argument("--rounds", type=_count, metavar="N", help="rounds for each workload")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured")
    options = parser.parse_args(arguments)
    if unknown := set(options.peers or ()) - set(known):
        parser.error(f"no peer {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if unknown := set(options.workload or ()) - {w.name for w in WORKLOADS}:
        parser.error(
            f"no workload {', '.join(sorted(unknown))}; there are {', '.join(w.name for w in WORKLOADS)}"
        )
    if options.json and not options.json.resolve().parent.is_dir():
        parser.error(f"no folder {options.json.parent}")
    return options


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return value
