"""Arrays in the cost model, and the runs in which NumPy iterates over several of them.

A run is processed by one call of NumPy's inner loop: axes that are contiguous in all arrays are joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.program import Shape
from nameexpr.compiler.ir.strides import Strides, row_major_strides


class Strided(NamedTuple):
    """An array in the cost model: strides are in elements, 0 where it is broadcast."""

    shape: Shape
    strides: Strides
    dtype: str

    @property
    def cells(self) -> int:
        """The number of elements, those of a broadcast axis counted once."""
        return prod(size for size, step in zip(self.shape, self.strides, strict=True) if step or size == 0)

    @property
    def item(self) -> int:
        """The bytes of an element; 8 for an unknown dtype."""
        return ITEM_BYTES.get(self.dtype, 8)

    @property
    def size(self) -> int:
        """The bytes of all elements."""
        return self.cells * self.item

    def over(self, shape: Shape) -> Strided:
        """Return the array broadcast to a shape."""
        lead = (0,) * (len(shape) - len(self.shape))
        pairs = zip(self.shape, self.strides, strict=True)
        return Strided(shape, lead + tuple(0 if size == 1 else abs(step) for size, step in pairs), self.dtype)


def row_major(shape: Shape, dtype: str) -> Strided:
    """Return a row-major array."""
    return Strided(shape, row_major_strides(shape), dtype)


def runs(shape: Shape, arrays: Sequence[Strided]) -> tuple[int, tuple[int, ...]]:
    """Return how many elements a run has, and the stride of each array in it; the longest strides are
    outermost.

    Examples
    --------
    >>> runs((3, 4), [row_major((3, 4), "float64")])
    (12, (1,))
    >>> runs((3, 4), [row_major((3, 4), "float64"), Strided((3, 4), (0, 1), "float64")])
    (4, (1, 1))
    """
    axes = [axis for axis, size in enumerate(shape) if size != 1]
    steps = {axis: [abs(array.strides[axis]) for array in arrays] for axis in axes}
    axes.sort(key=lambda axis: (-max(steps[axis]), -sum(steps[axis])))
    if not axes:
        return 1, (1,) * len(arrays)
    last = axes.pop()
    inner = tuple(array.strides[last] for array in arrays)
    length = shape[last]
    while axes and all(array.strides[axes[-1]] == array.strides[last] * shape[last] for array in arrays):
        last = axes.pop()
        length *= shape[last]
    return length, inner
