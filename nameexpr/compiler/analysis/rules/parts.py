"""The rules on parts and positions that the text alone decides (docs/language.md, section 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from nameexpr.compiler.analysis.recurrences import groups_of
from nameexpr.compiler.analysis.rules.recurrences import recurrence_faults
from nameexpr.errors import Diagnostic, Mark, Span
from nameexpr.records import replace
from nameexpr.syntax import ast
from nameexpr.syntax.items import group_of, parts_in, parts_of
from nameexpr.syntax.unparse import unparse_item
from nameexpr.syntax.walk import is_live, positions

_IN_SUMS = (ast.Label, ast.Literal)


def part_faults(
    tree: ast.Formula, used: Iterable[ast.Term], left: Iterable[ast.Term]
) -> Iterator[Diagnostic]:
    """Yield the errors in the parts and positions of a formula."""
    yield from use_faults(tree.text, used)
    yield from result_faults(tree.text, left)
    groups = groups_of(tree.statements)
    yield from recurrence_faults(tree, groups)
    recurring = {name for group in groups for name in group.names}
    for statement in [one for one in tree.statements if one.name not in recurring]:
        yield from values_fault(tree.text, statement)


def use_faults(text: str, terms: Iterable[ast.Term], *, is_split: bool = False) -> Iterator[Diagnostic]:
    """Yield the errors in the parts and positions of uses; where they are split, several parts are read."""
    for item in [item for term in terms for item in term.items]:
        yield from _shape_faults(text, item)
        for parts in () if is_split else parts_in((item,)):
            yield from _one_live_part(text, parts)
        if isinstance(item, ast.At):
            yield from _positioned_dim(text, item)


def _shape_faults(text: str, item: ast.Item) -> Iterator[Diagnostic]:
    """Yield the parts that are not products of single dims."""
    parts = parts_of(item)
    for part in () if parts is None else parts.parts:
        if len(part.items) > 1 or not isinstance(part.items[0], ast.Anonymous):
            yield from _factor_faults(text, part, is_part=True)
    base = item.base if isinstance(item, ast.At) else item
    group = group_of(base)
    if group is not None:
        yield from _factor_faults(text, group, is_part=False)


def _factor_faults(text: str, group: ast.Group, *, is_part: bool) -> Iterator[Diagnostic]:
    """Yield the factors of a part that are not single dims: positions, parts, what stretches."""
    for inner in group.items:
        written, hint = unparse_item(inner), "name the dims of each part: (a + b c)"
        if isinstance(inner, ast.At) and not is_part:
            yield from _positioned_dim(text, inner)
        elif isinstance(inner, ast.At):
            message = f"'{written}' cannot be in a part: it is for a whole dim"
            hint = f"write the position after the brackets: (h w)@{written.partition('@')[2]}"
            yield Diagnostic("NE226", message, text, (Mark(inner.span),), hint=hint)
        elif not is_part and parts_of(inner) is not None:
            yield from _shape_faults(text, inner)
        elif is_part and (isinstance(inner, (*ast.STRETCHED, ast.Anonymous)) or parts_of(inner) is not None):
            message = f"'{written}' cannot be in a part: it is not a single dim"
            yield Diagnostic("NE226", message, text, (Mark(inner.span),), hint=hint)
        elif (nested := group_of(inner)) is not None:
            yield from _factor_faults(text, nested, is_part=is_part)


def _one_live_part(text: str, parts: ast.Parts) -> Iterator[Diagnostic]:
    live = [part for part in parts.parts if is_live(part)]
    rests = [part for part in parts.parts if any(isinstance(one, ast.Anonymous) for one in part.items)]
    if len(live) != 1 or len(rests) > 1:
        message = f"which part of {unparse_item(parts)} is meant?"
        hint = _of_several(parts)
        if len(live) == 1:
            hint = "a single part can be _, for the rest: x[N (2 + a + _)]"
        yield Diagnostic("NE220", message, text, (Mark(parts.span),), hint=hint)


def _of_several(parts: ast.Parts) -> str:
    """Return the advice for parts of which several have labels: one is read, or a sum is a position."""
    words = [" ".join(map(unparse_item, part.items)) for part in parts.parts]
    first = next((number for number, part in enumerate(parts.parts) if is_live(part)), 0)
    hint = f"write _ for what is not read: ({' + '.join([*words[: first + 1], '_'])})"
    is_sum = all(len(part.items) == 1 and type(part.items[0]) in _IN_SUMS for part in parts.parts)
    return f"{hint}; a position is written _@({' + '.join(words)})" if is_sum else hint


def _positioned_dim(text: str, item: ast.At) -> Iterator[Diagnostic]:
    base = item.base
    if isinstance(base, ast.STRETCHED) or any(parts_in((base,))):
        message = f"'{unparse_item(base)}' has no position: it is not a single dim"
        hint = f"name the dim: {unparse_item(base)} T@(t-1)"
        if not isinstance(base, ast.STRETCHED):
            whole = unparse_item(replace(item, base=ast.Anonymous()))
            hint = f"positions count along the whole dim: write {whole}"
        yield Diagnostic("NE226", message, text, (Mark(item.span),), hint=hint)


def result_faults(text: str, terms: Iterable[ast.Term]) -> Iterator[Diagnostic]:
    """Yield the positions of results, and parts that are none."""
    for item in [item for term in terms for item in term.items]:
        yield from _shape_faults(text, item)
        for inside in positions((item,)):
            yield _positioned_result(text, inside)


def _positioned_result(text: str, item: ast.At) -> Diagnostic:
    hint = "to add up by a label: sum[N](where(label[N] == index[K], x[N], 0)); to pad: (1 + H)"
    return Diagnostic("NE224", "the result has no positions", text, (Mark(item.span),), hint=hint)


def blocks_of(term: ast.Term) -> tuple[list[bool], list[ast.Parts]]:
    """Return for each block of a result, row by row, whether all its parts have labels, and the dims with
    parts.
    """
    joined = list(parts_in(term.items))
    return [all(map(is_live, block)) for block in product(*[parts.parts for parts in joined])], joined


def values_fault(text: str, statement: ast.Statement) -> Iterator[Diagnostic]:
    """Yield the fault of a statement whose values are not one for each block."""
    blocks, joined = blocks_of(statement.term or ast.Term(()))
    count = len(statement.values)
    if not joined and count > 1:
        message = f"{count} values, and the left side has no parts"
        marks = (Mark(statement.name_span), *(Mark(value.span) for value in statement.values))
        hint = "one value for each part, in order: y[(a + b)] = x[a], z[b]"
        yield Diagnostic("NE222", message, text, marks, hint=hint)
    elif not all(part.items for parts in joined for part in parts.parts):
        return  # a part is missing
    elif joined and count not in (len(blocks), sum(blocks)):
        spans = [value.span for value in statement.values]
        yield wrong_count(text, joined, len(blocks), spans, "value")


def wrong_count(
    text: str, joined: Sequence[ast.Parts], blocks: int, spans: Sequence[Span], what: str
) -> Diagnostic:
    """Return the diagnostic for values, or operands, that are not one for each block (NE222)."""
    is_one = len(joined) == 1
    things = "parts" if is_one else "blocks"
    given = f"{len(spans)} {what}{'s' if len(spans) != 1 else ''}"
    message = (
        f"{' '.join(map(unparse_item, joined))} {'has' if is_one else 'have'} {blocks} {things} and {given}"
    )
    marks = tuple([Mark(span) for span in (*(parts.span for parts in joined), *spans)])
    hint = f"one {what} for each part, in order; parts that are numbers may go without, and are 0"
    if not is_one:
        hint = f"one {what} for each block, row by row; blocks with a number may go without, and are 0"
    return Diagnostic("NE222", message, text, marks, hint=hint)
