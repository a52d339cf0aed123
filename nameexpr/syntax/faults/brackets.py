"""Brackets of a formula that do not fit, and where in a text the parser stopped."""

from __future__ import annotations

import re
from typing import NamedTuple

from nameexpr.errors import Diagnostic, Mark, Span
from nameexpr.syntax.faults.guesses import NAME, open_brackets

_STATEMENT = rf"{NAME}\s*(?:\[[^\]=]*\])?\s*=(?!=)"


class Place(NamedTuple):
    """Where a token cannot stand: its kind and span, and the text before it and from it on."""

    text: str
    kind: str
    span: Span
    before: str
    rest: str

    @property
    def word(self) -> str:
        """The token as it is written."""
        return self.text[self.span.start : self.span.end]

    def fault(self, code: str, message: str, hint: str, *others: Span) -> Diagnostic:
        """Return a diagnostic that marks this place, and other ones."""
        spans = sorted({*others, self.span}, key=lambda span: span.start)
        return Diagnostic(code, message, self.text, tuple(map(Mark, spans)), hint=hint)


def open_bracket(place: Place) -> int | None:
    """Return where the innermost bracket stands that is open at this place."""
    return next(reversed(open_brackets(place.before)), None)


def not_closed(place: Place) -> Diagnostic | None:
    """Explain a bracket that should have been closed before this place."""
    opened = _unclosed(place)
    if opened is None:
        return None
    bracket = place.text[opened]
    closing = {"(": ")", "[": "]"}[bracket]
    hint = f"add the {closing} that closes it"
    dims = re.match(rf"\s*({NAME})\s*\(", place.text[opened + 1 :])
    function = re.search(rf"({NAME})\s*$", place.text[:opened])
    if place.kind == "LSQB" and dims and function:
        hint += f": {function[1]}[{dims[1]}](...)"
    if place.kind == "end" and place.word == ";" and not re.match(rf";\s*(?:{_STATEMENT}|$)", place.rest):
        hint += "; values are separated by commas"
    return place.fault("NE143", f"this {bracket} is not closed", hint, Span(opened, opened + 1))


def _unclosed(place: Place) -> int | None:
    """Return where a bracket stands that should have been closed before this place."""
    opened = open_brackets(place.before)
    if not opened:
        return None
    if place.kind == "end":
        return opened[-1]
    square = [one for one in opened if place.text[one] == "["]
    if place.kind == "LSQB" and square and re.search(r"[\w']$", place.text[: place.span.start]):
        return square[0]
    line = place.text.rfind("\n", 0, place.span.end)
    if line > opened[-1] and re.match(_STATEMENT, place.text[line:].lstrip()):
        return opened[-1]
    return None


def closes_nothing(place: Place) -> Diagnostic | None:
    """Explain a closing bracket that fits none, or closes over nothing."""
    if place.kind not in ("RPAR", "RSQB"):
        return None
    opened = open_bracket(place)
    sign = place.text[place.span.start]
    if opened is None:
        return place.fault("NE143", f"this {sign} closes nothing", "remove it")
    bracket = place.text[opened]
    if (bracket, sign) not in (("(", ")"), ("[", "]")):
        message = f"a {bracket} cannot be closed by a {sign}"
        return place.fault("NE143", message, "close the inner bracket first", Span(opened, opened + 1))
    if place.before.endswith("("):
        name = re.search(r"(\w+)\s*\($", place.before)
        what = f"{name[1]}() needs a value" if name else "there is nothing in these brackets"
        mark = Mark(Span(opened, place.span.end))
        return Diagnostic("NE144", what, place.text, (mark,), hint="write a value between the brackets")
    return None
