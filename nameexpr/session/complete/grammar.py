"""What the grammar accepts after a text, and where in a term a place is.

The text is what stands before the word under the cursor. Lark's interactive parser reads it with the stored
tables and without building anything, and tells which tokens may follow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from nameexpr.syntax.grammar import lark_error, load_parser

if TYPE_CHECKING:
    from lark import Lark

NAME = r"(?:[A-Za-z_]|[^\x00-\x7F\s])(?:[A-Za-z0-9_]|[^\x00-\x7F\s])*'*"
_PIECE = re.compile(rf"({NAME}(?!\.))|([^\s()=]*\.\.\.)|[()=]|[^\s()=]+")
_IN_WORD = re.compile(r"[A-Za-z0-9_']|[^\x00-\x7F\s]")


@cache
def _lark(start: str) -> Lark:
    return load_parser(start)


@lru_cache(maxsize=256)
def accepted(before: str, start: str = "expression") -> frozenset[str]:
    """Return the tokens that may follow a text, none if the text is wrong already.

    Examples
    --------
    >>> sorted(accepted("N C -> N : ")), "RSQB" in accepted("x[N", "formula"), accepted("N C)")
    (['NAME'], True, frozenset())
    """
    try:
        parser: Any = _lark(start).parse_interactive(before)
        parser.exhaust_lexer()
        return frozenset(parser.accepts())
    except lark_error():
        return frozenset()


def word_before(text: str) -> str | None:
    """Return the word that a text ends in, "" if it ends in none, None if it ends in what is no name.

    Examples
    --------
    >>> word_before("x[N") , word_before("x["), word_before("3C")
    ('N', '', None)
    """
    start = len(text)
    while start and _IN_WORD.match(text[start - 1]):
        start -= 1
    word = text[start:]
    if not word:
        return None if text.endswith(".") else ""
    return word if re.fullmatch(NAME, word) and text[start - 1 : start] != "." else None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a term has been written up to.

    `items` are those outside groups, as the tensor calls them (None for one without a name); `used` are all
    names so far; `is_counted` is false behind `...` or a pack, where the number of dims is open.
    """

    items: tuple[str | None, ...]
    used: frozenset[str]
    is_counted: bool
    in_group: bool
    after_equal: bool


def place_in(term: str) -> Place:
    """Return the place at the end of a term that is not finished.

    Examples
    --------
    >>> place_in("N (h w) batch=K ").items
    ('N', None, 'batch')
    """
    items: list[str | None] = []
    used: set[str] = set()
    depth, is_equal, is_counted = 0, False, True
    for piece in _PIECE.finditer(term):
        if piece[0] == "=":
            is_equal = True
            continue
        if depth == 0 and not is_equal and piece[0] != ")":
            items.append(piece[1])
        used.update(filter(None, [piece[1]]))
        is_counted = is_counted and not piece[2]
        depth += {"(": 1, ")": -1}.get(piece[0], 0)
        is_equal = False
    return Place(tuple(items), frozenset(used), is_counted, depth > 0, is_equal)
