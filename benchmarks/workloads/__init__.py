"""The workloads by group: tiny a, matmul and pairwise b, layout c, dtypes e, random r, named n."""

from __future__ import annotations

from benchmarks.workloads import dtypes, layout, matmul, named, pairwise, random, tiny
from benchmarks.workloads.base import Workload

WORKLOADS: tuple[Workload, ...] = (
    *tiny.WORKLOADS,
    *matmul.WORKLOADS,
    *pairwise.WORKLOADS,
    *layout.WORKLOADS,
    *dtypes.WORKLOADS,
    *random.WORKLOADS,
    *named.WORKLOADS,
)
GROUPS = {
    "a": "tiny arrays, call overhead",
    "b": "pairwise and small multi-operand",
    "c": "materialised layout changes, pooling",
    "e": "dtypes",
    "r": "random pairwise contractions",
    "n": "NamedTensor: 4x4, and large",
    "g": "cold: imports and new texts",
}

__all__ = ["GROUPS", "WORKLOADS", "Workload"]
