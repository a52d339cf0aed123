"""Windows that overlap: an element of the source is then in several places of the view.

A window goes through its source in constant steps, one for each axis; since no position leaves its dim, those
steps may be taken in the source as one row. Where each step is longer than the smaller ones together reach,
no two indices meet. Otherwise the positions are counted, as the bits of an integer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from nameexpr.compiler.ir.primitives import is_view
from nameexpr.compiler.ir.program import Instruction, Shape
from nameexpr.compiler.ir.strides import row_major_strides


def overlaps(
    value: int, count: int, instructions: Sequence[Instruction], windows: Mapping[int, Shape]
) -> bool:
    """Return whether a value is a view through a window that overlaps.

    The first `count` values are operands; `windows` are the shapes of what each window reads.
    """
    while value >= count and is_view(view := instructions[value - count]):
        if value in windows and is_overlapping(view, windows[value]):
            return True
        (value,) = view.sources
    return False


def is_overlapping(window: Instruction, source: Shape) -> bool:
    """Return whether a window of a source of this shape has some element in several places.

    >>> is_overlapping(Instruction("window", (0,), (3, 2), (0,), ((1, 1),)), (4,))
    True
    >>> is_overlapping(Instruction("window", (0,), (2, 2), (0,), ((2, 1),)), (4,))
    False
    """
    rows = list(zip(window.letters, row_major_strides(source), strict=True))
    steps = [sum(row[axis] * step for row, step in rows) for axis in range(len(window.shape))]
    moves = sorted((abs(step), size) for step, size in zip(steps, window.shape, strict=True) if size != 1)
    if 0 in window.shape or _is_apart(moves):
        return False
    cells = prod(window.shape)
    return cells > prod(source) or _distinct(moves) < cells


def _is_apart(moves: list[tuple[int, int]]) -> bool:
    """Return whether each step is longer than all smaller ones together reach."""
    reach = 0
    for step, size in moves:
        if step <= reach:
            return False
        reach += step * (size - 1)
    return True


def _distinct(moves: list[tuple[int, int]]) -> int:
    """Return the number of different positions: bit n is set if some index has the position n."""
    seen = 1
    for step, size in moves:
        done = 1
        while done < size:
            more = min(done, size - done)
            seen |= seen << step * more
            done += more
    return seen.bit_count()


def is_disjoint(left: int, right: int, count: int, instructions: Sequence[Instruction]) -> bool:
    """Return whether two views of one value go through windows that have no position in common, as their
    ranges along some axis do not meet.
    """
    one, other = (_first_window(value, count, instructions) for value in (left, right))
    if one is None or other is None or one.sources != other.sources:
        return False
    pairs = zip(_ranges(one), _ranges(other), strict=True)
    return any(last < start or end < first for (first, last), (start, end) in pairs)


def _first_window(value: int, count: int, instructions: Sequence[Instruction]) -> Instruction | None:
    """Return the window that a view goes through; None if views come before it that may repeat elements."""
    found: Instruction | None = None
    while value >= count and is_view(view := instructions[value - count]):
        if view.primitive not in {"reshape", "transpose"}:
            found = view
        (value,) = view.sources
    return found if found is not None and found.primitive == "window" else None


def _ranges(window: Instruction) -> list[tuple[int, int]]:
    """Return the first and the last position along each axis of the source."""
    found = []
    for offset, row in zip(window.axes, window.letters, strict=True):
        ends = [step * (size - 1) for step, size in zip(row, window.shape, strict=True)]
        found.append((offset + sum(min(end, 0) for end in ends), offset + sum(max(end, 0) for end in ends)))
    return found
