"""The instructions that run a program again and again; all others stand in `nameexpr.compiler.ir.program`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nameexpr.compiler.ir.program import Program


@dataclass(frozen=True, slots=True)
class Sliced:
    """A program run for one index of leading axes at a time, into a fresh array.

    `body` has the sources as operands: each without as many leading axes as `cuts` says, which are the last
    ones looped over (its index there is that of the slice, or 0 where the size is 1). The result has the
    sizes `counts` before those of the body's; `layout` are its axes in the order they have in memory.
    """

    sources: tuple[int, ...]
    cuts: tuple[int, ...]
    counts: tuple[int, ...]
    body: Program
    layout: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Looped:
    """A program run for one block of a label's indices at a time, so that less is in memory at once.

    `body` has the sources as operands: of each the `block` indices of the present block along its entry of
    `axes`, or all of it where that is None. `size` is that of `label`; where blocks do not divide it, `tail`
    is the program of the smaller block at the end. What blocks give is placed along the axis `place` of the
    result, or, where that is None, combined by the ufunc of NumPy's that `combine` names.
    """

    sources: tuple[int, ...]
    axes: tuple[int | None, ...]
    label: str
    size: int
    block: int
    body: Program
    tail: Program | None
    place: int | None
    combine: str
    dtype: str

    @property
    def bodies(self) -> tuple[Program, ...]:
        """The programs of a block and of the smaller one at the end."""
        return (self.body,) if self.tail is None else (self.body, self.tail)

    @property
    def cuts(self) -> int:
        """How many sources only a part is taken of."""
        return sum(axis is not None for axis in self.axes)

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return -(-self.size // self.block)
