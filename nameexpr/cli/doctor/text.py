"""Format the report of `nameexpr doctor` as text, and as data for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from nameexpr.backends.listing import OLDEST, backends
from nameexpr.carets import aligned_columns
from nameexpr.cli.doctor.installation import MISSING, Installation
from nameexpr.cli.doctor.issues import Issue
from nameexpr.terminal.faults import harmless

_COLOURS = {"problem": "1;31", "warning": "1;33"}


def as_text(installation: Installation, issues: Sequence[Issue], *, is_coloured: bool = False) -> str:
    """Format the facts, a line for each group, and the issues: problems in red, warnings in yellow."""
    machine, trials = installation.machine, installation.trials
    needed = [package for package in installation.packages if package.extra is None]
    versions = ", ".join(f"{package.name} {package.version or 'missing'}" for package in needed)
    extras = [
        f"{package.extra} ({package.name} {package.version or 'missing'})"
        for package in installation.packages
        if package.extra is not None
    ]
    right = sum(trial.fault is None for trial in trials)
    features = {"AVX2": machine.avx2, "AVX-512": machine.avx512}
    usable = f", of which usable {machine.usable_cpus}" if machine.usable_cpus != machine.cpus else ""
    load = " ".join(f"{average:.2f}" for average in machine.load) if machine.load else "unknown"
    rows = {
        "versions": f"nameexpr {installation.nameexpr}, {installation.implementation} "
        f"{installation.python.version}, {versions}",
        "extras": ", ".join(extras),
        "libraries": ", ".join(
            [f"{name} {one.version or 'missing'}" for name, one in backends().items() if name in OLDEST]
        ),
        "system": f"{machine.system}, {machine.architecture}",
        "processor": ", ".join(
            [machine.processor or "unknown", *(name for name, has in features.items() if has)]
        ),
        "cpus": f"{machine.cpus or 'unknown'}{usable}, load average {load}",
        "blas": _blas(installation),
        "threads": _threads(installation),
        "profile": installation.profile.shown if installation.profile else "unknown",
        "variables": " ".join(f"{name}={value}" for name, value in installation.variables.items()),
        "self-check": f"{right} of {len(trials)} texts give what they should" if trials else "not run",
    }
    lines = aligned_columns([[name, harmless(value or "none")] for name, value in rows.items()])
    for issue in issues:
        line = f"{issue.level}: {issue.message}"
        lines.append(f"\x1b[{_COLOURS[issue.level]}m{line}\x1b[0m" if is_coloured else line)
        lines.append(f"  help: {issue.hint}")
    return "\n".join(lines if issues else [*lines, "nothing is wrong"])


def _blas(installation: Installation) -> str:
    blas = installation.blas
    if blas.family == "none":
        return "none"
    built = " ".join(filter(None, (blas.name or blas.family, blas.version)))
    if blas.library is None:
        package = installation.package("threadpoolctl")
        is_missing = package is not None and package.fault == MISSING
        more = ": pip install 'nameexpr[doctor]' shows them and the threads" if is_missing else ""
        return f"{built}, kernels unknown{more}"
    return f"{built}, {blas.core or 'unknown'} kernels, {blas.library}"


def _threads(installation: Installation) -> str:
    blas = installation.blas
    source = blas.threads_from
    because = f"{source}={installation.variables.get(source, '')}" if source else "no variable sets them"
    kind = f" ({blas.threading})" if blas.threading else ""
    return f"{blas.threads or 'unknown'}{kind}, {because}"


def as_data(installation: Installation, issues: Sequence[Issue], status: int) -> dict[str, Any]:
    """Convert facts and issues to one object for JSON."""
    data = asdict(installation)
    packages, trials = data.pop("packages"), data.pop("trials")
    is_right = bool(trials) and all(trial["fault"] is None for trial in trials)
    return {
        **data,
        "limits": installation.limits._asdict(),
        "python": installation.python.version,
        "packages": {package.pop("name"): package for package in packages},
        "self_check": {"is_right": is_right, "checks": trials},
        "findings": [asdict(issue) for issue in issues],
        "status": status,
    }
