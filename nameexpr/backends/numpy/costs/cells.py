"""Passes over cells: what the runs, the strides and the memory of arrays cost, in nanoseconds.

`program` adds such passes up. A run is what NumPy's inner loop goes through at once: axes that lie together
in all arrays are joined. The constants were fitted on the machine of `estimate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, prod

from nameexpr.compiler.ir.dtypes import ITEM_BYTES
from nameexpr.compiler.ir.program import Shape
from nameexpr.compiler.ir.strides import Strides, row_major_strides

FLOATS = frozenset({"float32", "float64", "complex64", "complex128"})
UFUNC = 270.0
"""A call of a ufunc, whatever its arrays are."""
RUN = 4.0
"""Starting one run."""
STRIDED = 0.15
"""More for a cell of an array that does not lie beside the one before."""
FAR = 0.3
"""More for such a cell, where each has a cache line of its own and they do not stay in the cache."""
PAGED = 1.0
"""More again, where each has a page of its own."""
CONVERTED = 0.3
"""Casting one cell on the way into a function, or out of it."""
LINE, PAGE, NEAREST = 64, 4096, 1 << 15
"""Bytes of a cache line, of a page, and of the cache next to the processor."""
MEMORY = ((1 << 20, 0.0), (1 << 25, 0.004))
"""Up to so many bytes that are read and written, each of them takes so much more."""
MAIN = 0.016
"""Beyond these, each byte takes so much more."""
PAGES = 0.04
"""Each byte of an array that is so large that the system hands out its memory anew."""


@dataclass(frozen=True, slots=True)
class Array:
    """An array to reckon with: strides are in cells, 0 where it is broadcast."""

    shape: Shape
    strides: Strides
    dtype: str

    @property
    def cells(self) -> int:
        """How many cells it has, those of a broadcast axis counted once."""
        return prod(size for size, step in zip(self.shape, self.strides, strict=True) if step or size == 0)

    @property
    def item(self) -> int:
        """Bytes of a cell."""
        return item_bytes(self.dtype)


def item_bytes(dtype: str) -> int:
    """Return the bytes of a cell; 8 of a dtype that is not known."""
    return ITEM_BYTES.get(dtype, 8)


def fresh(shape: Shape, dtype: str) -> Array:
    """Return a row-major array."""
    return Array(shape, row_major_strides(shape), dtype)


def broadcast(array: Array, shape: Shape) -> Array:
    """Return the array with the axes of a shape that it is broadcast to."""
    lead = len(shape) - len(array.shape)
    pairs = zip(array.shape, array.strides, strict=True)
    strides = (0,) * lead + tuple(0 if size == 1 else abs(step) for size, step in pairs)
    return Array(shape, strides, array.dtype)


def runs(shape: Shape, arrays: Sequence[Array]) -> tuple[int, tuple[int, ...]]:
    """Return how many cells a run has, and the stride of each array in it; the longest strides go
    outside.

    Examples
    --------
    >>> runs((3, 4), [fresh((3, 4), "float64")])
    (12, (1,))
    >>> runs((3, 4), [fresh((3, 4), "float64"), Array((3, 4), (0, 1), "float64")])
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


def pass_nanos(shape: Shape, result: Array, sources: Sequence[Array], cell: float, run: float = RUN) -> float:
    """Return the time of a function of arrays, broadcast to a shape, into a result of that shape.

    Parameters
    ----------
    shape : tuple of int
        The cells that the function is computed for.
    result : Array
        Where they go.
    sources : sequence of Array
        What they are computed from.
    cell, run : float
        One cell in the cache, and starting a run.
    """
    cells = prod(shape)
    if not cells:
        return 0.0
    arrays = [broadcast(one, shape) for one in (result, *sources)]
    length, inner = runs(shape, arrays)
    each = cell + fsum(stride_nanos(one, step) for one, step in zip(arrays, inner, strict=True))
    moved = sum(one.cells * one.item for one in arrays)
    return cells / length * (run if length < cells else 0.0) + cells * each + memory_nanos(moved)


def stride_nanos(array: Array, step: int) -> float:
    """Return what a cell takes more, because the one before it lies a step away."""
    if abs(step) <= 1:
        return 0.0
    return STRIDED + far_nanos(array, step)


def far_nanos(array: Array, step: int) -> float:
    """Return what a cell takes more, because it has a cache line, or a page, of its own."""
    apart, size = abs(step) * array.item, array.cells * array.item
    far = FAR if apart >= LINE and size > NEAREST else 0.0
    return far + (PAGED if apart >= PAGE and size > MEMORY[0][0] else 0.0)


def pages_nanos(size: int) -> float:
    """Return what getting the memory of an array takes."""
    return size * PAGES if size > MEMORY[-1][0] else 0.0


def memory_nanos(moved: int) -> float:
    """Return what the caches that it misses add to a pass over so many bytes."""
    return moved * next((rate for most, rate in MEMORY if moved <= most), MAIN)
