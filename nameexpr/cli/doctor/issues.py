"""Find the problems of an installation and what makes it slow, with a hint for each.

A problem prevents something from working; a warning is worth knowing although everything works.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from nameexpr.cli.doctor.installation import MISSING, UNTRIED, Installation, Package
from nameexpr.cli.doctor.machine import thread_variables
from nameexpr.terminal.faults import harmless, quoted

Level = Literal["problem", "warning"]
AVX512_CORES = {"skylakex", "cooperlake", "sapphirerapids"}
AVX2_CORES = {"haswell", "zen", "excavator"} | AVX512_CORES
VARIABLES = {
    "NAMEEXPR_TARGET": "",
    "NAMEEXPR_THREADS": "",
    "NAMEEXPR_TRACEBACK": "",
    "NAMEEXPR_VERIFY": "every compilation checks its program, which takes longer",
}
"""The package's environment variables, and the effect of setting each to 1, if it makes calls slower."""

_BUSY = 0.5  # of a CPU: this process itself adds less to the load average
_OFF, _WORST = 2.0, 5.0  # factors: strategies are compared, and what is wrong by less seldom changes a choice


@dataclass(frozen=True, slots=True)
class Issue:
    """A problem or a warning. `topic` is for programs; `level` decides the exit code."""

    level: Level
    topic: str
    message: str
    hint: str


def find(installation: Installation) -> tuple[Issue, ...]:
    """Find all issues, problems first."""
    searches = (_packages, _trials, _library, _kernels, _threads, _profile, _variables)
    issues = [issue for search in searches for issue in search(installation)]
    return tuple(sorted(issues, key=lambda issue: issue.level))


def _packages(installation: Installation) -> Iterator[Issue]:
    for package in (installation.python, *installation.packages):
        message = _misfit(package)
        if message:
            bound = f",<{package.first_wrong}" if package.first_wrong else ""
            hint = f"pip install '{package.name}>={package.oldest}{bound}'"
            if package is installation.python:
                hint = f"run it with Python {package.oldest} or later"
            level: Level = "problem" if package.extra is None else "warning"
            yield Issue(level, "package", message, hint)


def _misfit(package: Package) -> str:
    """Explain why a package cannot be used; "" if it can, or if it is an extra that is not installed."""
    if package.version is None:
        is_left_out = package.extra is not None and package.fault in {MISSING, UNTRIED}
        return "" if is_left_out else f"{package.name} cannot be imported: {package.fault}"
    version = release(package.version)
    if version < release(package.oldest):
        return f"{package.name} {package.version} is older than {package.oldest}"
    if package.first_wrong and version >= release(package.first_wrong):
        return f"{package.name} {package.version} is too new: it should be older than {package.first_wrong}"
    return ""


def release(version: str) -> tuple[int, ...]:
    """Parse the numbers of a release, without suffixes such as rc1.

    >>> release("2.3.0rc1") >= release("2.3")
    True
    """
    numbers = re.match(r"\d+(?:\.\d+)*", version)
    parts = [int(part) for part in numbers[0].split(".")] if numbers else []
    return tuple(parts[:3] + [0] * (3 - len(parts)))


def _trials(installation: Installation) -> Iterator[Issue]:
    hint = "reinstall nameexpr and NumPy; if that does not help, report it with this output"
    if any(issue.level == "problem" for issue in _packages(installation)):
        hint = "mend the packages first: this may come of them"
    for trial in installation.trials:
        if trial.fault is not None:
            yield Issue("problem", "self-check", f"{quoted(trial.text)} went wrong: {trial.fault}", hint)


def _library(installation: Installation) -> Iterator[Issue]:
    if not installation.has_numpy:
        return
    hint, blas = (
        "install NumPy's wheel, which brings OpenBLAS: pip install --force-reinstall numpy",
        installation.blas,
    )
    if blas.family == "none":
        yield Issue("warning", "blas", "NumPy was built without a BLAS: large products are slow", hint)
    elif blas.family == "unknown":
        what = f"{quoted(blas.name)} is not known" if blas.name else "NumPy does not tell its BLAS"
        yield Issue("warning", "blas", f"{what}: it may be a slow one", f"if products are slow, {hint}")


