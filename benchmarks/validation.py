"""How well a profile chooses, on workloads that took no part in its fit."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import nameexpr as ne
from benchmarks.harness import promising
from benchmarks.workloads import WORKLOADS, Workload
from benchmarks.workloads.random import random_pair
from nameexpr.backends.numpy.calibration.timing import least_times
from nameexpr.backends.numpy.costs import GENERIC, Profile
from nameexpr.runtime.machine import profile_in_use
from nameexpr.runtime.operands import specs_of
from nameexpr.runtime.specialise import function_of

Call = Callable[[], Any]
RANKS = 6
"""The number of strategies of a pair that are timed, from the first."""
SECONDS = 0.15
"""How long each workload is timed, for each of its calls."""
FIRST_SEED = 10_000
"""The seed of the first random pair; the benchmark has those below 150."""


class Chosen(NamedTuple):
    """A workload: its seconds with the generic and the fitted profile, the least known, and what was expected
    with each.
    """

    name: str
    generic: float
    fitted: float
    best: float
    expected: tuple[float, float]


def report(profile: Profile, pairs: int, groups: str) -> None:
    """Time the workloads, and print what the choices of both profiles cost."""
    print(f"{'time over the best strategy or hand':<36}{'generic':>16}{'fitted':>16}   predicted within 2x")
    if pairs:
        _print("random pairs", [_of_pair(random_pair(FIRST_SEED + seed), profile) for seed in range(pairs)])
    for group in groups:
        own = [one for one in WORKLOADS if one.group == group and not one.is_in_place]
        _print(f"group {group}", [_of_workload(one, profile) for one in own])


def _print(name: str, found: Sequence[Chosen]) -> None:
    over = [[one.generic / one.best for one in found], [one.fitted / one.best for one in found]]
    shown = [f"{statistics.geometric_mean(own):.3f}, {max(own):.2f}" for own in over]
    long = [one for one in found if one.fitted > 10e-6]
    times = [[one.expected[0] / one.generic for one in long], [one.expected[1] / one.fitted for one in long]]
    within = [f"{statistics.mean([0.5 <= one <= 2 for one in own]):.0%}" for own in times if own]
    print(f"{name + f' ({len(found)})':<36}{shown[0]:>16}{shown[1]:>16}   {', '.join(within)}")
    for one in sorted(found, key=lambda one: one.best / one.fitted)[:4]:
        print(f"    {one.name:<32}{one.generic / one.best:>16.2f}{one.fitted / one.best:>16.2f}")
    gained = [math.log(one.generic / one.fitted) for one in found if one.generic != one.fitted]
    print(f"    other calls for {len(gained)}, {math.exp(statistics.mean(gained or [0])):.2f} times as fast")


def _of_pair(workload: Workload, profile: Profile) -> Chosen:
    """Return the times of a pair: with both profiles, and with the best of the strategies that either ranks
    first.
    """
    operands, ways, chosen, expected = workload.operands(), {}, [], []
    for own in (GENERIC, profile):
        with profile_in_use(own):
            codes = list(_strategies(workload, operands))
            expected.append(ne.compile(workload.text).plan(*operands).seconds)
        ways |= dict(reversed(codes))
        chosen.append(codes[0][0])
    times = _timed(list(ways.values()))
    by_code = dict(zip(ways, times, strict=True))
    generic, fitted = (by_code[code] for code in chosen)
    return Chosen(workload.text, generic, fitted, min(times), (expected[0], expected[1]))


def _strategies(workload: Workload, operands: Sequence[Any]) -> Iterator[tuple[str, Call]]:
    """Yield the strategies of a pair in the order of the current profile: their programs, and calls."""
    entry = ne.compile(workload.text)._entry
    specs = specs_of(operands)
    for rank in range(RANKS):
        compiled = entry.compile(specs, (rank,))
        made = entry.template(compiled, specs, operands)
        function = function_of(made.code, made.constants, entry.slow_call, entry._explain)
        yield repr(compiled.program.instructions), partial(function, *operands)
        if rank + 1 >= len((compiled.program.offers or ((),))[0]):
            return


def _of_workload(workload: Workload, profile: Profile) -> Chosen:
    """Return the times of a workload with both profiles, and of the fastest hand."""
    operands, calls, codes, expected = workload.operands(), [], [], []
    options = {"order": "C"} if workload.materialise else {}
    for own in (GENERIC, profile):
        with profile_in_use(own):
            function = ne.compile(workload.text, sizes=dict(workload.sizes) or None, **options)
            plan = function.plan(*operands)
            function(*operands)
        calls.append(partial(function, *operands))
        codes.append(plan.code)
        expected.append(plan.seconds)
    hands = [partial(_ordered(hand, workload), *operands) for hand in promising(workload, operands)]
    times = _timed(calls + hands)
    if codes[0] == codes[1]:
        times[:2] = [min(times[:2])] * 2
    return Chosen(workload.name, times[0], times[1], min(times[2:]), (expected[0], expected[1]))


def _ordered(hand: Callable[..., Any], workload: Workload) -> Callable[..., Any]:
    import numpy as np

    return (lambda *operands: np.ascontiguousarray(hand(*operands))) if workload.materialise else hand


def _timed(calls: Sequence[Call]) -> list[float]:
    return least_times([lambda call=call: call for call in calls], SECONDS * len(calls))
