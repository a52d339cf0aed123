"""The instruction that runs a program for every slice; all others stand in `nameexpr.compiler.program`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nameexpr.compiler.program import Program


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
