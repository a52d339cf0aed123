"""The rules on parts and positions that the text alone decides (docs/language.md, section 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nameexpr.errors import Diagnostic, Mark
from nameexpr.syntax import ast
from nameexpr.syntax.items import is_read, parts_of
from nameexpr.syntax.unparse import unparse_item
from nameexpr.syntax.walk import is_live


def part_faults(
    tree: ast.Formula, used: Iterable[ast.Term], left: Iterable[ast.Term]
) -> Iterator[Diagnostic]:
    """Yield the errors in the parts and positions of a formula."""
    yield from use_faults(tree.text, used)
    yield from result_faults(tree.text, left)
    for statement in tree.statements:
        yield from values_fault(tree.text, statement)


def use_faults(text: str, terms: Iterable[ast.Term]) -> Iterator[Diagnostic]:
    """Yield the errors in the parts and positions of uses."""
    for item in [item for term in terms for item in term.items]:
        parts = parts_of(item)
        if parts is not None:
            yield from _one_live_part(text, item, parts)
        elif isinstance(item, ast.At):
            yield from _positioned_dim(text, item)


def _one_live_part(text: str, item: ast.Item, parts: ast.Parts) -> Iterator[Diagnostic]:
    live = [part for part in parts.parts if is_live(part)]
    rests = [part for part in parts.parts if any(isinstance(one, ast.Anonymous) for one in part.items)]
    if len(live) != 1 or len(rests) > 1:
        message = f"which part of {unparse_item(parts)} is meant?"
        hint = "write _ for the part that is not: x[N (a=2 + _)]"
        if len(live) == 1:
            hint = "a single part can be _, for the rest: x[N (2 + a + _)]"
        yield Diagnostic("NE220", message, text, (Mark(item.span),), hint=hint)


def _positioned_dim(text: str, item: ast.At) -> Iterator[Diagnostic]:
    base = item.base
    if isinstance(base, ast.STRETCHED) or parts_of(base) is not None:
        message = f"'{unparse_item(base)}' has no position: it is not a single dim"
        hint = f"name the dim: {unparse_item(base)} T@(t-1)"
        yield Diagnostic("NE226", message, text, (Mark(item.span),), hint=hint)


def result_faults(text: str, terms: Iterable[ast.Term]) -> Iterator[Diagnostic]:
    """Yield the errors in the parts and positions of results."""
    for item in [item for term in terms for item in term.items if is_read(item)]:
        if isinstance(item, ast.At):
            hint = "to add up by a label: sum[N](where(label[N] == index[K], x[N], 0)); to pad: (1 + H)"
            yield Diagnostic("NE224", "the result has no positions", text, (Mark(item.span),), hint=hint)
        else:
            hint = "parts of a result are not supported yet"
            yield Diagnostic(
                "NE222", f"{unparse_item(item)} has no values", text, (Mark(item.span),), hint=hint
            )


def values_fault(text: str, statement: ast.Statement) -> Iterator[Diagnostic]:
    """Yield the error of a statement with several values and no parts for them."""
    items = () if statement.term is None else statement.term.items
    if statement.others and not any(parts_of(item) is not None for item in items):
        count = len(statement.values)
        message = f"{count} values, and the left side has no parts"
        marks = (Mark(statement.name_span), *(Mark(value.span) for value in statement.values))
        hint = "one value for each part, in order: y[(a + b)] = x[a], z[b]"
        yield Diagnostic("NE222", message, text, marks, hint=hint)
