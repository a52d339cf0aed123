"""Operands in every memory layout that an array can have, with the same values.

`generate_arrays` makes C, Fortran, transposed, strided, reversed, broadcast, read-only and offset ones; here
are those that only unlucky callers bring: swapped bytes, no alignment, mapped files, cells that overlap.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def swapped(array: Array) -> Array:
    """Return the values in the other byte order."""
    return array.astype(array.dtype.newbyteorder())


def unaligned(array: Array) -> Array:
    """Return the values as a field of a packed record: no cell lies where its dtype wants to be."""
    record = np.zeros(array.shape, [("pad", "u1"), ("value", array.dtype)])
    record["value"] = array
    return record["value"]


def mapped(array: Array) -> Array:
    """Return the values as a read-only map of a file."""
    if not array.size:
        return array
    with tempfile.TemporaryFile() as file:
        file.write(np.ascontiguousarray(array).tobytes())
        file.flush()
        return np.memmap(file, array.dtype, "r", shape=array.shape)


def overlapping(array: Array) -> Array:
    """Return some of the values as windows that share cells: every stride is one item."""
    if not array.size:
        return array
    flat = np.ascontiguousarray(array).ravel()
    return np.lib.stride_tricks.as_strided(flat, array.shape, (array.itemsize,) * array.ndim)


def record_rows(array: Array) -> Array:
    """Return the values as a plane of a larger array, with padding between the rows."""
    wide = np.zeros((*array.shape, 3), array.dtype)
    wide[..., 1] = array
    return wide[..., 1]


LAYOUTS: tuple[Callable[[Array], Array], ...] = (swapped, unaligned, mapped, overlapping, record_rows)


def strange(rng: random.Random, array: Array) -> Array:
    """Return an array of the same shape in one of these layouts, or as it is."""
    if rng.random() < 0.4 or array.dtype.hasobject:
        return array
    return rng.choice(LAYOUTS)(array)


def native(array: Array) -> Array:
    """Return the same values in the machine's own layout, for a reference that should not see any other."""
    return np.array(array, array.dtype.newbyteorder("="), order="C")
