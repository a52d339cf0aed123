"""The command: options, the run in order, the exit code."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import adapters, cold, goals, machine, memory, report
from benchmarks.harness import Effort, measure
from benchmarks.results import Results
from benchmarks.workloads import GROUPS, WORKLOADS, Workload
from benchmarks.workloads.formulas import MEMORY

QUICK = Effort(rounds=7, budget=0.06)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; return 0, 1 when a result was wrong, 2 when nothing could be run."""
    options = _options(arguments)
    try:
        for adapter in adapters.OURS:
            if not hasattr(adapter.load(), "einsum"):
                raise ImportError("it has no einsum")
    except ImportError as error:
        print(f"nameexpr cannot be imported ({error}); run from the root of the checkout", file=sys.stderr)
        return 2
    start = time.perf_counter()
    results = Results(machine.describe(), _chosen(options))
    print(machine.header(results.machine) + "\n")
    found = _run(results, options)
    print(f"\n{time.perf_counter() - start:.0f} s")
    if options.json:
        given = {
            key: str(value) if isinstance(value, Path) else value for key, value in vars(options).items()
        }
        options.json.write_text(json.dumps(report.as_json(results, found, given), indent=1) + "\n")
    return 1 if results.wrong() else 0


def _run(results: Results, options: argparse.Namespace) -> list[goals.Goal]:
    """Measure, print, and return the verdicts."""
    groups = {workload.group for workload in results.workloads} or {"g"}
    peers, results.notes = adapters.installed(options.peers, groups)
    columns = {group: adapters.columns(group, peers) for group in GROUPS}
    effort = _effort(options)
    for number, workload in enumerate(results.workloads, 1):
        _progress(f"{number}/{len(results.workloads)} {workload.name}")
        results.lanes[workload.name] = measure(workload, columns[workload.group], effort)
        if MEMORY in workload.tags:
            results.peaks[workload.name] = memory.peaks(results.lanes[workload.name])
    if options.group in (None, "g") and not options.workload:
        _progress("fresh processes")
        try:
            results.cold = cold.measure_cold([peer.name for peer in peers], 8 if options.quick else 12)
        except cold.FreshProcessError as error:
            results.failures.append(str(error))
    _progress("")
    for note in results.notes:
        print(f"note: {note}")
    print(report.table(results, {group: [one.name for one in found] for group, found in columns.items()}))
    if results.cold:
        print(report.cold(results.cold))
    found = goals.judge(results)
    print(report.goals(found, results))
    if results.wrong():
        print(report.wrong(results))
    return found


def _effort(options: argparse.Namespace) -> Effort:
    usual = QUICK if options.quick else Effort()
    return (
        usual if options.rounds is None else Effort(options.rounds, max(usual.budget, 0.01 * options.rounds))
    )


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
    known = [peer.name for peer in adapters.PEERS]
    parser = argparse.ArgumentParser(
        "python -m benchmarks", description="Compare nameexpr with NumPy and its peers."
    )
    parser.add_argument(
        "--peers", type=_names, metavar="A,B", help=f"only these, of {', '.join(known)}; '' for none"
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
