"""Source to paste: the same statements as those that run, with the text and its labels in comments.

Text and labels appear only in the form made to be read, which cannot end a comment.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.backends.numpy.codegen.function import Shapes, compute
from nameexpr.backends.numpy.codegen.statements import Callee, Numbering, write
from nameexpr.carets import visible
from nameexpr.compiler.ir.axes import shown
from nameexpr.compiler.ir.program import Program
from nameexpr.records import record

MODULES = ("copies", "formulas", "kernels", "reading")
IMPORTS = {module: f"from nameexpr.backends.numpy import {module}" for module in MODULES}
"""What it begins with, after NumPy, where it uses these."""


@record
class Routine:
    """A function of source to paste.

    `text` says what it computes, `terms` what each operand is, and `result` what comes out: all for comments.
    """

    name: str
    program: Program
    shapes: Shapes
    text: str
    terms: Sequence[str]
    result: str


def source_of(*routines: Routine) -> str:
    """Return source to paste: the same statements as those that run, with the labels in comments.

    Of several functions the first is written last, for it takes what the others give.
    """
    imports = {"import numpy as np": None}
    written = []
    for routine in routines:
        modules: set[str] = set()
        written.append("\n".join(_routine(routine, modules)) + "\n")
        imports |= {line: None for module, line in IMPORTS.items() if module in modules}
    return "\n".join([*imports, "", "", "\n\n".join(reversed(written))])


def _routine(one: Routine, modules: set[str]) -> list[str]:
    """Return the lines of a function to paste; what it needs is added to `modules`."""

    def spell(callee: Callee) -> str:
        modules.add(callee.module)
        return str(callee)

    program, numbering = one.program, Numbering()
    statements = compute(program, one.shapes, numbering=numbering)
    arguments = [f"a{position}" for position in range(len(program.operands))]
    if any(instruction.primitive == "apply" for instruction in program.instructions):
        arguments.append("reduce")
    comments = {f"t{number}": note for number, note in enumerate(program.notes)}
    comments |= {f"v{number}": note for number, note in enumerate(numbering.notes)}
    labels = {name: _comment(" ".join(map(shown, note.labels))) for name, note in comments.items()}
    return [
        f"def {one.name}({', '.join(arguments)}):",
        f"    # {_comment(one.text)}",
        *(f"    # a{position}: {_comment(term)}" for position, term in enumerate(one.terms)),
        *write(statements, spell, labels | {"return": _comment(one.result)}, "    "),
    ]


def _comment(text: str) -> str:
    """Return text that cannot end a comment: on one line, with nothing unprintable in it."""
    return visible(" ".join(text.split()))
