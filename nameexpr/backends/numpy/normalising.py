"""Softmax and its logarithm along one or several axes, of narrow floats computed in float32.

Blocks stay in the cache: see `nameexpr.compiler.ir.normalising`. Where one contains a part of what is
normalised together, the largest elements of all blocks come first, then their sums, and then the results;
threads share the blocks of each. Sums are added in the order of the blocks, so that the bits do not depend on
threads, but they may be rounded differently from those over whole arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import Array, native, widened
from nameexpr.backends.numpy.reductions import Axis
from nameexpr.backends.numpy.rows import largest_of_rows, log_softmax_of_rows, softmax_of_rows, starts_of
from nameexpr.compiler.ir.normalising import BLOCK, block_of, outermost

Run = Callable[[Callable[[int], Any], int, int], Iterable[Any]]
"""Calls a function for the start of each block: the size of the axis, and that of a block."""


@np.errstate(all="ignore")
def softmax(x: Array, axes: Axis, out: Array | None = None, threads: int = 1) -> Array:
    """Return exponentials over their sum along axes.

    The largest is subtracted before exp, which then cannot overflow. A slice that contains nan or inf, or
    nothing but -inf, has no softmax: all of it is nan.

    >>> softmax(np.array([0.0, 0.0, -np.inf]), 0)
    array([0.5, 0.5, 0. ])
    """
    if (out is None or out is x) and (starts := starts_of(x, axes)) is not None:
        return softmax_of_rows(x, starts, out)
    return _normalised(x, axes, out, threads, is_log=False)


@np.errstate(all="ignore")
def log_softmax(x: Array, axes: Axis, out: Array | None = None, threads: int = 1) -> Array:
    """Return the logarithm of the softmax along axes, finite even where softmax itself would round to 0.

    >>> log_softmax(np.array([0.0, -1000.0]), 0)
    array([    0., -1000.])
    """
    if (out is None or out is x) and (starts := starts_of(x, axes)) is not None:
        return log_softmax_of_rows(x, starts, out)
    return _normalised(x, axes, out, threads, is_log=True)


def _normalised(x: Array, axes: Axis, out: Array | None, threads: int, *, is_log: bool) -> Array:
    if x.dtype.char in "fd" and 0 < x.size <= BLOCK and x.dtype.isnative and (out is None or out is x):
        return _of_block(x, out, axes, is_log=is_log)
    floats = _normalisable(x)
    wide = widened(floats)
    result = wide if out is x else out
    if result is None or result.dtype != wide.dtype:
        result = np.empty_like(wide, native(wide.dtype))
    if x.size:
        _by_blocks(wide, result, axes, threads, is_log=is_log)
    if out is None:
        return np.asarray(result.astype(native(floats.dtype), copy=False))
    if result is not out:
        out[...] = result
    return out


def _normalisable(x: Array) -> Array:
    """Return floats unchanged, and integers and bools in float64."""
    if x.dtype.kind == "c":
        raise TypeError("not defined for complex numbers")
    if x.dtype.char in "fd":
        return x
    return np.asarray(x, np.float64 if x.dtype.kind in "iub" else np.exp(np.zeros((), x.dtype)).dtype)


def _of_block(x: Array, out: Array | None, axes: Axis, *, is_log: bool) -> Array:
    shifted: Array = np.subtract(x, _largest(x, axes), out=out)
    sums = np.add.reduce(np.exp(shifted, out=None if is_log else shifted), axis=axes, keepdims=True)
    return (
        np.subtract(shifted, np.log(sums), out=shifted) if is_log else np.divide(shifted, sums, out=shifted)
    )


def _largest(x: Array, axes: Axis) -> Any:
    if (starts := starts_of(x, axes)) is not None:
        return largest_of_rows(x, starts)
    return np.maximum.reduce(x, axis=axes, keepdims=True, initial=-np.inf)


def _by_blocks(x: Array, result: Array, axes: Axis, threads: int, *, is_log: bool) -> None:
    """Normalise an array block by block."""
    every = tuple([axis % x.ndim for axis in ((axes,) if isinstance(axes, int) else axes)])
    block = block_of(x.shape, x.strides, every)
    steps = zip(x.shape, block, strict=True)
    starts = [range(0, size, size if axis in every else step) for axis, (size, step) in enumerate(steps)]
    is_whole = all(block[axis] == x.shape[axis] for axis in every)
    for first in product(*starts):
        cut = tuple([
            slice(None) if axis in every else slice(start, start + block[axis])
            for axis, start in enumerate(first)
        ])  # fmt: skip
        if is_whole:
            _of_block(x[cut], result[cut], axes, is_log=is_log)
        else:
            axis = outermost(x.shape, x.strides, every)
            _across(x[cut], result[cut], every, axis, block[axis], _runner(threads), is_log=is_log)


def _runner(threads: int) -> Run:
    if threads == 1:
        return lambda task, size, step: map(task, range(0, size, step))
    from nameexpr.backends.numpy.threads.job import blocks

    return lambda task, size, step: blocks(threads, task, (size, step))


def _across(
    x: Array, result: Array, axes: tuple[int, ...], axis: int, step: int, run: Run, *, is_log: bool
) -> None:
    """Normalise an array in blocks along an axis that is normalised, too."""

    def part(array: Array, start: int) -> Array:
        return array[(*(slice(None),) * axis, slice(start, start + step))]

    def largest(start: int) -> Array:
        return np.asarray(np.maximum.reduce(part(x, start), axis=axes, keepdims=True))

    def total(start: int) -> Array:
        shifted = np.subtract(part(x, start), most, out=part(result, start))
        return np.asarray(
            np.add.reduce(np.exp(shifted, out=None if is_log else shifted), axis=axes, keepdims=True)
        )

    def finish(start: int) -> None:
        block = part(result, start)
        (np.subtract if is_log else np.divide)(block, sums, out=block)

    size = x.shape[axis]
    most = _combined(np.maximum, run(largest, size, step))
    sums = _combined(np.add, run(total, size, step))
    if is_log:
        np.log(sums, out=sums)
    for _ in run(finish, size, step):
        pass


def _combined(ufunc: np.ufunc, parts: Iterable[Array]) -> Array:
    """Return the combination of some arrays, in order, which overwrites the first one."""
    each = iter(parts)
    first = next(each)
    for one in each:
        ufunc(first, one, out=first)
        del one  # before the next one is made
    return first
