"""The rules on recurrences that the text alone decides (docs/formulas.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nameexpr.compiler.analysis.readings import affine
from nameexpr.compiler.analysis.recurrences import StepGroup, step_of, uses_of
from nameexpr.errors import Diagnostic, Mark
from nameexpr.ops import REDUCTIONS
from nameexpr.syntax import ast
from nameexpr.syntax.items import parts_of
from nameexpr.syntax.unparse import unparse_term, unparse_value
from nameexpr.syntax.walk import labels_in, nodes


def recurrence_faults(tree: ast.Formula, groups: Sequence[StepGroup]) -> Iterator[Diagnostic]:
    """Yield the errors in the starts of recurrences, and in what their steps read."""
    for group in groups:
        statements = [tree.statements[number] for number in group.numbers]
        for number, statement in enumerate(statements):
            if not _has_starts(statement):
                yield no_start(tree.text, statement)
            needs_all = needs_all_steps(tree.text, statement, group.label)
            if needs_all is not None:
                yield needs_all
            for use in uses_of(statement):
                if use.name in group.names:
                    at = group.names.index(use.name)
                    yield from _row_faults(tree.text, use, statements[at], group.label, at < number)


def _has_starts(statement: ast.Statement) -> bool:
    """Return whether every part before the steps has a value, or is a number."""
    step, count = step_of(statement), len(statement.values) - 1
    if step is None:
        return not count
    parts = _parts(statement, step.dim)
    return count == len(parts) or (not count and None not in parts)


def _parts(statement: ast.Statement, dim: int) -> list[int | None]:
    """Return the sizes of the parts before the steps; None for one that has labels."""
    parts = parts_of(statement.term.items[dim]) if statement.term is not None else None
    starts = parts.parts[:-1] if parts is not None else ()
    items = [part.items[0] if len(part.items) == 1 else None for part in starts]
    return [item.size if isinstance(item, ast.Literal) else None for item in items]


def _row_faults(
    text: str, use: ast.Use, read: ast.Statement, label: str, is_before: bool
) -> Iterator[Diagnostic]:
    """Yield what is wrong with a row that a step reads, of a statement before it if `is_before`."""
    step = step_of(read)
    if use.term is None:
        yield without_term(text, use, label)
    elif step is not None or not is_before:
        offset = row_offset(use, step.dim if step is not None else None, label)
        sizes = _parts(read, step.dim) if step is not None else []
        start = sum([size for size in sizes if size is not None])
        is_late = offset is not None and None not in sizes and offset >= start + is_before
        if offset is None or offset < 0 or is_late:
            yield not_computed(text, use, label, offset, start)


def row_offset(use: ast.Use, dim: int | None, label: str) -> int | None:
    """Return how far after the current row the row is that a use reads; None if it is not one row."""
    items = () if use.term is None else use.term.items
    if dim is None or dim >= len(items):
        return None
    item = items[dim]
    place = affine(item.place, {}) if isinstance(item, ast.At) else None
    return place[0] if place is not None and place[1] == {label: 1} else None


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
