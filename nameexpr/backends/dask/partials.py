"""Reductions over labels that are cut into blocks: what each block contributes, and how contributions meet.

The contribution of a block is an array whose cut dims have size 1, or a tuple of such arrays: count, mean and
squared deviations for a variance, the value and its position for an argmax. They are combined in a tree, in
place where they are sums, so that no task holds more than a few of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from nameexpr.backends.numpy import kernels

Array = np.ndarray[Any, np.dtype[Any]]
Part = Any
"""An array, or a tuple of arrays."""

SPLIT = frozenset({
    None, "sum", "mean", "prod", "max", "min", "any", "all", "count_nonzero",
    "var", "std", "logsumexp", "norm", "argmax", "argmin",
})  # fmt: skip
"""The reducers that this module computes from parts."""

_UFUNCS: dict[str | None, np.ufunc] = {
    None: np.add,
    "sum": np.add,
    "mean": np.add,
    "count_nonzero": np.add,
    "prod": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "any": np.logical_or,
    "all": np.logical_and,
}


def parts_of(x: Any) -> Iterator[Part]:
    """Return the contributions in nested lists, which are what a task of a tree gets."""
    if type(x) is list:
        for inner in x:
            yield from parts_of(inner)
    else:
        yield x


def same(x: Part, axis: Any = None, keepdims: bool = True) -> Part:
    """Return a contribution as it is."""
    return x


def combined(x: Any, axis: Any = None, keepdims: bool = True, *, reducer: str | None) -> Part:
    """Return several contributions as one."""
    return _combine(reducer)(parts_of(x))


def finished(
    x: Any,
    axis: tuple[int, ...] = (),
    keepdims: bool = False,
    *,
    reducer: str | None,
    dtype: np.dtype[Any],
    count: int,
) -> Array:
    """Return the result of a reduction over `count` elements, without the dims that were cut."""
    part = _combine(reducer)(parts_of(x))
    with np.errstate(all="ignore"):
        result = np.asarray(_finish(part, reducer, count))
    result = result.astype(dtype, copy=False)
    kept = [size for dim, size in enumerate(result.shape) if dim not in axis]
    return result if keepdims else result.reshape(kept)


def _finish(part: Part, reducer: str | None, count: int) -> Any:
    if reducer == "mean":
        return part / count
    if reducer in ("var", "std"):
        number, _, deviations = part
        variance = np.divide(deviations, number)
        return np.sqrt(variance) if reducer == "std" else variance
    return part[1] if reducer in ("argmax", "argmin") else part


def _combine(reducer: str | None) -> Callable[[Iterator[Part]], Part]:
    if reducer in ("var", "std"):
        return _deviations
    if reducer in ("argmax", "argmin"):
        return _largest if reducer == "argmax" else _smallest
    if reducer in ("logsumexp", "norm"):
        return _stacked(kernels.logsumexp if reducer == "logsumexp" else kernels.norm)
    return _repeated(_UFUNCS[reducer])


def _repeated(ufunc: np.ufunc) -> Callable[[Iterator[Part]], Part]:
    """Return how to combine parts by a ufunc: the second one is the first to be written to, as parts may be
    read by other tasks.
    """

    def run(parts: Iterator[Part]) -> Part:
        total = next(parts)
        is_own = False
        for part in parts:
            total = ufunc(total, part, out=total) if is_own else np.asarray(ufunc(total, part))
            is_own = True
        return total

    return run


def _stacked(kernel: Callable[[Array, int], Array]) -> Callable[[Iterator[Part]], Part]:
    def run(parts: Iterator[Part]) -> Part:
        every = list(parts)
        return every[0] if len(every) == 1 else kernel(np.stack(every, axis=-1), -1)

    return run


@np.errstate(all="ignore")
def _deviations(parts: Iterator[Part]) -> Part:
    """Combine counts, means and squared deviations from the means (Chan, Golub and LeVeque, 1983)."""
    count, mean, deviations = next(parts)
    for other_count, other_mean, other_deviations in parts:
        total = count + other_count
        delta = other_mean - mean
        squared = np.real(delta) ** 2 + np.imag(delta) ** 2 if np.iscomplexobj(delta) else delta * delta
        share = other_count / total if total else 0.0
        deviations = deviations + other_deviations + squared * (count * share)
        mean = mean + delta * share
        count = total
    return count, mean, deviations


def _largest(parts: Iterator[Part]) -> Part:
    return _picked(parts, np.greater)


def _smallest(parts: Iterator[Part]) -> Part:
    return _picked(parts, np.less)


def _picked(parts: Iterator[Part], is_better: np.ufunc) -> Part:
    """Combine values and their positions: a nan before anything else, and the first of equal values."""
    value, position = next(parts)
    for other, place in parts:
        is_nan, is_other_nan = np.not_equal(value, value), np.not_equal(other, other)
        is_first = place < position
        with np.errstate(invalid="ignore"):
            is_taken = is_better(other, value) | ((other == value) & is_first) | is_other_nan
        is_taken = np.where(is_nan, is_other_nan & is_first, is_taken)
        value, position = np.where(is_taken, other, value), np.where(is_taken, place, position)
    return value, position


def position_in_all(
    position: Array, offsets: tuple[int, ...], block: tuple[int, ...], sizes: tuple[int, ...]
) -> Array:
    """Return positions among all elements, row-major, for positions in a block that begins at `offsets`."""
    places = np.unravel_index(position, block)
    return np.asarray(
        np.ravel_multi_index(
            tuple([one + offset for one, offset in zip(places, offsets, strict=True)]), sizes
        )
    )
