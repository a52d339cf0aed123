"""Reductions of windows along an axis: the blocks in which they are computed.

`nameexpr.backends.numpy.rolling` reduces windows in these blocks, and `nameexpr.compiler.memory` knows by
them how much it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod

from nameexpr.compiler.ir.program import Shape

BLOCK = 1 << 15
"""The number of elements of a block, a few of which stay in the cache."""
RUN = 32
"""The number of elements along the fastest axis that are not divided among blocks."""
FEW = 4
"""How many times as long as its windows a block is, so that little is computed twice."""


def doubles(stride: int, count: int, size: int) -> bool:
    """Return whether windows that double in size take fewer operations than combining every element.

    >>> doubles(1, 50, 1000), doubles(2, 2, 1000)
    (True, False)
    """
    return passes_of(count) * (stride * (size - 1) + 1) < (count - 1) * size


def passes_of(count: int) -> int:
    """Return how often windows that double in size are combined for `count` elements."""
    return max(0, count.bit_length() - 1 + count.bit_count() - 1)


def grid_of(window: Sequence[int]) -> tuple[int, int]:
    """Return the distances of windows and of their elements, in the steps that both are multiples of."""
    _, stride, apart, _ = window
    step = gcd(stride, apart) or 1
    return abs(stride) // step, abs(apart) // step


def tiles_of(shape: Shape, steps: Sequence[int], axis: int, stride: int, reach: int) -> Shape:
    """Return the size of a block of a result along each axis.

    Parameters
    ----------
    shape, steps : tuple of int
        The shape of the result, and the strides of the array that is read.
    axis, stride, reach : int
        The axis of the windows, the distance of their beginnings, and that from their first element to
        their last.
    """
    tiles, others = list(shape), [other for other in range(len(shape)) if other != axis]
    others.sort(key=lambda other: -abs(steps[other]))
    least = min(shape[axis], FEW * reach // stride + 1)
    budget = BLOCK // (least * stride)
    for other in others:
        rest = prod([tiles[one] for one in others if one != other])
        if rest * tiles[other] > budget:
            shortest = RUN if other == others[-1] else 1
            tiles[other] = min(shape[other], max(shortest, budget // rest))
    cells = prod([tiles[one] for one in others]) * stride
    tiles[axis] = min(shape[axis], max(least, BLOCK // cells))
    return tuple(tiles)


def buffer_cells(window: Sequence[int], shape: Shape, steps: Sequence[int], axis: int) -> int:
    """Return the number of elements of the two buffers for windows that double in size."""
    (stride, apart), count = grid_of(window), window[3]
    if 0 in shape or not doubles(stride, count, shape[axis]):
        return 0
    tiles = tiles_of(shape, steps, axis, stride, apart * (count - 1))
    longest = stride * (tiles[axis] - 1) + apart * (count - 1) + 1
    return 2 * prod(tiles) // tiles[axis] * longest
