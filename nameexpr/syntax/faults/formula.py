"""Syntax errors of formulas: what was probably meant, and how to write it.

What cannot be scanned is explained in `nameexpr.syntax.faults.characters`. This module explains misplaced
tokens; the functions of `_TOKENS` are tried in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from nameexpr.errors import Diagnostic, Mark, Span
from nameexpr.syntax.faults.characters import OPERATORS, arrow_fault, character_fault
from nameexpr.syntax.faults.positions import index_fault, part_fault, place_fault
from nameexpr.syntax.faults.stops import NAME, Stop, open_brackets, term_start
from nameexpr.syntax.grammar import refusal

_STATEMENT = rf"{NAME}\s*(?:\[[^\]=]*\])?\s*=(?!=)"
_BINARY = ("STAR", "SLASH", "STARS", "SLASHES", "PERCENT", "COMPARE", "AMPERSAND", "BAR", "COMMA")
_WORDS = {
    "and": "'and' is written &, with parentheses around each side: (a > 0) & (b > 0)",
    "or": "'or' is written |, with parentheses around each side: (a > 0) | (b > 0)",
    "not": "'not' is written ~",
    "if": "write where(c, x, y)",
    "else": "write where(c, x, y)",
    "is": "two values are compared with ==",
    "return": "the result is the value of the last statement: remove 'return'",
}
_KEYWORDS = re.compile("axis|axes|dims?|keepdims?|dtype|out|where|initial|ddof|correction|p")


class _ChainedComparison(Exception):  # noqa: N818  a parcel on its way through Lark
    def __init__(self, signs: list[Span]) -> None:
        super().__init__(signs)
        self.signs = signs


class _Chains:
    """Lark's callback for `a < b < c`, which the grammar accepts."""

    @staticmethod
    def comparison(children: list[Any]) -> None:
        """Reject more than one comparison sign."""
        if len(children) > 3:  # noqa: PLR2004  one comparison: two values and the sign
            raise _ChainedComparison([Span(sign.start_pos, sign.end_pos) for sign in children[1::2]])


def formula_fault(text: str, lines: str) -> Diagnostic:
    """Explain where the grammar rejects a formula; `lines` is the text with semicolons."""
    if not lines.strip(" ;\t\n\r"):
        return Diagnostic("NE140", "the formula is empty", text, hint="write a statement: y = x[N C] + b[C]")
    try:
        fault: Any = refusal(lines, "formula", _Chains)
    except _ChainedComparison as chain:
        return _chained(text, lines, chain.signs)
    arrow = arrow_fault(text, lines)
    if arrow is not None:
        return arrow
    token = getattr(fault, "token", None)
    index = index_fault(text, lines, (fault.pos_in_stream or 0) if token is None else token.start_pos)
    if index is not None:
        return index
    if token is None:
        return character_fault(text, fault.pos_in_stream or 0)
    if token.type == "AT" and not Stop(text, "", Span(0, 0), lines[: token.start_pos], "").in_square_brackets:
        return character_fault(text, token.start_pos)
    start = len(lines.rstrip()) if token.type == "$END" else token.start_pos
    end = start if token.type == "$END" else token.end_pos
    kind = "end" if token.type in ("$END", "SEMICOLON") else token.type
    stop = Stop(text, kind, Span(start, end), lines[:start].rstrip(), lines[start:])
    for explain in _TOKENS:
        found = explain(stop)
        if found is not None:
            return found
    if kind == "COMMA" and re.match(rf"(?:,\s*{NAME}\s*(?:\[[^\]]*\])?\s*)+=(?!=)", stop.rest):
        hint = "every statement has one name; outputs=('a', 'b') returns several values"
        return stop.fault("NE149", "a statement has one result", hint)
    if kind == "end":
        return stop.fault("NE149", "the statement is not complete", "a value is missing")
    return stop.fault("NE149", f"'{stop.word}' is not allowed here", _HELP.get(kind, OPERATORS))


def _chained(text: str, lines: str, signs: list[Span]) -> Diagnostic:
    """Explain `a < b < c`, and `a < b & c < d`, which is read as `a < (b & c) < d`."""
    hint, first = "write (a < b) & (b < c)", signs[0].end
    between = re.finditer(r"[&|]", lines[first : signs[-1].start])
    words = [word for word in between if not open_brackets(lines[first : first + word.start()])]
    if words:
        hint = "& and | bind tighter than comparisons: write (a > 0) & (a < 1)"
    spans = sorted([*signs, *(Span(first + word.start(), first + word.end()) for word in words)])
    return Diagnostic("NE141", "comparisons cannot be chained", text, tuple(map(Mark, spans)), hint=hint)


