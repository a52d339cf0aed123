"""The profile that is used, and how well it predicts a few calls, which are timed."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from functools import partial
from math import exp, log
from statistics import median
from typing import Any

TEXTS: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...] = (
    ("i k, k j -> i j", ((200, 200), (200, 200))),
    ("b i k, b k j -> b i j", ((300, 16, 16), (300, 16, 16))),
    ("n i j, n j -> n i", ((20_000, 4, 4), (20_000, 4))),
    ("a b c d -> b d : sum", ((24, 24, 24, 24),)),
    ("n h w c -> n c h w", ((8, 32, 32, 16),)),
    ("a b, a b -> a", ((400, 300), (400, 300))),
    ("y[i j] = exp(x[i j]) * w[j]", ((300, 300), (300,))),
)
"""Texts, and shapes of their operands."""
SECONDS = 0.4
"""How long the calls are timed, all together."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """The path of the profile, "" for the generic one; the name of this machine; by which factors the
    expected times of calls are off: half of them by at most `off`, all of them by at most `worst`; the text
    of the call that is off most, and whether it took longer than expected. `fault` is why another profile is
    not used, "" if none should be.
    """

    path: str
    machine: str
    calls: int
    off: float
    worst: float
    text: str
    is_slower: bool
    fault: str = ""

    @property
    def shown(self) -> str:
        """One line for the report."""
        name = os.path.basename(self.path) if self.path else "generic"
        expected = f"expected times of {self.calls} calls are off by up to {self.off:.2f}x"
        return f"{name}; {expected} for half of them, {self.worst:.2f}x for all"


def predict() -> Prediction:
    """Time a few calls, and compare them with their expected times."""
    fault = _fault()  # before anything else chooses the profile
    import numpy as np

    from nameexpr.backends.numpy.calibration.timing import least_times
    from nameexpr.backends.numpy.target import current, this_machine
    from nameexpr.runtime.compile import compile  # noqa: A004  the package's name for it

    calls, expected = [], []
    for text, shapes in TEXTS:
        arrays, function = [np.ones(shape) for shape in shapes], compile(text)
        named: dict[str, Any] = dict(zip("xw", arrays, strict=True)) if "=" in text else {}
        given = () if named else arrays
        expected.append(function.plan(*given, **named).seconds)
        calls.append(partial(function, *given, **named))
    times = least_times([lambda call=call: call for call in calls], SECONDS)  # type: ignore[misc]
    off = [exp(abs(log(one / time))) for one, time in zip(expected, times, strict=True)]
    machine, most = this_machine().own.removesuffix(".json"), off.index(max(off))
    is_slower = times[most] > expected[most]
    text = TEXTS[most][0]
    return Prediction(current().path, machine, len(off), median(off), max(off), text, is_slower, fault)


def _fault() -> str:
    """Return why the profile that the environment names, or this machine's own, is not used; "" if it is, or
    if there is none. The warning about it is left out: the report has it.
    """
    from nameexpr.backends.numpy.profiles import ProfileError, profile_for
    from nameexpr.backends.numpy.target import cache_folder, current, this_machine

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        used = current().path
    named, own = os.environ.get("NAMEEXPR_TARGET", "").strip(), this_machine().own
    path = named or os.path.join(cache_folder(), own)
    if used == path or named == "generic" or not (named or os.path.exists(path)):
        return ""
    try:
        profile_for(path, "" if named else own.removesuffix(".json"))
    except ProfileError as fault:
        return str(fault)
    return ""
