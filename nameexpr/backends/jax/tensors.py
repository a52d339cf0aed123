"""What NamedTensors of JAX compute with: JAX's functions, under names that all libraries share.

Arrays of JAX are never written to, and its random numbers need keys: the operators that do either are errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from nameexpr.backends.jax.elements import (
    corners,
    described,
    device_of,
    has_values,
    is_known,
    item,
    numpy_view,
    to_numpy,
    tolist,
)
from nameexpr.backends.jax.pointwise import BINARY, UNARY
from nameexpr.backends.jax.reductions import (
    ALONG,
    NORMALISED,
    OF_ALL,
    PLACES,
    QUANTILES,
    REDUCTIONS,
    SCANS,
    quantile,
    sort,
    topk,
)
from nameexpr.backends.jax.widths import canonical

__all__ = [
    "ALONG",
    "BINARY",
    "NORMALISED",
    "OF_ALL",
    "PLACES",
    "QUANTILES",
    "REDUCTIONS",
    "SCANS",
    "UNARY",
    "corners",
    "described",
    "device_of",
    "has_values",
    "is_known",
    "item",
    "numpy_view",
    "quantile",
    "sort",
    "to_numpy",
    "tolist",
    "topk",
]

Array = jax.Array
LIBRARY = "jax"
NAME = "JAX"
REFUSED = (RuntimeError, TypeError, ValueError, IndexError, OverflowError, MemoryError)
CAN_WRITE = False
JOINS_NUMPY = True
DEVICE = jax.Device
_KINDS = {jnp.bool_: "b", jnp.unsignedinteger: "u", jnp.signedinteger: "i", jnp.floating: "f"}
_ORDER = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
FACTORIES = {
    name: getattr(jnp, name)
    for name in ("zeros", "ones", "empty", "full", "arange", "zeros_like", "ones_like", "empty_like")
} | {"full_like": jnp.full_like}
OPTIONS = frozenset({"dtype", "device", "generator"})


def kind_of(dtype: Any) -> str:
    """Return the kind of a dtype in NumPy's letters: b, i, u, f or c."""
    return next((letter for kind, letter in _KINDS.items() if jnp.issubdtype(dtype, kind)), "c")


def category(dtype: Any) -> int:
    """Return 0 for bools, 1 for integers, 2 for floats, 3 for complex numbers."""
    return _ORDER[kind_of(dtype)]


def name_of(dtype: Any) -> str:
    """Return the name of a dtype."""
    return dtype.name  # type: ignore[no-any-return]


def dtype_of(wanted: Any) -> Any:
    """Return a dtype by any spelling: without 64 bits, the one of 32; None if it is not one."""
    try:
        return jnp.dtype(canonical(jnp.dtype(wanted).name))
    except TypeError:
        return None


def new_array(data: Any, dtype: Any, device: Any) -> Any:
    """Return an array itself if it has the dtype; numbers, lists and arrays of NumPy are copied."""
    return jnp.asarray(data, dtype, device=None if device is None else _device(device))


def _device(device: Any) -> Any:
    if isinstance(device, DEVICE):
        return device
    platform, _, number = str(device).partition(":")
    return jax.devices(platform)[int(number or 0)]


def strided(x: Any) -> tuple[Any, None]:
    """Return an array; those of JAX have no names."""
    return x, None


def as_array(value: Any, like: Any) -> Any:
    """Return a number, nested lists of numbers or an array of NumPy as an array."""
    if isinstance(value, str | bytes):
        raise TypeError("a string is not a number")
    return jnp.asarray(value)


def levels(q: Any, like: Any) -> Any:
    """Return the levels of quantiles as an array."""
    return jnp.asarray(q, like.dtype if kind_of(like.dtype) == "f" else None)


def scalar(value: Any, like: Any) -> Any:
    """Return a number as an array without dims, of the dtype of another."""
    return jnp.asarray(value, like.dtype)


def is_held(value: Any, dtype: Any) -> bool:
    """Return whether a number is surely one of the dtype: it is always converted."""
    return False


def hidden_axis(x: Any) -> int | None:
    """Return the axis that `jax.vmap` hides, None if it hides none."""
    axis = getattr(x, "batch_dim", None)
    return axis if isinstance(axis, int) else None


def checks_bounds(x: Any) -> bool:
    """Return whether JAX raises an error for indices that do not exist: it does not."""
    return False


def size(x: Any) -> int:
    """Return the number of elements."""
    return x.size  # type: ignore[no-any-return]


def cast(x: Any, dtype: Any) -> Any:
    """Return the elements in another dtype."""
    return x.astype(dtype)


