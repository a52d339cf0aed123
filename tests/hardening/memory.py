"""Peaks of memory as plans predict them beside what tracemalloc measures, and limits beside what is taken.

>>> peaks_of(expressions(60, seed=1))  # doctest: +SKIP
Peaks(count=60, low=0.99, high=1.04, share=1.0, ...)

"""

from __future__ import annotations

import random
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

import nameexpr as ne
from hardening.figures import SHOWN, Figures, counted
from hardening.memory_programs import LARGE, MOST, Program, TooLarge, random_expression, random_formula

SLACK = 16_384
"""Bytes that a call takes beside its arrays: the objects of Python and NumPy, and what tracemalloc notes."""
WANTED = (0.98, 1.10)
"""Between which the predicted peak over the measured one is to be."""
SHARES = (1.0, 0.7, 0.4, 0.2)
"""Limits that are tried, as shares of the predicted peak."""


PROGRAMS, LIMITED, SEED = 1000, 1000, 100
LEAST_SHARE = 0.98
"""Share of the programs that are to be within `WANTED`: what NumPy buffers is not all told by layouts."""


def measure(scale: float) -> Figures:
    """Compare predicted peaks with those of random expressions and formulas, and limit their memory."""
    count, limited = counted(PROGRAMS, scale), counted(LIMITED, scale)
    told, breaches = [], []
    for what, draw in {"expressions": expressions, "formulas": formulas}.items():
        peaks, limits = peaks_of(draw(count, SEED)), limit(draw(limited, SEED + 1))
        spread = ", ".join(f"{ratio:.2f}" for ratio in peaks.quantiles)
        told.append(
            f"{peaks.count:,} {what}: predicted over measured {spread} (least, 1 %, middle, 99 %, most), "
            f"{100 * peaks.share:.1f} % within; limits kept in {limits.kept:,} calls, "
            f"{limits.refused:,} refused, {len(limits.overruns)} exceeded"
        )
        breaches += limits.overruns
        if peaks.share < LEAST_SHARE:
            breaches.append(f"{what}: least {peaks.low}; most {peaks.high}")
    return Figures("; ".join(told), tuple(breaches[:SHOWN]))


@dataclass(frozen=True)
class Peak:
    """A program with the bytes that its plan predicts and those that it took."""

    program: Program
    predicted: int
    measured: int

    @property
    def ratio(self) -> float:
        """The predicted bytes over the measured ones."""
        return self.predicted / max(1, self.measured)


@dataclass(frozen=True)
class Peaks:
    """What a sample of programs shows.

    Attributes
    ----------
    count : int
        Programs measured.
    quantiles : tuple of float
        Predicted over measured: the least, 1 %, 50 %, 99 %, the most.
    share : float
        How many of them are within `WANTED`.
    low, high : str
        The programs with the least and the most.
    """

    count: int
    quantiles: tuple[float, ...]
    share: float
    low: str
    high: str


@dataclass(frozen=True)
class Limits:
    """What limits show: `kept` and `refused` calls, and the programs that took more than they may."""

    kept: int
    refused: int
    overruns: tuple[str, ...]


def expressions(count: int, seed: int) -> Iterator[Program]:
    """Return so many random expressions that compile, and whose peaks are neither small nor huge."""
    return _sized(random_expression, count, seed)


def formulas(count: int, seed: int) -> Iterator[Program]:
    """Return so many random formulas, as `expressions`."""
    return _sized(random_formula, count, seed)


def _sized(draw: Callable[[random.Random], Program], count: int, seed: int) -> Iterator[Program]:
    number = 0
    while count:
        number += 1
        with suppress(TooLarge):
            program = draw(random.Random(f"{seed} {number}"))
            if _is_measurable(program):
                count -= 1
                yield program


def _is_measurable(program: Program) -> bool:
    """Whether a program runs, takes not too long, and takes or is thought to take enough memory."""
    try:
        plan = program.run(program.compiled().plan)
        if plan.peak_bytes > MOST or plan.flops > 100 * MOST or plan.operand_bytes > MOST:
            return False
        return max(peak(program).measured, plan.peak_bytes) >= LARGE
    except ne.NameExprError:
        return False


def peak(program: Program, **options: Any) -> Peak:
    """Return what a program takes when it is called again, beside what its plan predicts."""
    function = program.compiled(**options)
    predicted = program.run(function.plan).peak_bytes
    return Peak(program, predicted, taken(lambda: program.run(function)))


def taken(call: Callable[[], Any]) -> int:
    """Return the most bytes that are allocated at once by a call that was made before."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        call()
        tracemalloc.start()
        try:
            call()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def peaks_of(programs: Iterator[Program]) -> Peaks:
    """Return how well the peaks of programs are predicted."""
    peaks = sorted((peak(program) for program in programs), key=lambda one: one.ratio)
    ratios = np.array([one.ratio for one in peaks])
    low, high = WANTED
    share = float(np.mean((ratios >= low) & (ratios <= high)))
    quantiles = tuple(float(one) for one in np.quantile(ratios, [0, 0.01, 0.5, 0.99, 1]))
    return Peaks(len(peaks), quantiles, share, str(peaks[0].program), str(peaks[-1].program))


def limit(programs: Iterator[Program]) -> Limits:
    """Return how limits are kept, each a share of what a program is thought to take without one."""
    kept = refused = 0
    overruns = []
    for program in programs:
        whole = program.run(program.compiled().plan).peak_bytes
        for share in SHARES:
            most = max(1, int(share * whole))
            try:
                measured = peak(program, memory_limit=most).measured
            except ne.LimitError:
                refused += 1
                continue
            kept += 1
            if measured > most + SLACK:
                overruns.append(f"{measured:,} bytes of {most:,}: {program}")
    return Limits(kept, refused, tuple(overruns))
