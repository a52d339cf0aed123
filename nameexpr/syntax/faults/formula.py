"""Lark's refusals of a formula in the user's words: what was probably meant, and how it is written here.

What cannot be scanned is explained in `nameexpr.syntax.faults.guesses`, brackets that do not fit in
`nameexpr.syntax.faults.brackets`. Here are the other tokens that cannot stand where they stand; the
functions of `_TOKENS` are tried in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from nameexpr.errors import Diagnostic, Mark, Span
from nameexpr.syntax.faults.brackets import Place, closes_nothing, not_closed, open_bracket
from nameexpr.syntax.faults.guesses import (
    NAME,
    OPERATORS,
    arrow_fault,
    character_fault,
    in_square_brackets,
    open_brackets,
)
from nameexpr.syntax.grammar import refusal

_BINARY = ("STAR", "SLASH", "STARS", "SLASHES", "PERCENT", "COMPARE", "AMPERSAND", "BAR", "COMMA")
_WORDS = {
    "and": "'and' is written &, each side in brackets",
    "or": "'or' is written |, each side in brackets",
    "not": "'not' is written ~",
    "if": "where(c, x, y) chooses",
    "else": "where(c, x, y) chooses",
    "is": "two values are compared with ==",
    "return": "the value is that of the last statement: leave 'return' out",
}
_KEYWORDS = re.compile("axis|axes|dims?|keepdims?|dtype|out|where|initial|ddof|correction|p")


def nothing_written(text: str) -> Diagnostic:
    """Return the diagnostic for a formula without a statement."""
    return Diagnostic("NE140", "the formula is empty", text, hint="write a statement: y = x[N C] + b[C]")


def chained(text: str, lines: str, signs: Sequence[Span]) -> Diagnostic:
    """Return the diagnostic for `a < b < c`, and for `a < b & c < d`, which is read as `a < (b & c) < d`."""
    hint = "write (a < b) & (b < c)"
    between = list(re.finditer(r"[&|]", lines[signs[0].end : signs[-1].start]))
    outside = [one for one in between if not open_brackets(lines[signs[0].end : signs[0].end + one.start()])]
    spans = list(signs)
    if outside:
        hint = "& and | bind tighter than comparisons: write (a > 0) & (a < 1)"
        spans += [Span(signs[0].end + one.start(), signs[0].end + one.end()) for one in outside]
    marks = tuple(Mark(span) for span in sorted(spans, key=lambda span: span.start))
    return Diagnostic("NE141", "comparisons cannot be chained", text, marks, hint=hint)


class _ChainedComparison(Exception):  # noqa: N818  a parcel on its way through Lark
    def __init__(self, signs: tuple[Span, ...]) -> None:
        super().__init__(signs)
        self.signs = signs


class _Chains:
    """Lark's callback for `a < b < c`, which the grammar reads."""

    def comparison(self, children: list[Any]) -> None:
        """Refuse more than one sign."""
        if len(children) > 3:  # noqa: PLR2004  one comparison: two values and the sign
            raise _ChainedComparison(tuple(Span(sign.start_pos, sign.end_pos) for sign in children[1::2]))


_CHAINS = _Chains()


def formula_fault(text: str, lines: str) -> Diagnostic:
    """Explain where the grammar refuses a formula; `lines` is the text with semicolons."""
    try:
        fault = refusal(lines, "formula", _CHAINS)
    except _ChainedComparison as chain:
        return chained(text, lines, chain.signs)
    arrow = arrow_fault(text, lines)
    if arrow is not None:
        return arrow
    token = getattr(fault, "token", None)
    if token is None:
        return character_fault(text, fault.pos_in_stream or 0)
    start = len(lines.rstrip()) if token.type == "$END" else token.start_pos
    end = start if token.type == "$END" else token.end_pos
    kind = "end" if token.type in ("$END", "SEMICOLON") else token.type
    place = Place(text, kind, Span(start, end), lines[:start].rstrip(), lines[start:])
    for explain in _TOKENS:
        found = explain(place)
        if found is not None:
            return found
    return _unexpected(place)


