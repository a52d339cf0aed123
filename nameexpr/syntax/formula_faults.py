"""Lark's refusals of a formula in the user's words: what was probably meant, and how it is written here.

`_CHARACTERS` is for what cannot be scanned, the functions of `_TOKENS` for a token that cannot stand where it
stands, tried in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from nameexpr.errors import Diagnostic, Mark, Span

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedInput

_CHARACTERS = (
    (
        r"->",
        "'->' has no place in a formula",
        "the result stands left of '=': y[A C] = sum[B](x[A B] * w[B C])",
    ),
    (r"\^", "'^' is no operator of formulas", "a power is written **; of two truth values, a != b"),
    (r"&&|\|\|", "'{0}' is no operator of formulas", "'and' is &, 'or' is |, each side in brackets"),
    (r"!(?!=)", "'!' is no operator of formulas", "'not' is written ~"),
    (
        r"@",
        "'@' has no place in a formula: what is summed is always written",
        "write sum[k](a[i k] * b[k j])",
    ),
    (r":", "':' has no place in a formula", "a reduction is written as a function: mean[C](x)"),
    (r"\.", "'.' belongs to a number or to '...'", "functions are written f(x), not x.f()"),
    (r"[0-9]+\w*", "'{0}' is neither a number nor a name", "separate them by a space or an operator"),
    (
        r"[{}]",
        "'{0}' has no place in a formula",
        "dims stand in square brackets, x[N C]; values in round ones",
    ),
    (r"['\"`]", "a formula holds no text", "names stand without quotes"),
)


def nothing_written(text: str) -> Diagnostic:
    """Return the diagnostic for a formula without a statement."""
    return Diagnostic("NE140", "the formula is empty", text, hint="write a statement: y = x[N C] + b[C]")


def chained(text: str, signs: Sequence[Span]) -> Diagnostic:
    """Return the diagnostic for `a < b < c`."""
    hint = "write (a < b) & (b < c)"
    marks = tuple(map(Mark, signs))
    return Diagnostic("NE141", "comparisons cannot be chained", text, marks, hint=hint)


class Place(NamedTuple):
    """Where a token cannot stand: its kind and span, and the text before it and from it on."""

    text: str
    kind: str
    span: Span
    before: str
    rest: str


def formula_fault(text: str, lines: str, fault: UnexpectedInput) -> Diagnostic:
    """Return the diagnostic for a formula that Lark refused; `lines` is the text with semicolons."""
    token = getattr(fault, "token", None)
    if token is None:
        return _character_fault(text, fault.pos_in_stream or 0)
    start = len(lines.rstrip()) if token.type == "$END" else token.start_pos
    end = start if token.type == "$END" else token.end_pos
    kind = "end" if token.type in ("$END", "SEMICOLON") else token.type
    place = Place(text, kind, Span(start, end), lines[:start].rstrip(), lines[start:])
    for explain in _TOKENS:
        found = explain(place)
        if found is not None:
            return found
    return _unexpected(place)


def _character_fault(text: str, place: int) -> Diagnostic:
    for pattern, message, hint in _CHARACTERS:
        for match in re.compile(pattern).finditer(text, max(0, place - 1), place + 64):
            if match.start() <= place < match.end():
                mark = Mark(Span(*match.span()))
                return Diagnostic("NE142", message.format(match[0]), text, (mark,), hint=hint)
    mark = Mark(Span(place, place + 1))
    return Diagnostic("NE142", f"{text[place]!r} cannot stand in a formula", text, (mark,))


def _open_bracket(place: Place) -> int | None:
    """Return where the innermost bracket stands that is open at this place."""
    stack: list[int] = []
    for bracket in re.finditer(r"[()\[\]]", place.before):
        if bracket[0] in "([":
            stack.append(bracket.start())
        elif stack:
            stack.pop()
    return stack[-1] if stack else None


def _not_closed(place: Place) -> Diagnostic | None:
    opened = _open_bracket(place)
    if opened is None or place.kind not in ("end", "EQUAL"):
        return None
    if place.kind == "EQUAL" and place.text[opened] == "[":
        return None
    bracket = place.text[opened]
    closing = {"(": ")", "[": "]"}[bracket]
    marks = (Mark(Span(opened, opened + 1)), Mark(place.span))
    hint = f"add the {closing} that closes it"
    return Diagnostic("NE143", f"this {bracket} is not closed", place.text, marks, hint=hint)


def _closes_nothing(place: Place) -> Diagnostic | None:
    if place.kind not in ("RPAR", "RSQB"):
        return None
    opened = _open_bracket(place)
    sign = place.text[place.span.start]
    if opened is None:
        return Diagnostic(
            "NE143", f"this {sign} closes nothing", place.text, (Mark(place.span),), hint="remove it"
        )
    bracket = place.text[opened]
    if (bracket, sign) not in (("(", ")"), ("[", "]")):
        marks = (Mark(Span(opened, opened + 1)), Mark(place.span))
        message = f"a {bracket} cannot be closed by a {sign}"
        return Diagnostic("NE143", message, place.text, marks, hint="close the inner bracket first")
    if place.before.endswith("("):
        name = re.search(r"(\w+)\s*\($", place.before)
        what = f"{name[1]}() needs a value" if name else "there is nothing in these brackets"
        mark = Mark(Span(opened, place.span.end))
        return Diagnostic("NE144", what, place.text, (mark,), hint="write a value between the brackets")
    return None


def _needs_value(place: Place) -> Diagnostic | None:
    sign = re.search(r"(\*\*|//|==|!=|<=|>=|[-+*/%<>&|~=,])$", place.before)
    if not sign or place.kind not in ("end", "RPAR", "COMMA", "EQUAL", "STAR", "SLASH", "STARS", "COMPARE"):
        return None
    if sign[1] in ("=", "==") and place.kind in ("EQUAL", "COMPARE"):
        return None
    marks = (Mark(Span(*sign.span(1))), Mark(place.span))
    hint = "a value must follow"
    if place.kind == "end" and place.rest.lstrip(" ;"):
        hint = "a value must follow; a statement goes on in the next line only inside brackets"
    return Diagnostic("NE144", f"nothing stands behind '{sign[1]}'", place.text, marks, hint=hint)


def _words(place: Place) -> Diagnostic | None:
    word = re.match(r"(and|or|not|if|else|for|in|is|lambda)\b", place.rest)
    left = re.search(r"\b(not|if|lambda)\s*$", place.before)
    found = word or left
    if not found or place.kind not in ("NAME", "use"):
        return None
    start = place.span.start if word else left.start(1)  # type: ignore[union-attr]
    written = {"and": "&, each side in brackets", "or": "|, each side in brackets", "not": "~"}
    hint = f"'{found[1]}' is written {written[found[1]]}" if found[1] in written else "where(c, x, y) chooses"
    mark = Mark(Span(start, start + len(found[1])))
    return Diagnostic("NE145", f"'{found[1]}' is no operator of formulas", place.text, (mark,), hint=hint)


def _missing_operator(place: Place) -> Diagnostic | None:
    """Two values side by side: dims outside brackets, or a product without its sign."""
    if place.kind not in ("NAME", "INT", "FLOAT", "LPAR", "LSQB", "PACK", "ANONYMOUS", "DOTS"):
        return None
    if not re.search(r"[\w\])']$", place.before) or _open_in_term(place):
        return None
    left = re.search(r"[\w'.]+$|[\])]$", place.before)
    start = left.start() if left else place.span.start
    marks = (Mark(Span(start, len(place.before))), Mark(place.span))
    hint = "a product is written with *, dims stand in square brackets: x[N C]"
    return Diagnostic("NE146", "an operator is missing between these two", place.text, marks, hint=hint)


def _open_in_term(place: Place) -> bool:
    opened = _open_bracket(place)
    return opened is not None and place.text[opened] == "["


def _stray_equal(place: Place) -> Diagnostic | None:
    if place.kind != "EQUAL":
        return None
    hint = "left of '=' stands a name, with a term in square brackets if need be: y[N K] = ..."
    message = "'=' cannot stand here"
    if re.search(r"=[^=;]*$", place.before.rpartition(";")[2]):
        message, hint = "a statement has one '='", "two values are compared with =="
    return Diagnostic("NE147", message, place.text, (Mark(place.span),), hint=hint)


def _in_term(place: Place) -> Diagnostic | None:
    """Something that is no item of a term, inside square brackets."""
    if not _open_in_term(place) or place.kind == "end":
        return None
    opened = _open_bracket(place) or 0
    marks = (Mark(Span(opened, opened + 1)), Mark(place.span))
    word = place.text[place.span.start : place.span.end]
    hint = "dims are names separated by spaces: x[N C H]"
    if place.kind == "COMMA":
        hint = "dims are separated by spaces: x[N C], not x[N, C]"
    return Diagnostic("NE148", f"'{word}' cannot stand among dims", place.text, marks, hint=hint)


def _unexpected(place: Place) -> Diagnostic:
    if place.kind == "end":
        return Diagnostic("NE149", "the statement is not complete", place.text, (Mark(place.span),))
    word = place.text[place.span.start : place.span.end]
    return Diagnostic("NE149", f"'{word}' cannot stand here", place.text, (Mark(place.span),))


_TOKENS: tuple[Callable[[Place], Diagnostic | None], ...] = (
    _words,
    _closes_nothing,
    _needs_value,
    _not_closed,
    _in_term,
    _stray_equal,
    _missing_operator,
)
