"""What the compiler is told of the library, and of the machine, that will run its programs.

A backend makes a `Target` and hands it in: nothing in the compiler knows a library of arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

Sizes = Mapping[str, int]
"""Sizes by label."""
Steps = Mapping[str, int]
"""Strides by label, in cells."""


class Costs(Protocol):
    """What calls cost, in nanoseconds: by these the lowering chooses among strategies."""

    def call_cost(self, call: str) -> float:
        """Return the cost of a call whatever its arrays are: "view", "dot", or "parts" for a view of complex
        numbers as reals, and back.
        """

    def cast_cost(self, cells: int, dtype: str) -> float:
        """Return the cost of a cast of an array to this dtype."""

    def copy_cost(self, sizes: Sizes, steps: Steps, order: Sequence[str], dtype: str) -> float:
        """Return the cost of a row-major copy with the axes in this order."""

    def read_cost(self, cells: int, ends: Sequence[int], dtype: str) -> float:
        """Return what is lost on a matrix or vector whose axes have these steps, none of them 1, perhaps."""

    def product_cost(
        self, count: int, rows: int, inner: int, columns: int, dtype: str, *, is_by_dots: bool
    ) -> float:
        """Return the cost of `count` products of matrices (rows, inner) and (inner, columns).

        `is_by_dots` says of a product with a vector whether it is made of inner products, for the matrix lies
        along the inner axis; else it adds up columns.
        """

    def vecdot_cost(self, count: int, inner: int, dtype: str) -> float:
        """Return the cost of the inner products of so many pairs of rows."""

    def loop_cost(self, sizes: Sizes, operands: Sequence[Steps], result: Sequence[str], dtype: str) -> float:
        """Return the cost of one pass of a loop over one or two operands."""

    def sum_cost(self, sizes: Sizes, steps: Steps, dtype: str) -> float:
        """Return the cost of a sum over some axes of an array."""

    def maximum_cost(self, sizes: Sizes, steps: Steps, dtype: str) -> float:
        """Return the cost of a maximum over some axes of an array."""

    def slices_cost(self, count: int, cells: int, dtype: str, *, is_near: bool) -> float:
        """Return the cost of combining `count` slices of so many cells one after the other."""


@dataclass(frozen=True, slots=True)
class Target:
    """What programs are compiled for."""

    costs: Costs
