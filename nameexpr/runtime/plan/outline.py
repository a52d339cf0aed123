"""What a plan says of the whole, without its steps: the result, and what it costs. It is quick to make.

The line below the input of a session shows it at every key.

>>> import nameexpr as ne
>>> ne.compile("i j, j k -> i k").outline((2, 3), (3, 4))
Outline(shape=(2, 4), names=None, dtype='float64', flops=48, peak_bytes=64)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.ir.axes import Names
from nameexpr.compiler.memory.program import peak_bytes
from nameexpr.compiler.pipeline import Compilation
from nameexpr.runtime.plan.formula import formula_flops


@dataclass(frozen=True, slots=True)
class Outline:
    """The result of a text and what it costs, with the meanings that they have in a `Plan`.

    `flops` of an expression that is sliced to fit into memory are those of the plan without slices.
    """

    shape: tuple[int, ...]
    names: Names | None
    dtype: str
    flops: int
    peak_bytes: int


def expression_outline(compiled: Compilation[Any], operands: Sequence[Operand]) -> Outline:
    """Return the outline of a compiled expression."""
    computed = [note.dtype for note in compiled.program.notes if note.dtype]
    flops = compiled.plans[0].flops
    return Outline(
        compiled.result_shape,
        compiled.names[0] if any(operand.names is not None for operand in operands) else None,
        computed[-1] if computed and flops else "",
        flops,
        peak_bytes(compiled.program, compiled.shapes, compiled.given),
    )


def formula_outline(compiled: Compilation[Scope], operands: Mapping[str, Operand]) -> Outline:
    """Return the outline of a compiled formula."""
    program = compiled.program
    computed = [note.dtype for note in program.notes if note.dtype and not note.dtype.startswith("weak")]
    return Outline(
        compiled.shapes[program.result],
        compiled.names[-1] if any(one.names is not None for one in operands.values()) else None,
        computed[-1] if computed else "",
        sum(formula_flops(compiled)),
        peak_bytes(program, compiled.shapes, compiled.given),
    )
