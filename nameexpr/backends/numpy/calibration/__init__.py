"""Measure a machine: time calls, and fit the figures of a profile to them.

`calibrate` takes the seconds that it is given; `nameexpr calibrate` and `python -m benchmarks.fit` call it. A
quarter of the calls take no part in the fit and show how well the figures predict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import exp, log
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from nameexpr.backends.numpy.calibration.caches import cache_sizes
from nameexpr.backends.numpy.calibration.crossings import OUTER, SCALED, outer_ways, scaled_ways, thresholds
from nameexpr.backends.numpy.calibration.drawing import Probe
from nameexpr.backends.numpy.calibration.fitting import fit
from nameexpr.backends.numpy.calibration.probes import FAMILIES, draw
from nameexpr.backends.numpy.calibration.timing import handed_over, least_times
from nameexpr.backends.numpy.costs import GENERIC, Profile
from nameexpr.backends.numpy.costs.calls import NumpyCosts
from nameexpr.backends.numpy.profiles import figures_of
from nameexpr.backends.numpy.target import this_machine
from nameexpr.records import replace

HELD_OUT = 4
"""One in this number of probes takes no part in the fit."""
PER_SECOND = 1.2
"""The number of probes of each family that a second suffices for."""
FEWEST = 4
NOT_FITTED = ("handed_over", "spilled_byte")
CLOSE = 1.25
"""The factor within which a prediction is close."""


class Accuracy(NamedTuple):
    """How well a profile predicts calls: their number, the factor by which half of the predictions are off at
    most, and the share that is off by at most a quarter.
    """

    calls: int
    off: float
    close: float


class Calibration(NamedTuple):
    """A measured profile, the duration in seconds, and the accuracy of the generic figures and of its own, on
    calls that took no part in the fit, by family.
    """

    profile: Profile
    seconds: float
    accuracy: dict[str, tuple[Accuracy, Accuracy]]


def calibrate(seconds: float, seed: int = 1) -> Calibration:
    """Measure this machine for about this long, and return what was found."""
    start = perf_counter()
    probes = draw(seed, max(FEWEST, round(PER_SECOND * seconds)))
    ways = [partial(outer_ways, *shape) for shape in OUTER] + [
        partial(scaled_ways, *shape) for shape in SCALED
    ]
    crossing = [partial(_one_of, way, number) for way in ways for number in (0, 1)]
    times = least_times([*(probe.make for probe in probes), *crossing], 0.8 * seconds)
    taken, others = [1e9 * time for time in times[: len(probes)]], times[len(probes) :]
    known = {**cache_sizes(), **thresholds(list(zip(others[::2], others[1::2], strict=True)))}
    first = replace(GENERIC, threads=this_machine().threads, handed_over=handed_over(), **known)
    profile = _fitted(first, probes, taken)
    held = [(probe, time) for at, (probe, time) in enumerate(zip(probes, taken, strict=True)) if _is_held(at)]
    accuracy = {name: _both(profile, [one for one in held if one[0].family == name]) for name in FAMILIES}
    return Calibration(profile, perf_counter() - start, {**accuracy, "all": _both(profile, held)})


def _one_of(ways: Callable[[], tuple[Any, ...]], number: int) -> Any:
    return ways()[number]


def _is_held(at: int) -> bool:
    return at // len(FAMILIES) % HELD_OUT == HELD_OUT - 1


def _fitted(first: Profile, probes: Sequence[Probe], nanoseconds: Sequence[float]) -> Profile:
    figures = figures_of(first).items()
    names = [name for name, figure in figures if type(figure) is float and name not in NOT_FITTED]
    used = [at for at in range(len(probes)) if not _is_held(at)]
    profile = fit(first, names, [probes[at].cost for at in used], [nanoseconds[at] for at in used])
    return replace(profile, spilled_byte=profile.new_byte + profile.main_byte + profile.cached_byte)


def _both(profile: Profile, timed: Sequence[tuple[Probe, float]]) -> tuple[Accuracy, Accuracy]:
    return accuracy_of(GENERIC, timed), accuracy_of(profile, timed)


def accuracy_of(profile: Profile, timed: Sequence[tuple[Probe, float]]) -> Accuracy:
    """Return how well a profile predicts probes, given with their nanoseconds."""
    costs = NumpyCosts(profile)
    off = [abs(log(probe.cost(costs) / time)) for probe, time in timed]
    return Accuracy(len(off), exp(median(off)), sum(one <= log(CLOSE) for one in off) / len(off))