def _kernels(installation: Installation) -> Iterator[Issue]:
    core, machine = installation.blas.core, installation.machine
    if core is None or installation.blas.family != "openblas":
        return
    if machine.avx512 and core.casefold() not in AVX512_CORES:
        has, better = "AVX-512", "SkylakeX"
    elif machine.avx2 and core.casefold() not in AVX2_CORES:
        has, better = "AVX2", "Haswell"
    else:
        return
    message = f"OpenBLAS runs its {core} kernels on a processor with {has}"
    hint = f"set OPENBLAS_CORETYPE={better} before NumPy loads"
    asked = installation.variables.get("OPENBLAS_CORETYPE")
    if asked:
        was = f"OPENBLAS_CORETYPE={harmless(asked)}"
        hint = f"{was} is set: unset it, or set it to {better}, before NumPy loads"
    elif "DYNAMIC_ARCH" not in (installation.blas.config or "DYNAMIC_ARCH"):
        built = "this OpenBLAS was built for one kind of processor"
        hint = f"{built}: install NumPy's wheel, which has all kernels"
    if (core, has) == ("Haswell", "AVX-512"):
        hint += "; measured: products 1.6 to 1.9 times as fast"
    yield Issue("warning", "blas-kernels", message, hint)


def _threads(installation: Installation) -> Iterator[Issue]:
    threads, machine = installation.blas.threads or 1, installation.machine
    variable = thread_variables(installation.blas.family)[0]
    cpus, usable = machine.cpus or 1, machine.usable_cpus
    load = machine.load[0] if machine.load else 0.0
    if threads > 1 and load >= _BUSY and threads + load > cpus + _BUSY:
        busy = f"the BLAS has {threads} threads, and of {cpus} CPUs other work keeps {load:.1f} busy"
        message = f"{busy}: its threads wait for the slowest"
        measured = "measured: up to 189 times as fast as two next to a busy process"
        yield Issue("warning", "blas-threads", message, f"set {variable}=1 before NumPy loads; {measured}")
    if usable is not None and threads > max(1, usable):
        message = f"the BLAS has {threads} threads, and this process may use {usable} CPUs"
        yield Issue("warning", "blas-threads", message, f"set {variable}={usable} before NumPy loads")


def _profile(installation: Installation) -> Iterator[Issue]:
    profile, machine = installation.profile, installation.machine
    if profile is not None and profile.fault:
        from nameexpr.backends.numpy.profiles import NAMED, OWN

        remedy = NAMED if installation.variables.get("NAMEEXPR_TARGET", "").strip() else OWN
        message = harmless(profile.fault, 1000)  # the reason comes after the path, which may be long
        yield Issue("warning", "profile", message, remedy)
    if profile is None or (profile.off < _OFF and profile.worst < _WORST):
        return
    how = "takes {:.1f} times as long" if profile.is_slower else "is {:.1f} times as fast"
    times = how.format(profile.worst)
    hint = "nameexpr calibrate measures a profile of this machine in about 20 seconds"
    if machine.load and machine.load[0] >= _BUSY:
        busy = f"other work keeps {machine.load[0]:.1f} of {machine.cpus or 1} CPUs busy"
        hint = f"{busy}: repeat this without it; if the times still differ, {hint}"
    elif (installation.blas.threads or 1) > 1 and profile.is_slower:
        variable = thread_variables(installation.blas.family)[0]
        hint = f"try {variable}=1, in case threads of the BLAS wait for each other; if not, {hint}"
    message = f"{quoted(profile.text)} {times} as predicted: slower strategies may be chosen"
    yield Issue("warning", "profile", message, hint)


def _variables(installation: Installation) -> Iterator[Issue]:
    for name, value in installation.variables.items():
        if VARIABLES.get(name) and value == "1":
            yield Issue("warning", "variable", f"{name}=1 is set: {VARIABLES[name]}", "unset it for speed")
        elif name.startswith("NAMEEXPR_") and name not in VARIABLES:
            message = f"the environment variable {quoted(name)} is set, and nothing reads it"
            yield Issue("warning", "variable", message, f"there is {', '.join(VARIABLES)}")
