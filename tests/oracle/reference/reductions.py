"""Reductions of the formula reference: the dims are merged into one axis, and that is reduced."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from oracle.reference.orders import order, so_far
from oracle.reference.rounding import distance, doubled, on_grid, unit
from oracle.reference.text import Refused
from oracle.reference.values import Value, inexact, wide

SUMMING = {*("sum mean prod var std median norm logsumexp cumsum cumprod".split())}  # noqa: SIM905
FLOATING = {*("mean var std median norm logsumexp softmax log_softmax".split())}  # noqa: SIM905
FIXED = dict.fromkeys(["argmax", "argmin", "argsort", "count_nonzero"], "int64") | {
    "any": "bool",
    "all": "bool",
}
KEEPING = {*("softmax log_softmax cumsum cumprod sort flip argsort cummax cummin".split())}  # noqa: SIM905
ORDERED = {"max", "min", "argmax", "argmin"}

Pair = tuple[Any, Any]


def along(name: str, value: Value, dims: Sequence[str]) -> Value:
    """Apply a function along dims, merged in the order given.

    Parameters
    ----------
    name
        A reducer, which removes the dims, or one of the functions that keep them.
    value
        What it is applied to; a product is widened already if it is to be summed.
    dims
        The labels; none stand for one axis of size one.
    """
    kept = [label for label in value.labels if label not in dims]
    order = [value.labels.index(label) for label in [*kept, *dims]]
    moved, error = value.array.transpose(order), value.error.transpose(order)
    count = math.prod(moved.shape[len(kept) :])
    merged = (*moved.shape[: len(kept)], count)
    dtype = result_dtype(name, value.dtype)
    array, error = table(name, dtype)(
        moved.reshape(merged), error.reshape(merged), wide_of(name, value.dtype)
    )
    error = np.where(np.isnan(error), np.inf, error)
    if dtype == np.float16 and wide_of(name, value.dtype) != dtype and name in SUMMING | FLOATING:
        error = np.where((error == 0) & (array == array.astype(dtype)), 0, error + unit(array, dtype))
    if name not in KEEPING:
        return Value(np.asarray(array), tuple(kept), dtype, np.asarray(error))
    return Value(array.reshape(moved.shape), (*kept, *dims), dtype, error.reshape(moved.shape))


def result_dtype(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the result."""
    if dtype.kind == "c" and name in {"logsumexp", "softmax", "log_softmax"}:
        raise Refused("dtype", f"{name} of complex numbers")
    if name in FIXED:
        return np.dtype(FIXED[name])
    if name in FLOATING and not inexact(dtype):
        return np.dtype("float64")
    if name in {"var", "std", "norm"} and dtype.kind == "c":
        return np.dtype(np.empty(0, dtype).real.dtype)
    return wide(dtype) if name in SUMMING and not inexact(dtype) else dtype


