"""What bound operands give: values that are computed once, before the first call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nameexpr.compiler.codegen.program import value_name
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.ir.verify import shapes_of
from nameexpr.runtime.operands import array_of
from nameexpr.runtime.specialise import code_of, constants_of, statements_of


def sealed(operand: Any) -> Any:
    """Return an operand that is ours already, made read-only: pickles forget that it was."""
    array = array_of(operand)
    if isinstance(array, np.ndarray):
        array.flags.writeable = False
    return operand


def run(
    prelude: Program, operands: Sequence[Any], explain: Callable[[Exception], Exception]
) -> tuple[Any, ...]:
    """Return the values that a prelude gives, as they are inside a program, and read-only."""
    constants = constants_of(_never, lambda fault, *_: explain(fault))
    statements = statements_of(prelude, shapes_of(prelude), constants)
    # Not as results: a number of Python stays one, and a scalar of NumPy's, too.
    names = [value_name(value, len(prelude.operands)) for value in prelude.results]
    statements[-1] = f"return {', '.join(names)},"
    exec(code_of([False] * len(operands), [], statements), constants)  # noqa: S102  ours only, as in specialise
    values: tuple[Any, ...] = constants["call"](*operands)
    return tuple(map(sealed, values))


def _never(*_: Any) -> Any:
    raise AssertionError("a prelude was called with other operands than it has")
