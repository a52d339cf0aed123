"""Operands for generated cases: dtypes, values whose results can be compared exactly, and memory layouts."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

DTYPES = (
    "bool int8 uint8 int16 int32 int64 uint64 float16 float32 float64 complex64 complex128".split()  # noqa: SIM905
)
COMMON = ["float64", "float64", "float32", "int64", "int32", "complex128", "float16"]
SPECIAL = [math.nan, math.inf, -math.inf, -0.0]


@dataclass(frozen=True)
class Values:
    """Which numbers may be drawn.

    Attributes
    ----------
    top
        The largest magnitude of a real part.
    unit
        Only 1, -1, 1j and -1j, for long products.
    zeros
        Whether zeros are wanted among the units.
    special
        Whether floats may be NaN, infinite or -0.0.
    extreme
        Whether integers may be as large as their dtype allows.
    """

    top: int = 4
    unit: bool = False
    zeros: bool = True
    special: bool = False
    extreme: bool = False


def random_dtypes(rng: random.Random, count: int) -> list[str]:
    """One dtype for each operand: mostly all the same, else mixed."""
    manner = rng.random()
    if manner < 0.4:
        return [rng.choice(COMMON)] * count
    if manner < 0.7:
        return [rng.choice(DTYPES)] * count
    return [rng.choice(DTYPES) for _ in range(count)]


def random_array(
    rng: random.Random, shape: Sequence[int], dtype: str, values: Values
) -> np.ndarray[Any, Any]:
    """An array of small numbers in a random memory layout."""
    layout = rng.choice(
        ["C", "C", "F", "transposed", "strided", "reversed", "broadcast", "readonly", "offset"]
    )
    if not shape:
        layout = "readonly" if layout == "readonly" else "C"
    if layout == "broadcast":
        return broadcast(rng, shape, dtype, values)
    array = fill(rng, shape, dtype, values)
    if layout == "transposed":
        order = rng.sample(range(array.ndim), array.ndim)
        return np.ascontiguousarray(array.transpose(order)).transpose(np.argsort(order))
    if layout == "strided":
        return spread(array, [rng.choice([1, 2, 3]) for _ in shape], 0)
    if layout == "reversed":
        return spread(array, [rng.choice([1, -1, -2]) for _ in shape], 0)
    if layout == "offset":
        return spread(array, [1] * array.ndim, 1)
    array = np.array(array, order="F" if layout == "F" else "C")
    array.flags.writeable = layout != "readonly"
    return array


def spread(array: np.ndarray[Any, Any], steps: Sequence[int], start: int) -> np.ndarray[Any, Any]:
    """The same values as a strided view of a larger array."""
    sizes = [start + size * abs(step) for size, step in zip(array.shape, steps, strict=True)]
    base = np.zeros(sizes, array.dtype)
    view = base[(*tuple(slice(start, None, abs(step)) for step in steps), ...)]
    view = view[(*tuple(slice(None, None, 1 if step > 0 else -1) for step in steps), ...)]
    view[...] = array
    return view


def broadcast(rng: random.Random, shape: Sequence[int], dtype: str, values: Values) -> np.ndarray[Any, Any]:
    """An array with strides of zero along some dims: NumPy makes it read-only."""
    narrow = [1 if rng.random() < 0.5 else size for size in shape]
    return np.broadcast_to(fill(rng, narrow, dtype, values), tuple(shape))


def fill(rng: random.Random, shape: Sequence[int], dtype: str, values: Values) -> np.ndarray[Any, Any]:
    """A fresh array of drawn numbers."""
    numbers = [random_number(rng, np.dtype(dtype), values) for _ in range(math.prod(shape))]
    return np.array(numbers, dtype).reshape(tuple(shape))


def random_number(rng: random.Random, dtype: np.dtype[Any], values: Values) -> Any:
    """One number of a dtype."""
    kind = dtype.kind
    if kind == "b":
        return rng.random() < (0.9 if values.unit else 0.6)
    if values.unit:
        return random_unit(rng, kind, values.zeros)
    if kind in "iu" and values.extreme and rng.random() < 0.2:
        return int(rng.choice([np.iinfo(dtype).min, np.iinfo(dtype).max, np.iinfo(dtype).max // 2 + 1]))
    if kind == "c":
        top = min(values.top, 2)
        return complex(rng.randint(-top, top), rng.randint(-top, top))
    if kind == "f" and values.special and rng.random() < 0.15:
        return rng.choice(SPECIAL)
    if kind == "f" and dtype.itemsize > 2:
        return rng.randint(-2 * values.top, 2 * values.top) / 2
    return rng.randint(0 if kind == "u" else -values.top, values.top)


def random_unit(rng: random.Random, kind: str, zeros: bool) -> Any:
    """A number of magnitude one, or now and then a zero."""
    if zeros and rng.random() < 0.1:
        return 0
    units: dict[str, list[complex]] = {"u": [1], "c": [1, -1, 1j, -1j]}
    return rng.choice(units.get(kind, [1, -1]))


def random_scalar(rng: random.Random, dtype: str, values: Values) -> Any:
    """A 0-d operand: an array, a NumPy scalar or a Python number."""
    manner = rng.choice(["array", "numpy", "python", "python"])
    if manner == "array":
        return random_array(rng, (), dtype, values)
    number = random_number(rng, np.dtype(dtype), values)
    return np.dtype(dtype).type(number) if manner == "numpy" else number
