"""Reductions and functions along axes that consist of functions of the array API standard."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from nameexpr.backends.array_api.functions import is_kind, like, space
from nameexpr.backends.numpy.kernels import ReducerMisuse, check_reduced, reduced_by

Array = Any
Axes = tuple[int, ...]
NAN, INF = float("nan"), float("inf")


def count(x: Array, axes: Axes) -> int:
    """Return how many elements are combined into one."""
    return prod(x.shape[axis] for axis in axes)


def largest(x: Array, axes: Axes) -> Array:
    """Return the largest element, of bools as well."""
    return space(x).any(x, axis=axes) if is_kind(x, "bool") else space(x).max(x, axis=axes)


def smallest(x: Array, axes: Axes) -> Array:
    """Return the smallest element, of bools as well."""
    return space(x).all(x, axis=axes) if is_kind(x, "bool") else space(x).min(x, axis=axes)


def squares(x: Array) -> Array:
    """Return the squared magnitudes, real for complex arrays."""
    xp = space(x)
    return xp.real(x) ** 2 + xp.imag(x) ** 2 if is_kind(x, "complex floating") else x * x


def var(x: Array, axes: Axes) -> Array:
    """Return the mean squared distance from the mean; nan for no elements."""
    xp, number = space(x), count(x, axes)
    if not number:
        return squares(xp.sum(x, axis=axes)) + NAN
    centred = x - xp.sum(x, axis=axes, keepdims=True) / number
    return xp.sum(squares(centred), axis=axes) / number


def std(x: Array, axes: Axes) -> Array:
    """Return the square root of the variance."""
    return space(x).sqrt(var(x, axes))


def norm(x: Array, axes: Axes) -> Array:
    """Return the square root of the sum of squared magnitudes."""
    return space(x).sqrt(space(x).sum(squares(x), axis=axes))


def logsumexp(x: Array, axes: Axes) -> Array:
    """Return the logarithm of the sum of exponentials, without overflow; -inf for no elements."""
    xp = space(x)
    if not count(x, axes):
        return xp.sum(x, axis=axes) - INF
    most = xp.max(x, axis=axes, keepdims=True)
    most = xp.where(xp.isfinite(most), most, like(0.0, most))
    total = xp.log(xp.sum(xp.exp(x - most), axis=axes))
    return total + xp.reshape(most, total.shape)


def median(x: Array, axes: Axes) -> Array:
    """Return the middle one, of an even number the mean of two; nan for no elements, or if one is."""
    xp, number = space(x), count(x, axes)
    if not number:
        return xp.sum(x, axis=axes) + NAN
    ordered = xp.sort(xp.reshape(x, (*x.shape[: x.ndim - len(axes)], number)), axis=-1)
    middle = ordered[..., number // 2]
    if number % 2 == 0:
        middle = (ordered[..., number // 2 - 1] + middle) / 2.0
    return xp.where(xp.any(xp.isnan(x), axis=axes), like(NAN, middle), middle)


def argmax(x: Array, axes: Axes) -> Array:
    """Return where the largest element is, the first one."""
    return space(x).argmax(_ordered(x), axis=axes[0])


def argmin(x: Array, axes: Axes) -> Array:
    """Return where the smallest element is, the first one."""
    return space(x).argmin(_ordered(x), axis=axes[0])


def count_nonzero(x: Array, axes: Axes) -> Array:
    """Return how many elements are not zero."""
    xp = space(x)
    return xp.sum(xp.astype(x != 0, xp.int64), axis=axes) if not is_kind(x, "bool") else truths(x, axes)


def truths(x: Array, axes: Axes) -> Array:
    """Return how many elements are true."""
    return space(x).sum(space(x).astype(x, space(x).int64), axis=axes)


def apply(reduce: Callable[[Array, int], Any], x: Array) -> Array:
    """Return `reduce(x, axis)` for the last axis.

    Raises
    ------
    ReducerMisuse
        If it cannot be called like this, or does not return an array of `x`'s shape without its last axis.
    ReducerFault
        For any other exception that it raised.
    """
    returned = reduced_by(reduce, x)
    if type(returned) is not type(x):
        raise ReducerMisuse(f"returned {type(returned).__name__}, not {type(x).__name__}", x.shape)
    check_reduced(returned, x, "an array")
    return returned


# Along axes.


def softmax(x: Array, axes: Axes) -> Array:
    """Return exponentials over their sum along axes; the largest is subtracted first."""
    shifted = _shifted(x, axes)
    exponentials = space(x).exp(shifted)
    return exponentials / space(x).sum(exponentials, axis=axes, keepdims=True)


def log_softmax(x: Array, axes: Axes) -> Array:
    """Return the logarithm of the softmax along axes, finite even where softmax itself would round to 0."""
    xp, shifted = space(x), _shifted(x, axes)
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=axes, keepdims=True))


def _shifted(x: Array, axes: Axes) -> Array:
    return x - space(x).max(x, axis=axes, keepdims=True) if count(x, axes) else x


def cummax(x: Array, axis: int) -> Array:
    """Return the largest element so far along an axis, nan from the first one on."""
    return _running(x, axis, "maximum")


def cummin(x: Array, axis: int) -> Array:
    """Return the smallest element so far along an axis, nan from the first one on."""
    return _running(x, axis, "minimum")


def _running(x: Array, axis: int, name: str) -> Array:
    """Return x combined with what lies 1, 2, 4, ... before it, until that is all there is."""
    xp, before = space(x), (slice(None),) * axis
    combine, step, size = getattr(xp, name), 1, x.shape[axis]
    found = _ordered(x)
    while step < size:
        near, far = found[(*before, slice(step, None), ...)], found[(*before, slice(None, size - step), ...)]
        first = found[(*before, slice(None, step), ...)]
        found, step = xp.concat([first, combine(near, far)], axis=axis), 2 * step
    return xp.astype(found, x.dtype)


def sort(x: Array, axis: int) -> Array:
    """Return the elements in order along an axis, nan last."""
    return space(x).astype(space(x).sort(_ordered(x), axis=axis), x.dtype)


def argsort(x: Array, axis: int) -> Array:
    """Return where the elements are in order along an axis: equal ones in the order they have, nan last."""
    return space(x).argsort(_ordered(x), axis=axis, stable=True)


def _ordered(x: Array) -> Array:
    """Return an array of numbers, which have an order in the standard."""
    return space(x).astype(x, space(x).uint8) if is_kind(x, "bool") else x
