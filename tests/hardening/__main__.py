"""Measure rows of docs/reliability.md: `python -m hardening [ROW ...] [--scale 0.01] [--record]`.

Every row runs in a process of its own, so that its memory and its state are its own. `--record` keeps the
figures in figures.json and writes them into docs/reliability.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from hardening.figures import Figures
from hardening.page import record
from hardening.rows import ROWS

CHILD = """
import json, sys
from hardening.rows import ROWS
if __name__ == "__main__":
    name, scale = sys.argv[1], float(sys.argv[2])
    row = next(row for row in ROWS if row.name == name)
    print("\\n" + json.dumps(row.measure(scale)))
"""


def measured(name: str, scale: float) -> Figures:
    """Return the figures of a row, measured in a process of its own; one that dies has broken its promise."""
    run = subprocess.run(
        [sys.executable, "-c", CHILD, name, str(scale)],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        cwd=Path(__file__).parent.parent,
    )
    if run.returncode:
        return Figures(
            f"the process ended with {run.returncode}", (f"exit status {run.returncode}, see above",)
        )
    summary, breaches = json.loads(run.stdout.strip().rpartition("\n")[2])
    return Figures(summary, tuple(breaches))


def main() -> int:
    """Run the command; 1 if a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m hardening", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(row.name for row in ROWS))
    parser.add_argument("--scale", type=float, default=1.0, help="1.0 is the full size")
    parser.add_argument("--record", action="store_true", help="write the figures into docs/reliability.md")
    options = parser.parse_args()
    if unknown := set(options.rows) - {row.name for row in ROWS}:
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    is_broken = False
    for row in ROWS:
        if options.rows and row.name not in options.rows:
            continue
        start = time.perf_counter()
        figures = measured(row.name, options.scale)
        minutes = (time.perf_counter() - start) / 60
        is_broken |= bool(figures.breaches)
        print(f"{row.name} ({minutes:.1f} min): {figures.summary}\n    wanted: {row.wanted}", flush=True)
        for breach in figures.breaches:
            print(f"    BROKEN: {breach}", flush=True)
        if options.record:
            record(row.name, figures, options.scale)
    return int(is_broken)


if __name__ == "__main__":
    sys.exit(main())
