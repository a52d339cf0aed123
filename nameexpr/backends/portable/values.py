"""What is known about each value of a program before it runs: its shape and its dtype.

>>> from nameexpr.compiler.ir.program import Instruction, Note, Program
>>> double = Instruction("divide", (0,), constants=(2,))
>>> program = Program(((3,),), (double,), (Note(("i",), "float64", None),), 1, False)
>>> known_values(program, [(3,), (3,)], ["int64"])
[ValueSpec(shape=(3,), dtype='int64'), ValueSpec(shape=(3,), dtype='float64')]
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.ir.program import Program
from nameexpr.records import record


@record
class ValueSpec:
    """The shape of a value, and the name of its dtype: `WEAK` for numbers, "" if it is not known."""

    shape: tuple[int, ...]
    dtype: str


def known_values(
    program: Program, shapes: Sequence[tuple[int, ...]], dtypes: Sequence[str]
) -> list[ValueSpec]:
    """Return what is known about all values, given the dtypes of the operands."""
    names = list(dtypes)
    for instruction, note in zip(program.instructions, program.notes, strict=True):
        moved = names[instruction.sources[0]] if instruction.sources else ""
        names.append(note.dtype or instruction.dtype or moved)
    return [ValueSpec(shape, dtype) for shape, dtype in zip(shapes, names, strict=True)]
