"""Split a line of a session into tokens for highlighting, whether or not it is valid.

>>> [token.kind for token in line_tokens("z = !x.sum()")]
['tensor', 'space', 'operator', 'space', 'operator', 'python']
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nameexpr.errors import Span
from nameexpr.session.lines import (
    ALIASES,
    PYTHON,
    TAKE_TEXTS,
    FormulaLine,
    read_text,
    split_text,
    without_comments,
)
from nameexpr.syntax.lexer.tokens import Token, tokens

KINDS = ("command", "python", "argument")
"""Kinds of tokens, in addition to those of `nameexpr.syntax.lexer.tokens`."""
LONGEST = 8000
"""The length up to which a text is parsed for its tokens, to distinguish a formula from an expression."""
_COMMAND_TOKENS = re.compile(r"(\s*)(:\S*)(\s*)")


def line_tokens(line: str) -> tuple[Token, ...]:
    """Split a line into tokens whose spans tile it, whether or not it is valid. Nothing is raised.

    >>> [token.kind for token in line_tokens(":plan x")], [token.kind for token in line_tokens("!x.sum()")]
    (['command', 'space', 'tensor'], ['operator', 'python'])
    """
    return tuple(token for token in _tokens(line) if token.span.start < token.span.end)


def _tokens(line: str) -> Iterator[Token]:
    if command := _COMMAND_TOKENS.match(line):
        for group, kind in enumerate(("space", "command", "space"), 1):
            yield Token(kind, Span(*command.span(group)))
        row = ALIASES.get(command[2][1:])
        if row is not None and row.takes in TAKE_TEXTS:
            start = command.end() + split_text(row.takes, line[command.end() :])[1]
            yield Token("argument", Span(command.end(), start))
            yield from _shifted(_text_tokens(line[start:]), start)
        else:
            yield Token("argument", Span(command.end(), len(line)))
    elif python := PYTHON.match(line):
        mark = Span(*python.span(3))
        yield from tokens(line[: mark.start], "formula")
        yield Token("operator", mark)
        yield Token("python", Span(mark.end, len(line)))
    else:
        yield from _text_tokens(line)


def _text_tokens(text: str) -> tuple[Token, ...]:
    if len(text) > LONGEST:
        return tokens(text)
    if isinstance(read_text(text), FormulaLine):
        return tokens(text, "formula")
    bar = without_comments(text).find("|")
    if bar < 0:
        return tokens(text, "expression")
    return tokens(text[:bar], "expression") + _shifted(tokens(text[bar:], "formula"), bar)


def _shifted(text_tokens: tuple[Token, ...], by: int) -> tuple[Token, ...]:
    return tuple(Token(kind, Span(start + by, end + by)) for kind, (start, end) in text_tokens)
