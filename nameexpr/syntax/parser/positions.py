r"""The places of positions, `table[vocab@ids[B T] D]` and `x[N H@(h + dh)]`: values inside terms.

A place that has brackets is hidden from the scanners of terms and formulas: as many characters take its
place, so that every span stays that of the text. It is read on its own, where the term needs it.

>>> print(hidden("x[C@i[N] @(n+1)]").replace(HIDDEN, "."))
x[C@.... @.....]
"""

from __future__ import annotations

import re

from nameexpr.dims import WORD
from nameexpr.errors import Diagnostic, Mark, Span, error
from nameexpr.syntax import ast
from nameexpr.syntax.parser.formula import read_value

HIDDEN = "\0"
DEEPEST = 20
"""Positions inside positions: each is read inside the other, and Python has a recursion limit."""
_PLACE = re.compile(rf"@\s*(?:({WORD}'*\s*)(?=\[)|(?=\())")
_BRACKET = re.compile(r"[()\[\]]")
_STRIDE = rf"(?:[0-9]+(?:\s*\*\s*{WORD}'*)?|{WORD}'*)"
_AFFINE = re.compile(rf"\(\s*(?:-\s*)?{_STRIDE}(?:\s*[-+]\s*{_STRIDE})*\s*\)")


def hidden(text: str, start: int = 0, end: int | None = None) -> str:
    """Return the text with the places hidden between two indices; comments must have been removed."""
    end = len(text) if end is None else end
    pieces, done = [text[:start]], start
    while place := _PLACE.search(text, done, end):
        begin = place.start(1) if place[1] else place.end()
        close = _closing(text, place.end(), end)
        if close < 0:
            break
        pieces += [text[done:begin], HIDDEN * (close - begin)]
        done = close
    return "".join((*pieces, text[done:]))


def _closing(text: str, start: int, end: int) -> int:
    """Return where the bracket ends that opens at an index, -1 if it does not."""
    depth = 0
    for bracket in _BRACKET.finditer(text, start, end):
        depth += 1 if bracket[0] in "([" else -1
        if not depth:
            return bracket.end()
    return -1


def without_comments(text: str) -> str:
    """Return the text, of the same length, with spaces for comments."""
    return re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), text)


def read_place(text: str, span: Span, depth: int, *, is_formula: bool) -> ast.Node | None:
    """Return the value of a place that has brackets; None if it is wrong.

    In an expression it is a sum of integers times labels: operands have no names there.
    """
    if depth > DEEPEST:
        message = f"positions nest deeper than {DEEPEST}"
        hint = "give a part of it a name, in a statement of its own"
        raise error(Diagnostic("NE708", message, text, (Mark(span),), hint=hint))
    if not is_formula and not _AFFINE.fullmatch(text, *span):
        return None
    return read_value(hidden(text, *span)[: span.end], text, span.start, depth)
