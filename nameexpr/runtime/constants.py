"""Values of a text that depend on no operand: masks such as `index[Q] >= index[K]`, tables of positions.

They are computed once for each function instead of on each call, if they are small: a causal mask of 12 by 12
takes as long as three passes over the scores. Large ones are computed on each call, where they take a small
part of the time, so that they hold no memory between calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Program, Shape
from nameexpr.compiler.ir.target import Target
from nameexpr.compiler.schedule.partial import fold
from nameexpr.records import replace
from nameexpr.runtime.operands import read_only
from nameexpr.runtime.specialise import run_values

KEPT_BYTES = 1 << 16
"""The bytes that one function keeps: a mask of 256 by 256, or two tables of 64 positions and 64 angles."""


def without_constants(
    program: Program, shapes: Sequence[Shape], target: Target
) -> tuple[Program, Sequence[Shape], tuple[Any, ...]]:
    """Return the program with its small constants as last operands, its shapes, and these constants.

    Nothing is kept if computing it fails, or would warn: each call then does.
    """
    folded = fold(program, shapes, (), replace(target, held_bytes=KEPT_BYTES))
    prelude = folded.prelude
    if prelude is None:
        return program, shapes, ()
    try:
        with np.errstate(all="raise"):
            values = run_values(prelude, shapes_of(prelude), (), lambda fault: fault)
    except Exception:  # noqa: BLE001  the call reports it
        return program, shapes, ()
    if sum(map(_bytes_of, values)) > KEPT_BYTES:
        return program, shapes, ()
    return folded.rest, shapes_of(folded.rest), tuple(map(read_only, values))


def _bytes_of(value: Any) -> int:
    """Return the bytes of the memory that a value is in: a view keeps all of its array."""
    while isinstance(getattr(value, "base", None), np.ndarray):
        value = value.base
    return getattr(value, "nbytes", 0)
