"""Branches that the tests take, and which test runs which line: the whole suite once, under coverage."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from hardening.figures import Figures

ROOT = Path(__file__).parents[2]
LEAST = 95.0
"""Per cent."""
DATA = "HARDENING_COVERAGE"
"""Environment variable: where the figures of the lines are kept, so that `mutants` need not measure again."""
CONFIGURATION = """
[run]
branch = True
source_pkgs = nameexpr
patch = subprocess
parallel = True
relative_files = True
data_file = {data}
[report]
exclude_also =
    if TYPE_CHECKING:
    @overload
"""


def measure(scale: float) -> Figures:
    """Run the tests under coverage, at a small scale only those of the package's own words for dims."""
    tests = [] if scale >= 1 else ["tests/unit/test_dims.py", "tests/unit/test_errors.py"]
    with tempfile.TemporaryDirectory() as folder:
        data = recorded(Path(os.environ.get(DATA) or folder), tests)
        report = _coverage(data, "json", "-q", "-o", str(Path(folder, "report.json")))
        if report.returncode:
            return Figures("coverage could not report", (report.stdout[-2000:],))
        totals = json.loads(Path(folder, "report.json").read_text(encoding="utf-8"))["totals"]
    branches = 100 * totals["covered_branches"] / totals["num_branches"]
    summary = (
        f"{branches:.1f} % of {totals['num_branches']:,} branches, {totals['percent_covered']:.1f} % in all"
    )
    is_short = scale >= 1 and branches < LEAST
    return Figures(summary, (f"{branches:.1f} % of the branches",) if is_short else ())


def recorded(folder: Path, tests: list[str]) -> Path:
    """Return the data of a run of tests (all where none are named) under coverage: what each test ran."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / "coverage"
    if data.exists():
        return data
    configuration = folder / "coveragerc"
    configuration.write_text(CONFIGURATION.format(data=data), encoding="utf-8")
    options = ["-q", "--cov", f"--cov-config={configuration}", "--cov-context=test", "--cov-report="]
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=ROOT,
        stdout=sys.stderr,
        check=False,  # lines are known of tests that fail, too
        env=_environment(),
    )
    return data


def _coverage(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "coverage",
        arguments[0],
        f"--data-file={data}",
        f"--rcfile={data.parent / 'coveragerc'}",
    ]
    return subprocess.run(
        [*command, *arguments[1:]], cwd=ROOT, capture_output=True, text=True, check=False, env=_environment()
    )


def _environment() -> dict[str, str]:
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