def wide_of(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that the work is done in."""
    if name in FLOATING and not inexact(dtype):
        return np.dtype("float64")
    return wide(dtype)


def table(name: str, dtype: np.dtype[Any]) -> Callable[[Any, Any, np.dtype[Any]], Pair]:
    """The function of an array, its error and the dtype of the work that gives result and error."""
    if name in {"any", "all", "count_nonzero"}:
        return lambda array, error, work: truths(name, array, error)
    if name in {"argmax", "argmin"}:
        return lambda array, error, work: places(name, array, error)
    if name == "argsort":
        return lambda array, error, work: order(array, error)
    if not inexact(dtype):
        return lambda array, error, work: integers(name, array, error, work)
    function = FLOATS[name]
    return lambda array, error, work: function(doubled(array), error, work)


def truths(name: str, array: Any, error: Any) -> Pair:
    """Any, all, and the number of those that are not zero."""
    function = {"any": np.any, "all": np.all, "count_nonzero": np.count_nonzero}[name]
    unsure = np.any((np.abs(doubled(array)) <= error) & (error > 0) | np.isinf(error), -1)
    return np.asarray(function(array != 0, axis=-1)), np.where(unsure, np.inf, 0)


def places(name: str, array: Any, error: Any) -> Pair:
    """The index of the first extreme."""
    refuse_empty(name, array)
    result = np.asarray((np.argmax if name == "argmax" else np.argmin)(array, axis=-1))
    wins = result[..., None]
    best, reach = np.take_along_axis(array, wins, -1), np.take_along_axis(error, wins, -1) + error
    rivals = (distance(best, array) <= reach) & (reach > 0) & (np.arange(array.shape[-1]) != wins)
    return result, np.where(np.any(rivals | np.isinf(error), -1), np.inf, 0)


def refuse_empty(name: str, array: Any) -> None:
    """No extreme of no elements."""
    if array.shape[-1] == 0:
        raise Refused("empty", f"{name} of no elements")


def integers(name: str, array: Any, error: Any, work: np.dtype[Any]) -> Pair:
    """What gives integers of integers."""
    if name in ORDERED:
        refuse_empty(name, array)
    given = array.astype(work) if name in SUMMING else array
    unsure = np.where(np.any(error > 0, -1), np.inf, 0)
    if name in {"cummax", "cummin"}:
        function = np.maximum if name == "cummax" else np.minimum
        return function.accumulate(array, axis=-1), np.broadcast_to(unsure[..., None], array.shape)
    if name in {"cumsum", "cumprod", "sort"}:
        return getattr(np, name)(given, axis=-1), np.broadcast_to(unsure[..., None], array.shape)
    if name == "flip":
        return np.flip(array, -1), np.flip(error, -1)
    return np.asarray(getattr(np, name)(given, axis=-1)), unsure


def digits(work: np.dtype[Any]) -> float:
    """The whole numbers below this are exact."""
    return 0.5 / float(np.finfo(work).eps)


def roundings(array: Any, work: np.dtype[Any]) -> float:
    """How large the roundings of a sum may be, relative to the sum of magnitudes."""
    return 4 * (array.shape[-1] + 8) * float(np.finfo(work).eps)


def magnitudes(array: Any) -> Any:
    """The finite magnitudes; zero for the others."""
    return np.where(np.isfinite(array), np.abs(array), 0)


def summed(array: Any, error: Any, work: np.dtype[Any], function: Callable[..., Any] = np.sum) -> Pair:
    """A sum, or the sums up to each place: bounded whatever the order of adding."""
    size = function(magnitudes(array), axis=-1)
    sure = np.all(on_grid(array) & (error == 0), -1) & (np.sum(magnitudes(array), -1) * 1024 < digits(work))
    sure = sure if function is np.sum else sure[..., None]
    bound = function(error, axis=-1) + np.where(sure, 0, roundings(array, work) * size)
    return np.asarray(function(array, axis=-1)), np.where(size > np.finfo(work).max / 4, np.inf, bound)


def averaged(array: Any, error: Any, work: np.dtype[Any]) -> Pair:
    """The mean."""
    total, bound = summed(array, error, work)
    count = array.shape[-1]
    result = total / count if count else np.full(total.shape, np.nan, total.dtype)
    sure = (bound == 0) & on_grid(result)
    return result, np.where(sure, 0, bound / max(count, 1) + unit(result, work))


def multiplied(array: Any, error: Any, work: np.dtype[Any], function: Callable[..., Any] = np.prod) -> Pair:
    """A product, or the products up to each place."""
    size, reach = np.abs(array), np.where(np.isinf(error), 0, error)
    result = np.asarray(function(array, axis=-1))
    most = np.prod(np.maximum(magnitudes(array), 1), -1)
    whole = np.all((array == np.rint(array.real) + 1j * np.rint(array.imag)) & (error == 0), -1)
    sure = whole & (most < digits(work))
    sure = sure if function is np.prod else sure[..., None]
    spread = distance(function(size + reach, axis=-1), function(size, axis=-1))
    bound = np.where(sure, 0, spread + roundings(array, work) * magnitudes(result))
    unsure = np.any(np.isinf(error), -1)
    return result, np.where(unsure if function is np.prod else unsure[..., None], np.inf, bound)


def extreme(function: Callable[..., Any]) -> Callable[..., Pair]:
    """The largest or smallest: off by no more than the worst element."""

    def reduce(array: Any, error: Any, work: np.dtype[Any]) -> Pair:
        refuse_empty(function.__name__, array)
        return np.asarray(function(array, axis=-1)), np.max(error, axis=-1)

    return reduce


def variance(array: Any, error: Any, work: np.dtype[Any]) -> Pair:
    """The mean squared distance from the mean."""
    count = array.shape[-1]
    if not count:
        return np.full(array.shape[:-1], np.nan), np.zeros(array.shape[:-1])
    centred = array - array.mean(-1, keepdims=True)
    off = error + error.mean(-1, keepdims=True)
    off = off + roundings(array, work) * (magnitudes(array) + magnitudes(array).mean(-1, keepdims=True))
    result = np.mean(np.abs(centred) ** 2, -1)
    bound = np.mean(2 * magnitudes(centred) * off + off**2, -1) + roundings(array, work) * magnitudes(result)
    return result, bound


def deviation(array: Any, error: Any, work: np.dtype[Any]) -> Pair:
    """The root of the variance."""
    square, bound = variance(array, error, work)
    result = np.sqrt(square)
    finite = np.where(np.isfinite(bound), bound, 0)
    reach = np.maximum(np.sqrt(square + finite) - result, result - np.sqrt(np.maximum(square - finite, 0)))
    reach = np.where(np.isfinite(result), reach, 0)
    return result, np.where(np.isinf(bound), np.inf, reach + unit(result, work))


def length(array: Any, error: Any, work: np.dtype[Any]) -> Pair:
    """The 2-norm."""
    result = np.sqrt(np.sum(np.abs(array) ** 2, -1))
    tiny = float(np.finfo(work).tiny) ** 0.5
    return result, np.sqrt(np.sum(error**2, -1)) + roundings(array, work) * (magnitudes(result) + tiny)


def middle(array: Any, error: Any, work: np.dtype[Any]) -> Pair:
    """The mean of the middle two."""
    count = array.shape[-1]
    if not count:
        return np.full(array.shape[:-1], np.nan, array.dtype), np.zeros(array.shape[:-1])
    ranked = np.sort(array, -1)
    pair = ranked[..., [(count - 1) // 2, count // 2]]
    result = pair[..., 0] if count % 2 else pair.sum(-1) / 2
    result = np.where(np.any(np.isnan(array), -1), np.nan, result)
    sure = np.all(on_grid(pair), -1) & on_grid(result)
    return result, np.max(error, -1) + np.where(sure, 0, unit(result, work))


def peak(array: Any) -> Any:
    """The largest finite element, for shifting; zero if there is none."""
    return np.max(np.where(np.isfinite(array), array, -np.inf), -1, keepdims=True, initial=-np.inf)


def log_of_sum(array: Any, error: Any, work: np.dtype[Any]) -> Pair:
    """The logarithm of the sum of exponentials."""
    top = np.where(np.isfinite(peak(array)), peak(array), 0)
    result = np.log(np.sum(np.exp(array - top), -1)) + top[..., 0]
    bound = np.max(error, -1, initial=0) + roundings(array, work) * (
        1 + magnitudes(result) + np.abs(top[..., 0])
    )
    return result, np.where(np.isfinite(result) | np.isinf(bound), bound, 0)


def log_shares(array: Any, error: Any, work: np.dtype[Any]) -> Pair:
    """The logarithm of `shares`."""
    total, off = log_of_sum(array, error, work)
    total, off = total[..., None], off[..., None]
    has_none = np.any(np.isnan(array) | np.isposinf(array), -1, keepdims=True)
    result = np.where(has_none, np.nan, array - total)
    bound = (
        error + off + unit(result, work) + roundings(array, work) * (magnitudes(array) + magnitudes(total))
    )
    return result, np.where(np.isfinite(result) | np.isinf(bound), bound, 0)


def shares(array: Any, error: Any, work: np.dtype[Any]) -> Pair:
    """The exponentials divided by their sum."""
    logs, bound = log_shares(array, error, work)
    result = np.exp(logs)
    reach = np.where(np.isfinite(logs), result * np.expm1(np.minimum(bound, 700)), 0)
    return result, np.where(np.isinf(bound), np.inf, reach + unit(result, work))


def ranked(array: Any, error: Any, work: np.dtype[Any]) -> Pair:
    """The elements in ascending order: each is off by no more than the worst."""
    worst = np.max(error, -1, keepdims=True, initial=0)
    return np.sort(array, -1), np.broadcast_to(worst, array.shape)


FLOATS: dict[str, Callable[..., Pair]] = {
    "sum": summed,
    "mean": averaged,
    "prod": multiplied,
    "max": extreme(np.max),
    "min": extreme(np.min),
    "var": variance,
    "std": deviation,
    "norm": length,
    "median": middle,
    "logsumexp": log_of_sum,
    "log_softmax": log_shares,
    "softmax": shares,
    "cumsum": lambda array, error, work: summed(array, error, work, np.cumsum),
    "cumprod": lambda array, error, work: multiplied(array, error, work, np.cumprod),
    "sort": ranked,
    "cummax": so_far(np.maximum),
    "cummin": so_far(np.minimum),
    "flip": lambda array, error, work: (np.flip(array, -1), np.flip(error, -1)),
}
