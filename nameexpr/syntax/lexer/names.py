"""Names in a text: the characters they may contain, their normalisation, and lookalikes.

A name is a Python identifier, NFKC-normalised as in Python, optionally followed by primes (`seq'`). Texts of
plain ASCII, which are nearly all, need no check: the grammar's pattern is exact for them.
"""

from __future__ import annotations

import re
import unicodedata

from nameexpr.dims import WORD, first_misfit, normalised
from nameexpr.errors import Diagnostic, Mark, Span, error

_SCAN = re.compile(rf"#[^\n]*|{WORD}'*")

_ARROWS = "→⟶⇒⟹↦➔➜➞"
_LOOKALIKES = {
    **dict.fromkeys(_ARROWS, "the arrow is written ->"),
    "…": "an ellipsis is written as three dots, ...",
    "×": "a product of dims is a group: (h w)",
    "·": "a product of dims is a group: (h w)",
    "′": "a prime is written ', as in seq'",
    "’": "a prime is written ', as in seq'",
    "，": "a comma is written ,",
    "＝": "an equals sign is written =",
    "：": "a colon is written :",
    "−": "the arrow is written ->",
    "–": "the arrow is written ->",
    "—": "the arrow is written ->",
    "\u200b": "a zero-width space was pasted with the text: remove it",
    "\ufeff": "a byte order mark was pasted with the text: remove it",
}


_IN_FORMULAS = {
    **dict.fromkeys(_ARROWS, "the result is on the left of '=': y[A C] = ..."),
    **dict.fromkeys("−–—", "a minus is written -"),
    **dict.fromkeys("×·⋅∙∗", "a product is written *"),
    **dict.fromkeys("÷∕", "a quotient is written /"),
    **dict.fromkeys("∧⋀", "'and' is written &"),
    **dict.fromkeys("∨⋁", "'or' is written |"),
    "≤": "write <=",
    "≥": "write >=",
    "≠": "write !=",
    "¬": "'not' is written ~",
    "√": "write sqrt(x)",
    "∑": "write sum[C](x)",
    "∏": "write prod[C](x)",
    "∞": "write inf",
    "²": "write ** 2",
    "³": "write ** 3",
    "⁻": "a power is written **",
    "ᵀ": "the left side gives the order of dims: y[j i] = x[i j]",
    **dict.fromkeys("“”‘", "names are written without quotes"),
}
"""The replacement of a character in a formula, if it differs from that in an expression."""


def check_names(text: str, *, is_formula: bool = False) -> None:
    """Raise a `ParseError` if a name contains an invalid character, or if two names look alike."""
    if text.isascii():
        return
    spellings: dict[str, tuple[str, Span]] = {}
    for token in _SCAN.finditer(text):
        name = token[0]
        if name[0] == "#" or name.isascii():
            continue
        span = Span(*token.span())
        if not name.rstrip("'").isidentifier():
            raise error(_bad_character(text, name, span, is_formula=is_formula))
        spelling, first = spellings.setdefault(normalised(name), (name, span))
        if spelling != name:
            raise error(_look_alike(text, first, span, normalised(name)))
    for token in _SCAN.finditer(text):  # a name may normalise to one that the text contains in ASCII
        spelling, first = spellings.get(token[0], (token[0], Span(0, 0)))
        if spelling != token[0]:
            raise error(_look_alike(text, first, Span(*token.span()), token[0]))


def _look_alike(text: str, first: Span, second: Span, name: str) -> Diagnostic:
    message = f"two spellings in this text are the same name, '{name}'"
    hint = "write the name with the same characters everywhere, or use two different names"
    return Diagnostic("NE112", message, text, (Mark(first), Mark(second)), hint=hint)


def _bad_character(text: str, name: str, span: Span, *, is_formula: bool) -> Diagnostic:
    offset = first_misfit(name)
    character = name[offset]
    title = unicodedata.name(character, f"U+{ord(character):04X}")
    message = f"'{character}' ({title}) cannot be used in {'a formula' if is_formula else 'an expression'}"
    hint = "a name is made of letters, digits and underscores, as a Python identifier is"
    plain = unicodedata.normalize("NFKC", character)
    if is_formula and plain in tuple("()[]+-*/%=<>&|~,;."):
        hint = f"write {plain}"
    table = _LOOKALIKES | _IN_FORMULAS if is_formula else _LOOKALIKES
    mark = Mark(Span(span.start + offset, span.start + offset + 1))
    return Diagnostic("NE111", message, text, (mark,), hint=table.get(character, hint))
