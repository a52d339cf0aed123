"""Syntax errors of expressions: what was probably meant, and how to write it.

`CHARACTERS` is a table of what cannot be scanned, tried in order around the position where scanning stopped;
`_token_fault` explains a misplaced token.
"""

from __future__ import annotations

import re

from nameexpr.errors import Diagnostic, Mark, Span
from nameexpr.ops import REDUCTIONS
from nameexpr.syntax.faults.indices import MISSING_PART, SLICE, SUMS, written_term
from nameexpr.syntax.faults.stops import NAME, Stop, first_guess, guesses, open_brackets
from nameexpr.syntax.grammar import refusal
from nameexpr.syntax.lexer.tokens import looks_like_formula

_LETTERS = r"(?:[A-Za-z0-9_]|[^\x00-\x7F\s])+"
_ARROW = "'{0}' is not the arrow of an expression"
_ALONE = "'{0}' alone has no meaning in an expression"
_STAR = "'*' has no meaning in an expression"
# fmt: off
CHARACTERS = guesses(
    (r"=>|-{2,}>|~>|-+\s+>", "NE101", _ARROW, "write ->"),
    (r"<-+|<=", "NE101", _ARROW, "the inputs come first: inputs -> result"),
    (r"[0-9]+\.[0-9]+", "NE102", "'{0}' is not a size", "sizes are whole numbers"),
    (rf"[0-9]+{NAME}", "NE102", "'{0}' is neither a size nor a name",
     "separate them by a space, or give a name a size: C=3"),
    (rf"{NAME}\*{NAME}|{NAME}\s+\*\s+{NAME}|\)\s*\*|\*\s*\(", "NE103", _STAR,
     "a product of dims is a group, (h w); operands are multiplied by separating their terms with commas"),
    (rf"{NAME}\*|\*+{NAME}", "NE103", _STAR, "any number of dims is a pack: {1}..."),
    (r"\*", "NE103", _STAR, "any number of dims is written ..."),
    (rf"(?:{NAME}|\))\s+-\s+(?:{NAME}|\()", "NE104", "'-' has no meaning in an expression: '{0}'",
     "the arrow is written ->; sizes cannot be computed in a text"),
    (rf"(?:{NAME}|[0-9]+|\))\s*[-/%]\s*(?:{NAME}|[0-9]+|\()", "NE104",
     "sizes cannot be computed in an expression: '{0}'",
     "give the dim a name of its own; its size comes from the operands or from a keyword"),
    (r"\+", "NE105", "'+' is only allowed in parentheses",
     "parts of a dim are written (a + b), a position is written H@(h + dh)"),
    (rf"{NAME}\[", "NE106", "operands have no names in an expression: '{0}'",
     "write what the brackets hold, one term for each operand: a b, b c -> a c"),
    (r"[\[\]{}]", "NE106", "'{0}' has no meaning in an expression",
     "a product of dims is a group in parentheses: (h w)"),
    (rf"{NAME}\.{{3}}{_LETTERS}'*", "NE107", "'{0}' has no space after the three dots of a pack",
     "put a space after the three dots: batch... C"),
    (rf"{NAME}\.+(?:{_LETTERS}'*)?", "NE107", "'{0}' is neither a pack nor names",
     "a pack is a name followed by three dots, batch...; names are separated by spaces"),
    (r"\.(?:\s*\.)*", "NE107", "'{0}' is not an ellipsis",
     "any number of dims is written with three dots, without spaces: ..."),
    (r"\|", "NE100", "'|' cannot be used in an expression", "parts of a dim are written (a + b)"),
    (r";", "NE108", "';' does not separate terms", "terms are separated by commas: a b, b c -> a c"),
    (rf"{NAME}'{_LETTERS}", "NE109", "a prime ends a name: '{0}'",
     "put a space after the prime, or remove it"),
    (r"-", "NE101", _ALONE, "the arrow is written ->"),
    (r">", "NE101", _ALONE, "the arrow is written ->"),
)
# fmt: on


