"""The sizes of the blocks in which fused functions and their reductions are computed."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.compiler.ir.program import Shape
from nameexpr.compiler.ir.target import Target

HALF = 4
"""The most bytes of elements of which twice as many fit into a block."""
RUN, ADDED = 1 << 13, 8
"""The elements of a run, and the indices along a reduced axis, for which starting a block takes no time."""
ASSOCIATIVE = {"sum", "max", "min", "prod", "any", "all", "mean", "count_nonzero"}
"""Reductions whose blocks can be reduced separately and then combined."""
FULL_AXIS = {"var", "std", "logsumexp", "norm"}
"""Reductions for which a block must contain all elements of the reduced dims."""


def tiles_of(
    target: Target, shape: Shape, reduced: Sequence[int], reducer: str | None, item: int, *, is_stored: bool
) -> Shape:
    """Return the size of a block along each axis; the last axis, which is long in memory, is cut last.

    Elements have at most `item` bytes. Blocks have about the same size, and their number is even, so that
    two threads do the same. They have several indices along a reduced axis, as adding what each gives
    takes time. If no reduced axis can be cut, blocks of what `is_stored` exceed the cache rather than
    have short runs.
    """
    tiles, last, cells = list(shape), len(shape) - 1, target.block_cells * (2 if item <= HALF else 1)
    every = [axis for axis in range(len(shape)) if reducer in ASSOCIATIVE or axis not in reduced]
    outer, final = [axis for axis in every if axis != last], [axis for axis in every if axis == last]
    kept, gone = [[axis for axis in outer if (axis in reduced) == is_gone] for is_gone in (False, True)]
    rows = target.block_rows if len(every) > 2 else 1  # noqa: PLR2004
    first = [(axis, rows if axis in kept[:1] else 1) for axis in outer]
    again = [(axis, ADDED) for axis in gone] + [(axis, 1) for axis in (*kept, *gone, *final)]
    for place, (axis, fewest) in enumerate([*first, *[(axis, RUN) for axis in final], *again]):
        rest = prod(tiles) // max(1, tiles[axis])
        if prod(tiles) <= cells:
            break
        if axis in gone and place < len(first) and cells < ADDED * rest:
            continue
        is_inside = is_stored and reducer in FULL_AXIS and axis > min(reduced)
        least = max(fewest, RUN // max(1, prod(shape[axis + 1 :]))) if is_inside else fewest
        count = -(-shape[axis] // max(least, cells // max(1, rest)))
        tiles[axis] = -(-shape[axis] // (count + count % 2 if count > 1 else 1))
    return tuple(tiles)
