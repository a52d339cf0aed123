"""Describe the processor, the CPUs that may be used, and the BLAS of NumPy; None means unknown.

NumPy reports how the BLAS was built; threadpoolctl finds which library is loaded, and its number of threads.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

THREADS = {
    # OpenBLAS uses the first that is a positive number, in this order.
    "openblas": (
        "OPENBLAS_NUM_THREADS",
        "OPENBLAS_DEFAULT_NUM_THREADS",
        "GOTO_NUM_THREADS",
        "OMP_NUM_THREADS",
    ),
    "mkl": ("MKL_NUM_THREADS", "OMP_NUM_THREADS"),
    "accelerate": ("VECLIB_MAXIMUM_THREADS",),
    "blis": ("BLIS_NUM_THREADS", "OMP_NUM_THREADS"),
}
"""The environment variables that set a family's number of threads, by precedence."""

_CPUINFO = Path("/proc/cpuinfo")
_QUOTA = Path("/sys/fs/cgroup/cpu.max")
_AVX512 = {"AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ", "AVX512VL"}  # all that OpenBLAS's SkylakeX uses


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine. `load` is the load average over 1, 5 and 15 minutes."""

    system: str = "unknown"
    architecture: str = "unknown"
    processor: str | None = None
    avx2: bool | None = None
    avx512: bool | None = None
    cpus: int | None = None
    usable_cpus: int | None = None
    load: tuple[float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Blas:
    """A BLAS. `threads_from` is the variable that sets the number of threads.

    `name`, `version` and `config` are what NumPy was built with, `library` the file that is loaded and `core`
    the processor whose kernels run.
    """

    family: str = "unknown"
    name: str | None = None
    version: str | None = None
    config: str | None = None
    library: str | None = None
    core: str | None = None
    threading: str | None = None
    threads: int | None = None
    threads_from: str | None = None


def describe_machine() -> Machine:
    """Describe the machine from what the system and NumPy report."""
    named = re.search(r"^model name\s*:\s*(.*)$", _read(_CPUINFO), re.MULTILINE)
    features, counts = _features(), [os.cpu_count(), read_quota(_read(_QUOTA))]
    if hasattr(os, "sched_getaffinity"):
        counts.append(len(os.sched_getaffinity(0)))
    load = None
    with suppress(OSError, AttributeError):
        load = os.getloadavg()
    return Machine(
        system=f"{platform.system()} {platform.release()}".strip() or "unknown",
        architecture=platform.machine() or "unknown",
        processor=named[1] if named else platform.processor() or None,
        avx2="AVX2" in features if features else None,
        avx512=features >= _AVX512 if features else None,
        cpus=os.cpu_count(),
        usable_cpus=min((count for count in counts if count is not None), default=None),
        load=load,
    )


def read_quota(text: str) -> int | None:
    """Parse the CPU quota of a control group, rounded up; None if there is no limit.

    >>> read_quota("150000 100000")
    2
    """
    quota, _, period = text.strip().partition(" ")
    if not (quota.isdigit() and period.isdigit() and int(period)):
        return None
    return max(1, -(-int(quota) // int(period)))


def _features() -> set[str]:
    """Return the CPU features that NumPy detected."""
    features: Mapping[str, bool] = {}
    with suppress(ImportError):
        features = getattr(import_module("numpy._core._multiarray_umath"), "__cpu_features__", {})
    return {name for name, is_there in features.items() if is_there}


def _read(path: Path) -> str:
    with suppress(OSError):
        return path.read_text("utf-8", "replace")
    return ""


def describe_blas(environment: Mapping[str, str]) -> Blas:
    """Describe the BLAS, using NumPy, which is imported for it, and threadpoolctl."""
    built, pools = _built_with(), []
    with suppress(ImportError):
        pools = import_module("threadpoolctl").threadpool_info()
    loaded: Mapping[str, Any] = next((pool for pool in pools if pool["user_api"] == "blas"), {})
    family = loaded.get("internal_api") or _family_of(built)
    library = loaded.get("filepath")
    return Blas(
        family=family,
        name=built.get("name") if built else None,
        version=loaded.get("version") or (built.get("version") if built else None),
        config=built.get("openblas configuration") if built else None,
        library=os.path.basename(library) if library else None,
        core=loaded.get("architecture"),
        threading=loaded.get("threading_layer"),
        threads=loaded.get("num_threads"),
        threads_from=thread_variable(family, environment),
    )


def thread_variables(family: str) -> tuple[str, ...]:
    """Return the environment variables that set the number of threads, by precedence."""
    return THREADS.get(family, ("OMP_NUM_THREADS",))


def thread_variable(family: str, environment: Mapping[str, str]) -> str | None:
    """Return the environment variable in effect, the first that is a positive number; None if none is.

    >>> thread_variable("openblas", {"OMP_NUM_THREADS": "4", "OPENBLAS_NUM_THREADS": "0"})
    'OMP_NUM_THREADS'
    """
    positive = re.compile(r"\s*\+?0*[1-9]", re.ASCII)  # as C's `atoi` parses it
    return next(
        (name for name in thread_variables(family) if positive.match(environment.get(name, ""))), None
    )


def _built_with() -> Mapping[str, Any] | None:
    """Return NumPy's build record of its BLAS; None if there is none."""
    import numpy as np

    with suppress(AttributeError, KeyError, TypeError, ValueError):
        config: Any = np.show_config(mode="dicts")
        return dict(config["Build Dependencies"]["blas"])
    return None


def _family_of(built: Mapping[str, Any] | None) -> str:
    if built is not None and not built.get("found"):  # NumPy omits false entries of its record
        return "none"
    name = built.get("name", "") if built else ""
    return next((family for family in THREADS if family in name), "unknown")
