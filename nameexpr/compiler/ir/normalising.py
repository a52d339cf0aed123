"""The blocks in which softmax and its logarithm are computed.

`nameexpr.backends.numpy.normalising` works in these blocks, and costs, memory and threads know them by the
same function. Blocks are cut along axes that are outside of all that are normalised, as these are laid out in
memory. Where that is not enough, they are cut along the outermost axis that is normalised. No other axis is
cut: a block would consist of short runs, of which each takes as long to start as hundreds of elements to
compute, and two threads would write next to each other.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nameexpr.compiler.ir.program import Shape

BLOCK = 1 << 18
"""The number of elements of a block."""
LEAST = 16
"""The least indices of a block along an axis that is normalised: for each block its largest elements and its
sums are kept.
"""


def outside(shape: Shape, strides: Sequence[int], axes: Collection[int]) -> list[int]:
    """Return the axes that are not normalised and outside of those that are in memory, the outermost first.

    >>> outside((5, 6, 7), (42, 7, 1), [2]), outside((5, 6, 7), (42, 7, 1), [1]), outside((5, 6), (6, 1), [0])
    ([0, 1], [0], [])
    """
    reach = max((abs(strides[axis]) for axis in axes if shape[axis] > 1), default=0)
    found = [axis for axis in range(len(shape)) if axis not in axes and abs(strides[axis]) >= reach]
    return sorted(found, key=lambda axis: -abs(strides[axis]))


def outermost(shape: Shape, strides: Sequence[int], axes: Collection[int]) -> int:
    """Return which of some axes has the longest stride.

    >>> outermost((5, 6, 7), (42, 7, 1), [1, 2])
    1
    """
    return max(axes, key=lambda axis: (shape[axis] > 1, abs(strides[axis])))


def block_of(shape: Shape, strides: Sequence[int], axes: Collection[int]) -> Shape:
    """Return the shape of the blocks that are normalised together; those at the end of an axis are smaller.

    >>> block_of((64, 1024, 1024), (1 << 20, 1 << 10, 1), [2])
    (1, 256, 1024)
    >>> block_of((1024, 1024), (1024, 1), [0]), block_of((40, 1 << 20), (1 << 20, 1), [0])
    ((256, 1024), (16, 1048576))
    """
    block = list(shape)
    for axis in outside(shape, strides, axes):
        if prod(block) > BLOCK:
            block[axis] = max(1, BLOCK * shape[axis] // prod(block))
    if prod(block) > BLOCK:
        axis = outermost(shape, strides, axes)
        block[axis] = min(shape[axis], max(LEAST, BLOCK * shape[axis] // prod(block)))
    return tuple(block)
