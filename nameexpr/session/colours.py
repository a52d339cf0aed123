"""Tokens of a line of a session: those of its expression or formula, and of what stands around that.

>>> [token.kind for token in line_tokens(":plan x")], [token.kind for token in line_tokens("!x.sum()")]
(['command', 'space', 'tensor'], ['operator', 'python'])
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nameexpr.dims import WORD
from nameexpr.errors import Span
from nameexpr.session.lines import Formula, read_text
from nameexpr.syntax.lexer.tokens import Token, tokens

KINDS = ("command", "python", "argument")
"""What a token of a line may be, beside the kinds of `nameexpr.syntax.lexer.tokens`."""

LONGEST = 8000
"""Characters of a text up to which it is parsed, to tell a formula from an expression."""

_TEXT_COMMANDS = {":type", ":plan", ":code", ":time", ":t", ":p"}
_COMMAND = re.compile(r"(\s*)(:\S*)(\s*)")
_PYTHON = re.compile(rf"(\s*{WORD}\s*(?:\[[^\[\]]*\])?\s*=\s*|\s*)(!)(?!=)")
_COMMENT = re.compile(r"#[^\n]*")


def line_tokens(line: str) -> tuple[Token, ...]:
    """Return the tokens of a line, right or wrong, whose spans tile it. Nothing is raised.

    Examples
    --------
    >>> line = "N C -> C | x"
    >>> [line[slice(*token.span)] for token in line_tokens(line) if token.kind == "tensor"]
    ['x']
    """
    return tuple(token for token in _found(line) if token.span.start < token.span.end)


def _found(line: str) -> Iterator[Token]:
    if command := _COMMAND.match(line):
        for group, kind in enumerate(("space", "command", "space"), 1):
            yield Token(kind, Span(*command.span(group)))
        if command[2] in _TEXT_COMMANDS:
            yield from _shifted(_of_text(line[command.end() :]), command.end())
        else:
            yield Token("argument", Span(command.end(), len(line)))
    elif python := _PYTHON.match(line):
        yield from tokens(python[1], "formula")
        yield Token("operator", Span(*python.span(2)))
        yield Token("python", Span(python.end(), len(line)))
    else:
        yield from _of_text(line)


def _of_text(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text, with its operands if there are any behind a bar."""
    if len(text) > LONGEST:
        return tokens(text)
    if isinstance(read_text(text), Formula):
        return tokens(text, "formula")
    bare = _COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    bar = bare.find("|")
    if bar < 0:
        return tokens(text, "expression")
    return tokens(text[:bar], "expression") + _shifted(tokens(text[bar:], "formula"), bar)


def _shifted(found: tuple[Token, ...], by: int) -> tuple[Token, ...]:
    return tuple(Token(kind, Span(start + by, end + by)) for kind, (start, end) in found)
