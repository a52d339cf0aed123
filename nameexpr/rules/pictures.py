"""How an error shows two tensors that meet: one below the other, as their dims pair from the right.

>>> from nameexpr.dims import Dim
>>> left, right = (Dim("N", 2), Dim("C", 3)), (Dim("Z", 3),)
>>> print(paired_fault("NE470", "these differ", (left, right), Pairing("add"), ([-1], [-1]), ""))
DimNameError[NE470]: these differ
  left   N=2  C=3
              ^^^
  right       Z=3
              ^^^
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from nameexpr.dims import Dim, Dims
from nameexpr.errors import Diagnostic, Mark, NameExprError, Span, error


class Pairing(NamedTuple):
    """How an error speaks of two tensors that are paired: the verb, and what each of them is.

    `moves` says which of them advice may put into another order: both, only the right one (the left one is
    written to, or joined as it is), or neither (some of their dims do not pair from the right).
    """

    verb: str
    left: str = "left"
    right: str = "right"
    moves: Literal["both", "right", "none"] = "both"


Marked = tuple[Sequence[int], Sequence[int]]
"""The dims to mark in the left and in the right tensor, counted from either end."""


def paired_fault(
    code: str, message: str, tensors: tuple[Dims, Dims], pairing: Pairing, marked: Marked, hint: str
) -> NameExprError:
    """Return (not raise) an error that shows both tensors whole, aligned from the right."""
    text, marks = aligned(tensors, (pairing.left, pairing.right), marked)
    return error(Diagnostic(code, message, text, marks, hint=hint, is_whole=True))


def aligned(
    tensors: Sequence[Dims], roles: Sequence[str], marked: Sequence[Sequence[int]]
) -> tuple[str, tuple[Mark, ...]]:
    """Return tensors as lines of text, their dims below each other from the right, and the marks."""
    rank = max(map(len, tensors))
    rows = [[""] * (rank - len(dims)) + [_cell(dim) for dim in dims] for dims in tensors]
    widths = [max(len(row[place]) for row in rows) for place in range(rank)]
    margin = max(map(len, roles))
    lines, marks, start = [], [], 0
    for role, dims, row, places in zip(roles, tensors, rows, marked, strict=True):
        line = role.ljust(margin) + "".join(
            "  " + cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        )
        if not dims:
            line = role.ljust(margin) + "  (0-d)"
        for place in places:
            at = place % len(dims) + rank - len(dims)
            left = start + margin + sum(width + 2 for width in widths[:at]) + 2
            marks.append(Mark(Span(left, left + len(row[at]))))
        lines.append(line.rstrip())
        start += len(lines[-1]) + 1
    return "\n".join(lines), tuple(marks)


def _cell(dim: Dim) -> str:
    return f"{dim.name}={dim.size}"
