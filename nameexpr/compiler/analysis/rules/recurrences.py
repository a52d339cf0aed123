"""The rules on recurrences that the text alone decides (docs/formulas.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nameexpr.compiler.analysis.faults import recurrences as faults
from nameexpr.compiler.analysis.readings import affine
from nameexpr.compiler.analysis.recurrences import StepGroup, step_of, uses_of
from nameexpr.errors import Diagnostic
from nameexpr.syntax import ast
from nameexpr.syntax.items import parts_of


def recurrence_faults(tree: ast.Formula, groups: Sequence[StepGroup]) -> Iterator[Diagnostic]:
    """Yield the errors in the starts of recurrences, and in what their steps read."""
    for group in groups:
        statements = [tree.statements[number] for number in group.numbers]
        for number, statement in enumerate(statements):
            if not _has_starts(statement):
                yield faults.no_start(tree.text, statement)
            needs_all = faults.needs_all_steps(tree.text, statement, group.label)
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
        yield faults.without_term(text, use, label)
    elif step is not None or not is_before:
        offset = row_offset(use, step.dim if step is not None else None, label)
        sizes = _parts(read, step.dim) if step is not None else []
        start = sum([size for size in sizes if size is not None])
        is_late = offset is not None and None not in sizes and offset >= start + is_before
        if offset is None or offset < 0 or is_late:
            yield faults.not_computed(text, use, label, offset, start)


def row_offset(use: ast.Use, dim: int | None, label: str) -> int | None:
    """Return how far after the current row the row is that a use reads; None if it is not one row."""
    items = () if use.term is None else use.term.items
    if dim is None or dim >= len(items):
        return None
    item = items[dim]
    place = affine(item.place, {}) if isinstance(item, ast.At) else None
    return place[0] if place is not None and place[1] == {label: 1} else None
