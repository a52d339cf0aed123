"""The processor, how many CPUs of it may be used, and how busy they are; None is what is not told."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
_QUOTA = Path("/sys/fs/cgroup/cpu.max")
_AVX512 = {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}  # all that OpenBLAS's SkylakeX uses


@dataclass(frozen=True, slots=True)
class Machine:
    """What computes. `load` is the load average over 1, 5 and 15 minutes."""

    system: str = "unknown"
    architecture: str = "unknown"
    processor: str | None = None
    avx2: bool | None = None
    avx512: bool | None = None
    cpus: int | None = None
    usable_cpus: int | None = None
    load: tuple[float, float, float] | None = None


def describe_machine() -> Machine:
    """Return what the system tells of the machine."""
    told = read_cpuinfo(read_text(_CPUINFO))
    features = set((told.get("flags") or told.get("features") or "").split()) or _numpy_features()
    return Machine(
        system=f"{platform.system()} {platform.release()}".strip() or "unknown",
        architecture=platform.machine() or "unknown",
        processor=told.get("model name") or platform.processor() or None,
        avx2="avx2" in features if features else None,
        avx512=features >= _AVX512 if features else None,
        cpus=os.cpu_count(),
        usable_cpus=_usable_cpus(),
        load=_load(),
    )


def read_cpuinfo(text: str) -> dict[str, str]:
    r"""Return the fields of the first processor in the text of Linux's /proc/cpuinfo.

    >>> read_cpuinfo("model name : Fast\nflags : sse avx2\n\nmodel name : Other")
    {'model name': 'Fast', 'flags': 'sse avx2'}
    """
    first = text.partition("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip().casefold(): value.strip() for key, colon, value in pairs if colon}


def read_quota(text: str) -> int | None:
    """Return the CPUs that a control group leaves, rounded up; None if it sets no limit.

    >>> read_quota("150000 100000")
    2
    """
    quota, _, period = text.strip().partition(" ")
    if not (quota.isdigit() and period.isdigit() and int(period)):
        return None
    return max(1, -(-int(quota) // int(period)))


def _usable_cpus() -> int | None:
    counts = [os.cpu_count(), read_quota(read_text(_QUOTA))]
    if hasattr(os, "sched_getaffinity"):
        counts.append(len(os.sched_getaffinity(0)))
    return min((count for count in counts if count is not None), default=None)


def _load() -> tuple[float, float, float] | None:
    try:
        return os.getloadavg() if hasattr(os, "getloadavg") else None
    except OSError:
        return None


def _numpy_features() -> set[str]:
    """Return what NumPy found out about the processor, in the words of /proc/cpuinfo."""
    try:
        told = getattr(import_module("numpy._core._multiarray_umath"), "__cpu_features__", {})
    except ImportError:
        return set()
    return {name.casefold() for name, is_there in told.items() if is_there}


def read_text(path: Path) -> str:
    """Return what a file of the system holds; "" if there is none that may be read."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
