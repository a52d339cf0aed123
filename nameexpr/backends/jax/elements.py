"""The elements of an array of JAX as numbers, as an array and as text, and whether they are known."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def is_known(x: Any) -> bool:
    """Return whether elements can be read, which those of a trace cannot."""
    return not isinstance(x, jax.core.Tracer)


has_values = is_known


def described(x: Any) -> list[str]:
    """Return what the repr shows after names and sizes."""
    return [f"dtype={x.dtype}", f"library='jax', device={device_of(x)!r}" if is_known(x) else "traced by jax"]


def to_numpy(x: Any) -> Any:
    """Return the elements as an array to show them: bfloat16 as float32."""
    array = np.asarray(x)
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def corners(x: Any, edge: int) -> Any:
    """Return the elements near the ends of each axis, with one between: those that are shown."""
    for axis, size in enumerate(x.shape):
        if size > 2 * edge + 1:
            places = np.array([*range(edge + 1), *range(size - edge, size)])
            x = jnp.take(x, places, axis)
    return x


def numpy_view(x: Any, is_forced: bool) -> Any:
    """Return the elements as an array of NumPy, which cannot be written to."""
    return np.asarray(x)


def item(x: Any) -> Any:
    """Return the only element as a Python number."""
    return x.item()


def tolist(x: Any) -> Any:
    """Return the elements as nested lists of Python numbers."""
    return x.tolist()


def device_of(x: Any) -> str:
    """Return the devices of an array; those of a trace are not known."""
    return ", ".join(sorted(map(str, x.devices()))) if is_known(x) else ""
