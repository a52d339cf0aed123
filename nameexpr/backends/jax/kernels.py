"""Functions for generated code that are not a single call of JAX.

They follow `nameexpr.backends.numpy`: narrow floats are added in float32, and reducers over no elements
return nan, 0 or -inf.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from nameexpr.backends.jax.checks import record

Shape = tuple[int, ...]
Axes = int | tuple[int, ...]


def _is_narrow(x: Any) -> bool:
    return x.dtype in (jnp.float16, jnp.bfloat16)


def _floats(x: Any) -> Any:
    """Return floats unchanged, and integers and bools as the default float."""
    return x if jnp.issubdtype(x.dtype, jnp.inexact) else x.astype(jnp.result_type(x, 1.0))


def _in_float32(function: Callable[..., Any], x: Any, *how: Any) -> Any:
    """Return a function of floats, of narrow ones computed in float32."""
    x = _floats(x)
    return function(x.astype("float32"), *how).astype(x.dtype) if _is_narrow(x) else function(x, *how)


def softmax(x: Any, axes: Axes) -> Any:
    """Return exponentials over their sum along axes."""
    return _in_float32(jax.nn.softmax, x, axes)


def log_softmax(x: Any, axes: Axes) -> Any:
    """Return the logarithm of the softmax along axes."""
    return _in_float32(jax.nn.log_softmax, x, axes)


def gelu(x: Any) -> Any:
    """Return x times the normal distribution's share below x."""
    return jax.nn.gelu(_floats(x), approximate=False)


def silu(x: Any) -> Any:
    """Return x * sigmoid(x)."""
    return jax.nn.silu(_floats(x))


def reciprocal(x: Any) -> Any:
    """Return one over x, of integers without the fraction."""
    return 1 / x if jnp.issubdtype(x.dtype, jnp.inexact) else 1 // x


def to_int(x: Any) -> Any:
    """Return each element without its fraction, as an integer."""
    whole = jnp.trunc(x) if jnp.issubdtype(x.dtype, jnp.inexact) else x
    result = whole.astype(jnp.asarray(0).dtype)
    if jnp.issubdtype(x.dtype, jnp.inexact):
        limit = -float(np.iinfo(result.dtype).min)
        record(jnp.any(~((whole >= -limit) & (whole < limit))), 0, -1)
    return result


def cumsum(x: Any, axis: int) -> Any:
    """Return cumulative sums along an axis: of integers in the widest dtype."""
    return _running(jnp.cumsum, x, axis)


def cumprod(x: Any, axis: int) -> Any:
    """Return cumulative products along an axis: of integers in the widest dtype."""
    return _running(jnp.cumprod, x, axis)


def _running(function: Callable[..., Any], x: Any, axis: int) -> Any:
    if jnp.issubdtype(x.dtype, jnp.inexact):
        return _in_float32(function, x, axis)
    whole = jnp.asarray(0).dtype
    is_unsigned = jnp.issubdtype(x.dtype, jnp.unsignedinteger)
    return function(x, axis, dtype=f"u{whole}" if is_unsigned else whole)


def cummax(x: Any, axis: int) -> Any:
    """Return the largest element so far along an axis."""
    return _extreme(lax.cummax, x, axis)


def cummin(x: Any, axis: int) -> Any:
    """Return the smallest element so far along an axis."""
    return _extreme(lax.cummin, x, axis)


def _extreme(function: Callable[..., Any], x: Any, axis: int) -> Any:
    return function(x.astype("uint8"), axis).astype("bool") if x.dtype == bool else function(x, axis)


def logsumexp(x: Any, axes: Axes) -> Any:
    """Return log(sum(exp(x))) without overflow; -inf for no elements."""
    if 0 in x.shape:
        return jnp.full_like(jnp.sum(x, axes), -jnp.inf)
    return jax.nn.logsumexp(x, axes)


