"""Errors in a line outside its expression, and advice on lines meant for another program.

>>> print(LineError("there is no tensor 'w'", "N C, C -> N | x, w", Span(18, 19), "make it: w = randn(N=2)"))
there is no tensor 'w'
  N C, C -> N | x, w
                    ^
  help: make it: w = randn(N=2)
>>> print(advised(LineError("there is no tensor 'exit'"), "exit"))
there is no tensor 'exit'
  help: :quit or Ctrl-D leaves
"""

from __future__ import annotations

import re
from collections.abc import Callable

from nameexpr.carets import marked_text
from nameexpr.dims import WORD
from nameexpr.errors import NameExprError, Span, error
from nameexpr.terminal.faults import CommandError

_WORDS = {
    **dict.fromkeys(("exit", "quit", "q"), ":quit or Ctrl-D leaves"),
    **dict.fromkeys(("help", "?"), ":help lists what can be typed"),
    **dict.fromkeys(("ls", "dir", "names"), ":names lists the tensors"),
    "undo": ":undo takes the last line back",
}
_PYTHON = re.compile(
    rf"""
    (?:import|from|for|while|def|class|if|with|print|del|return|lambda|assert)\b
    | ['"{{]
    | {WORD}\.[^\W\d]          # x.shape, np.ones(3)
    | (einsum|evaluate)\s*\(         # as it is written after `from nameexpr import einsum`
    """,
    re.VERBOSE,
)
_VALUE = re.compile(rf"({WORD})\s*=\s*((?:np\.|ne\.|numpy\.|[\[{{'\"]).*)", re.DOTALL)
LONGEST = 60
"""Characters of a line up to which the advice quotes it."""


class LineError(CommandError):
    """An error in a line, with its span in `text` if that is known."""

    def __init__(self, message: str, text: str = "", span: Span | None = None, hint: str = "") -> None:
        super().__init__(message, hint)
        self.text = text
        self.span = span

    def __str__(self) -> str:
        """Return the message, the line with carets, and the hint."""
        return self.render()

    def quotation(self, strong: Callable[[str], str]) -> list[str]:
        """Return the line with carets."""
        return [] if self.span is None else marked_text(self.text, [(*self.span, "")], strong=strong)


def advised(fault: NameExprError | CommandError, line: str) -> NameExprError | CommandError:
    """Return the fault with another hint, if the line is Python, or a command without its colon.

    >>> print(advised(LineError("this is wrong"), "np.ones(3)"))
    this is wrong
      help: Python goes behind !: !np.ones(3)
    """
    advice = _advice(line.strip())
    if advice and isinstance(fault, NameExprError):
        *others, last = fault.diagnostics
        return error(*(other._replace(hint="") for other in others), last._replace(hint=advice))
    if advice and isinstance(fault, CommandError):
        fault.hint = advice
    return fault


def _advice(line: str) -> str:
    is_short = len(line) <= LONGEST and "\n" not in line
    if advice := _WORDS.get(line.removesuffix("()").casefold()):
        return advice
    if value := _VALUE.match(line):
        example = f"{value[1]} = !{value[2]}" if is_short else "x = !np.ones((2, 3))"
        return f"a value of Python's has ! before it: {example}"
    if python := _PYTHON.match(line):
        example = line if is_short else "print(x.shape)"
        return f"Python goes behind !: !{'ne.' if python[1] else ''}{example}"
    return ""
