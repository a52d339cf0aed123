r"""The places of positions, `table[vocab@ids[B T] D]` and `x[N H@(h + dh)]`: values inside terms.

A place that has brackets is hidden from the scanners of terms and formulas: it is replaced by as many
characters, so that every span is that of the text. It is parsed separately, when the term needs it.

>>> print(hidden("x[C@i[N] @(n+1)]").replace(HIDDEN, "."))
x[C@.... @.....]
"""

from __future__ import annotations

import re
from collections import deque

from nameexpr.dims import WORD, normalised
from nameexpr.errors import Span
from nameexpr.records import replace
from nameexpr.syntax import ast
from nameexpr.syntax.limits import SIZE_DIGITS

HIDDEN = "\0"
_PLACE = re.compile(rf"@\s*(?:({WORD}'*\s*)(?=\[)|(?=\())")
_BRACKET = re.compile(r"[()\[\]]")
_LABEL = rf"(?!_(?![\w'])){WORD}'*"
_STRIDE = rf"(?:[0-9]{{1,{SIZE_DIGITS}}}(?![0-9])(?:\s*\*\s*{_LABEL})?|{_LABEL})"
_TOKEN = re.compile(rf"[0-9]+|{WORD}'*|[-+*]")
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
    """Return the position at which the bracket closes that opens at an index, -1 if it does not."""
    depth = 0
    for bracket in _BRACKET.finditer(text, start, end):
        depth += 1 if bracket[0] in "([" else -1
        if not depth:
            return bracket.end()
    return -1


def without_comments(text: str) -> str:
    """Return the text, of the same length, with spaces for comments."""
    return re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), text)


def affine_place(text: str, span: Span) -> ast.Node | None:
    """Return the place of a position in an expression: a sum of integers times labels, as operands have no
    names there; None if it is wrong.
    """
    if not _AFFINE.fullmatch(text, *span):
        return None
    tokens = deque(_TOKEN.finditer(text, span.start + 1, span.end - 1))
    value = _stride(tokens)
    while tokens:
        sign, right = tokens.popleft(), _stride(tokens)
        whole = Span(value.span.start, right.span.end)
        value = ast.Binary(sign[0], value, right, whole, Span(*sign.span()))
    return replace(value, span=span)


def _stride(tokens: deque[re.Match[str]]) -> ast.Node:
    first = tokens.popleft()
    left = _factor(first if first[0] != "-" else tokens.popleft())
    if first[0] == "-":
        left = ast.Unary("-", left, Span(first.start(), left.span.end))
    if not tokens or tokens[0][0] != "*":
        return left
    star, right = tokens.popleft(), _factor(tokens.popleft())
    return ast.Binary("*", left, right, Span(left.span.start, right.span.end), Span(*star.span()))


def _factor(token: re.Match[str]) -> ast.Node:
    span = Span(*token.span())
    return ast.Number(int(token[0]), span) if token[0].isdecimal() else index_of(normalised(token[0]), span)


def index_of(name: str, span: Span) -> ast.Use:
    """Return the meaning of a bare name in a position: the index along the label."""
    return ast.Use("index", ast.Term((ast.Label(name, span),), span), span, span)
