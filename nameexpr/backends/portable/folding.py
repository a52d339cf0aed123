"""Arithmetic of the numbers of a text, which is the same for every library."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from nameexpr.backends.numpy.codegen.function import resolve_function
from nameexpr.backends.numpy.codegen.statements import callee_of
from nameexpr.backends.numpy.numbers import fold
from nameexpr.backends.symbolic import Size, hint_of


def fold_numbers(kernel: str, numbers: Sequence[int | float | complex]) -> int | float | complex:
    """Return the result of a pointwise kernel for numbers, as a number.

    >>> fold_numbers("sqrt", [16.0]), fold_numbers("add", [2, 3])
    (4.0, 5)
    """
    if any(isinstance(number, Size) for number in numbers):
        return _symbolic(kernel, numbers)  # type: ignore[no-any-return]
    callee = callee_of(kernel)
    result: int | float | complex = fold(resolve_function(callee.module, callee.name), *numbers)
    return result


_OPERATORS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "true_divide": operator.truediv,
    "power": operator.pow,
}


def _symbolic(kernel: str, numbers: Sequence[Any]) -> Any:
    """Return the result for numbers, some of which are symbols: another one, or else that for the sizes that
    the library chooses.
    """
    if kernel in _OPERATORS:
        return _OPERATORS[kernel](*numbers)
    return fold_numbers(kernel, [type(hint_of(number))(number) for number in numbers])
