"""Fuzzing: millions of texts, lines, sources and files, the first of them guided by the branches they take.

A guide costs more than what it guides: a tenth of the inputs is chosen by atheris (libFuzzer), which keeps
those that take new branches of the parsers and checkers, and the others are random changes of what it kept.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from hardening.figures import SHOWN, Figures, counted

INPUTS = {
    "expression": 3_300_000,
    "formula": 3_000_000,
    "checker": 2_500_000,
    "line": 800_000,
    "source": 200_000,
    "loader": 200_000,
}
"""Inputs of each target at the full size: 10 million in all, most of them where they take least time."""
GUIDED = 10
"""One input of so many is chosen by the guide."""
LARGEST = 250_000
"""Inputs that one process tries."""
GROWTH = 50e6
"""Bytes of memory by which a process may grow while it tries them."""
RESTARTS = 8
"""Times that a job goes on after its guide has ended early."""
MISSING = "no input was guided by coverage: atheris is missing (pip install --group hardening)"


class Job(NamedTuple):
    """What one process does."""

    target: str
    runs: int
    seed: int
    is_guided: bool


def jobs(scale: float, *, is_guided: bool) -> tuple[list[Job], list[Job]]:
    """Return the jobs that collect inputs worth changing, and those that go on from them."""
    first, rest = [], []
    for number, (target, full) in enumerate(INPUTS.items()):
        total = counted(full, scale)
        guided = counted(total, 1 / GUIDED) if is_guided else 0
        first += [Job(target, guided, number + 1, True)] if guided else []
        for seed, runs in enumerate(_parts(total - guided)):
            rest.append(Job(target, runs, 1000 * (number + 1) + seed, False))
    return sorted(first, key=lambda job: -job.runs), rest


def _parts(total: int) -> Iterator[int]:
    while total > 0:
        yield min(total, LARGEST)
        total -= LARGEST


def measure(scale: float = 1.0) -> Figures:
    """Try 10 million inputs, or so many of them."""
    has_guide = importlib.util.find_spec("atheris") is not None
    reports: list[tuple[Job, dict[str, Any]]] = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(_processors()) as pool:
        for stage in jobs(scale, is_guided=has_guide):
            for done in pool.map(lambda job: list(finished(job, Path(folder))), stage):
                reports += done
    breaches = [breach for job, report in reports for breach in breaches_of(job, report)]
    return Figures(summary(reports), tuple([] if has_guide else [MISSING]) + tuple(breaches)[:SHOWN])


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def finished(job: Job, folder: Path) -> Iterator[tuple[Job, dict[str, Any]]]:
    """Yield a job with its report; if the guide itself ends early, the rest of the job with another seed.

    libFuzzer inside Python ends now and then without a reason: what it was trying is tried again without it.
    """
    for _ in range(RESTARTS):
        report = _done(job, folder)
        left = job.runs - report["inputs"]
        if not job.is_guided or not report["status"] or left <= 0 or not _is_fine_alone(job, folder):
            break
        yield job, {**report, "status": 0, "ended": 1}
        job = job._replace(runs=left, seed=job.seed + 100)
    yield job, report


def _is_fine_alone(job: Job, folder: Path) -> bool:
    """Return whether the last input of a process does no harm in one without a guide."""
    last = folder / f"report{job.seed}.last"
    if not last.exists():
        return False
    alone = Job(job.target, 3, job.seed + 50, False)
    report = _done(alone, folder, "--replay", str(last))
    return report["inputs"] == alone.runs and not breaches_of(alone, report)


def _done(job: Job, folder: Path, *more: str) -> dict[str, Any]:
    """Return what a process of its own reports."""
    corpus, files = folder / job.target, folder / f"files{job.seed}"
    corpus.mkdir(exist_ok=True)
    files.mkdir()
    report = folder / f"report{job.seed}.json"
    words = [job.target, "--runs", str(job.runs), "--seed", str(job.seed), "--corpus", str(corpus), *more]
    words += ["--folder", str(files), "--report", str(report), *(["--guided"] if job.is_guided else [])]
    run = subprocess.run(
        [sys.executable, "-m", "hardening.fuzz_search", *words],
        env=_environment(),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    found: dict[str, Any] = {"inputs": 0}
    if report.exists():
        found = json.loads(report.read_text(encoding="utf-8"))
    said = "\n".join(line for line in run.stderr.splitlines() if not line.startswith(("INFO: ", "WARNING: ")))
    return {**found, "status": run.returncode, "said": said[:2000]}


def _environment() -> dict[str, str]:
    tests = Path(__file__).parents[1]
    paths = [str(tests), str(tests.parent), os.environ.get("PYTHONPATH", "")]
    more = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **more}


def breaches_of(job: Job, report: dict[str, Any]) -> list[str]:
    """Return what a search broke."""
    where = f"{job.target} (seed {job.seed}{', guided' if job.is_guided else ''})"
    breaches = [f"{where}: {finding}" for finding in report.get("findings", ())]
    if report["status"]:
        breaches.append(f"{where}: the process ended with {report['status']}: {report['said']}")
    if report.get("growth", 0) > GROWTH:
        breaches.append(
            f"{where}: {report['growth'] / 1e6:.0f} MB more memory after {report['inputs']} inputs"
        )
    return breaches


def summary(reports: list[tuple[Job, dict[str, Any]]]) -> str:
    """Return the figures in a sentence."""
    tried = sum(report["inputs"] for _, report in reports)
    guided = sum(report["inputs"] for job, report in reports if job.is_guided)
    accepted = sum(report.get("accepted", 0) for _, report in reports)
    slowest = max(report.get("slowest", 0) for _, report in reports)
    growth = max(report.get("growth", 0) for _, report in reports)
    findings = sum(len(report.get("findings", ())) for _, report in reports)
    ended = sum(report.get("ended", 0) for _, report in reports)
    restarts = f" ({ended} restarts of the guide)" if ended else ""
    return (
        f"{tried:,} inputs, {guided:,} of them guided by coverage{restarts}, "
        "the others drawn from what those found; "
        f"{accepted / max(tried, 1):.0%} accepted, {findings} findings, slowest {slowest:.2f} s, "
        f"memory +{growth / 1e6:.0f} MB"
    )