PLACE = "a position is a number, a label, or a sum in brackets: H@(2*h + dh); others are written in formulas"
_SLICE = re.compile(rf"(?:{NAME}\s*=\s*)?(?:-?[0-9]+)?(?:\s*:\s*(?:-?[0-9]+)?)+")
_SIGNS = ("PLUS", "MINUS", "STAR")


def syntax_fault(text: str) -> Diagnostic:
    """Explain where the grammar rejects a text."""
    fault = refusal(text, "expression")
    token = getattr(fault, "token", None)
    position = (getattr(fault, "pos_in_stream", 0) if token is None else token.start_pos) or 0
    clean = re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), text)
    found = _index(text, clean, position) or _position_fault(text, clean, position)
    if found is not None:
        return found
    if token is None or token.type in _SIGNS:  # a character that cannot be scanned, or only in positions
        return _character_fault(text, position)
    is_end = token.type == "$END"
    span = Span(len(text), len(text)) if is_end else Span(token.start_pos, token.end_pos)
    guess = None if is_end or token.type == "ARROW" else first_guess(CHARACTERS, text, span.start)
    if guess is not None and guess.code == "NE101":
        return guess
    stop = Stop(text, "end" if is_end else token.type, span, clean[: span.start].rstrip(), text[span.start :])
    return _token_fault(stop)


def _position_fault(text: str, clean: str, position: int) -> Diagnostic | None:
    """Explain a part that is missing, and a position that is missing or no sum of integers times labels."""
    before = clean[:position].rstrip()
    start = _place_start(before, clean[position : position + 1])
    if start < 0 and open_brackets(before) and clean.startswith("+", position) and before[-1] in "(+":
        mark = Mark(Span(position, position + 1))
        return Diagnostic("NE129", "a part is missing", text, (mark,), hint=MISSING_PART)
    if before.endswith("@") and not clean.startswith("(", position):
        mark = Mark(Span(len(before) - 1, len(before)))
        return Diagnostic("NE150", "a position is missing after '@'", text, (mark,), hint=PLACE)
    end = -1 if start < 0 else _closed(clean, start)
    if end < 0:
        return None
    message = f"'{text[start:end]}' is not a position of an expression"
    return Diagnostic("NE150", message, text, (Mark(Span(start, end)),), hint=PLACE)


def _place_start(before: str, sign: str) -> int:
    """Return where the position begins at the end of a text, -1 if there is none."""
    opened = open_brackets(before)
    use = re.search(rf"@\s*({NAME})$", before) if sign == "[" else None
    if use is not None:
        return use.start(1)
    return opened[-1] if opened and before[: opened[-1]].rstrip().endswith("@") else -1


def _closed(clean: str, start: int) -> int:
    """Return where the brackets end that begin at an index or after a name there, -1 if they do not."""
    depth = 0
    for sign in re.finditer(r"[\[(]|[])]|->", clean[start:]):
        depth += {"(": 1, "[": 1, "->": -depth}.get(sign[0], -1)
        if not depth:
            return -1 if sign[0] == "->" else start + sign.end()
    return -1


def _index(text: str, clean: str, position: int) -> Diagnostic | None:
    """Explain an index among the dims of an input: `t-1`, `2*h+dh`, `1:`."""
    arrow = clean.find("->")
    start = clean.rfind(",", 0, position) + 1
    end = next((index for index in range(start, max(arrow, 0)) if clean[index] == ","), arrow)
    found = written_term(clean, start, end) if position <= end else None
    if found is None or not found.span.start <= position <= found.span.end + 1:
        return None
    item = text[slice(*found.span)].rstrip()
    is_slice = _SLICE.fullmatch(item) is not None
    if not is_slice and (":" in item or position >= found.span.end):
        return None
    if found.advice not in (*SUMS, SLICE) or "[" in item or _is_product(item):
        return None
    is_affine = found.use and not re.search(r"[/%]|size", found.use)
    hint = found.hint if is_affine else f"{found.advice}; in a formula: x[{found.use}]"
    span = Span(found.span.start, found.span.start + len(item))
    return Diagnostic("NE105", f"'{item}' is not a dim", text, (Mark(span),), hint=hint)


