"""Fit the figures of a profile to times: least squares on logarithms, so that ratios count.

Times that no figures explain are weighed less (Huber's loss), and figures on which few times depend stay
close to the generic ones. The steps are those of Levenberg and Marquardt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nameexpr.backends.numpy.costs import Profile
from nameexpr.backends.numpy.costs.calls import NumpyCosts
from nameexpr.records import replace

Array = np.ndarray[Any, np.dtype[np.float64]]
STEP = 0.02
"""The change of the logarithm of a figure by which derivatives are computed."""
KEPT = 0.05
"""How strongly figures keep their first values, relative to one time off by the same factor."""
OUTLIER = 0.2
"""The logarithm of a ratio from which a time is weighed less."""
FARTHEST = 2.3
"""The largest logarithm of the ratio to the first value: a factor of ten."""
ROUNDS = 25
STUCK = 1e3
"""The damping from which no step is expected to help."""


def fit(
    profile: Profile,
    names: Sequence[str],
    costs: Sequence[Callable[[NumpyCosts], float]],
    nanoseconds: Sequence[float],
) -> Profile:
    """Return the profile with the named figures changed so that costs are close to times."""
    start = np.log([getattr(profile, name) for name in names])
    target, move = np.log(np.array(nanoseconds)), np.zeros(len(names))

    def predicted(change: Array) -> Array:
        figures = np.exp(start + change).tolist()
        own = NumpyCosts(replace(profile, **dict(zip(names, figures, strict=True))))
        return np.log([cost(own) for cost in costs])

    damping, off = 1e-2, predicted(move) - target
    loss = _loss(off, move)
    for _ in range(ROUNDS):
        slopes = np.stack(
            [(predicted(move + STEP * unit) - target - off) / STEP for unit in np.eye(len(names))], axis=1
        )
        weights = 1 / np.maximum(1, np.abs(off) / OUTLIER)
        while damping < STUCK:
            matrix = slopes.T * weights @ slopes + (KEPT + damping) * np.eye(len(names))
            step = np.linalg.solve(matrix, -(slopes.T @ (weights * off) + KEPT * move))
            tried = np.clip(move + np.clip(step, -1, 1), -FARTHEST, FARTHEST)
            now = predicted(tried) - target
            if _loss(now, tried) < loss:
                break
            damping *= 4
        else:
            break
        gained, loss, off, move = loss - _loss(now, tried), _loss(now, tried), now, tried
        damping /= 4
        if gained < 1e-4 * loss:
            break
    figures = np.exp(start + move).tolist()
    return replace(profile, **dict(zip(names, figures, strict=True)))


def _loss(off: Array, move: Array) -> float:
    far = np.abs(off)
    each = np.where(far <= OUTLIER, far**2 / 2, OUTLIER * (far - OUTLIER / 2))
    return float(each.sum() + KEPT * (move**2).sum() / 2)
