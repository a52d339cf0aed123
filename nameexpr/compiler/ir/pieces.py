"""The parts of an array that is joined from others."""

from __future__ import annotations

from math import prod

from nameexpr.records import record

Shape = tuple[int, ...]


@record
class Piece:
    """A part of an array: where it begins along each axis and how long it is there, and its shape with the
    axes split as those of the value that is written to it.
    """

    starts: Shape
    lengths: Shape
    split: Shape

    def holds(self, source: Shape, shape: Shape) -> bool:
        """Whether it is inside an array of a shape, and a source can be repeated to fill it."""
        spans = zip(self.starts, self.lengths, shape, strict=True)
        is_inside = all(0 <= start <= start + length <= size for start, length, size in spans)
        fits = all(size in (1, other) for size, other in zip(source[::-1], self.split[::-1], strict=False))
        return (
            is_inside and fits and len(source) <= len(self.split) and prod(self.split) == prod(self.lengths)
        )
