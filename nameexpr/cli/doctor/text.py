"""The facts and findings of `nameexpr doctor` as lines of text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nameexpr.carets import aligned_columns
from nameexpr.cli.doctor.facts import Facts
from nameexpr.cli.doctor.findings import Finding
from nameexpr.cli.doctor.trials import Timings
from nameexpr.terminal.faults import harmless

_COLOURS = {"problem": "1;31", "warning": "1;33"}
_FINDING = re.compile(r"^(problem|warning): .*$", re.MULTILINE)


def rendered(facts: Facts, findings: Sequence[Finding]) -> str:
    """Return a line for each group of facts, and what was found below them."""
    rows = [
        ["versions", _versions(facts)],
        ["extras", _extras(facts)],
        ["system", f"{facts.machine.system}, {facts.machine.architecture}"],
        ["processor", _processor(facts)],
        ["cpus", _cpus(facts)],
        ["blas", _blas(facts)],
        ["threads", _threads(facts)],
        ["variables", _variables(facts)],
        ["tables", ", ".join(f"{start} {state}" for start, state in facts.tables.items())],
        ["self-check", _checks(facts)],
        ["products", _products(facts.timings)],
        ["copies", _measured(facts.timings.copy_gigabytes, "GB/s, read and written")],
        ["calls", _calls(facts.timings)],
    ]
    lines = aligned_columns([[name, harmless(value)] for name, value in rows])
    for finding in findings:
        lines += [f"{finding.level}: {finding.message}", f"  help: {finding.hint}"]
    return "\n".join([*lines, *([] if findings else ["nothing is wrong"])])


def coloured(text: str) -> str:
    """Return the text with problems in bold red and warnings in bold yellow."""
    return _FINDING.sub(lambda line: f"\x1b[{_COLOURS[line[1]]}m{line[0]}\x1b[0m", text)


def _versions(facts: Facts) -> str:
    needed = [f"{one.name} {one.version or 'missing'}" for one in facts.packages if one.extra is None]
    python = f"{facts.implementation} {facts.python.version}"
    return ", ".join([f"nameexpr {facts.nameexpr}", python, *needed])


def _extras(facts: Facts) -> str:
    extras = [one for one in facts.packages if one.extra is not None]
    return ", ".join(f"{one.extra} ({one.name} {one.version or 'missing'})" for one in extras) or "none"


def _processor(facts: Facts) -> str:
    features = {"AVX2": facts.machine.avx2, "AVX-512": facts.machine.avx512}
    return ", ".join([facts.machine.processor or "unknown", *(name for name, has in features.items() if has)])


def _cpus(facts: Facts) -> str:
    machine = facts.machine
    usable = f", of which usable {machine.usable_cpus}" if machine.usable_cpus != machine.cpus else ""
    load = " ".join(f"{one:.2f}" for one in machine.load) if machine.load else "unknown"
    return f"{machine.cpus or 'unknown'}{usable}, load average {load}"


def _blas(facts: Facts) -> str:
    blas = facts.blas
    if blas.family == "none":
        return "none"
    built = " ".join(filter(None, (blas.name or blas.family, blas.version)))
    return f"{built}, {blas.core or 'unknown'} kernels" + (f", {blas.library}" if blas.library else "")


def _threads(facts: Facts) -> str:
    blas = facts.blas
    source = blas.threads_from
    because = f"{source}={facts.variables.get(source, '')}" if source else "no variable sets them"
    kind = f" ({blas.threading})" if blas.threading else ""
    return f"{blas.threads or 'unknown'}{kind}, {because}"


def _variables(facts: Facts) -> str:
    return " ".join(f"{name}={value}" for name, value in facts.variables.items()) or "none"


def _checks(facts: Facts) -> str:
    right = sum(check.fault is None for check in facts.checks)
    return f"{right} of {len(facts.checks)} results are those of np.einsum" if facts.checks else "not run"


def _products(timings: Timings) -> str:
    double = _measured(timings.matmul_float64_gflops, "GFlop/s in float64")
    single = _measured(timings.matmul_float32_gflops, "GFlop/s in float32")
    return f"{double}, {single}, of 512 x 512"


def _calls(timings: Timings) -> str:
    ours = _measured(timings.einsum_microseconds, "us for einsum of 4 x 4")
    return f"{ours}, {_measured(timings.dot_microseconds, 'us for dot alone')}"


def _measured(value: float | None, unit: str) -> str:
    return f"{'unknown' if value is None else format(value, '.3g')} {unit}"