def _doubled(stop: Stop) -> Diagnostic | None:
    """Explain `&&` and `||`, `<<` and `>>`; `~=` for a comparison."""
    if stop.rest.startswith("~="):
        span = Span(stop.span.start, stop.span.start + 2)
        return stop.at(span, "NE142", "'~=' has no meaning in a formula", "write !=")
    if stop.word not in ("&", "|", "<", ">") or not stop.before.endswith(stop.word):
        return None
    meaning = "'and' is written &, 'or' is written |, with parentheses around each side"
    if stop.word in "<>":
        meaning = f"bits are shifted by {'x * 2 ** n' if stop.word == '<' else 'x // 2 ** n'}"
    span = Span(len(stop.before) - 1, stop.span.end)
    return stop.at(span, "NE142", f"'{stop.word * 2}' is not an operator of formulas", meaning)


def _needs_value(stop: Stop) -> Diagnostic | None:
    if stop.in_square_brackets:
        return None
    sign = re.search(r"(\*\*|//|==|!=|<=|>=|[-+*/%<>&|~,])$", stop.before)
    if stop.kind in _BINARY and (not sign or sign[1] == ",") and re.search(r"(^|[=(,;])$", stop.before):
        return _no_left_side(stop)
    sign = sign or re.search(r"(=)$", stop.before)
    if not sign or stop.kind not in ("end", "RPAR", *_BINARY):
        return None
    hint = "write a value after it"
    if stop.kind == "end" and stop.rest.lstrip(" ;"):
        hint = "write a value after it; a statement continues on the next line only inside brackets"
    return stop.fault("NE144", f"a value is missing after '{sign[1]}'", hint, Span(*sign.span(1)))


def _no_left_side(stop: Stop) -> Diagnostic:
    """Explain an operator at the start of a value, or a line that was meant to continue the previous one."""
    message, hint = f"a value is missing before '{stop.word}'", "write a value before it"
    above = len(stop.before.rstrip("; "))
    if above and stop.before.endswith(";") and "\n" in stop.text[above : stop.span.start]:
        hint = "a statement continues on the next line only inside brackets"
        return stop.fault("NE144", message, hint, Span(above - 1, above))
    return stop.fault("NE144", message, hint)


def _words(stop: Stop) -> Diagnostic | None:
    word = re.match(r"(and|or|not|if|else|for|while|in|is|lambda)\b", stop.rest)
    left = re.search(r"\b(not|if|lambda|for|while|return)\s*$", stop.before)
    if not (word or left) or stop.kind != "NAME" or stop.in_square_brackets:
        return None
    start, found = (stop.span.start, word[1]) if word else (left.start(1), left[1])  # type: ignore[union-attr,index]
    hint = _WORDS.get(found, "formulas have no loops and define no functions: dims express repetition")
    return stop.at(Span(start, start + len(found)), "NE145", f"'{found}' is not supported in formulas", hint)


def _missing_operator(stop: Stop) -> Diagnostic | None:
    """Explain two adjacent values: dims outside brackets, or a product without its sign."""
    if stop.kind not in ("NAME", "INT", "FLOAT", "LPAR", "LSQB", "PACK", "ANONYMOUS", "DOTS"):
        return None
    if not re.search(r"[\w\])']$", stop.before) or stop.in_square_brackets:
        return None
    left = re.search(r"[\w'.]+$|[\])]$", stop.before)
    start = left.start() if left else stop.span.start
    hint = "write * for a product, and dims in square brackets: x[N C]"
    if stop.kind == "LSQB" and stop.before.endswith("]"):
        hint = "all dims are written in one pair of square brackets: x[N C]"
    message = "an operator is missing between these two"
    return stop.fault("NE146", message, hint, Span(start, len(stop.before)))


def _equal(stop: Stop) -> Diagnostic | None:
    """Explain an equals sign that does not name a value."""
    if stop.kind != "EQUAL" or stop.in_square_brackets:
        return None
    update = re.search(r"(\*\*|//|[-+*/%&|~]|==|!=|<=|>=)$", stop.text[: stop.span.start])
    arrow = re.match(r"=\s*([<>])", stop.rest)
    keyword = re.search(rf"[(,]\s*({NAME})$", stop.before)
    if update:
        return _update(stop, update[1])
    if arrow and not stop.before.endswith("="):
        span = Span(stop.span.start, stop.span.start + arrow.end())
        return stop.at(span, "NE147", f"'={arrow[1]}' is not a comparison", f"write {arrow[1]}=")
    if keyword and _KEYWORDS.fullmatch(keyword[1]):
        span = Span(keyword.start(1), stop.span.end)
        message = f"functions take no keywords such as {keyword[1]}="
        return stop.at(span, "NE147", message, "dims are written in square brackets: sum[C](x)")
    if stop.open_brackets:
        return stop.fault("NE147", "'=' is not allowed here", "two values are compared with ==")
    if re.search(r"=[^=;]*$", stop.before.rpartition(";")[2]):
        return stop.fault("NE147", "a statement has one '='", "two values are compared with ==")
    hint = "the left of '=' is a name, with dims in square brackets if needed: y[N K] = ..."
    return stop.fault("NE147", "'=' is not allowed here", hint)


