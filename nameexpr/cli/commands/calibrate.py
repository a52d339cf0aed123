"""`nameexpr calibrate`: measure this machine, and write its profile."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nameexpr.backends.numpy.calibration import Calibration
    from nameexpr.backends.numpy.profiles import Header
    from nameexpr.terminal.faults import FileError
    from nameexpr.terminal.screen import Report

SECONDS = 20.0
SHORTEST, LONGEST = 1.0, 3600.0
BUSY = 0.5
"""The number of CPUs that other work may keep busy without a warning."""
EXAMPLES = """\
examples:
  nameexpr calibrate                             this machine, in the user's cache folder
  nameexpr calibrate --seconds 120               takes longer, and is more exact
  nameexpr calibrate --output machine.json       to use it: NAMEEXPR_TARGET=machine.json
  OPENBLAS_NUM_THREADS=1 nameexpr calibrate      for calls with this setting

Times a few hundred calls of NumPy, and fits to them the figures by which strategies are chosen. A profile
is for one processor, BLAS, number of threads and version of NumPy. Close other work first. nameexpr doctor
shows which profile is used.

exit codes: 0 success, 1 the file cannot be written, 2 the arguments are wrong, 130 interrupted."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add `--output` and `--seconds`."""
    output = (
        "the file to write; by default one in the user's cache folder, which is then used for this machine"
    )
    parser.add_argument("--output", "-o", metavar="FILE", help=output)
    seconds = f"how long to measure (default: {SECONDS:.0f})"
    parser.add_argument("--seconds", metavar="S", type=_seconds, default=SECONDS, help=seconds)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not SHORTEST <= seconds <= LONGEST:
        raise ArgumentTypeError(f"a number of seconds from {SHORTEST:.0f} to {LONGEST:.0f}, not {text}")
    return seconds


def run(options: Namespace) -> Report:
    """Measure, write the profile, and return what was found."""
    import os

    from nameexpr.backends.numpy.calibration import calibrate
    from nameexpr.backends.numpy.calibration.heading import header_of
    from nameexpr.backends.numpy.profiles import write_profile
    from nameexpr.terminal.screen import warn

    path = _place(options)
    load, cpus = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0, os.cpu_count() or 1
    if load > BUSY:
        warn(
            f"other work keeps {load:.1f} of {cpus} CPUs busy: close it for exact figures",
            color=options.color,
        )
    found = calibrate(options.seconds)
    header = header_of(f"nameexpr calibrate, {found.seconds:.0f} s, load {load:.1f} of {cpus}")
    try:
        write_profile(path, header, found.profile)
    except OSError as fault:
        raise _unwritable(path, fault) from fault
    return _report(header, found, path)


def _place(options: Namespace) -> str:
    """Return the path of the file to write, in a folder that exists (FileError); a profile that this
    environment does not use is a warning.
    """
    import os

    from nameexpr.backends.numpy.target import cache_folder, this_machine
    from nameexpr.terminal.arguments import check_place
    from nameexpr.terminal.faults import FileError
    from nameexpr.terminal.screen import warn

    if options.output is not None:
        check_place(options.output, options.output)
        return str(options.output)
    path = os.path.join(cache_folder(), this_machine().own)
    if not os.path.isabs(path):
        raise FileError("the home folder of this user is not known", "name a file: --output")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    except OSError as fault:
        raise _unwritable(path, fault) from fault
    if named := os.environ.get("NAMEEXPR_TARGET", "").strip():
        warn(f"this profile is used where NAMEEXPR_TARGET={named:.100} is not set", color=options.color)
    return path


def _unwritable(path: str, fault: OSError) -> FileError:
    from nameexpr.terminal.faults import FileError, quoted, reason

    return FileError(f"cannot write {quoted(path)}: {reason(fault)}", "write elsewhere: --output")


def _report(header: Header, found: Calibration, path: str) -> Report:
    from nameexpr.backends.numpy.profiles import figures_of
    from nameexpr.carets import aligned_columns
    from nameexpr.terminal.screen import Report

    rows = [["calls", "generic", "this machine"]]
    for name, both in found.accuracy.items():
        rows.append([name, *(f"{one.off:.2f}x, {one.close:.0%} close" for one in both)])
    blas = f"{header.blas}, {header.core} kernels, threads: {header.threads}"
    lines = [
        f"{header.processor}, {blas}, NumPy {header.numpy}",
        f"measured in {found.seconds:.0f} s; of the calls that took no part in the fit, half are predicted",
        "within this factor, and this share within 1.25 (close):",
        *aligned_columns(rows),
        f"written to {path}",
    ]
    accuracy = {name: [one._asdict() for one in both] for name, both in found.accuracy.items()}
    data = {**header._asdict(), "figures": figures_of(found.profile), "accuracy": accuracy, "output": path}
    return Report("\n".join(lines), data)
