"""Lark's refusals in the user's words: what was probably meant, and how it is written here.

Two tables: `CHARACTERS` for what cannot be scanned, tried in order around the place where the scan stopped,
and the functions of `_TOKENS` for a token that cannot stand where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from nameexpr.dims import WORD
from nameexpr.errors import Diagnostic, Mark, Span
from nameexpr.syntax.grammar import refusal
from nameexpr.syntax.lexer.language import looks_like_formula

_NAME = rf"{WORD}'*"
_LETTERS = r"(?:[A-Za-z0-9_]|[^\x00-\x7F\s])+"


class Guess(NamedTuple):
    """A first guess that people really make: how to notice it, and what to say.

    In message and hint {0} is the text matched, {1} the same without its stars.
    """

    pattern: re.Pattern[str]
    code: str
    message: str
    hint: str


def _guess(pattern: str, code: str, message: str, hint: str) -> Guess:
    return Guess(re.compile(pattern), code, message, hint)


CHARACTERS = (
    _guess(r"=>|-{2,}>|~>|-+\s+>", "NE101", "'{0}' is not the arrow of an expression", "write ->"),
    _guess(
        r"<-+|<=",
        "NE101",
        "'{0}' is not the arrow of an expression",
        "inputs stand left of the result: inputs -> result",
    ),
    _guess(r"[0-9]+\.[0-9]+", "NE102", "'{0}' is no size", "sizes are whole numbers"),
    _guess(
        rf"[0-9]+{_NAME}",
        "NE102",
        "'{0}' is neither a size nor a name",
        "separate them by a space, or give a name a size: C=3",
    ),
    _guess(
        rf"{_NAME}\*{_NAME}|{_NAME}\s+\*\s+{_NAME}|\)\s*\*|\*\s*\(",
        "NE103",
        "'*' has no meaning in an expression",
        "a product of dims is a group, (h w); operands are multiplied by separating their terms with commas",
    ),
    _guess(
        rf"{_NAME}\*|\*+{_NAME}",
        "NE103",
        "'*' has no meaning in an expression",
        "any number of dims is a pack: {1}...",
    ),
    _guess(r"\*", "NE103", "'*' has no meaning in an expression", "any number of dims is written ..."),
    _guess(
        rf"(?:{_NAME}|\))\s+-\s+(?:{_NAME}|\()",
        "NE104",
        "'-' has no meaning in an expression: '{0}'",
        "the arrow is written ->; sizes cannot be computed in a text",
    ),
    _guess(
        rf"(?:{_NAME}|[0-9]+|\))\s*[-/%]\s*(?:{_NAME}|[0-9]+|\()",
        "NE104",
        "sizes cannot be computed in an expression: '{0}'",
        "give the dim a name of its own; its size comes from the operands or from a keyword",
    ),
    _guess(
        r"\+",
        "NE105",
        "'+' is kept for concatenation, which the language does not have yet",
        "use numpy.concatenate",
    ),
    _guess(
        rf"{_NAME}\[",
        "NE106",
        "operands have no names in an expression: '{0}'",
        "write what the brackets hold, one term for each operand: a b, b c -> a c",
    ),
    _guess(
        r"[\[\]{}]",
        "NE106",
        "'{0}' has no meaning in an expression",
        "a product of dims is a group in round brackets: (h w)",
    ),
    _guess(
        rf"{_NAME}\.{{3}}{_LETTERS}'*",
        "NE107",
        "'{0}' runs a pack and what follows it together",
        "put a space behind the three dots, such as in batch... C",
    ),
    _guess(
        rf"{_NAME}\.+(?:{_LETTERS}'*)?",
        "NE107",
        "'{0}' is neither a pack nor names",
        "a pack is a name with three dots behind it, batch...; names are separated by spaces",
    ),
    _guess(
        r"\.(?:\s*\.)*",
        "NE107",
        "'{0}' is not an ellipsis",
        "any number of dims is written with three dots, without spaces: ...",
    ),
    _guess(r";", "NE108", "';' does not separate terms", "terms are separated by commas: a b, b c -> a c"),
    _guess(
        rf"{_NAME}'{_LETTERS}",
        "NE109",
        "a prime ends a name: '{0}'",
        "put a space behind the prime, or leave it out",
    ),
    _guess(r"-", "NE101", "'-' alone has no meaning in an expression", "the arrow is written ->"),
    _guess(r">", "NE101", "'>' alone has no meaning in an expression", "the arrow is written ->"),
)


_REACH = 64  # how far around the fault a guess is looked for


def syntax_fault(text: str) -> Diagnostic:
    """Explain where the grammar refuses a text.

    Lark reports a character that it cannot scan, or a token that cannot stand there; `$END` is the end of the
    text.
    """
    fault = refusal(text, "expression")
    token = getattr(fault, "token", None)
    if token is None:
        return _not_a_formula(text, _character_fault(text, getattr(fault, "pos_in_stream", 0) or 0))
    if token.type == "$END":
        return _token_fault(text, "$END", Span(len(text), len(text)))
    return _token_fault(text, token.type, Span(token.start_pos, token.end_pos))


def _not_a_formula(text: str, found: Diagnostic) -> Diagnostic:
    """Return the diagnostic, with where formulas are read if this text looks like one."""
    if found.code != "NE106" or not looks_like_formula(text):
        return found
    hint = "a formula is read by nameexpr.evaluate(text, x=...); an expression is written a b, b c -> a c"
    return found._replace(hint=hint)


def _character_fault(text: str, place: int) -> Diagnostic:
    guess = _matching_guess(text, place)
    if guess is not None:
        return guess
    mark = Mark(Span(place, place + 1))
    hint = "terms are names separated by spaces, operands are separated by commas: a b, b c -> a c"
    return Diagnostic("NE100", f"{text[place]!r} cannot stand in an expression", text, (mark,), hint=hint)


def _matching_guess(text: str, place: int) -> Diagnostic | None:
    """Return what the first guess that covers this place says."""
    start, end = max(0, place - _REACH), min(len(text), place + _REACH)
    for guess in CHARACTERS:
        for match in guess.pattern.finditer(text, start, end):
            if match.start() <= place < match.end():
                mark = Mark(Span(*match.span()))
                words = match[0], match[0].strip("*")
                message, hint = guess.message.format(*words), guess.hint.format(*words)
                return Diagnostic(guess.code, message, text, (mark,), hint=hint)
    return None


class Place(NamedTuple):
    """Where a token cannot stand: the tokens before it (type by character, position) and itself."""

    text: str
    type: str
    span: Span
    before: str
    open_brackets: tuple[int, ...]


def _token_fault(text: str, kind: str, span: Span) -> Diagnostic:
    guess = _matching_guess(text, span.start) if kind not in {"$END", "ARROW"} else None
    if guess is not None and guess.code == "NE101":
        return guess
    clean = re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), text)[: span.start]
    place = Place(text, kind, span, clean.rstrip(), _open_brackets(clean))
    for explain in _TOKENS:
        found = explain(place)
        if found is not None:
            return found
    shown = "the end of the text" if kind == "$END" else f"'{text[span.start : span.end]}'"
    return Diagnostic("NE120", f"{shown} cannot stand here", text, (Mark(span),))


def _open_brackets(text: str) -> tuple[int, ...]:
    stack: list[int] = []
    for bracket in re.finditer(r"[()]", text):
        if bracket[0] == "(":
            stack.append(bracket.start())
        elif stack:
            stack.pop()
    return tuple(stack)


def _after_equal(place: Place) -> Diagnostic | None:
    if not place.before.endswith("="):
        return None
    equal = Span(len(place.before) - 1, len(place.before))
    message = "a size, a label or a group is expected after '='"
    hint = "'=' says what a dim is: C=3, batch=N, features=(C H W)"
    return Diagnostic("NE126", message, place.text, (Mark(equal), Mark(place.span)), hint=hint)


def _stray_equal(place: Place) -> Diagnostic | None:
    if place.type != "EQUAL":
        return None
    size = re.search(r"[0-9]+$", place.before)
    hint = "the name stands left of '=': C=3, features=(C H W)"
    if size:
        name = re.match(rf"\s*({_NAME})", place.text[place.span.end :])
        hint = f"write {name[1]}={size[0]}" if name else hint
    left = re.search(rf"(?:{_NAME}\s*=\s*)?(?:{_NAME}|[0-9]+|->|[^\w\s])$", place.before)
    marks = (*([Mark(Span(*left.span()))] if left else []), Mark(place.span))
    return Diagnostic("NE127", "a name is expected before '='", place.text, marks, hint=hint)


def _reducer_name(place: Place) -> Diagnostic | None:
    if not place.before.endswith(":"):
        return None
    message = "the name of a reducer is expected after ':'"
    hint = "one of sum mean prod max min any all var std median logsumexp norm argmax argmin count_nonzero"
    name = re.search(rf"({_NAME}):$", place.before)
    if name and place.type == "INT" and place.span.start == len(place.before):
        size = place.text[place.span.start : place.span.end]
        hint = f"the size of a dim is written with =: {name[1]}={size}"
    colon = Span(len(place.before) - 1, len(place.before))
    return Diagnostic("NE124", message, place.text, (Mark(colon), Mark(place.span)), hint=hint)


def _behind_reducer(place: Place) -> Diagnostic | None:
    if ":" not in place.before:
        return None
    colon = place.before.rindex(":")
    marks = (Mark(Span(colon, colon + 1)), Mark(place.span))
    hint = "the reducer is one name at the end of the text: a b -> a : mean"
    return Diagnostic("NE125", "nothing may follow the reducer", place.text, marks, hint=hint)


def _in_open_bracket(place: Place) -> Diagnostic | None:
    if not place.open_brackets or place.type not in {"COMMA", "ARROW", "COLON", "$END"}:
        return None
    bracket = place.open_brackets[-1]
    opened = Mark(Span(bracket, bracket + 1))
    if place.type == "COMMA" and re.match(r"[^()>]*\)", place.text[place.span.end :]):
        hint = "the items of a group are separated by spaces: (h w)"
        return Diagnostic(
            "NE128", "a comma cannot stand in a group", place.text, (opened, Mark(place.span)), hint=hint
        )
    marks = (opened, Mark(place.span))
    hint = "add the ) that closes the group"
    return Diagnostic("NE122", "this ( is not closed", place.text, marks, hint=hint)


def _stray_closing(place: Place) -> Diagnostic | None:
    if place.type != "RPAR":
        return None
    return Diagnostic(
        "NE121", "this ) closes nothing", place.text, (Mark(place.span),), hint="remove it, or add its ("
    )


def _second_arrow(place: Place) -> Diagnostic | None:
    if place.type != "ARROW" or "->" not in place.before:
        return None
    first = place.before.index("->")
    marks = (Mark(Span(first, first + 2)), Mark(place.span))
    hint = "an expression goes from its inputs to one result in one step"
    return Diagnostic("NE123", "a text has one arrow", place.text, marks, hint=hint)


_TOKENS: tuple[Callable[[Place], Diagnostic | None], ...] = (
    _after_equal,
    _reducer_name,
    _behind_reducer,
    _stray_equal,
    _in_open_bracket,
    _stray_closing,
    _second_arrow,
)
