"""The figures of one workload: times in interleaved rounds, compile times, flops and memory."""

from __future__ import annotations

import gc
import importlib
import random
import statistics
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.gradients import peers
from benchmarks.gradients.base import TOLERANCES, Arrays, GradientWorkload
from benchmarks.gradients.peers import Peer, Run
from benchmarks.gradients.trees import Tree, function_of, prepared

BATCH = 2e-3
"""The seconds that a batch of calls takes at least."""
COMPILES = 5


@dataclass
class Figures:
    """What was measured of one workload.

    `seconds` has the least time of each column, `ratios` that divided by the least of the first column: the
    least disturbed by whatever else runs.
    """

    workload: GradientWorkload
    seconds: dict[str, float] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)
    tolerance: float = 0.0
    compiling: float = 0.0
    compiling_forward: float = 0.0
    forward: float = 0.0
    flops_ratio: float = 0.0
    peak: int = 0
    planned_peak: int = 0
    results: int = 0

    @property
    def is_wrong(self) -> bool:
        """Whether a result of nameexpr differs from the first peer's by more than rounding."""
        return not next(iter(self.errors.values()), 0.0) <= self.tolerance


def measure(
    workload: GradientWorkload, trees: Sequence[Tree], others: Sequence[Peer], rounds: int
) -> Figures:
    """Return the figures of a workload: nameexpr of each tree, then the peers."""
    operands, found = workload.operands(), Figures(workload)
    runs = {tree.name: prepared(tree, workload, operands) for tree in trees}
    forward = _forward(trees[0], workload, operands)
    made = {peer.name: peer.prepared(workload, operands) for peer in others}
    runs |= {name: run for name, run in made.items() if run is not None}
    _compare(found, workload, operands, runs)
    timed = {**runs, FORWARD: forward} if forward else runs
    seconds = interleaved(timed, rounds)
    found.seconds = {name: min(every) for name, every in seconds.items()}
    first = found.seconds[trees[0].name]
    found.ratios = {name: least / first for name, least in found.seconds.items()}
    _measure_plan(found, trees[0], workload, operands)
    found.peak = peak(runs[trees[0].name])
    found.results = sum(array.nbytes for array in peers.flat(runs[trees[0].name]()))
    return found


FORWARD = "forward"


def interleaved(runs: Mapping[str, Run], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of a call of each run, in each round; the order is drawn for every round."""
    batches = {}
    for name, run in runs.items():
        run()
        batches[name] = max(1, int(BATCH / max(1e-7, _timed(run, 1))))
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    order, shuffle = list(runs), random.Random(rounds).shuffle
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            shuffle(order)
            for name in order:
                if batches[name] > 1:
                    runs[name]()
                seconds[name].append(_timed(runs[name], batches[name]))
    finally:
        gc.enable()
    return seconds


def _timed(run: Run, count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - start) / count


def _forward(tree: Tree, workload: GradientWorkload, operands: Arrays) -> Run | None:
    """Return a call of the value alone; None if the text is of derivatives."""
    if not workload.wrt:
        return None
    with tree.active() as ne:
        function = ne.compile(workload.text)
        function(**operands)
    return lambda: function(**operands)


def _compare(found: Figures, workload: GradientWorkload, operands: Arrays, runs: Mapping[str, Run]) -> None:
    """Store the largest error of each run compared with the first peer, in double precision."""
    wide = {name: x.astype("float64") if x.dtype.kind == "f" else x for name, x in operands.items()}
    truths = (peer.prepared(workload, wide) for peer in peers.installed(None))
    truth = next((run for run in truths if run is not None), None)
    if truth is None:
        return
    wanted = peers.flat(truth())
    narrow = any(x.dtype == "float32" for x in operands.values())
    for name, run in runs.items():
        pairs = zip(peers.flat(run()), wanted, strict=True)
        found.errors[name] = max(_error(one, other) for one, other in pairs)
    found.tolerance = TOLERANCES["float32" if narrow else "float64"]


def _error(value: Any, wanted: Any) -> float:
    """Return the norm of a difference relative to that of the value."""
    scale = float(np.linalg.norm(wanted))
    return float(np.linalg.norm(value.reshape(wanted.shape) - wanted)) / max(scale, 1e-300)


def _measure_plan(found: Figures, tree: Tree, workload: GradientWorkload, operands: Arrays) -> None:
    with tree.active() as ne:
        found.compiling = _compiling(ne, lambda: function_of(ne, workload), operands)
        plan = function_of(ne, workload).plan(**operands)
        found.planned_peak = plan.peak_bytes
        if workload.wrt:
            found.compiling_forward = _compiling(ne, lambda: ne.compile(workload.text), operands)
            forward = ne.compile(workload.text).plan(**operands)
            found.flops_ratio = plan.flops / forward.flops
            found.forward = found.seconds[FORWARD]


def _compiling(ne: Any, make: Callable[[], Any], operands: Arrays) -> float:
    """Return the seconds from a text that has not been seen to a function that can be called."""
    seconds = []
    for _ in range(COMPILES):
        ne.cache_clear()
        start = time.perf_counter()
        function = make()
        entry = getattr(function, "formula", function)._entry
        values = [operands[name] for name in entry.tree.operands]
        of = importlib.import_module("nameexpr.runtime.operands")
        entry._made(of.kinds_of(values, is_bound=False), of.specs_of(values), values, values)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def peak(run: Run) -> int:
    """Return the most memory that NumPy's arrays need during a call, not counting operands."""
    gc.collect()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