def _doubled(place: Place) -> Diagnostic | None:
    """`&&` and `||`, `<<` and `>>`; `~=` for a comparison."""
    if place.rest.startswith("~="):
        span = Span(place.span.start, place.span.start + 2)
        message = "'~=' has no meaning in a formula"
        return Diagnostic("NE142", message, place.text, (Mark(span),), hint="write !=")
    if place.word not in ("&", "|", "<", ">") or not place.before.endswith(place.word):
        return None
    meaning = "'and' is &, 'or' is |, each side in brackets"
    if place.word in "<>":
        meaning = f"bits are shifted by {'x * 2 ** n' if place.word == '<' else 'x // 2 ** n'}"
    span = Span(len(place.before) - 1, place.span.end)
    message = f"'{place.word * 2}' is no operator of formulas"
    return Diagnostic("NE142", message, place.text, (Mark(span),), hint=meaning)


def _needs_value(place: Place) -> Diagnostic | None:
    if in_square_brackets(place.before):
        return None
    sign = re.search(r"(\*\*|//|==|!=|<=|>=|[-+*/%<>&|~,])$", place.before)
    if place.kind in _BINARY and (not sign or sign[1] == ",") and re.search(r"(^|[=(,;])$", place.before):
        return _no_left_side(place)
    sign = sign or re.search(r"(=)$", place.before)
    if not sign or place.kind not in ("end", "RPAR", "EQUAL", *_BINARY):
        return None
    if place.kind == "EQUAL":
        return None
    hint = "a value must follow"
    if place.kind == "end" and place.rest.lstrip(" ;"):
        hint = "a value must follow; a statement goes on in the next line only inside brackets"
    return place.fault("NE144", f"nothing stands behind '{sign[1]}'", hint, Span(*sign.span(1)))


def _no_left_side(place: Place) -> Diagnostic:
    """Return the diagnostic for an operator that begins a value, or a line that was to go on."""
    message, hint = f"nothing stands in front of '{place.word}'", "a value must stand there"
    above = len(place.before.rstrip("; "))
    if above and place.before.endswith(";") and "\n" in place.text[above : place.span.start]:
        hint = "a statement goes on in the next line only inside brackets"
        return place.fault("NE144", message, hint, Span(above - 1, above))
    return place.fault("NE144", message, hint)


def _words(place: Place) -> Diagnostic | None:
    word = re.match(r"(and|or|not|if|else|for|while|in|is|lambda)\b", place.rest)
    left = re.search(r"\b(not|if|lambda|for|while|return)\s*$", place.before)
    if not (word or left) or place.kind != "NAME" or in_square_brackets(place.before):
        return None
    start, found = (place.span.start, word[1]) if word else (left.start(1), left[1])  # type: ignore[union-attr,index]
    hint = _WORDS.get(found, "a formula has no loops and no functions of its own: dims say what is repeated")
    mark = Mark(Span(start, start + len(found)))
    return Diagnostic("NE145", f"'{found}' is no word of formulas", place.text, (mark,), hint=hint)


def _missing_operator(place: Place) -> Diagnostic | None:
    """Two values side by side: dims outside brackets, or a product without its sign."""
    if place.kind not in ("NAME", "INT", "FLOAT", "LPAR", "LSQB", "PACK", "ANONYMOUS", "DOTS"):
        return None
    if not re.search(r"[\w\])']$", place.before) or in_square_brackets(place.before):
        return None
    left = re.search(r"[\w'.]+$|[\])]$", place.before)
    start = left.start() if left else place.span.start
    hint = "a product is written with *, dims stand in square brackets: x[N C]"
    message = "an operator is missing between these two"
    return place.fault("NE146", message, hint, Span(start, len(place.before)))


