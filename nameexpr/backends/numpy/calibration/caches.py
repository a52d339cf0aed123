"""The sizes of the caches in bytes, as the system reports them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

LINUX = Path("/sys/devices/system/cpu/cpu0/cache")
MACOS = {
    "near_cache": ("hw.perflevel0.l1dcachesize", "hw.l1dcachesize"),
    "second_cache": ("hw.perflevel0.l2cachesize", "hw.l2cachesize"),
    "last_cache": ("hw.l3cachesize",),
}
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
RANGES = {
    "near_cache": (1 << 14, 1 << 18),
    "second_cache": (1 << 18, 1 << 22),
    "last_cache": (1 << 22, 1 << 26),
}
"""What one core can count on: larger caches are shared by many cores."""


def cache_sizes() -> Mapping[str, int]:
    """Return the figures of caches that are known, `near_cache` and so on."""
    found = _macos() if sys.platform == "darwin" else read_caches(LINUX)
    return {name: max(RANGES[name][0], min(size, RANGES[name][1])) for name, size in found.items()}


def read_caches(folder: Path) -> dict[str, int]:
    """Return the sizes of the data caches that Linux describes in a folder."""
    levels: dict[int, int] = {}
    for cache in sorted(folder.glob("index*")):
        with suppress(OSError, ValueError, KeyError):
            kind, level, size = [(cache / name).read_text().strip() for name in ("type", "level", "size")]
            if kind != "Instruction":
                levels[int(level)] = int(size[:-1]) * UNITS[size[-1]]
    names = {"near_cache": 1, "second_cache": 2, "last_cache": max(levels, default=0)}
    return {name: levels[level] for name, level in names.items() if level in levels}


def _macos() -> dict[str, int]:
    found: dict[str, int] = {}
    for name, keys in MACOS.items():
        for key in keys:
            with suppress(OSError, ValueError):
                run = subprocess.run(["sysctl", "-n", key], capture_output=True, text=True, check=False)
                found.setdefault(name, int(run.stdout))
    return found
