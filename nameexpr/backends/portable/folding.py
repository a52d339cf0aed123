"""Arithmetic of the numbers of a text, which is the same for every library."""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.backends.numpy.codegen.function import resolve_function
from nameexpr.backends.numpy.codegen.statements import callee_of
from nameexpr.backends.numpy.numbers import fold


def fold_numbers(kernel: str, numbers: Sequence[int | float | complex]) -> int | float | complex:
    """Return the result of a pointwise kernel for numbers, as a number.

    >>> fold_numbers("sqrt", [16.0]), fold_numbers("add", [2, 3])
    (4.0, 5)
    """
    callee = callee_of(kernel)
    result: int | float | complex = fold(resolve_function(callee.module, callee.name), *numbers)
    return result