def converted(x: Any, dtype: Any, device: Any, copied: bool) -> Any:
    """Return the elements in another dtype or on another device: x itself if it has both."""
    x = x if x.dtype == dtype else x.astype(dtype)
    wanted = None if device is None else _device(device)
    is_there = wanted is None or (is_known(x) and x.devices() == {wanted})
    return x if is_there else jax.device_put(x, wanted)


def copy(x: Any) -> Any:
    """Return a copy."""
    return jnp.array(x)


def permute(x: Any, order: Sequence[int]) -> Any:
    """Return an array with the axes in another order."""
    return jnp.transpose(x, tuple(order))


def select(x: Any, axis: int, index: int) -> Any:
    """Return the elements at one index of an axis."""
    return jax.lax.index_in_dim(x, index, axis, keepdims=False)


def narrow(x: Any, axis: int, start: int, stop: int) -> Any:
    """Return the elements of a range of an axis."""
    return jax.lax.slice_in_dim(x, start, stop, axis=axis)


def broadcast_to(x: Any, shape: Sequence[int]) -> Any:
    """Return an array of another shape, to which x broadcasts."""
    return jnp.broadcast_to(x, tuple(shape))


def flip(x: Any, axes: tuple[int, ...]) -> Any:
    """Return the elements with the order along some axes reversed."""
    return jnp.flip(x, axes)


def roll(x: Any, counts: tuple[int, ...], axes: tuple[int, ...] | None) -> Any:
    """Return the elements shifted along axes, or in row-major order."""
    return jnp.roll(x, counts, axes) if axes is not None else jnp.roll(x, counts[0])


def diff(x: Any, times: int, axis: int) -> Any:
    """Return the differences of adjacent elements."""
    return jnp.diff(x, times, axis)


def rounded(x: Any, decimals: int) -> Any:
    """Return the elements rounded to a number of decimals, bools unchanged."""
    return x if x.dtype == bool else jnp.round(x, decimals)


def clamp(x: Any, low: Any, high: Any) -> Any:
    """Return the elements limited to the bounds."""
    x = x if low is None else jnp.maximum(x, low)
    return x if high is None else jnp.minimum(x, high)


def where(condition: Any, a: Any, b: Any) -> Any:
    """Return the elements of a where the condition is true, and of b elsewhere."""
    return jnp.where(condition, a, b)


def take(x: Any, places: Any, axis: int) -> Any:
    """Return the elements at positions along an axis, none of them negative."""
    return jnp.take(x, places, axis)


def take_along(x: Any, places: Any, axis: int) -> Any:
    """Return the elements at positions along an axis, one for each element of `places`."""
    return jnp.take_along_axis(x, places, axis)


def fill_at(x: Any, places: Any, axis: int, value: Any) -> Any:
    """Return the elements with a value at positions along an axis."""
    return x.at[(slice(None),) * axis + (places,)].set(value)


def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    """Return the elements with a value where the mask is true."""
    return jnp.where(mask, value, x)


def masked_select(x: Any, mask: Any) -> Any:
    """Return the elements where the mask is true, in row-major order."""
    shape = jnp.broadcast_shapes(x.shape, mask.shape)
    return jnp.atleast_1d(jnp.broadcast_to(x, shape)[jnp.broadcast_to(mask, shape)])


def matmul(a: Any, b: Any) -> Any:
    """Return the matrix product of arrays of the same dtype."""
    if a.dtype != b.dtype:
        raise TypeError("the dtypes differ")
    return jnp.matmul(a, b)


def tensordot(a: Any, b: Any, axes: tuple[tuple[int, ...], tuple[int, ...]]) -> Any:
    """Return the sum of products over pairs of axes, of arrays of the same dtype."""
    if a.dtype != b.dtype:
        raise TypeError("the dtypes differ")
    return jnp.tensordot(a, b, axes)


def joined(arrays: list[Any], axis: int, *, is_new: bool) -> Any:
    """Return arrays joined along an axis, or along a new one."""
    return jnp.stack(arrays, axis) if is_new else jnp.concatenate(arrays, axis)


def is_equal(a: Any, b: Any) -> bool:
    """Return whether two arrays have the same shape and elements."""
    return bool(jnp.array_equal(a, b))


def at(x: Any, places: tuple[Any, ...]) -> Any:
    """Return the elements at an index."""
    return x[places]


def empty_index(x: Any) -> Any:
    """Return an array of no indices."""
    return jnp.zeros(0, int)


def count_true(mask: Any) -> int:
    """Return how many elements of a mask are true, which the size of a result depends on."""
    return int(mask.sum())