def _is_product(item: str) -> bool:
    return re.fullmatch(rf"[(\s]*{NAME}(?:\s*\*\s*{NAME})+[\s)]*", item) is not None


def _character_fault(text: str, position: int) -> Diagnostic:
    guess = first_guess(CHARACTERS, text, position)
    if guess is not None and guess.code == "NE106" and looks_like_formula(text):
        hint = "a formula is read by nameexpr.evaluate(text, x=...); an expression is written a b, b c -> a c"
        return guess._replace(hint=hint)
    if guess is not None:
        return guess
    mark = Mark(Span(position, position + 1))
    hint = "terms are names separated by spaces, operands are separated by commas: a b, b c -> a c"
    return Diagnostic(
        "NE100", f"{text[position]!r} cannot be used in an expression", text, (mark,), hint=hint
    )


def _token_fault(stop: Stop) -> Diagnostic:
    before = stop.before
    last = Span(len(before) - 1, len(before))
    if before.endswith("="):
        hint = "'=' gives a dim a size, a label or a group: C=3, batch=N, features=(C H W)"
        return stop.fault("NE126", "a size, a label or a group is expected after '='", hint, last)
    if before.endswith(":"):
        hint = f"one of {' '.join(REDUCTIONS)}"
        name = re.search(rf"({NAME}):$", before)
        if name and stop.kind == "INT" and stop.span.start == len(before):
            hint = f"the size of a dim is written with =: {name[1]}={stop.word}"
        return stop.fault("NE124", "the name of a reducer is expected after ':'", hint, last)
    if ":" in before:
        colon = before.rindex(":")
        hint = "the reducer is one name at the end of the text: a b -> a : mean"
        return stop.fault("NE125", "nothing may follow the reducer", hint, Span(colon, colon + 1))
    if stop.kind == "EQUAL":
        return _stray_equal(stop)
    if stop.kind == "AT":
        hint = "write _ for a dim without a label: _@(t-1)"
        return stop.fault("NE150", "a dim with one position is expected before '@'", hint)
    if stop.kind == "RPAR" and stop.open_brackets and before[-1:] == "+":
        return stop.fault("NE129", "a part is missing", MISSING_PART)
    if stop.open_brackets and stop.kind in ("COMMA", "ARROW", "COLON", "end"):
        opened = Span(stop.open_brackets[-1], stop.open_brackets[-1] + 1)
        if stop.kind == "COMMA" and re.match(r"[^()>]*\)", stop.rest[1:]):
            hint = "the items of a group are separated by spaces: (h w)"
            return stop.fault("NE128", "a comma is not allowed in a group", hint, opened)
        return stop.fault("NE122", "this ( is not closed", "add the ) that closes the group", opened)
    if stop.kind == "RPAR":
        return stop.fault("NE121", "this ) closes nothing", "remove it, or add its (")
    if stop.kind == "ARROW" and "->" in before:
        first = before.index("->")
        hint = "an expression goes from its inputs to one result in one step"
        return stop.fault("NE123", "a text has one arrow", hint, Span(first, first + 2))
    shown = "the end of the text" if stop.kind == "end" else f"'{stop.word}'"
    return Diagnostic("NE120", f"{shown} is not allowed here", stop.text, (Mark(stop.span),))


def _stray_equal(stop: Stop) -> Diagnostic:
    size = re.search(r"[0-9]+$", stop.before)
    hint = "the name is on the left of '=': C=3, features=(C H W)"
    if size:
        name = re.match(rf"\s*({NAME})", stop.rest[1:])
        hint = f"write {name[1]}={size[0]}" if name else hint
    left = re.search(rf"(?:{NAME}\s*=\s*)?(?:{NAME}|[0-9]+|->|[^\w\s])$", stop.before)
    return stop.fault("NE127", "a name is expected before '='", hint, *([Span(*left.span())] if left else []))
