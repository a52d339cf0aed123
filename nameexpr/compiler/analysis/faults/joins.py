"""How errors about the values of parts read."""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.analysis.faults.values import marks_of_label
from nameexpr.compiler.ir.axes import shown
from nameexpr.compiler.ir.nodes import Segment
from nameexpr.errors import Diagnostic, Mark
from nameexpr.syntax import ast


def other_part(
    tree: ast.Formula, statement: ast.Statement, label: str, block: Sequence[Segment]
) -> Diagnostic:
    """Return the diagnostic for the value of one part with the dim of another one (NE223)."""
    own = " ".join([shown(inner) for part in block for inner in part.labels])
    message = f"the value of part '{own}' has the dim '{label}', which is another part"
    span = statement.value.span
    inside = [mark for mark in marks_of_label(tree, label) if span.start <= mark.span.start < span.end]
    left = [
        mark for mark in marks_of_label(tree, label) if statement.span.start <= mark.span.start < span.start
    ]
    marks = (*left[:1], *(inside or [Mark(span)]))
    return Diagnostic("NE223", message, tree.text, marks, hint="write the values in the order of the parts")
