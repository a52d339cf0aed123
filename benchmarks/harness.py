"""Measure one workload: check every adapter against hand, then time them all in rounds.

In a round each adapter runs one batch, in a new random order for each round (a rotation would keep the
neighbours, and the adapter after hand would find its operands in the cache: a bias of 4 %). Its ratio is its
time over hand's *of the same round*, so that a slow phase of the machine affects both. The figure is the
median ratio. Hand runs a second time under the name ``A/A``: its difference from 1 shows the accuracy of the
figures.
"""

from __future__ import annotations

import math
import random
import statistics
import timeit
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from benchmarks.call import Adapter, Call
from benchmarks.workloads.base import Operands, Workload

HAND, AGAIN = "hand", "A/A"
BATCH = 400e-6  # seconds: shorter batches measure the clock
FEW = 6  # the number of handwritten variants that are compared in full
SLOW = 50e-3  # seconds: a call as long as this is not warmed up
TOLERANCE = {"float16": 2e-3, "float32": 1e-5, "complex64": 1e-5, "float64": 1e-12, "complex128": 1e-12}


@dataclass
class Lane:
    """One adapter on one workload: its call, and the outcome."""

    name: str
    call: Call | None
    status: str = "ok"  # or absent, unlike, failed, wrong
    note: str = ""
    batch: int = 1
    seconds: list[float] = field(default_factory=list)
    over: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    timer: timeit.Timer | None = None

    @property
    def ratio(self) -> float | None:
        """The median ratio to hand; None if nothing was timed."""
        return statistics.median(self.ratios) if self.ratios else None

    @property
    def microseconds_over(self) -> float | None:
        """The median of what a call costs more than hand's, in microseconds."""
        return 1e6 * statistics.median(self.over) if self.over else None

    def run(self) -> float:
        """Run one batch and return the seconds of one call."""
        assert self.timer is not None
        if self.batch > 1:
            self.timer.timeit(1)  # restores the data that the previous adapter has evicted from the cache
        return self.timer.timeit(self.batch) / self.batch


@dataclass(frozen=True)
class Effort:
    """How much to measure: rounds, and seconds for each adapter of a workload (three rounds in any case)."""

    rounds: int = 25
    budget: float = 0.2


def measure(workload: Workload, adapters: Sequence[Adapter], effort: Effort) -> dict[str, Lane]:
    """Return a lane for hand, hand again and every adapter, by name."""
    operands = workload.operands()
    answer = _Answer(workload, operands)
    hand = _quickest(
        [_checked(HAND, partial(Call, hand), workload, answer) for hand in promising(workload, operands)]
    )
    lanes = [hand, _prepared(Lane(AGAIN, hand.call), workload)]
    lanes += [_bound(adapter, workload, answer) for adapter in adapters]
    _time([lane for lane in lanes if lane.status == "ok"], effort)
    return {lane.name: lane for lane in lanes}


class _Answer:
    """The result of the first hand, and the tolerance of each element.

    A sum of large terms may be near 0, so that the scale of an element is hand's value for the operands'
    magnitudes, or that of the largest element if this is not informative.
    """

    def __init__(self, workload: Workload, operands: tuple[Any, ...]) -> None:
        hand = workload.hands[0]
        self.operands = operands
        self.value = np.asarray(_value(Call(hand, workload.own(operands)), workload))
        tolerance = TOLERANCE.get(self.value.dtype.name)
        self.slack = tolerance and tolerance * self._scale(workload)

    def _scale(self, workload: Workload) -> Any:
        if not workload.is_by_cell:
            return np.abs(_wide(self.value)).max()
        magnitudes = tuple(np.abs(x).astype(x.dtype) for x in self.operands)
        return np.abs(_wide(_value(Call(workload.hands[0], magnitudes), workload)))

    def difference(self, value: Any) -> str:
        """Return what is wrong with the value, or an empty string."""
        value = np.asarray(value)
        if value.shape != self.value.shape:
            return f"shape {value.shape} for {self.value.shape}"
        if value.dtype != self.value.dtype:
            return f"dtype {value.dtype} for {self.value.dtype}"
        if self.slack is None:
            return "" if np.array_equal(value, self.value) else "other values"
        error = np.abs(_wide(value) - _wide(self.value))
        return "" if np.all(error <= self.slack) else f"off by {error.max():.2g}"


def _wide(value: Any) -> Any:
    value = np.asarray(value)
    return value.astype(np.result_type(value.dtype, np.float64))


