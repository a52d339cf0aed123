"""Pygments lexers, registered by entry points: `nameexpr` for texts, `nameexpr-session` for transcripts.

Sphinx, MkDocs, IPython and `pygmentize -l nameexpr` find them by these names. The tokens are those of
`nameexpr.session.lines`, so that a page shows the colours of the session. Only this module imports Pygments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from pygments import token as kinds  # type: ignore[import-untyped]
from pygments.lexer import Lexer, do_insertions  # type: ignore[import-untyped]
from pygments.lexers.python import PythonLexer  # type: ignore[import-untyped]

from nameexpr.session.highlighting import line_tokens

Piece = tuple[int, Any, str]

TYPES = {
    "name": kinds.Name.Attribute,
    "tensor": kinds.Name.Variable,
    "function": kinds.Name.Function,
    "pack": kinds.Name.Attribute,
    "dots": kinds.Name.Attribute,
    "anonymous": kinds.Name.Attribute,
    "number": kinds.Number,
    "operator": kinds.Operator,
    "bracket": kinds.Punctuation,
    "comment": kinds.Comment.Single,
    "space": kinds.Whitespace,
    "error": kinds.Generic.Error,  # not Error, at which Sphinx gives up: pages show mistakes on purpose
    "command": kinds.Keyword,
    "argument": kinds.String,
    "python": kinds.Text,
}
"""Pygments' name for each kind of token."""

_PROMPT = re.compile(r"> |\. |[>.](?=\n?\Z)")
_FAULT = re.compile(r"\w+\[NE\d{3}\]: |  help: | +\^[ ^]*\n?\Z")


class NameExprLexer(Lexer):  # type: ignore[misc]
    """Expressions, formulas, and all other lines of a session."""

    name = "NameExpr"
    aliases: ClassVar[list[str]] = ["nameexpr"]
    filenames: ClassVar[list[str]] = ["*.ne"]

    def get_tokens_unprocessed(self, text: str) -> Iterator[Piece]:
        """Yield (position, type, text) of each token."""
        for kind, (start, end) in line_tokens(text):
            if kind == "python":
                python = PythonLexer(stripnl=False, ensurenl=False).get_tokens_unprocessed(text[start:end])
                yield from ((start + place, what, value) for place, what, value in python)
            else:
                yield start, TYPES[kind], text[start:end]


class NameExprSessionLexer(Lexer):  # type: ignore[misc]
    """Transcripts of `nameexpr repl`: inputs after `> `, continued after `. `, and answers."""

    name = "NameExpr session"
    aliases: ClassVar[list[str]] = ["nameexpr-session"]
    filenames: ClassVar[list[str]] = []

    def get_tokens_unprocessed(self, text: str) -> Iterator[Piece]:
        """Yield (position, type, text) of each token."""
        start = 0
        for is_input, lines in _blocks(text):
            for place, what, value in _input(lines) if is_input else _answer(lines):
                yield start + place, what, value
            start += sum(map(len, lines))


def _blocks(text: str) -> Iterator[tuple[bool, list[str]]]:
    """Yield the inputs, and the answers between them, as lists of lines."""
    is_input, lines = False, list[str]()
    for line in re.findall(r"[^\n]*\n|[^\n]+\Z", text):
        goes_on = line[0] == "." and is_input
        is_next = bool(_PROMPT.match(line)) and (line[0] == ">" or goes_on)
        if lines and (is_next != is_input or (is_next and not goes_on)):
            yield is_input, lines
            lines = []
        is_input = is_next
        lines.append(line)
    if lines:
        yield is_input, lines


def _input(lines: list[str]) -> Iterator[Piece]:
    """Yield the tokens of one input, whose lines begin with prompts."""
    prompts, rest = [], ""
    for line in lines:
        found = _PROMPT.match(line)
        assert found is not None, "inputs begin with prompts"
        prompt = found[0]
        prompts.append((len(rest), [(0, kinds.Generic.Prompt, prompt)]))
        rest += line[len(prompt) :]
    yield from do_insertions(prompts, NameExprLexer().get_tokens_unprocessed(rest))


def _answer(lines: list[str]) -> Iterator[Piece]:
    """Yield the lines of an answer; the first line and the carets of an error are error tokens."""
    is_fault = any(_FAULT.match(line) for line in lines)
    start = 0
    for line in lines:
        is_marked = is_fault and (not line.startswith(" ") or not line.strip(" ^\n"))
        yield start, kinds.Generic.Error if is_marked else kinds.Generic.Output, line
        start += len(line)
