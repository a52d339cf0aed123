"""Source code for users: the statements that are executed, with the text and its labels in comments.

Text and labels appear only in their printable form, which cannot end a comment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.backends.numpy.codegen.function import Shapes, compute
from nameexpr.backends.numpy.codegen.statements import Callee, Dtype, Element, Numbering, Statement, write
from nameexpr.carets import visible
from nameexpr.compiler.ir.axes import shown
from nameexpr.compiler.ir.program import Program
from nameexpr.records import record

MODULES = ("copies", "formulas", "joining", "kernels", "reading", "rolling", "scattering", "tiny",
           "windows")  # fmt: skip
IMPORTS = {
    "np": "import numpy as np",
    **{module: f"from nameexpr.backends.numpy import {module}" for module in MODULES},
}
"""The imports of the modules that it uses."""


@record
class Routine:
    """A function in the source for users.

    `text` describes what it computes, `terms` are the terms of its operands, and `result` is the term of its
    result: all for comments. `statements` are those of another library, None for NumPy's.
    """

    name: str
    program: Program
    shapes: Shapes
    text: str
    terms: Sequence[str]
    result: str
    statements: Sequence[Statement] | None = None


def source_of(*routines: Routine, imports: Mapping[str, str] = IMPORTS) -> str:
    """Return source code for users: the statements that are executed, with the labels in comments.

    Of several functions the first is written last, because it takes the results of the others. `imports` has
    the line for each module, of which the first is always imported.
    """
    modules = set(list(imports)[:1])
    imports = {**imports, **{module: line for module, line in IMPORTS.items() if module not in imports}}
    written = ["\n".join(_routine(routine, modules)) + "\n" for routine in routines]
    lines = [line for module, line in imports.items() if module in modules]
    return "\n".join([*lines, "", "", "\n\n".join(reversed(written))])


def _routine(one: Routine, modules: set[str]) -> list[str]:
    """Return the lines of a function; the modules that it needs are added to `modules`."""

    def spell(bound: Callee | Dtype | Element) -> str:
        if isinstance(bound, Callee):
            modules.add(bound.module)
        return str(bound)

    program, numbering = one.program, Numbering()
    statements = one.statements
    if statements is None:
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
    """Return text that cannot end a comment: on one line, without unprintable characters."""
    return visible(" ".join(text.split()))
