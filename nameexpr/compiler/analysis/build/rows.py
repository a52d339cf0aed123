"""A statement of a recurrence while it is written."""

from __future__ import annotations

from nameexpr.compiler.ir.axes import Axes
from nameexpr.records import record
from nameexpr.syntax import ast


@record(frozen=False)
class Rowed:
    """A statement of a recurrence: its left side with the dim of the steps at `dim`, the rows before the
    first step, and its step, once it is written.
    """

    statement: ast.Statement
    axes: Axes
    dim: int
    offset: int
    starts: tuple[tuple[int, int], ...]
    dtype: str
    step: int = -1
    arranged: int = -1

    @property
    def row(self) -> Axes:
        """The dims of a row."""
        return self.axes[: self.dim] + self.axes[self.dim + 1 :]

    def along(self, label: str) -> Axes:
        """Return the dims of the rows of all steps."""
        return (*self.axes[: self.dim], (label,), *self.axes[self.dim + 1 :])
