"""The blocks in which windows are reduced, multiplied and weighed.

`nameexpr.backends.numpy.rolling` and `windows` work in these blocks, and `nameexpr.compiler.memory` knows by
them how much it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import gcd, prod

from nameexpr.compiler.ir.program import Shape

Move = tuple[int, int, int]
"""How windows move along an axis: their distance, that of their elements, and the number of these."""
COPIED = 1 << 20
"""The bytes of a block of windows that are copied for a product of matrices."""
ROWS = 128
"""The number of windows of a block below which it may have twice as many bytes, since its product is slow."""
BLOCK = 1 << 15
"""The number of elements of a block, a few of which stay in the cache."""
RUN = 32
"""The number of elements along the fastest axis that are not divided among blocks."""
LONG = 256
"""The number of elements of a run from which starting it does not matter."""
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


def move_of(window: Sequence[int]) -> Move:
    """Return the distances of windows and of their elements, in steps that both are multiples of, and the
    number of their elements.
    """
    _, stride, apart, count = window
    step = gcd(stride, apart) or 1
    return abs(stride) // step, abs(apart) // step, count


def tiles_of(shape: Shape, steps: Sequence[int], moves: Mapping[int, Move]) -> Shape:
    """Return the size of a block of a result along each axis; `steps` are the strides of the array that is
    read, and `moves` how windows move along their axes.
    """
    tiles = list(shape)
    slow = sorted(range(len(shape)), key=lambda axis: -abs(steps[axis]))
    for axis, (stride, apart, count) in moves.items():
        tiles[axis] = min(shape[axis], FEW * apart * (count - 1) // stride + 1)
    budget = BLOCK // prod([stride for stride, _, _ in moves.values()])
    others = [axis for axis in slow if axis not in moves]
    for axis in others:
        if prod(tiles) > budget:
            shortest = RUN if axis == others[-1] else 1
            tiles[axis] = min(shape[axis], max(shortest, budget * tiles[axis] // prod(tiles)))
    for axis in reversed([axis for axis in slow if axis in moves]):
        tiles[axis] = min(shape[axis], max(tiles[axis], budget * tiles[axis] // prod(tiles)))
    return tuple(tiles)


def run_of(shape: Sequence[int], steps: Sequence[int], step: int) -> int:
    """Return how many elements are contiguous along some axes, where `step` goes from one to the next."""
    run = 1
    for own, size in sorted((abs(one), size) for one, size in zip(steps, shape, strict=True) if size != 1):
        if own != step * run:
            break
        run *= size
    return run


def chunk_of(shape: Shape, kept: int, item: int) -> tuple[int, int]:
    """Return the axis along which the windows of a product are copied in blocks, and how many indices of it
    are copied at a time: one index of the axes before it, and all of those after it.
    """
    inner = prod(shape[kept:]) * item
    most = COPIED if inner * ROWS <= COPIED else 2 * COPIED
    for axis in range(kept):
        row = max(1, inner * prod(shape[axis + 1 : kept]))
        if row <= most or axis == kept - 1:
            blocks = -(-shape[axis] // max(1, most // row))
            return axis, -(-shape[axis] // max(1, blocks))
    return 0, 1


def parts_of(shape: Shape, axis: int, size: int) -> Iterator[tuple[int | slice, ...]]:
    """Yield the blocks of such a copy, in order."""
    for lead in product(*map(range, shape[:axis])):
        for start in range(0, shape[axis], size):
            yield *lead, slice(start, min(start + size, shape[axis])), *[slice(None)] * len(shape[axis + 1 :])


def copied_cells(shape: Shape, kept: int, item: int) -> int:
    """Return the number of elements of a block of copied windows."""
    if 0 in shape or not kept:
        return 0
    axis, size = chunk_of(shape, kept, item)
    return size * prod(shape[axis + 1 :])


def is_one_run(shape: Shape, steps: Sequence[int], weights: Shape, step: int) -> bool:
    """Return whether windows along one contiguous axis have the same weights, as in `numpy.correlate`."""
    return len(shape) == len(weights) == 2 and tuple(steps) == (step, step) and weights[0] == 1  # noqa: PLR2004


def row_of(tiles: Shape, steps: Sequence[int], weights: Shape) -> Shape:
    """Return the shape in which weights are repeated along the fastest axes of a block, so that their runs
    are as long as those of the windows; with one element if that is not needed.
    """
    near, run, own = set[int](), 1, 1
    for axis in sorted(range(len(tiles)), key=lambda axis: abs(steps[axis])):
        if run < LONG and tiles[axis] != 1:
            own = own * tiles[axis] if own == run and weights[axis] != 1 else own
            run *= tiles[axis]
            near.add(axis)
    pairs = enumerate(zip(tiles, weights, strict=True))
    row = tuple([tile if axis in near or other != 1 else 1 for axis, (tile, other) in pairs])
    is_repeated = 1 < own < min(RUN, run) and FEW * prod(row) <= prod(tiles)
    return row if is_repeated else (1,) * len(tiles)


def weighed_tiles(shape: Shape, steps: Sequence[int]) -> Shape:
    """Return the size of a block of a weighed sum along each axis: those that are slow in memory are cut."""
    tiles = list(shape)
    for axis in sorted(range(len(shape)), key=lambda axis: -abs(steps[axis])):
        if prod(tiles) <= BLOCK:
            break
        tiles[axis] = max(1, BLOCK * tiles[axis] // prod(tiles))
    return tuple(tiles)


def blocks(shape: Shape, tiles: Shape) -> Iterator[tuple[slice, ...]]:
    """Yield the parts of an array, each as one slice for each axis."""
    for corner in product(*[range(0, size, tile) for size, tile in zip(shape, tiles, strict=True)]):
        ends = zip(corner, tiles, shape, strict=True)
        yield tuple([slice(start, min(start + tile, size)) for start, tile, size in ends])
