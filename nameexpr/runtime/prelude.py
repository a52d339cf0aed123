"""What bound operands give: values that are computed once, before the first call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Program
from nameexpr.runtime.operands import array_of
from nameexpr.runtime.specialise import run_values


def run(
    prelude: Program, operands: Sequence[Any], explain: Callable[[Exception], Exception]
) -> tuple[Any, ...]:
    """Return the values that a prelude gives, read-only."""
    return tuple(map(sealed, run_values(prelude, shapes_of(prelude), operands, explain)))


def sealed(operand: Any) -> Any:
    """Return an operand that is ours already, made read-only: pickles forget that it was."""
    array = array_of(operand)
    if isinstance(array, np.ndarray):
        array.flags.writeable = False
    return operand
