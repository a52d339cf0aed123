"""Slopes of functions by differences: the derivative along a direction, and whether there is one.

The step is halved until the slope settles. At a kink the slopes to both sides stay apart, however small the
step is.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

from nameexpr.records import record

STEPS = (1e-4, 1e-5, 1e-6)
"""Relative to the size of the numbers that are varied."""
SETTLED = 1e-5
"""How much the slopes for two steps may differ, relative to the largest."""
APART = 0.5
"""How much of the difference between the slopes to both sides is left at a kink for a step ten times
smaller; elsewhere it is a tenth.
"""


@record
class Slope:
    """A slope, how far it may be off, and whether the function has a kink there."""

    value: float
    uncertainty: float
    is_kink: bool = False


def slope_of(function: Callable[[float], float], scale: float) -> Slope:
    """Return the slope of a function of one number at 0; `scale` is the size of what it varies."""
    middle = function(0.0)
    sides = []
    for step in (scale * one for one in STEPS):
        ahead, back = function(step), function(-step)
        sides.append(((ahead - middle) / step, (middle - back) / step))
    slopes = [(ahead + back) / 2 for ahead, back in sides]
    if not all(map(isfinite, slopes)):
        return Slope(slopes[-1], float("inf"))
    noise = 1e-15 * max(abs(middle), 1e-300) / (scale * STEPS[1])
    size = max(*map(abs, slopes), noise)
    gaps = [abs(ahead - back) for ahead, back in sides]
    is_kink = gaps[1] > APART * gaps[0] and gaps[1] > SETTLED * 10 * size and gaps[1] > 100 * noise
    uncertainty = max(abs(slopes[1] - slopes[0]) / 10, abs(slopes[1] - slopes[2]), 10 * noise)
    return Slope(slopes[1], uncertainty, is_kink)
