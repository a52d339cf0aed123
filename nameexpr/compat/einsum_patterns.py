"""Read the patterns of `einops.einsum` as syntax trees of subscripts."""

from __future__ import annotations

from nameexpr.compat.einops_errors import UnsupportedError
from nameexpr.compat.patterns import ARROW, ELLIPSIS, fault, read_side, split
from nameexpr.errors import Span
from nameexpr.syntax.ast import Dots, Expression, Label, Term

MOST_AXES = 52
"""The number of axes that a pattern can have, as in einops."""


def einsum_tree(pattern: str) -> Expression:
    """Return the subscripts of a pattern of `einsum`."""
    arrow = split(pattern)
    inputs = []
    start = 0
    for part in pattern[:arrow].split(","):
        inputs.append(_term(pattern, start, start + len(part), is_input=True))
        start += len(part) + 1
    output = _term(pattern, arrow + len(ARROW), len(pattern), is_input=False)
    known = {item for term in inputs for item in term.items}
    if unknown := [item.span for item in output.items if item not in known]:
        message = f"Unknown axis '{pattern[unknown[0].start : unknown[0].end]}' on the right"
        raise fault(
            "NE308", message, pattern, unknown, "write it in the term of the array that has this axis"
        )
    if len(known) > MOST_AXES:
        raise fault("NE705", f"Too many axes: {len(known)}, and the limit is {MOST_AXES}", pattern)
    return Expression(tuple(inputs), (output,), None, pattern)


def _term(pattern: str, start: int, stop: int, *, is_input: bool) -> Term:
    """Return one term of a pattern of `einsum`."""
    dims = read_side(pattern, start, stop, is_repeated=is_input, has_wildcards=True)
    items: list[Label | Dots] = []
    for dim in dims:
        if not dim.axes or len(dim.axes) > 1 or dim.axes[0].is_number:
            what = "Anonymous axes (numbers)" if dim.axes else "Singleton axes"
            what = "Shape rearrangement (groups)" if len(dim.axes) > 1 else what
            message, hint = f"{what} in einsum", "rearrange the arrays before, or the result"
            raise UnsupportedError(fault("NE206", message, pattern, [dim.span], hint).diagnostics[0])
        axis = dim.axes[0]
        items.append(Dots(axis.span) if axis.word == ELLIPSIS else Label(axis.word, axis.span))
    return Term(tuple(items), Span(start, stop))
