"""Functions of the formula reference that depend on an order: positions that sort, running extremes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from oracle.reference.rounding import distance

Pair = tuple[Any, Any]


def order(array: Any, error: Any) -> Pair:
    """The positions that sort, the first of equals first."""
    reach = error[..., None] + error[..., None, :]
    apart = distance(array[..., None], array[..., None, :])
    others = ~np.eye(array.shape[-1], dtype=bool)
    unsure = np.any((apart <= reach) & (reach > 0) & others, (-1, -2)) | np.any(np.isinf(error), -1)
    bound = np.broadcast_to(np.where(unsure, np.inf, 0)[..., None], array.shape)
    return np.argsort(array, axis=-1, kind="stable"), bound


def so_far(function: np.ufunc) -> Callable[..., Pair]:
    """The largest or smallest up to each place: off by no more than the worst element."""

    def reduce(array: Any, error: Any, work: np.dtype[Any]) -> Pair:
        worst = np.max(error, -1, keepdims=True, initial=0)
        return function.accumulate(array, axis=-1), np.broadcast_to(worst, array.shape)

    return reduce