def _bound(adapter: Adapter, workload: Workload, answer: _Answer) -> Lane:
    """Return the adapter's lane, checked and ready, or with the reason why it is not."""
    if adapter.name in workload.unlike:
        return Lane(adapter.name, None, "unlike", "its dtype rule gives another answer")
    try:
        bind = partial(adapter.bind, adapter.load(), workload)
        return _checked(adapter.name, bind, workload, answer)
    except _WrongError as error:
        return Lane(adapter.name, None, "wrong", str(error))
    except Exception as error:  # noqa: BLE001 (a column that fails must not take the table with it)
        first = (str(error).splitlines() or [""])[0]
        return Lane(adapter.name, None, "failed", f"{type(error).__name__}: {first}")


class _WrongError(Exception):
    """A result that differs from hand's."""


def _checked(name: str, bind: Callable[[Operands], Call | None], workload: Workload, answer: _Answer) -> Lane:
    """Return the lane of a call, whose result is hand's; raises _WrongError.

    Where the call writes over an operand it is checked on its own arrays, but timed on hand's: on large ones
    it shows which memory an array has.
    """
    call = bind(workload.own(answer.operands))
    if call is None:
        return Lane(name, None, "absent", "cannot say this")
    wrong = answer.difference(_value(call, workload))
    if wrong:
        raise _WrongError(wrong)
    return _prepared(Lane(name, bind(answer.operands) if workload.is_in_place else call), workload)


def _value(call: Call | None, workload: Workload) -> Any:
    assert call is not None
    value = call()
    if call.is_in_order and not value.flags.c_contiguous:
        raise _WrongError("not in C order")
    return np.ascontiguousarray(value) if workload.materialise else value


def _prepared(lane: Lane, workload: Workload) -> Lane:
    """Give the lane its timer, warm it up and choose the size of its batch."""
    assert lane.call is not None
    lane.timer = _timer(lane.call, workload.materialise and not lane.call.is_in_order)
    once = lane.timer.timeit(1)
    if once < SLOW:
        once = min(lane.timer.repeat(3, 1))
    if once < BATCH:
        few = max(1, int(BATCH / 4 / once))
        once = lane.timer.timeit(few) / few
    lane.batch = max(1, math.ceil(BATCH / once))
    return lane


def _timer(call: Call, materialise: bool) -> timeit.Timer:
    """Return a timer of the plain statement ``f(x0, x1, h=k0)``; timeit keeps the collector off meanwhile."""
    args = {f"x{i}": value for i, value in enumerate(call.args)}
    kwargs = {f"k{i}": value for i, value in enumerate(call.kwargs.values())}
    given = [*args, *(f"{name}={k}" for name, k in zip(call.kwargs, kwargs, strict=True))]
    statement = f"f({', '.join(given)})"
    space = {"f": call.function, "m": np.ascontiguousarray, **args, **kwargs}
    return timeit.Timer(f"m({statement})" if materialise else statement, globals=space)


def promising(workload: Workload, operands: Operands) -> list[Callable[..., Any]]:
    """Return the hands that may be the fastest: of many only those whose best of a few calls is close."""
    if len(workload.hands) <= FEW:
        return list(workload.hands)
    calls = [Call(hand, workload.own(operands)) for hand in workload.hands]
    times = [timeit.timeit(call, number=1) for call in calls]
    for _ in range(3):
        near = [i for i, value in enumerate(times) if value < 3 * min(times)]
        for i in near:
            times[i] = min(times[i], timeit.timeit(calls[i], number=1))
    order = sorted(range(len(times)), key=times.__getitem__)
    return [workload.hands[i] for i in order if times[i] < 2 * times[order[0]]][: FEW + 2]


def _quickest(lanes: list[Lane]) -> Lane:
    """Return the fastest hand by its best of several runs, so that a busy moment does not decide.

    The runs are interleaved; after two of them only the few best go on.
    """
    if len(lanes) == 1:
        return lanes[0]
    best = [min(lane.run(), lane.run()) for lane in lanes]
    near = sorted((i for i, value in enumerate(best) if value < 1.5 * min(best)), key=best.__getitem__)[:FEW]
    for _ in range(7 if max(best[i] for i in near) < SLOW else 1):
        for i in near:
            best[i] = min(best[i], lanes[i].run())
    return lanes[min(near, key=best.__getitem__)]


def _time(lanes: list[Lane], effort: Effort) -> None:
    """Run the rounds; adapters that have used up the budget drop out, hand stays to the end."""
    shuffle = random.Random(effort.rounds).shuffle
    for number in range(effort.rounds):
        active = [lane for lane in lanes if lane.name == HAND or not _is_done(lane, effort)]
        if len(active) == 1 and number:
            return
        shuffle(active)
        times = {lane.name: lane.run() for lane in active}
        for lane in active:
            lane.seconds.append(times[lane.name])
            lane.over.append(times[lane.name] - times[HAND])
            lane.ratios.append(times[lane.name] / times[HAND])


def _is_done(lane: Lane, effort: Effort) -> bool:
    return len(lane.seconds) >= 3 and sum(lane.seconds) * lane.batch > effort.budget
