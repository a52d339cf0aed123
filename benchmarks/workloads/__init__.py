"""The workloads by group: tiny a, matmul and pairwise b, layout c, networks d, dtypes e, formulas f, language
l, named n, random r, users u. The groups p, m and g have no workloads of their own.
"""

from __future__ import annotations

from benchmarks.workloads import (
    dtypes,
    formulas,
    language,
    layers,
    layout,
    matmul,
    named,
    networks,
    pairwise,
    random,
    tiny,
    users,
)
from benchmarks.workloads.base import Workload

WORKLOADS: tuple[Workload, ...] = (
    *tiny.WORKLOADS,
    *matmul.WORKLOADS,
    *pairwise.WORKLOADS,
    *layout.WORKLOADS,
    *networks.WORKLOADS,
    *dtypes.WORKLOADS,
    *random.WORKLOADS,
    *named.WORKLOADS,
    *formulas.WORKLOADS,
    *layers.WORKLOADS,
    *language.WORKLOADS,
    *users.WORKLOADS,
)
GROUPS = {
    "a": "tiny arrays, call overhead",
    "b": "pairwise and small multi-operand",
    "c": "materialised layout changes, pooling",
    "d": "networks",
    "e": "dtypes",
    "r": "random pairwise contractions",
    "n": "NamedTensor: 4x4, and large",
    "f": "formulas: time, memory, and 4x4 calls",
    "l": "parts, positions and recurrences",
    "u": "what users of other libraries complained of",
    "p": "plans of large networks",
    "m": "memory: predicted, and limited",
    "g": "cold: imports and new texts",
}

__all__ = ["GROUPS", "WORKLOADS", "Workload"]
