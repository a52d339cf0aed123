"""Which steps of a compiled text threads share, given its operands; only loaded if there are several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nameexpr.backends.numpy.arrays import number_name
from nameexpr.backends.numpy.threads.gain import Spread
from nameexpr.backends.numpy.threads.spread import spread_over
from nameexpr.compiler.ir.layouts import OperandLayout
from nameexpr.compiler.ir.program import Program
from nameexpr.compiler.lowering.builder import Operands
from nameexpr.records import replace
from nameexpr.runtime.operands import layout_of


def shared_steps(
    program: Program,
    shapes: Sequence[tuple[int, ...]],
    given: Sequence[OperandLayout],
    held: Sequence[Any],
    threads: int,
    limit: int | None,
) -> tuple[Program, Mapping[int, Spread]]:
    """Return a program, and the instructions of it that threads share, by number.

    Its operands are those that are not bound, with the layouts `given`, and the values that are `held`;
    `limit` is in bytes. The program depends on the layouts if calls are divided.
    """
    spread = spread_over(program, shapes, [*given, *layouts_of(held)], threads, limit)
    if any(one.part is not None for one in spread.values()):
        program = replace(program, depends_on_layout=True)
    return program, spread


def layouts_of(values: Sequence[Any]) -> Sequence[OperandLayout]:
    """Return the layouts of arrays and numbers."""
    arrays = [np.asarray(value) for value in values]
    dtypes = tuple([number_name(array.dtype) for array in arrays])
    return Operands((), dtypes, tuple(map(layout_of, arrays))).given
