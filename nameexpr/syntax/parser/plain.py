r"""Texts of plain ASCII that are right, read by hand: no Lark, a tenth of the time.

The grammar in grammar/nameexpr.lark stays the law, and Lark the one who reads what is not ASCII and says what
is wrong with a text. `read_plain` gives the tree that Lark would give, spans included, or None; tests hold it
to that. One pattern matches a token with the blanks behind it, the next one where that one ends, until there
is none: what is then left is none of ours.

>>> read_plain("N C, C -> N").inputs[1].items
(Label(name='C', span=Span(start=5, end=6)),)
>>> read_plain("N C, C => N") is None
True
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from nameexpr.errors import Span
from nameexpr.syntax.ast import (
    Alias,
    Anonymous,
    Dots,
    Expression,
    Group,
    Item,
    Label,
    Literal,
    NamedGroup,
    Pack,
    Reducer,
    Sized,
    Term,
)
from nameexpr.syntax.lexer.limits import SIZE_DIGITS, limits

_BLANK = r"\s*(?:\#[^\n]*(?:\n|\Z)\s*)*"
_WORD = r"(?:[A-Za-z]|_(?=[\w']))\w*'*"
_NAME = rf"({_WORD}(?![\w'.]))"
_SIZE = rf"([0-9]{{1,{SIZE_DIGITS}}}(?![\w']))"
_TOKEN = re.compile(
    rf"""
      {_NAME}{_BLANK}(?:={_BLANK}(?:{_SIZE}|{_NAME}|(\()){_BLANK})?
    | (?:(,)|(->)|(\()|(\))|{_SIZE}|(_(?![\w']))|(\.\.\.)|({_WORD}\.\.\.(?![\w'.]))){_BLANK}
    | :{_BLANK}{_NAME}{_BLANK}\Z
    | (?=[\s\#]){_BLANK}
    """,
    re.VERBOSE,
)
_LABEL, _SIZED, _ALIAS, _NAMED_GROUP, _COMMA, _ARROW, _GROUP, _CLOSE = range(1, 9)
_LITERAL, _ANONYMOUS, _DOTS, _PACK, _REDUCER = range(9, 14)
Token = re.Match[str]

_scanner: Callable[[str], Any] = _TOKEN.scanner  # type: ignore[attr-defined]  # quicker than `finditer`

_new: Callable[[type], Any] = object.__new__
_new_tuple: Callable[[type[Span], tuple[int, int]], Span] = tuple.__new__
_set_name, _set_span = (Label.__dict__[one].__set__ for one in ("name", "span"))
_set_items, _set_term_span = (Term.__dict__[one].__set__ for one in ("items", "span"))


def read_plain(text: str) -> Expression | None:
    """Return the syntax tree of an expression, or None if it is not plain ASCII, too large, or wrong.

    Examples
    --------
    >>> tree = read_plain("N (h w) -> N h w : mean")
    >>> tree.reducer
    Reducer(name='mean', span=Span(start=19, end=23))
    """
    bounds = limits()
    if (
        len(text) > bounds.text
        or text.count(",") >= bounds.operands
        or text.count("(") > bounds.nesting
        or not text.isascii()
    ):
        return None
    tokens = [*iter(_scanner(text).match, None)]  # all of them first: quicker than one by one
    if not tokens or tokens[-1].end() < len(text):
        return None
    return _tree(text, tokens)


def _tree(text: str, tokens: list[Token]) -> Expression | None:
    """Return the tree of a text that is made of these tokens, or None if they do not make one."""
    inputs: list[Term] | None = None
    terms: list[Term] = []
    items: list[Item] = []
    opened: list[tuple[Token, list[Item]]] = []
    reducer, place = None, 0
    for token in tokens:
        kind = token.lastindex
        if kind == _LABEL:
            label = _new(Label)  # `Label(...)` goes round its own frozenness, which takes twice the time
            _set_name(label, token[1])
            _set_span(label, _new_tuple(Span, token.span(1)))
            items.append(label)
        elif kind in (_COMMA, _ARROW):
            if opened or (kind == _ARROW and inputs is not None):
                return None
            terms.append(_term(items, place))
            items, place = [], token.end(kind)
            if kind == _ARROW:
                inputs, terms = terms, []
        elif kind == _CLOSE:
            if not opened:
                return None
            inside, (opening, items) = items, opened.pop()
            items.append(_group(opening, inside, token.end(_CLOSE)))
        elif kind in (_GROUP, _NAMED_GROUP):
            opened.append((token, items))
            items = []
        elif kind == _REDUCER:
            reducer = Reducer(token[_REDUCER], Span(*token.span(_REDUCER)))
        elif kind is not None:  # blanks at the start have no kind
            items.append(_ATOMS[kind](token))
    if opened:
        return None
    terms.append(_term(items, place))
    if inputs is None:
        return Expression(tuple(terms), None, reducer, text)
    return Expression(tuple(inputs), tuple(terms), reducer, text)


def _term(items: list[Item], place: int) -> Term:
    """Return a term, made as labels are made; one that holds nothing stands at its place."""
    ends = (items[0].span.start, items[-1].span.end) if items else (place, place)
    term: Term = _new(Term)
    _set_items(term, tuple(items))
    _set_term_span(term, _new_tuple(Span, ends))
    return term


def _group(opening: Token, items: list[Item], end: int) -> Item:
    kind = opening.lastindex or _GROUP
    group = Group(tuple(items), Span(opening.start(kind), end))
    if kind == _GROUP:
        return group
    return NamedGroup(opening[1], group, Span(opening.start(1), end), Span(*opening.span(1)))


def _sized(token: Token) -> Sized:
    return Sized(token[1], int(token[_SIZED]), Span(token.start(1), token.end(_SIZED)))


def _alias(token: Token) -> Alias:
    whole = Span(token.start(1), token.end(_ALIAS))
    return Alias(token[1], token[_ALIAS], whole, Span(*token.span(1)), Span(*token.span(_ALIAS)))


_ATOMS: dict[int, Callable[[Token], Item]] = {
    _SIZED: _sized,
    _ALIAS: _alias,
    _LITERAL: lambda token: Literal(int(token[_LITERAL]), Span(*token.span(_LITERAL))),
    _ANONYMOUS: lambda token: Anonymous(Span(*token.span(_ANONYMOUS))),
    _DOTS: lambda token: Dots(Span(*token.span(_DOTS))),
    _PACK: lambda token: Pack(token[_PACK][:-3], Span(*token.span(_PACK))),
}
