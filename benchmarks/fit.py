"""Measure a machine, fit a profile and write it: `python -m benchmarks.fit`, for profiles that ship.

The figures are measured by the same code as those of `nameexpr calibrate`, only longer. They are then checked
on workloads that took no part in the fit: random pairs, of which every strategy is timed, and the groups b, c
and e of the benchmark.

    python -m benchmarks.fit                                     this processor's own kernels, one thread
    python -m benchmarks.fit --core Haswell --threads 2          other kernels of OpenBLAS, two threads
    python -m benchmarks.fit --seconds 60 --output machine.json --pairs 20
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write and report; return 0."""
    options = _options(arguments)
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(options.threads)  # read when NumPy is imported, which is below
    if options.core:
        os.environ["OPENBLAS_CORETYPE"] = options.core
    return _run(options)


def _run(options: argparse.Namespace) -> int:
    from benchmarks import machine, validation
    from nameexpr.backends.numpy.calibration import calibrate
    from nameexpr.backends.numpy.calibration.heading import header_of
    from nameexpr.backends.numpy.profiles import read_profile, write_profile
    from nameexpr.backends.numpy.target import SHIPPED, this_machine

    print(machine.header(machine.describe()) + "\n")
    if options.check:
        profile = read_profile(options.check)[1]
    else:
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        found = calibrate(options.seconds, options.seed)
        profile = found.profile
        name = this_machine()
        path = options.output or os.path.join(SHIPPED, name.shipped(name.threads))
        header = header_of(f"benchmarks.fit, {found.seconds:.0f} s, load {load:.1f} of {os.cpu_count()}")
        write_profile(path, header, profile)
        _print_accuracy(found.accuracy)
        print(f"written to {path}\n")
    validation.report(profile, options.pairs, options.groups)
    return 0


def _print_accuracy(accuracy: dict[str, Any]) -> None:
    print(f"{'calls that took no part in the fit':<36}{'generic':>16}{'fitted':>16}")
    for name, both in accuracy.items():
        shown = [f"{one.off:.2f}x, {one.close:4.0%}" for one in both]
        print(f"{name:<36}{shown[0]:>16}{shown[1]:>16}")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.fit", description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=240.0, help="how long to measure (default: 240)")
    parser.add_argument("--seed", type=int, default=1, help="of the calls that are measured")
    parser.add_argument("--core", help="OPENBLAS_CORETYPE, such as Haswell or SkylakeX")
    parser.add_argument("--threads", type=int, default=1, help="of BLAS (default: 1)")
    parser.add_argument("--output", help="the file to write; by default the one that ships")
    parser.add_argument("--check", metavar="FILE", help="only check this profile")
    parser.add_argument("--pairs", type=int, default=100, help="the number of random pairs (default: 100)")
    parser.add_argument("--groups", default="bce", help="the groups to check (default: bce)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
