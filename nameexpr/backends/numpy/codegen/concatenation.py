"""Concatenations as NumPy code: an array, and each part written to it, or computed in it.

t2 = np.empty((64, 500, 128), "float64")
t0 = np.multiply(a0, 2.5, out=t2[:, :300])
t2[:, 300:500] = a1
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.backends.numpy.codegen.calls import filled
from nameexpr.backends.numpy.codegen.statements import (
    Assign,
    Dtype,
    Joined,
    Statement,
    Value,
    indexed,
    numpy,
)
from nameexpr.compiler.ir.pieces import Piece
from nameexpr.compiler.ir.placing import PlacedPart, placed_values
from nameexpr.compiler.ir.program import Instruction, Program, Shape


def parts_of(
    program: Program, shapes: Sequence[Shape], values: Sequence[str]
) -> dict[int, tuple[Value, list[Statement]]]:
    """Return for the instructions that compute a part in its array the place of their result, and the
    statement that creates the array, if they are the first.
    """
    count = len(program.operands)
    found: dict[int, tuple[Value, list[Statement]]] = {}
    for root, placed in placed_values(program, shapes).items():
        whole, target = program.instructions[placed.whole - count], values[placed.whole]
        before = [_created(whole, target, ())] if root == placed.first else []
        found[root - count] = _place(placed, whole, target), before
    return found


def concatenated(instruction: Instruction, target: str, names: Sequence[str]) -> list[Statement]:
    """Return the statements that write the parts that are not computed in the array, which is created unless
    others are.
    """
    statements: list[Statement] = [] if instruction.factors else [_created(instruction, target, names)]
    positions = iter(range(len(names)))
    for piece, number, value in zip(
        instruction.pieces, instruction.constants, filled(instruction, names), strict=True
    ):
        if number is None and next(positions) in instruction.factors:
            continue
        part = _part(target, piece, instruction.shape)
        if piece.split != piece.lengths:
            part = indexed(Joined((part, f".reshape({piece.split})")), "...")
        statements.append(Assign(part, value))
    return statements


def _created(instruction: Instruction, target: str, names: Sequence[str]) -> Statement:
    """Return the statement that creates the array, of zeros if some parts have no value."""
    is_full = sum(prod(piece.lengths) for piece in instruction.pieces) == prod(instruction.shape)
    dtype: Value = Dtype(instruction.dtype) if instruction.dtype else numpy("result_type")(*names)
    return Assign(target, numpy("empty" if is_full else "zeros")(str(instruction.shape), dtype))


def _place(placed: PlacedPart, instruction: Instruction, target: str) -> Value:
    """Return the part of the array that a root is computed in, with the axes of the root."""
    place = _part(target, placed.piece, instruction.shape)
    if placed.shape != placed.piece.lengths:
        place = Joined((place, f".reshape({placed.shape})"))
    for view, before in placed.steps:
        if view.primitive == "transpose":
            back = tuple([view.axes.index(axis) for axis in range(len(view.axes))])
            place = Joined((place, f".transpose({back})"))
        else:
            place = Joined((place, f".reshape({before})"))
    return place


def _part(target: str, piece: Piece, shape: Shape) -> Joined:
    ranges = []
    for start, length, size in zip(piece.starts, piece.lengths, shape, strict=True):
        ranges.append(":" if length == size else f"{start}:{start + length}")
    while ranges and ranges[-1] == ":":
        ranges.pop()
    return indexed(target, ", ".join(ranges) or "...")
