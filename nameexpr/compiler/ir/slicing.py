"""Which instructions can run for one index of their leading axes at a time, and what they are then.

A slice has one index for each of `depth` leading axes of the result. A source that is broadcast may have the
last of these axes only, or none: what is cut is a number of leading axes for each source. Where an axis has
size 1 its index is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nameexpr.compiler.ir.program import (
    AlongAxes,
    Cast,
    Copy,
    Divide,
    Einsum,
    Fused,
    Instruction,
    IntegerMatmul,
    Matmul,
    Multiply,
    Pointwise,
    Reduce,
    Reshape,
    Sum,
    Transpose,
)

Shape = tuple[int, ...]


def aligned(one: Instruction, sources: Sequence[Shape], depth: int) -> tuple[int, ...] | None:
    """Return how many leading axes of each source are cut for a slice; None if there are no slices."""
    match one:
        case Pointwise() if one.is_weak:
            return None
        case Pointwise() | Multiply():
            return _broadcast(sources, depth, 1)
        case Matmul() | IntegerMatmul():
            return _broadcast(sources, depth, 2)
        case Fused():
            kept = len(one.shape) - len(one.reduced)
            cuts = tuple(depth if source else 0 for source in sources)
            return cuts if kept > depth and _beyond(one.reduced, depth) else None
        case Einsum():
            return _by_letters(one, depth)
        case _:
            return (depth,) if len(sources) == 1 and _keeps_leading(one, sources[0], depth) else None


def _keeps_leading(one: Instruction, source: Shape, depth: int) -> bool:
    """Whether an instruction on one array leaves its leading axes alone."""
    if len(source) <= depth:
        return False
    match one:
        case Sum(_, axes) | AlongAxes(_, _, axes):
            return _beyond(axes, depth)
        case Reduce(_, _, count):
            return len(source) - count > depth
        case Transpose(_, axes):
            return axes[:depth] == tuple(range(depth))
        case Reshape(_, shape):
            return shape[:depth] == source[:depth]
        case _:
            return isinstance(one, Cast | Copy | Divide)


def _beyond(axes: Sequence[int], depth: int) -> bool:
    return all(axis >= depth for axis in axes)


def _broadcast(sources: Sequence[Shape], depth: int, least: int) -> tuple[int, ...] | None:
    """Return the cuts of sources that are broadcast from the right, of which `least` axes must be left."""
    rest = max(map(len, sources), default=0) - depth
    return tuple(max(0, len(source) - rest) for source in sources) if rest >= least else None


def _by_letters(one: Einsum, depth: int) -> tuple[int, ...] | None:
    leading = one.result[:depth]
    if len(one.result) <= depth or len(set(leading)) < depth:
        return None
    cuts = tuple(_shared(letters, leading) for letters in one.letters)
    rest = {letter for letters, cut in zip(one.letters, cuts, strict=True) for letter in letters[cut:]}
    return None if rest & set(leading) else cuts


def _shared(letters: Shape, leading: Shape) -> int:
    """Return with how many of the last leading letters an operand begins."""
    depth = len(leading)
    return next(count for count in range(depth, -1, -1) if letters[:count] == leading[depth - count :])


def cut(one: Instruction, depth: int) -> Instruction:
    """Return an instruction, of which `aligned` gave cuts, without its leading axes."""
    match one:
        case Pointwise() | Reshape():
            return replace(one, shape=one.shape[depth:])
        case Fused():
            return replace(
                one, shape=one.shape[depth:], tiles=one.tiles[depth:], reduced=_less(one.reduced, depth)
            )
        case Sum() | AlongAxes():
            return replace(one, axes=_less(one.axes, depth))
        case Transpose():
            return replace(one, axes=_less(one.axes[depth:], depth))
        case Einsum():
            leading = one.result[:depth]
            letters = tuple(own[_shared(own, leading) :] for own in one.letters)
            return replace(one, letters=letters, result=one.result[depth:])
        case _:
            return one


def _less(axes: Sequence[int], depth: int) -> tuple[int, ...]:
    return tuple(axis - depth for axis in axes)
