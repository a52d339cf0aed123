"""What generated code calls to write values into the parts of one array.

>>> pieces = ((0,), (1,), (1,)), ((1,), (2,), (2,))
>>> joined((4,), "int64", pieces, 7, np.array([1, 2]))
array([7, 1, 2, 0])
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]


def joined(
    shape: Shape, dtype: str | None, pieces: tuple[tuple[Shape, Shape, Shape], ...], *values: Any
) -> Array:
    """Return an array of which each value has the part that begins at `starts` and is `lengths` long.

    A part is written in the shape `split`; what is in no part is 0. Without a dtype it is one that can hold
    all values.
    """
    is_full = sum([prod(lengths) for _, lengths, _ in pieces]) == prod(shape)
    result = (np.empty if is_full else np.zeros)(shape, dtype or np.result_type(*values))
    for (starts, lengths, split), value in zip(pieces, values, strict=True):
        ends = zip(starts, lengths, strict=True)
        part = result[tuple([slice(start, start + length) for start, length in ends])]
        part.reshape(split)[...] = value
    return result
