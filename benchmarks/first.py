"""What the first call of an expression costs more than the next ones: parsing, planning, writing the code."""

from __future__ import annotations

import importlib
import statistics
import time
from typing import Any

from benchmarks.harness import Lane
from benchmarks.workloads import Workload

TIMES = 3


def seconds_over(workload: Workload, hot: Lane) -> float | None:
    """Return by how many seconds the quickest of a few first calls is slower than the usual call.

    The modules that planning needs are loaded already, as the workload has been run before.
    """
    if not hot.seconds or hot.call is None:
        return None
    ne: Any = importlib.import_module("nameexpr")
    found = []
    for _ in range(TIMES):
        ne.cache_clear()
        start = time.perf_counter()
        hot.call()
        found.append(time.perf_counter() - start)
    return min(found) - statistics.median(hot.seconds)
