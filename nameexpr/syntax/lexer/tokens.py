"""From text to coloured tokens, for the line editor, the Pygments lexer and HTML.

The terminals are those of the grammar: their patterns are read from the stored tables, in the order in which
Lark tries them, so that Lark itself is not needed. Unlike the parser this accepts any text. Text that no
terminal matches is a token of kind "error", spaces and comments are tokens too, and the spans tile the whole
text. The time of a token is proportional to its length, so that a text can be coloured again after each key.

>>> [(token.kind, token.span) for token in tokens("N, C->")]  # doctest: +NORMALIZE_WHITESPACE
[('name', Span(start=0, end=1)), ('operator', Span(start=1, end=2)), ('space', Span(start=2, end=3)),
 ('name', Span(start=3, end=4)), ('operator', Span(start=4, end=6))]
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from nameexpr.dims import WORD
from nameexpr.errors import Span

Kind = Literal["expression", "formula"]

KINDS = (
    "name",
    "tensor",
    "function",
    "pack",
    "dots",
    "anonymous",
    "number",
    "operator",
    "bracket",
    "comment",
    "space",
    "error",
)
"""Every kind of token."""

_KIND_OF = {
    "NAME": "name",
    "PACK": "pack",
    "DOTS": "dots",
    "ANONYMOUS": "anonymous",
    **dict.fromkeys(("INT", "FLOAT"), "number"),
    **dict.fromkeys(("LPAR", "RPAR", "LSQB", "RSQB"), "bracket"),
    "COMMENT": "comment",
    "SPACE": "space",
}
_BLANK = {"SPACE", "COMMENT"}

_ASSIGNED = re.compile(rf"(?:^|[;\n])[^\S\n]*{WORD}'*\s*=(?!=)\s*[^\s;]")
# A whole word is an error, not its first letter: trying each suffix of it would take quadratic time.
_WRONG = r"(?P<ERROR>(?:[A-Za-z0-9_'.]|[^\x00-\x7F\s])+|[\x00-\x7F])"


class Token(NamedTuple):
    """A piece of a text: its kind (one of `KINDS`) and its span."""

    kind: str
    span: Span


def tokens(text: str, kind: Kind | None = None) -> tuple[Token, ...]:
    """Return the tokens of a text, valid or not, whose spans tile it.

    Without a `kind`, a text without an arrow that has square brackets or names its result is a formula.

    >>> text = "y[N] = sum[C](x[N C])"
    >>> [text[slice(*token.span)] for token in tokens(text) if token.kind in ("tensor", "function")]
    ['y', 'sum', 'x']
    """
    kind = kind or kind_of(text)
    scanned = _scanned(text, kind)
    words = [(index, piece) for index, piece in enumerate(scanned) if piece[0] not in _BLANK]
    kinds = [_KIND_OF.get(terminal, "operator") for terminal, _ in scanned]
    if kind == "formula":
        from nameexpr.syntax.lexer.roles import Roles

        roles = Roles(kinds)
        for index, (terminal, _) in words:
            roles.read(index, terminal)
    else:  # the reducer follows a colon
        for (_, (before, _)), (index, (terminal, _)) in pairwise(words):
            if before == "COLON" and terminal == "NAME":
                kinds[index] = "function"
    for index, (terminal, (start, end)) in enumerate(scanned):
        is_word = terminal in ("NAME", "PACK") and not text.isascii()
        if terminal == "ERROR" or (is_word and not text[start:end].rstrip("'.").isidentifier()):
            kinds[index] = "error"  # no terminal matches, or a word of the grammar is not an identifier
    return tuple([Token(kind, span) for kind, (_, span) in zip(kinds, scanned, strict=True)])


def kind_of(text: str) -> Kind:
    """Return the language of a text.

    >>> kind_of("N C -> C"), kind_of("y = 2 * x"), kind_of("")
    ('expression', 'formula', 'expression')
    """
    return "formula" if looks_like_formula(text) else "expression"


def looks_like_formula(text: str) -> bool:
    """Return whether a text is meant as a formula: no arrow, but brackets or a name followed by "=".

    >>> looks_like_formula("y = x[N C]"), looks_like_formula("N (h d=2) -> N h d")
    (True, False)
    """
    plain = re.sub(r"#[^\n]*", "", text)
    if "->" in plain:
        return False
    return "[" in plain or _ASSIGNED.search(plain) is not None


_Scanned = tuple[str, Span]


def _scanned(text: str, kind: Kind) -> list[_Scanned]:
    """Return (terminal, span) of all tokens, with adjacent errors joined."""
    scanned: list[_Scanned] = []
    for match in _pattern(kind).finditer(text):
        terminal, span = match.lastgroup or "ERROR", Span(*match.span())
        if terminal == "ERROR" and scanned and scanned[-1][0] == "ERROR":
            span = Span(scanned.pop()[1].start, span.end)
        scanned.append((terminal, span))
    return scanned


@cache
def _pattern(kind: Kind) -> re.Pattern[str]:
    """Return one pattern of all terminals of a grammar, in Lark's order: the rarer ones first."""
    from nameexpr.syntax.grammar import stored_tables

    stored = stored_tables(kind)["memo"].values()
    terminals = sorted((entry for entry in stored if entry["__type__"] == "TerminalDef"), key=_rank)
    groups = []
    for name, pattern in ((terminal["name"], terminal["pattern"]) for terminal in terminals):
        is_literal = pattern["__type__"] == "PatternStr"
        groups.append(f"(?P<{name}>{re.escape(pattern['value']) if is_literal else pattern['value']})")
    return re.compile("|".join([*groups, _WRONG]))


def _rank(terminal: dict[str, Any]) -> tuple[int, int, int, str]:
    """Return Lark's sort key: by priority, by the longest possible match, by the longest pattern."""
    pattern = terminal["pattern"]
    length = len(pattern["value"])
    widest = pattern["_width"][1] if "_width" in pattern else length
    return -terminal["priority"], -widest, -length, terminal["name"]
