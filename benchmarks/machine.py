"""The machine that the figures were measured on: the header, and warnings if it will distort them."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np

AVX512_CORES = {"skylakex", "cooperlake", "sapphirerapids"}
AVX2_CORES = {"haswell", "zen"} | AVX512_CORES
SYMBOLS = [prefix + "openblas_get_{}" + suffix for prefix in ("scipy_", "") for suffix in ("64_", "", "_64")]


def describe() -> dict[str, Any]:
    """Return versions, processor, BLAS and load, with a list of ``warnings``."""
    blas = _configured_blas()
    found: dict[str, Any] = {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "numpy": np.__version__,
        "blas": blas,
        "blas_core": _ask_openblas("corename", ctypes.c_char_p),
        "blas_threads": _ask_openblas("num_threads", ctypes.c_int),
        "cpu": _cpuinfo("model name") or platform.processor() or "unknown",
        "cpus": os.cpu_count(),
        "load": os.getloadavg() if hasattr(os, "getloadavg") else None,
    }
    found["warnings"] = _warnings(found, (_cpuinfo("flags") or "").split())
    return found


def header(machine: dict[str, Any]) -> str:
    """Return the machine as lines of text."""
    load = ", ".join(f"{value:.2f}" for value in machine["load"]) if machine["load"] else "unknown"
    lines = [
        f"{machine['python']}, NumPy {machine['numpy']}, {machine['blas']}",
        f"BLAS core {machine['blas_core'] or 'unknown'}, threads {machine['blas_threads'] or 'unknown'}",
        f"{machine['cpu']}, {machine['cpus']} cpus, load average {load}",
    ]
    return "\n".join([*lines, *(f"warning: {text}" for text in machine["warnings"])])


def _warnings(machine: dict[str, Any], flags: list[str]) -> list[str]:
    core = (machine["blas_core"] or "").lower()
    found = []
    if core and "avx512f" in flags and core not in AVX512_CORES:
        asked = os.environ.get("OPENBLAS_CORETYPE")
        advice = (
            f"because OPENBLAS_CORETYPE={asked} is set"
            if asked
            else "OPENBLAS_CORETYPE=SkylakeX set before NumPy loads may be faster"
        )
        found.append(f"the BLAS runs its {machine['blas_core']} kernels on an AVX-512 processor; {advice}")
    elif core and "avx2" in flags and core not in AVX2_CORES:
        found.append(f"the BLAS runs its {machine['blas_core']} kernels on an AVX2 processor")
    if (machine["blas_threads"] or 1) != 1:
        found.append(f"the BLAS has {machine['blas_threads']} threads; goals are set for one")
    if machine["load"] and machine["load"][0] > (machine["cpus"] or 1) / 2:
        found.append(f"the load is high ({machine['load'][0]:.2f}); close other work for figures to keep")
    return found


def _configured_blas() -> str:
    try:
        config: Any = np.show_config(mode="dicts")
        blas = config["Build Dependencies"]["blas"]
        return f"{blas['name']} {blas['version']}"
    except (TypeError, KeyError):
        return "BLAS unknown"


def _ask_openblas(what: str, restype: Any) -> Any:
    """Return the loaded OpenBLAS's description of itself; None if it has none."""
    for path in _openblas_files():
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        for symbol in SYMBOLS:
            ask = getattr(library, symbol.format(what), None)
            if ask is not None:
                ask.restype = restype
                value = ask()
                return value.decode() if isinstance(value, bytes) else value
    return None


def _openblas_files() -> list[str]:
    maps = Path("/proc/self/maps")
    if maps.exists():
        lines = maps.read_text().splitlines()
        return sorted({line.split(maxsplit=5)[5] for line in lines if "openblas" in line.lower()})
    home = Path(np.__file__).parent
    folders = (home / ".dylibs", home.parent / "numpy.libs")
    return sorted(str(path) for folder in folders for path in folder.glob("*openblas*"))


def _cpuinfo(key: str) -> str | None:
    if sys.platform != "linux":
        return None
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return None
