"""Facts to findings: what is wrong, what is slower than it need be, and what to do about it.

A problem is something that cannot work; a warning is something that works, and should be known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from nameexpr.cli.doctor.blas import thread_variables
from nameexpr.cli.doctor.facts import MISSING, UNTRIED, Facts, Package
from nameexpr.syntax.lexer.limits import Limits
from nameexpr.terminal.faults import harmless, quoted

Level = Literal["problem", "warning"]
AVX512_CORES = {"skylakex", "cooperlake", "sapphirerapids"}
AVX2_CORES = {"haswell", "zen", "excavator"} | AVX512_CORES
VARIABLES = {"NAMEEXPR_VERIFY": "every compilation checks its program, which takes longer"}
"""The package's environment variables, and what each does when it is 1."""

_BUSY = 0.5  # of a CPU: what this process itself adds to the load average is less


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know. `topic` is for programs; `level` decides the exit code."""

    level: Level
    topic: str
    message: str
    hint: str


def find(facts: Facts) -> tuple[Finding, ...]:
    """Return what the facts show, problems first."""
    searches = (_packages, _checks, _tables, _library, _kernels, _busy, _crowded, _variables, _limits)
    found = [finding for search in searches for finding in search(facts)]
    return tuple(sorted(found, key=lambda finding: finding.level))


def _packages(facts: Facts) -> Iterator[Finding]:
    for package in (facts.python, *facts.packages):
        message = _misfit(package)
        if message:
            level: Level = "problem" if package.extra is None else "warning"
            yield Finding(level, "package", message, _install_hint(package))


def _misfit(package: Package) -> str:
    """Return why a package will not do; "" if it will, or if it is an extra that is left out."""
    if package.version is None:
        is_left_out = package.extra is not None and package.fault in {MISSING, UNTRIED}
        return "" if is_left_out else f"{package.name} cannot be imported: {package.fault}"
    version = release(package.version)
    if version < release(package.oldest):
        return f"{package.name} {package.version} is older than {package.oldest}"
    if package.first_wrong and version >= release(package.first_wrong):
        return f"{package.name} {package.version} is too new: it should be older than {package.first_wrong}"
    return ""


def _install_hint(package: Package) -> str:
    if package.name == "Python":
        return f"run it with Python {package.oldest} or later"
    bound = f",<{package.first_wrong}" if package.first_wrong else ""
    return f"pip install '{package.name}>={package.oldest}{bound}'"


def release(version: str) -> tuple[int, ...]:
    """Return the numbers of a release; of what follows them, such as rc1, nothing is kept.

    >>> release("2.3.0rc1") >= release("2.3")
    True
    """
    numbers = re.match(r"\d+(?:\.\d+)*", version)
    parts = [int(part) for part in numbers[0].split(".")] if numbers else []
    return tuple(parts[:3] + [0] * (3 - len(parts)))


def _checks(facts: Facts) -> Iterator[Finding]:
    hint = "install nameexpr and NumPy anew; if that does not mend it, report it with this output"
    if any(found.level == "problem" for found in _packages(facts)):
        hint = "mend the packages first: this may come of them"
    for check in facts.checks:
        if check.fault is not None:
            message = f"{quoted(check.text)} on {check.dtype} went wrong: {check.fault}"
            yield Finding("problem", "self-check", message, hint)


def _tables(facts: Facts) -> Iterator[Finding]:
    for start, state in facts.tables.items():
        if state == "unreadable":
            message = f"the grammar of {start}s, or its tables, cannot be read"
            yield Finding("problem", "grammar", message, "install nameexpr anew")
    anew = [start for start, state in facts.tables.items() if state == "built anew"]
    if not anew:
        return
    lark = next((package.version for package in facts.packages if package.name == "lark"), None)
    # Of one release and still no fit: then the grammar is another, which happens in checkouts only.
    fits, hint = "the grammar", "python -m nameexpr.syntax.grammar makes them anew"
    if lark != facts.tables_lark:
        fits, hint = f"lark {lark}", f"pip install 'lark=={facts.tables_lark}' saves that"
    message = (
        f"the stored parse tables ({', '.join(anew)}) do not fit {fits}: each process that needs them builds "
        "them anew, in 15 to 35 ms"
    )
    yield Finding("warning", "tables", message, hint)


def _library(facts: Facts) -> Iterator[Finding]:
    if not _has_numpy(facts):
        return
    hint = "install NumPy's wheel, which brings OpenBLAS: pip install --force-reinstall numpy"
    if facts.blas.family == "none":
        yield Finding("warning", "blas", "NumPy was built without a BLAS: large products are slow", hint)
    elif facts.blas.family == "unknown":
        name = (
            f"{quoted(facts.blas.name)} is not known" if facts.blas.name else "NumPy does not tell its BLAS"
        )
        message = f"{name}: it may be a slow one"
        yield Finding("warning", "blas", message, f"if the products below are slow, {hint}")


def _has_numpy(facts: Facts) -> bool:
    return any(package.name == "numpy" and package.version for package in facts.packages)


def _kernels(facts: Facts) -> Iterator[Finding]:
    core, machine = facts.blas.core, facts.machine
    if core is None:
        return
    if machine.avx512 and core.casefold() not in AVX512_CORES:
        has, better = "AVX-512", "SkylakeX"
    elif machine.avx2 and core.casefold() not in AVX2_CORES:
        has, better = "AVX2", "Haswell"
    else:
        return
    message = f"OpenBLAS runs its {core} kernels on a processor with {has}"
    hint = _kernel_hint(facts.blas.config, facts.variables, better)
    measured = (
        "; measured: products 1.6 to 1.9 times as fast" if (core, has) == ("Haswell", "AVX-512") else ""
    )
    yield Finding("warning", "blas-kernels", message, hint + measured)


def _kernel_hint(config: str | None, variables: Mapping[str, str], better: str) -> str:
    asked = variables.get("OPENBLAS_CORETYPE")
    if asked:
        return (
            f"OPENBLAS_CORETYPE={harmless(asked)} is set: unset it, or set it to {better}, before NumPy loads"
        )
    if config is not None and "DYNAMIC_ARCH" not in config:
        return (
            "this OpenBLAS was built for one kind of processor: install NumPy's wheel, which has all kernels"
        )
    return f"set OPENBLAS_CORETYPE={better} before NumPy loads"


def _busy(facts: Facts) -> Iterator[Finding]:
    threads, cpus, load = facts.blas.threads or 1, facts.machine.cpus or 1, (facts.machine.load or (0.0,))[0]
    if threads > 1 and load >= _BUSY and threads + load > cpus + _BUSY:
        message = (
            f"the BLAS has {threads} threads, and of {cpus} CPUs other work keeps {load:.1f} busy: its "
            "threads wait for the slowest"
        )
        hint = f"{_threads_hint(facts, 1)}; measured: up to 189 times as fast as two beside a busy neighbour"
        yield Finding("warning", "blas-threads", message, hint)


def _crowded(facts: Facts) -> Iterator[Finding]:
    threads, usable = facts.blas.threads or 1, facts.machine.usable_cpus
    if usable is not None and threads > max(1, usable):
        message = f"the BLAS has {threads} threads, and this process may use {usable} CPUs"
        yield Finding("warning", "blas-threads", message, _threads_hint(facts, usable))


def _threads_hint(facts: Facts, threads: int) -> str:
    return f"set {thread_variables(facts.blas.family)[0]}={threads} before NumPy loads"


def _variables(facts: Facts) -> Iterator[Finding]:
    for name, value in facts.variables.items():
        if VARIABLES.get(name) and value == "1":
            yield Finding("warning", "variable", f"{name}=1 is set: {VARIABLES[name]}", "unset it for speed")
        elif name.startswith("NAMEEXPR_") and name not in VARIABLES:
            message = f"the environment variable {quoted(name)} is set, and nothing reads it"
            yield Finding("warning", "variable", message, f"there is {', '.join(VARIABLES)}")


def _limits(facts: Facts) -> Iterator[Finding]:
    usual, now = Limits(), facts.limits
    for name in ("text", "nesting", "operands", "dims"):
        if getattr(now, name) != getattr(usual, name):
            message = f"the limit {name}= is {getattr(now, name):,}, and by default {getattr(usual, name):,}"
            yield Finding("warning", "limits", message, "nameexpr.set_limits was called in this process")
