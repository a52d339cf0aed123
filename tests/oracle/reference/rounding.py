"""Roundings, as the formula reference bounds them: how far numbers are apart, and which are exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

GRID = 1024.0
SIGNED = {
    "copysign": 1,
    "atan2": 0,
    "/": 1,
    "//": 1,
    "reciprocal": 0,
    "**": 0,
    "pow": 0,
}  # tell -0.0 from 0.0
DIVIDED_BY = {"/": 1, "//": 1, "%": 1, "remainder": 1, "floor_divide": 1, "reciprocal": 0}


def doubled(array: Any) -> np.ndarray[Any, Any]:
    """The array in double precision."""
    return np.asarray(array).astype(complex if np.asarray(array).dtype.kind == "c" else float)


def distance(left: Any, right: Any) -> Any:
    """The difference of two arrays, zero between like infinities or NaNs, infinite between unlike ones."""
    left, right = doubled(left), doubled(right)
    alike = (left == right) | (np.isnan(left) & np.isnan(right))
    apart = np.abs(left - right)
    return np.where(alike, 0, np.where(np.isnan(apart), np.inf, apart))


def unit(array: Any, dtype: np.dtype[Any]) -> Any:
    """Four roundings in this dtype; without bound near its largest number, none for infinities and NaN."""
    info = np.finfo(dtype)
    size = np.abs(array)
    bound = 4 * float(info.eps) * size + 4 * float(info.smallest_subnormal)
    bound = np.where(size > float(info.max) / 4, np.inf, bound)
    return np.where(np.isfinite(array), bound, 0)


def on_grid(array: Any) -> Any:
    """Whether numbers are multiples of 1/1024 of moderate size."""
    array = np.asarray(array)
    if array.dtype.kind == "c":
        return on_grid(array.real) & on_grid(array.imag)
    scaled = array * GRID
    return (scaled == np.rint(scaled)) & (np.abs(scaled) < 2.0**50)


def exact(arrays: Sequence[Any], result: Any, dtype: np.dtype[Any]) -> Any:
    """Whether no rounding takes place."""
    sure = on_grid(result) & (result == result.astype(dtype))
    for array in arrays:
        sure = sure & on_grid(array)
    return sure


def at_a_jump(
    name: str, is_computed: Sequence[bool], arrays: Sequence[Any], errors: Sequence[Any], result: Any
) -> Any:
    """Where a result hangs on the sign of a zero, the sign of a nan, or whether a number is zero."""

    def has_zeros(at: int) -> Any:
        """Where a float that is computed is zero: its sign is then the route's."""
        return (arrays[at] == 0) & is_computed[at]

    def may_be_zero(at: int) -> Any:
        return (np.abs(arrays[at]) <= 2 * errors[at]) & (errors[at] > 0)

    unsure: Any = np.zeros(np.shape(result), bool)
    if name in SIGNED:
        unsure = has_zeros(SIGNED[name]) & (np.isinf(result) | (name in ("copysign", "atan2")))
    if name in DIVIDED_BY:
        unsure = unsure | may_be_zero(DIVIDED_BY[name])
    if name == "atan2":
        unsure = unsure | (has_zeros(1) & (arrays[0] == 0))
    if name == "copysign":
        unsure = unsure | np.isnan(arrays[1])
    if name.startswith("logical_"):
        for at in range(len(arrays)):
            unsure = unsure | may_be_zero(at)
    return unsure