def _update(stop: Stop, sign: str) -> Diagnostic:
    """Explain `y += x` and the like; `===` and `~=` for a comparison."""
    span = Span(stop.span.start - len(sign), stop.span.end)
    name = re.search(rf"(?:^|;)\s*({NAME})\s*{re.escape(sign)}$", stop.before)
    hint = "every statement defines a new name to a value"
    if sign in ("==", "!=", "~", "<=", ">="):
        hint = f"write {'!=' if sign in ('~', '!=') else sign}"
    elif name:
        value = stop.rest[1:].partition(";")[0].strip()
        value = value if re.fullmatch(rf"{NAME}(\[[^\]]*\])?|[0-9.]+", value) else f"({value})"
        hint = f"every statement defines a new name: {name[1]}2 = {name[1]} {sign} {value}"
    return stop.at(span, "NE147", f"'{sign}=' has no meaning in a formula", hint)


def _in_term(stop: Stop) -> Diagnostic | None:
    """Explain something that is not an item of a term, inside square brackets."""
    if not stop.in_square_brackets or stop.kind == "end":
        return None
    opened = term_start(stop.before)
    hint = "dims are names separated by spaces: x[N C H]"
    if stop.kind == "COMMA":
        hint = "dims are separated by spaces: x[N C], not x[N, C]"
    elif stop.kind == "LSQB":
        hint = "a product of dims is written in parentheses: x[(h w)]"
    elif stop.kind == "PLUS":
        hint = "parts of a dim are written (a + b), a position H@(h + dh)"
    message = f"'{stop.word}' is not allowed among dims"
    return stop.fault("NE148", message, hint, Span(opened, opened + 1))


_HELP = {
    "LSQB": "a list is not a value: pass it as an operand; dims are written after a name: x[N C]",
    "COMMA": "commas separate the arguments of a function: maximum(x, 0)",
    "PACK": "packs are written among the dims of a name: x[batch... C]",
    "DOTS": "... is written among the dims of a name: x[... C]",
    "ANONYMOUS": "a value needs a name",
}


def _not_closed(stop: Stop) -> Diagnostic | None:
    """Explain a bracket that should have been closed before this position."""
    brackets = stop.open_brackets
    if not brackets:
        return None
    line = stop.text.rfind("\n", 0, stop.span.end)
    square = [position for position in brackets if stop.text[position] == "["]
    if stop.kind == "end":
        opened = brackets[-1]
    elif stop.kind == "LSQB" and square and re.search(r"[\w']$", stop.text[: stop.span.start]):
        opened = square[0]
    elif line > brackets[-1] and re.match(_STATEMENT, stop.text[line:].lstrip()):
        opened = brackets[-1]
    else:
        return None
    bracket = stop.text[opened]
    hint = f"add the {')' if bracket == '(' else ']'} that closes it"
    dims = re.match(rf"\s*({NAME})\s*\(", stop.text[opened + 1 :])
    function = re.search(rf"({NAME})\s*$", stop.text[:opened])
    if stop.kind == "LSQB" and dims and function:
        hint += f": {function[1]}[{dims[1]}](...)"
    if stop.kind == "end" and stop.word == ";" and not re.match(rf";\s*(?:{_STATEMENT}|$)", stop.rest):
        hint += "; values are separated by commas"
    return stop.fault("NE143", f"this {bracket} is not closed", hint, Span(opened, opened + 1))


def _closes_nothing(stop: Stop) -> Diagnostic | None:
    """Explain a closing bracket that does not match, or that closes empty brackets."""
    if stop.kind not in ("RPAR", "RSQB"):
        return None
    sign = stop.text[stop.span.start]
    if not stop.open_brackets:
        return stop.fault("NE143", f"this {sign} closes nothing", "remove it")
    opened = stop.open_brackets[-1]
    bracket = stop.text[opened]
    if (bracket, sign) not in (("(", ")"), ("[", "]")):
        message = f"a {bracket} cannot be closed by a {sign}"
        return stop.fault("NE143", message, "close the inner bracket first", Span(opened, opened + 1))
    if stop.before.endswith("("):
        name = re.search(r"(\w+)\s*\($", stop.before)
        what = f"{name[1]}() needs a value" if name else "there is nothing in these brackets"
        return stop.at(Span(opened, stop.span.end), "NE144", what, "write a value between the brackets")
    return None


_TOKENS: tuple[Callable[[Stop], Diagnostic | None], ...] = (
    _words,
    place_fault,
    part_fault,
    _closes_nothing,
    _doubled,
    _not_closed,
    _needs_value,
    _in_term,
    _equal,
    _missing_operator,
)
