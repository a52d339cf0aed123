"""The patterns of `pack` and `unpack`, in which "*" is any number of axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

from nameexpr.compat.patterns import fault, misnamed, shape_of
from nameexpr.errors import Span

STAR = "*"


def flattened(tensors: Sequence[Any], pattern: str) -> tuple[int, list[Any], list[tuple[int, ...]]]:
    """Return the axis at "*", arrays that have one axis there, and the shapes that they had there."""
    before, after = around_star(pattern)
    if not len(tensors):
        raise fault("NE501", "there are no arrays to pack", pattern, hint="give at least one array")
    flat, shapes = [], []
    for number, tensor in enumerate(tensors):
        shape = shape_of(tensor, pattern)
        if len(shape) < before + after:
            message = f"array {number} has {len(shape)} dims, and the pattern names {before + after}"
            raise fault("NE310", message, pattern, [Span(0, len(pattern))], "reshape it, or name fewer axes")
        stop = len(shape) - after
        shapes.append(shape[before:stop])
        flat.append(tensor.reshape((*shape[:before], prod(shape[before:stop]), *shape[stop:])))
    return before, flat, shapes


@lru_cache(maxsize=256)
def around_star(pattern: str) -> tuple[int, int]:
    """Return how many axes are before "*" in a pattern, and how many after it."""
    axes = pattern.split()
    whole = [Span(0, len(pattern))]
    for axis in axes:
        if axes.count(axis) > 1:
            raise fault("NE205", f"'{axis}' is there more than once", pattern, whole, "write each axis once")
        if axis != STAR and (reason := misnamed(axis)):
            raise fault("NE100", f"'{axis}' {reason}", pattern, whole)
    if STAR not in axes:
        raise fault("NE103", "the pattern has no '*'", pattern, whole, "write * for the axes to join")
    before = axes.index(STAR)
    return before, len(axes) - before - 1


def star(pattern: str) -> Span:
    """Return where "*" is in a pattern."""
    at = pattern.index(STAR)
    return Span(at, at + 1)