def _equal(place: Place) -> Diagnostic | None:
    """An equals sign that gives no name to a value."""
    if place.kind != "EQUAL" or in_square_brackets(place.before):
        return None
    update = re.search(r"(\*\*|//|[-+*/%&|~]|==|!=|<=|>=)$", place.text[: place.span.start])
    arrow = re.match(r"=\s*([<>])", place.rest)
    keyword = re.search(rf"[(,]\s*({NAME})$", place.before)
    if update:
        return _update(place, update[1])
    if arrow and not place.before.endswith("="):
        span = Span(place.span.start, place.span.start + arrow.end())
        message = f"'={arrow[1]}' compares nothing"
        return Diagnostic("NE147", message, place.text, (Mark(span),), hint=f"write {arrow[1]}=")
    if keyword and _KEYWORDS.fullmatch(keyword[1]):
        span = Span(keyword.start(1), place.span.end)
        hint = "dims stand in square brackets: sum[C](x)"
        message = f"functions take no keywords such as {keyword[1]}="
        return Diagnostic("NE147", message, place.text, (Mark(span),), hint=hint)
    if open_bracket(place) is not None:
        return place.fault("NE147", "'=' cannot stand here", "two values are compared with ==")
    if re.search(r"=[^=;]*$", place.before.rpartition(";")[2]):
        return place.fault("NE147", "a statement has one '='", "two values are compared with ==")
    hint = "left of '=' stands a name, with a term in square brackets if need be: y[N K] = ..."
    return place.fault("NE147", "'=' cannot stand here", hint)


def _update(place: Place, sign: str) -> Diagnostic:
    """`y += x` and the like; `===` and `~=` for a comparison."""
    span = Span(place.span.start - len(sign), place.span.end)
    name = re.search(rf"(?:^|;)\s*({NAME})\s*{re.escape(sign)}$", place.before)
    hint = "every statement gives a new name to a value"
    if sign in ("==", "!=", "~", "<=", ">="):
        hint = f"write {'!=' if sign in ('~', '!=') else sign}"
    elif name:
        value = place.rest[1:].partition(";")[0].strip()
        value = value if re.fullmatch(rf"{NAME}(\[[^\]]*\])?|[0-9.]+", value) else f"({value})"
        hint = f"every statement gives a new name: {name[1]}2 = {name[1]} {sign} {value}"
    message = f"'{sign}=' has no meaning in a formula"
    return Diagnostic("NE147", message, place.text, (Mark(span),), hint=hint)


def _in_term(place: Place) -> Diagnostic | None:
    """Something that is no item of a term, inside square brackets."""
    if not in_square_brackets(place.before) or place.kind == "end":
        return None
    opened = next(one for one in reversed(open_brackets(place.before)) if place.text[one] == "[")
    hint = "dims are names separated by spaces: x[N C H]"
    if place.kind == "COMMA":
        hint = "dims are separated by spaces: x[N C], not x[N, C]"
    elif place.kind == "LSQB":
        hint = "a product of dims stands in round brackets: x[(h w)]"
    message = f"'{place.word}' cannot stand among dims"
    return place.fault("NE148", message, hint, Span(opened, opened + 1))


_HELP = {
    "end": "a value is missing",
    "LSQB": "a list is no value: give it as an operand; dims stand behind a name: x[N C]",
    "COMMA": "commas stand between the values of a function: maximum(x, 0)",
    "PACK": "packs stand among the dims of a name: x[batch... C]",
    "DOTS": "three dots stand among the dims of a name: x[... C]",
    "ANONYMOUS": "a value needs a name",
}


def _unexpected(place: Place) -> Diagnostic:
    if place.kind == "end":
        return place.fault("NE149", "the statement is not complete", _HELP["end"])
    return place.fault("NE149", f"'{place.word}' cannot stand here", _HELP.get(place.kind, OPERATORS))


_TOKENS: tuple[Callable[[Place], Diagnostic | None], ...] = (
    _words,
    closes_nothing,
    _doubled,
    not_closed,
    _needs_value,
    _in_term,
    _equal,
    _missing_operator,
)
