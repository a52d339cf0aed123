"""``python -m benchmarks.gradients``: the value and gradients of formulas, compared with other libraries.

The time of each column is followed by its ratio to nameexpr: 2.00 means that nameexpr takes half as long.
Times are the least of interleaved rounds in one process, on one core. The exit code is 1 if a result differs
from that of PyTorch in double precision by more than rounding.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks import machine
from benchmarks.gradients import networks, peers, second, workloads
from benchmarks.gradients.base import GradientWorkload
from benchmarks.gradients.measure import FORWARD, Figures, measure
from benchmarks.gradients.trees import loaded

WORKLOADS = (*workloads.WORKLOADS, *networks.WORKLOADS, *second.WORKLOADS)
OURS, AGAINST = "nameexpr", "against"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the chosen workloads, and print a line for each."""
    options = _options(arguments)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [options.core if options.core >= 0 else max(os.sched_getaffinity(0))])
    warnings.simplefilter("ignore")
    trees = [loaded(OURS), *([loaded(AGAINST, options.against)] if options.against else [])]
    print(machine.header(machine.describe()) + "\n")
    found = []
    for workload in WORKLOADS:
        if _is_chosen(workload, options):
            found.append(measure(workload, trees, peers.installed(options.peers), options.rounds))
            print(line(found[-1]), flush=True)
    print("\n" + "\n".join(means(found)))
    if options.json:
        options.json.write_text(json.dumps([_as_data(one) for one in found], indent=1) + "\n")
    wrong = [one.workload.name for one in found if one.is_wrong]
    if wrong:
        print(f"WRONG: {', '.join(wrong)}")
    return 1 if wrong else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.gradients", description=__doc__)
    parser.add_argument("--group", choices=sorted({one.group for one in WORKLOADS}))
    parser.add_argument("--workload", action="append", help="only those whose name contains this")
    parser.add_argument("--peers", type=lambda text: text.split(",") if text else [], metavar="NAMES")
    parser.add_argument("--against", type=Path, metavar="TREE", help="another checkout of nameexpr")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--core", type=int, default=-1, help="the core that is used; by default the last")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args(arguments)


def _is_chosen(workload: GradientWorkload, options: argparse.Namespace) -> bool:
    is_named = options.workload is None or any(part in workload.name for part in options.workload)
    return is_named and options.group in (None, workload.group)


def line(found: Figures) -> str:
    """Return the figures of one workload as a few lines."""
    first, *rest = [name for name in found.seconds if name != FORWARD]
    columns = [f"{name} {1e3 * found.seconds[name]:.3g} ({found.ratios[name]:.2f})" for name in rest]
    lines = [f"{found.workload.name:<22} {1e3 * found.seconds[first]:8.3f} ms   {'  '.join(columns)}"]
    more = [f"error {found.errors[first]:.0e}"] if found.errors else []
    more += [f"compiled in {1e3 * found.compiling:.1f} ms"]
    if found.forward:
        more[-1] += f" ({found.compiling / found.compiling_forward:.1f} times the value's)"
        ratio = 1 / found.ratios[FORWARD]
        more += [f"{ratio:.2f} times the value's time and {found.flops_ratio:.2f} times its flops"]
    megabytes = [f"{size / 1e6:.2f}" for size in (found.peak, found.planned_peak, found.results)]
    more += ["peak {} MB (planned {}, results {})".format(*megabytes)]
    return "\n".join([*lines, f"{'':22}   {', '.join(more)}"])


def means(found: Sequence[Figures]) -> list[str]:
    """Return for each group and column the geometric mean of nameexpr's time divided by the column's."""
    lines = []
    for group in dict.fromkeys(one.workload.group for one in found):
        every = [one for one in found if one.workload.group == group]
        columns = dict.fromkeys(name for one in every for name in one.ratios)
        for name in [name for name in columns if name not in (OURS, FORWARD)]:
            ratios = {one.workload.name: 1 / one.ratios[name] for one in every if name in one.ratios}
            worst = max(ratios, key=ratios.__getitem__)
            lines.append(
                f"{group}: {geomean(ratios.values()):.2f} of {name} over {len(ratios)} workloads, "
                f"at most {ratios[worst]:.2f} ({worst})"
            )
    return lines


def geomean(values: Iterable[float]) -> float:
    """Return the geometric mean."""
    logarithms = [math.log(value) for value in values]
    return math.exp(sum(logarithms) / len(logarithms))


def _as_data(found: Figures) -> dict[str, object]:
    data = {name: value for name, value in vars(found).items() if name != "workload"}
    return {"name": found.workload.name, "group": found.workload.group, **data}


if __name__ == "__main__":
    raise SystemExit(main())
