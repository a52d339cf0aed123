"""The most memory that one call holds at once, not counting operands: measured, predicted, and limited.

NumPy reports its arrays to tracemalloc. Memory that a library allocates by itself (BLAS's panels) is not
counted.
"""

from __future__ import annotations

import gc
import importlib
import time
import tracemalloc
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.call import STRING, Call
from benchmarks.harness import HAND, Lane
from benchmarks.workloads import Workload
from benchmarks.workloads.formulas import FormulaWorkload

NOTABLE = 2.5e5  # bytes: below this Python's own objects show
COMPARED = (STRING, HAND, "np.einsum.optimize", "opt_einsum.contract")
"""The adapters whose peaks are measured where memory matters; all of them have NumPy's arrays."""


def peaks(lanes: dict[str, Lane], names: Iterable[str] = (STRING, HAND)) -> dict[str, int]:
    """Return the peak in bytes of one call of these adapters, by name."""
    return {name: peak(lanes[name].call) for name in names if name in lanes and lanes[name].call}


def peak(call: Callable[[], Any] | None) -> int:
    """Return the peak in bytes of a call that has been made before; its result counts."""
    assert call is not None
    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def plan(workload: Workload, **options: Any) -> Any:
    """Return the plan for a workload's operands."""
    ne: Any = importlib.import_module("nameexpr")
    operands = workload.operands()
    if isinstance(workload, FormulaWorkload):
        return ne.compile(workload.text, **options).plan(**dict(zip(workload.inputs, operands, strict=True)))
    return ne.compile(workload.text, **workload.sizes, **options).plan(*operands)


@dataclass
class Limited:
    """One workload under a quarter of its peak, the cost of that, or why it is impossible."""

    name: str
    peak: int
    limit: int
    measured: int | None = None
    plan_seconds: float | None = None
    work: float | None = None
    time: float | None = None
    failure: str = ""

    @property
    def is_kept(self) -> bool | None:
        """Whether the measured peak stays under the limit, but for 10 % and Python's objects."""
        return None if self.measured is None else self.measured <= 1.1 * self.limit + NOTABLE / 10


def measure_limited(workloads: Iterable[Workload]) -> list[Limited]:
    """Return what a limit of a quarter of the peak does to each workload."""
    return [_limited(workload) for workload in workloads]


def _limited(workload: Workload) -> Limited:
    ne: Any = importlib.import_module("nameexpr")
    free = plan(workload)
    found = Limited(workload.name, free.peak_bytes, free.peak_bytes // 4)
    try:
        start = time.perf_counter()
        tight = plan(workload, memory_limit=found.limit)
        found.plan_seconds = time.perf_counter() - start
        call, plain = (_call(ne, workload, limit) for limit in (found.limit, None))
        if not np.allclose(call(), plain(), rtol=1e-4, atol=0):
            found.failure = "wrong: another result"
            return found
    except Exception as error:  # noqa: BLE001 (a limit that fails is a line of the table)
        is_refused = isinstance(error, TypeError | ne.NameExprError)
        first = (str(error).splitlines() or [""])[0]
        found.failure = f"cannot: {first}" if is_refused else f"failed: {type(error).__name__}: {first}"
        return found
    found.measured = peak(call)
    found.work = tight.flops / free.flops
    found.time = _seconds(call) / _seconds(plain)
    return found


def _call(ne: Any, workload: Workload, limit: int | None) -> Call:
    options = {} if limit is None else {"memory_limit": limit}
    operands = workload.operands()
    if isinstance(workload, FormulaWorkload):
        given = dict(zip(workload.inputs, operands, strict=True))
        return Call(ne.evaluate, (workload.text,), {**given, **options})
    return Call(ne.einsum, (workload.text, *operands), {**workload.sizes, **options})


def _seconds(call: Callable[[], Any]) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