def median(x: Any, axis: int) -> Any:
    """Return the middle value, or the mean of the middle two; nan for no elements."""
    count = x.shape[axis]
    if not count:
        return jnp.full_like(jnp.sum(_floats(x), axis), jnp.nan)
    if not jnp.issubdtype(x.dtype, jnp.complexfloating):
        return jnp.median(x, axis)
    ordered = jnp.sort(x, axis)
    low, high, last = (jnp.take(ordered, place, axis) for place in ((count - 1) // 2, count // 2, count - 1))
    return jnp.where(jnp.isnan(last), jnp.nan, (low + high) / 2)


def argmax(x: Any, axis: int) -> Any:
    """Return where the largest element is, the first one."""
    return _where_extreme(jnp.argmax, jnp.max, x, axis)


def argmin(x: Any, axis: int) -> Any:
    """Return where the smallest element is, the first one."""
    return _where_extreme(jnp.argmin, jnp.min, x, axis)


def _where_extreme(index: Callable[..., Any], extreme: Callable[..., Any], x: Any, axis: int) -> Any:
    """Return `index(x)`, which JAX does not define for complex numbers."""
    if not jnp.issubdtype(x.dtype, jnp.complexfloating):
        return index(x, axis)
    found = extreme(x, axis, keepdims=True)
    return jnp.argmax(jnp.where(jnp.isnan(found), jnp.isnan(x), x == found), axis)


def norm(x: Any, axes: Axes) -> Any:
    """Return the square root of the sum of squared magnitudes."""
    is_complex = jnp.issubdtype(x.dtype, jnp.complexfloating)
    squared = x.real**2 + x.imag**2 if is_complex else x * x
    return jnp.sqrt(jnp.sum(squared, axes))


def diagonal(x: Any, letters: Shape) -> Any:
    """Return the elements where axes of the same letter have the same index, one axis for each letter."""
    letters, wanted = list(letters), list(dict.fromkeys(letters))  # type: ignore[assignment]
    while len(letters) > len(wanted):
        letter = next(one for one in letters if letters.count(one) > 1)
        first = letters.index(letter)
        second = letters.index(letter, first + 1)
        x = jnp.diagonal(x, 0, first, second)
        letters = [one for axis, one in enumerate(letters) if axis not in (first, second)] + [letter]  # type: ignore[assignment]
    return x.transpose([letters.index(letter) for letter in wanted])


def embed(x: Any, shape: Shape, axes: Shape) -> Any:
    """Return zeros of a shape with `x`, broadcast, where axes of the same letter have the same index."""
    first = [axes.index(letter) for letter in dict.fromkeys(axes)]
    sizes = (1,) * (len(first) - x.ndim) + x.shape
    wide = jnp.broadcast_to(x.reshape(_spread(sizes, first, len(shape))), shape)
    mask = jnp.ones((), bool)
    for axis, letter in enumerate(axes):
        if axes.index(letter) != axis:
            at = [lax.broadcasted_iota("int32", shape, one) for one in (axes.index(letter), axis)]
            mask = mask & (at[0] == at[1])
    return jnp.where(mask, wide, jnp.zeros((), x.dtype))


def _spread(sizes: Shape, axes: Sequence[int], count: int) -> Shape:
    """Return a shape of `count` axes with these sizes at some of them, and 1 elsewhere."""
    known = dict(zip(axes, sizes, strict=True))
    return tuple([known.get(axis, 1) for axis in range(count)])


def windows(x: Any, offsets: Shape, strides: tuple[Shape, ...], shape: Shape) -> Any:
    """Return an array in which axis k of x is read at `offsets[k]` plus `strides[k]` times the index."""
    if 0 in shape:
        return jnp.zeros(shape, x.dtype)
    places = []
    for offset, row in zip(offsets, strides, strict=True):
        used = [step != 0 for step in row]
        sizes = [size if is_used else 1 for size, is_used in zip(shape, used, strict=True)]
        steps = [step * lax.broadcasted_iota("int32", sizes, axis) for axis, step in enumerate(row) if step]
        places.append(sum(steps, jnp.full(sizes if steps else (1,) * len(shape), offset, "int32")))
    return jnp.broadcast_to(x[tuple(places)], shape)


def joined(
    shape: Shape, dtype: str | None, pieces: tuple[tuple[Shape, Shape, Shape], ...], *values: Any
) -> Any:
    """Return an array of which each value has the part that begins at `starts` and is `lengths` long; what is
    in no part is 0.
    """
    wanted = dtype or jnp.result_type(*values)
    parts = [
        jnp.broadcast_to(jnp.asarray(value, wanted), split).reshape(lengths)
        for (_, lengths, split), value in zip(pieces, values, strict=True)
    ]
    axis = _axis_of(shape, pieces)
    if axis is not None:
        return jnp.concatenate(parts, axis)
    result = jnp.zeros(shape, wanted)
    for (starts, _, _), part in zip(pieces, parts, strict=True):
        result = lax.dynamic_update_slice(result, part, starts)
    return result


def _axis_of(shape: Shape, pieces: tuple[tuple[Shape, Shape, Shape], ...]) -> int | None:
    """Return the axis along which pieces follow each other, if there is only one and they fill the array."""
    for axis, size in enumerate(shape):
        ends = [0, *accumulate([lengths[axis] for _, lengths, _ in pieces])]
        others = [lengths[:axis] + lengths[axis + 1 :] for _, lengths, _ in pieces]
        starts = [starts[axis] for starts, _, _ in pieces]
        if starts == ends[:-1] and ends[-1] == size and set(others) == {shape[:axis] + shape[axis + 1 :]}:
            return axis
    return None


def bins(sizes: Shape, shape: Shape, *positions: Any) -> Any:
    """Return the number of the bin of each element; outside, that of no bin."""
    flat: Any = jnp.zeros((), positions[0].dtype)
    is_inside: Any = True
    for position, size in zip(positions, sizes, strict=True):
        is_inside = is_inside & (position >= 0) & (position < size)
        flat = flat * size + position
    return jnp.broadcast_to(jnp.where(is_inside, flat, prod(sizes)), shape)


def combined(reducer: str, at: Any, rows: Any, size: int, empty: float) -> Any:
    """Return the rows of each bin combined by a reducer; `empty` for bins without rows."""
    if reducer in ("any", "all"):
        given = jnp.full(at.shape, not empty) if rows is None else rows
        found = jnp.full((size, *given.shape[1:]), bool(empty))
        given = given.astype(bool)
        return (
            found.at[at].max(given, mode="drop") if reducer == "any" else found.at[at].min(given, mode="drop")
        )
    found = jnp.full((size, *rows.shape[1:]), empty, rows.dtype)
    name = {"sum": "add", "prod": "multiply"}.get(reducer, reducer)
    return getattr(found.at[at], name)(rows, mode="drop")


def apply(reduce: Callable[[Any, int], Any], x: Any) -> Any:
    """Return `reduce(x, axis)` for the last axis."""
    result = jnp.asarray(reduce(x, x.ndim - 1))
    if result.shape != x.shape[:-1]:
        raise ValueError(f"reduce= returned an array of shape {result.shape} for one of shape {x.shape}")
    return result
