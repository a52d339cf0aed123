"""What all probes share: their record, and how sizes, dtypes and arrays are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from math import exp, log
from random import Random
from typing import Any, NamedTuple

import numpy as np

from nameexpr.backends.numpy.costs.calls import NumpyCosts

Call = Callable[[], Any]
Cost = Callable[[NumpyCosts], float]
LARGEST = 1 << 21
"""The largest number of elements of an operand or result."""
WORK = 4_000_000
"""The largest number of multiplications of a probe."""
LETTERS = "abcdef"


class Probe(NamedTuple):
    """A call to time: `make` creates its operands and returns it, `cost` is what it should take in ns."""

    family: str
    make: Callable[[], Call]
    cost: Cost


def draw_size(drawn: Random, least: int, most: int) -> int:
    """Return a number whose logarithm is drawn evenly."""
    return round(exp(drawn.uniform(log(least), log(most))))


def flip(drawn: Random, probability: float = 0.5) -> bool:
    """Return True with this probability."""
    return drawn.random() < probability


def draw_dtype(drawn: Random) -> str:
    """Return a dtype that BLAS supports."""
    return drawn.choice(["float64", "float64", "float32"])


def array_of(shape: Sequence[int], dtype: str, order: Sequence[int] | None = None) -> Any:
    """Return an array whose axes are in this order in memory."""
    order = range(len(shape)) if order is None else order
    made = np.ones([shape[axis] for axis in order], dtype)
    return made.transpose(np.argsort(list(order)))


def steps_of(sizes: Mapping[str, int], memory: Sequence[str]) -> dict[str, int]:
    """Return the strides of an array whose axes are in this order in memory."""
    steps = list(
        accumulate([sizes[label] for label in reversed(memory)], lambda one, size: one * size, initial=1)
    )
    return dict(zip(reversed(memory), steps, strict=False))
