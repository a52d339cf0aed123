"""Measure a machine: time calls, and fit the figures of a profile to them.

`calibrate` takes the seconds that it is given; `nameexpr calibrate` and `python -m benchmarks.fit` call it. A
quarter of the calls take no part in the fit and show how well the figures predict.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import exp, log
from statistics import median
from time import perf_counter
from typing import NamedTuple

from nameexpr.backends.numpy.calibration.caches import cache_sizes
from nameexpr.backends.numpy.calibration.direct import DIRECT, PACKED, direct_product, square_product
from nameexpr.backends.numpy.calibration.drawing import Probe
from nameexpr.backends.numpy.calibration.fitting import fit
from nameexpr.backends.numpy.calibration.pairs import FAMILY as PAIRS
from nameexpr.backends.numpy.calibration.pairs import draw_pairs
from nameexpr.backends.numpy.calibration.probes import FAMILIES, draw
from nameexpr.backends.numpy.calibration.timing import handed_over, least_times
from nameexpr.backends.numpy.costs import GENERIC, Profile
from nameexpr.backends.numpy.costs.calls import NumpyCosts
from nameexpr.backends.numpy.profiles import figures_of
from nameexpr.backends.numpy.target import this_machine
from nameexpr.records import replace

HELD_OUT = 4
"""One in this number of probes takes no part in the fit."""
PER_SECOND = 0.7
"""The number of probes of each family that a second suffices for."""
FEWEST = 4
FITTED = tuple(
    name
    for name, figure in figures_of(GENERIC).items()
    if type(figure) is float and name not in {"handed_over", "spilled_byte"}
)
"""The figures that are fitted."""
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
    squares = least_times([partial(square_product, size) for size in (DIRECT, PACKED)], 0.02 * seconds)
    known = {**cache_sizes(), "direct_product": direct_product(squares)}
    first = replace(GENERIC, threads=this_machine().threads, handed_over=handed_over(), **known)
    probes, is_held = _probes(seconds, seed, first)
    left = seconds - (perf_counter() - start)
    taken = [1e9 * time for time in least_times([probe.make for probe in probes], 0.85 * left)]
    used = [at for at, held in enumerate(is_held) if not held]
    profile = fit(first, FITTED, [probes[at].cost for at in used], [taken[at] for at in used])
    profile = replace(profile, spilled_byte=profile.new_byte + profile.main_byte + profile.cached_byte)
    held = [(probes[at], taken[at]) for at, is_out in enumerate(is_held) if is_out]
    accuracy = {
        name: _both(profile, [one for one in held if one[0].family == name]) for name in (*FAMILIES, PAIRS)
    }
    return Calibration(profile, perf_counter() - start, {**accuracy, "all": _both(profile, held)})


def _probes(seconds: float, seed: int, profile: Profile) -> tuple[list[Probe], list[bool]]:
    """Return the calls to time, and which of them take no part in the fit: all strategies of some pairs."""
    count = max(FEWEST, round(PER_SECOND * seconds))
    probes = draw(seed, count)
    is_held = [at // len(FAMILIES) % HELD_OUT == HELD_OUT - 1 for at in range(len(probes))]
    for number, strategies in enumerate(draw_pairs(seed, 2 * count, profile, FITTED)):
        probes += strategies
        is_held += [number % HELD_OUT == HELD_OUT - 1] * len(strategies)
    return probes, is_held


def _both(profile: Profile, timed: Sequence[tuple[Probe, float]]) -> tuple[Accuracy, Accuracy]:
    return accuracy_of(GENERIC, timed), accuracy_of(profile, timed)


def accuracy_of(profile: Profile, timed: Sequence[tuple[Probe, float]]) -> Accuracy:
    """Return how well a profile predicts probes, given with their nanoseconds."""
    costs = NumpyCosts(profile)
    off = [abs(log(probe.cost(costs) / time)) for probe, time in timed]
    return Accuracy(len(off), exp(median(off)), sum(one <= log(CLOSE) for one in off) / len(off))
