r"""From the text of an expression to its syntax tree, with the terms that formulas share.

The parser is hand-written, and takes a twentieth of the time of Lark. The grammar in grammar/nameexpr.lark
remains authoritative: tests compare the trees with those of Lark, including spans, and a text that is
rejected here is parsed again by Lark, to locate the error.

One pattern matches a token with the spaces after it, the next match starts where that one ends, until there
is none: what then remains is not a token.

>>> parse("N C, C -> N").inputs[0].items
(Label(name='N', span=Span(start=0, end=1)), Label(name='C', span=Span(start=2, end=3)))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from nameexpr.dims import normalised
from nameexpr.errors import Span, error
from nameexpr.syntax.ast import (
    Alias,
    Anonymous,
    At,
    Dots,
    Expression,
    Group,
    Item,
    Label,
    Literal,
    NamedGroup,
    Node,
    Number,
    Pack,
    Parts,
    Reducer,
    Sized,
    Term,
)
from nameexpr.syntax.limits import SIZE_DIGITS, check_limits, is_plain

LETTER = r"\w"
r"""A character of a name in ASCII; in other texts `\w` differs from the characters of names."""
ANY_LETTER = r"[A-Za-z0-9_]|[^\x00-\x7F\s]"
_BLANK = r"\s*(?:\#[^\n]*(?:\n|\Z)\s*)*"


def name_patterns(letter: str) -> tuple[str, str]:
    """Return the patterns of a word with its primes, and of a name, which is a word that is not followed by
    another.
    """
    first = "[A-Za-z]" if letter == LETTER else r"[A-Za-z]|[^\x00-\x7F\s]"
    word = rf"(?:{first}|_(?={letter}|'))(?:{letter})*'*"
    return word, rf"{word}(?!{letter}|['.])"


Scanner = Callable[..., Any]


@cache
def _scanner(letter: str) -> Scanner:
    word, name = name_patterns(letter)
    size = rf"([0-9]{{1,{SIZE_DIGITS}}}(?!{letter}|'))"
    pattern = rf"""
          ({name}){_BLANK}(?:={_BLANK}(?:{size}|({name})|(\()){_BLANK})?
        | (?:(,)|(->)|(\()|(\))|{size}|(_(?!{letter}|'))|(\.\.\.)|({word}\.\.\.(?!{letter}|['.]))){_BLANK}
        | :{_BLANK}({name}){_BLANK}\Z
        | (?:(\+)|@{_BLANK}(?:{size}|({name})|(\0+))){_BLANK}
        | (?=[\s\#]){_BLANK}
        """
    return re.compile(pattern, re.VERBOSE).scanner  # type: ignore[attr-defined,no-any-return]  # faster


_LABEL, _SIZED, _ALIAS, _NAMED_GROUP, _COMMA, _ARROW, _GROUP, _CLOSE = range(1, 9)
_LITERAL, _ANONYMOUS, _DOTS, _PACK, _REDUCER = range(9, 14)
_PLUS, _AT_NUMBER, _AT_LABEL, _AT_VALUE = range(14, 18)


class WideToken:
    """A match in a text that is not ASCII: its text is normalised, as names are."""

    def __init__(self, match: re.Match[str]) -> None:
        self.match, self.lastindex, self.string = match, match.lastindex, match.string
        self.start, self.end, self.span = match.start, match.end, match.span

    def __getitem__(self, group: int) -> str:
        return normalised(self.match[group])


Token = re.Match[str] | WideToken
_new: Callable[[type], Any] = object.__new__
_new_tuple: Callable[[type[Span], tuple[int, int]], Span] = tuple.__new__
_set_name, _set_span = (Label.__dict__[slot].__set__ for slot in ("name", "span"))
_set_items, _set_term_span = (Term.__dict__[slot].__set__ for slot in ("items", "span"))


def parse(text: str) -> Expression:
    """Return the syntax tree of an expression (docs/language.md, section 2)."""
    if not is_plain(text):
        from nameexpr.syntax.lexer.names import check_names

        check_limits(text)
        check_names(text)
    parts = read_terms(text, 0, len(text)) if "@" not in text else _read_positions(text)
    if parts is None:
        from nameexpr.syntax.faults.expression import syntax_fault

        check_limits(text)
        raise error(syntax_fault(text))
    return Expression(*parts, text)


def read_tokens(scanner: Callable[[str], Scanner], text: str, start: int, end: int) -> Sequence[Token] | None:
    """Return the tokens between two positions, if there is nothing else; all of them first, which
    is faster.
    """
    tokens: list[Token]
    if text.isascii():
        tokens = [*iter(scanner(LETTER)(text, start, end).match, None)]
    else:
        tokens = [*map(WideToken, iter(scanner(ANY_LETTER)(text, start, end).match, None))]
    return tokens if (tokens[-1].end() if tokens else start) == end else None


PlaceReader = Callable[[Span], Node | None]
Read = tuple[tuple[Term, ...], tuple[Term, ...] | None, Reducer | None]


def _read_positions(text: str) -> Read | None:
    """Read the terms of an expression in which dims have positions."""
    from nameexpr.syntax.parser.positions import HIDDEN, affine_place, hidden, without_comments

    plain = without_comments(text)
    if HIDDEN in plain:
        return None
    return read_terms(hidden(plain), 0, len(text), lambda span: affine_place(plain, span))


def read_terms(  # noqa: PLR0912  a call for each token would take longer
    text: str, start: int, end: int, read_place: PlaceReader | None = None
) -> Read | None:
    """Read the terms between two places: those left and right of the arrow, and the reducer.

    None means that the text is wrong, or that a number is longer than the limit on sizes. `read_place` reads
    what is hidden: the place of a position that has brackets.
    """
    tokens = read_tokens(_scanner, text, start, end)
    if tokens is None:
        return None
    inputs: list[Term] | None = None
    terms: list[Term] = []
    items: list[Item] = []
    opened: list[_Opened] = []
    reducer = None
    for token in tokens:
        kind = token.lastindex
        if kind == _LABEL:
            label = _new(Label)  # `Label(...)` sets frozen attributes, which takes twice the time
            _set_name(label, token[1])
            _set_span(label, _new_tuple(Span, token.span(1)))
            items.append(label)
        elif kind in (_COMMA, _ARROW):
            if opened or (kind == _ARROW and inputs is not None):
                return None
            terms.append(_term(items, start))
            items, start = [], token.end(kind)
            if kind == _ARROW:
                inputs, terms = terms, []
        elif kind == _CLOSE:
            if not opened or (opened[-1][2] and not items):
                return None
            inside, (opening, items, parts) = items, opened.pop()
            items.append(_group(opening, [*parts, inside], token.end(_CLOSE)))
        elif kind in (_GROUP, _NAMED_GROUP):
            opened.append((token, items, []))
            items = []
        elif kind == _REDUCER:
            reducer = Reducer(token[_REDUCER], Span(*token.span(_REDUCER)))
        elif kind == _PLUS:
            if not opened or not items:
                return None
            opened[-1][2].append(items)
            items = []
        elif kind is not None and kind > _PLUS:
            if not items or not _positioned(items, token, read_place):
                return None
        elif kind is not None:  # blanks at the start have no kind
            items.append(_ATOMS[kind](token))
    if opened:
        return None
    terms.append(_term(items, start))
    return (tuple(terms), None, reducer) if inputs is None else (tuple(inputs), tuple(terms), reducer)


_Opened = tuple[Token, list[Item], list[list[Item]]]
"""A bracket, the items before it, and the parts before the last plus."""


def _positioned(items: list[Item], token: Token, read_place: PlaceReader | None) -> bool:
    """Put a position in the place of the last item, its dim; return whether that is right."""
    base, kind = items[-1], token.lastindex or 0
    place: Node | None = None
    span = Span(*token.span(kind))
    if isinstance(base, At):
        return False
    if kind == _AT_NUMBER:
        place = Number(int(token[kind]), span)
    elif kind == _AT_LABEL:
        from nameexpr.syntax.parser.positions import index_of

        place = index_of(token[kind], span)
    elif read_place is not None:
        place = read_place(span)
    if place is not None:
        items[-1] = At(base, place, Span(base.span.start, span.end))
    return place is not None


def _term(items: list[Item], start: int) -> Term:
    """Create a term like the labels; an empty one has an empty span at its position."""
    ends = (items[0].span.start, items[-1].span.end) if items else (start, start)
    term: Term = _new(Term)
    _set_items(term, tuple(items))
    _set_term_span(term, _new_tuple(Span, ends))
    return term


def _group(opening: Token, parts: list[list[Item]], end: int) -> Item:
    kind = opening.lastindex or _GROUP
    span = Span(opening.start(kind), end)
    group: Group | Parts = Group(tuple(parts[0]), span)
    if len(parts) > 1:
        group = Parts(tuple([_part(items) for items in parts]), span)
    if kind == _GROUP:
        return group
    return NamedGroup(opening[1], group, Span(opening.start(1), end), Span(*opening.span(1)))


def _part(items: list[Item]) -> Group:
    return Group(tuple(items), Span(items[0].span.start, items[-1].span.end))


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
