"""How errors about recurrences read: which rows a step may read, and what a start must be."""

from __future__ import annotations

from nameexpr.errors import Diagnostic, Mark
from nameexpr.ops import REDUCTIONS
from nameexpr.syntax import ast
from nameexpr.syntax.unparse import unparse_term, unparse_value
from nameexpr.syntax.walk import labels_in, nodes


def not_computed(text: str, use: ast.Use, label: str, offset: int | None, start: int) -> Diagnostic:
    """Return the diagnostic for a row that a step cannot read (NE242)."""
    shown = use.name if use.term is None else f"{use.name}[{unparse_term(use.term)}]"
    message = f"{shown} is not computed yet in step {label}"
    if offset is None:
        message = f"{shown} is not one earlier row of '{use.name}' in step {label}"
    elif offset < 0:
        message = f"{shown} is before the start"
    hint = f"the previous step is _@{label if start == 1 else f'({label} + {start - 1})'}"
    hint += f"; to reach back further, begin with more rows: ({start + 1} + {label})"
    return Diagnostic("NE242", message, text, (Mark(use.span),), hint=hint)


def without_term(text: str, use: ast.Use, label: str) -> Diagnostic:
    """Return the diagnostic for a use in its own recurrence that has no term (NE242)."""
    message = f"'{use.name}' is computed step by step here, so its uses need a term"
    hint = f"write the row that is read: {use.name}[_@{label} ...]"
    return Diagnostic("NE242", message, text, (Mark(use.span),), hint=hint)


def no_start(text: str, statement: ast.Statement) -> Diagnostic:
    """Return the diagnostic for a recurrence without a value for each part of its start (NE243)."""
    message = f"'{statement.name}' uses itself, and needs a value for each part of its start, then the step"
    marks = (Mark(statement.name_span), *[Mark(value.span) for value in statement.values])
    hint = "one value for each part, in order: m[(1 + T)] = 0, m[_@T] + x[T]"
    return Diagnostic("NE243", message, text, marks, hint=hint)


def start_has(text: str, value: ast.Node, label: str) -> Diagnostic:
    """Return the diagnostic for a start that has a dim which the rows lack (NE223)."""
    message = f"the start has the dim '{label}', which a row does not have"
    hint = f"reduce it, or add '{label}' to the left side"
    return Diagnostic("NE223", message, text, (Mark(value.span),), hint=hint)


def no_size(tree: ast.Formula, statement: ast.Statement, label: str) -> Diagnostic:
    """Return the diagnostic for rows whose size is not known before the first step (NE313)."""
    message = f"the size of '{label}' is not known before the first step of '{statement.name}'"
    marks = (Mark(statement.name_span if statement.term is None else statement.term.span),)
    hint = f"an operand that is read with the dim '{label}' determines it; or give sizes={{'{label}': ...}}"
    return Diagnostic("NE313", message, tree.text, marks, hint=hint)


def no_dtype(text: str, statement: ast.Statement) -> Diagnostic:
    """Return the diagnostic for rows whose dtype changes with every step (NE525)."""
    message = f"the dtype of '{statement.name}' does not stay the same from step to step"
    return Diagnostic("NE242", message, text, (Mark(statement.span),), hint="convert the start, or the step")


def needs_all_steps(text: str, statement: ast.Statement, label: str) -> Diagnostic | None:
    """Return the diagnostic for a reduction or function along the steps inside of a step (NE244)."""
    for node in nodes(statement.values[-1]):
        labels = labels_in(node.term) if isinstance(node, ast.CallAlong) else ()
        if isinstance(node, ast.CallAlong) and label in labels:
            what = "reduction" if node.function in REDUCTIONS else "function"
            message = f"'{label}' is the step here: this {what} needs all steps"
            hint = f"put {unparse_value(node)} into a statement of its own before this one"
            return Diagnostic("NE244", message, text, (Mark(node.span),), hint=hint)
    return None
