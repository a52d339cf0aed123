"""Tokens of a line for highlighting: those of its text, and commands, arguments and Python.

>>> [token.kind for token in line_tokens(":plan x")], [token.kind for token in line_tokens("!x.sum()")]
(['command', 'space', 'tensor'], ['operator', 'python'])
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nameexpr.errors import Span
from nameexpr.session.lines import COMMANDS, PYTHON, FormulaLine, read_text, without_comments
from nameexpr.syntax.lexer.tokens import Token, tokens

KINDS = ("command", "python", "argument")
"""Kinds of tokens, in addition to those of `nameexpr.syntax.lexer.tokens`."""

LONGEST = 8000
"""Characters of a text up to which it is parsed, to tell a formula from an expression."""

_TEXT_COMMANDS = {
    f":{name}" for row in COMMANDS.values() if row.takes == "text" for name in (row.name, *row.also)
}
_COMMAND = re.compile(r"(\s*)(:\S*)(\s*)")


def line_tokens(line: str) -> tuple[Token, ...]:
    """Split a line into tokens whose spans tile it, whether or not it is valid. Nothing is raised.

    Examples
    --------
    >>> line = "N C -> C | x"
    >>> [line[slice(*token.span)] for token in line_tokens(line) if token.kind == "tensor"]
    ['x']
    """
    return tuple(token for token in _tokens(line) if token.span.start < token.span.end)


def _tokens(line: str) -> Iterator[Token]:
    if command := _COMMAND.match(line):
        for group, kind in enumerate(("space", "command", "space"), 1):
            yield Token(kind, Span(*command.span(group)))
        if command[2] in _TEXT_COMMANDS:
            yield from _shifted(_text_tokens(line[command.end() :]), command.end())
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
