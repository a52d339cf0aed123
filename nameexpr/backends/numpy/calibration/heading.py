"""The header of a profile that is measured in this process."""

from __future__ import annotations

import datetime
import platform
from pathlib import Path

from nameexpr.backends.numpy.profiles import Header
from nameexpr.backends.numpy.target import this_machine


def header_of(measured: str) -> Header:
    """Return the header for this machine; `measured` is how."""
    machine = this_machine()
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    return Header(
        machine.own.removesuffix(".json"),
        f"{_model()} ({machine.processor}), {machine.simd}",
        machine.blas,
        machine.core,
        machine.threads,
        machine.numpy,
        date,
        measured,
    )


def _model() -> str:
    """Return what the system calls the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines() if cpuinfo.exists() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or "processor")
