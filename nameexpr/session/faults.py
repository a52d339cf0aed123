"""Errors in a line outside its expression, and advice on lines meant for another program.

>>> print(LineError("there is no tensor 'w'", "N C, C -> N | x, w", Span(18, 19), "make it: w = randn(N=2)"))
there is no tensor 'w'
  N C, C -> N | x, w
                    ^
  help: make it: w = randn(N=2)
>>> print(with_advice("there is no tensor 'exit'", "exit"))
there is no tensor 'exit'
  help: :quit or Ctrl-D leaves
"""

from __future__ import annotations

import re

from nameexpr.carets import marked_text, shortened, visible
from nameexpr.dims import WORD
from nameexpr.errors import Span

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


class LineError(Exception):
    """An error in a line: the message, the span if it is known, and a hint."""

    def __init__(self, message: str, text: str = "", span: Span | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.text = text
        self.span = span
        self.hint = hint

    def __str__(self) -> str:
        """Render the message, the line with carets, and the hint."""
        lines = [visible(shortened(self.message))]
        if self.span is not None:
            lines += ["  " + line for line in marked_text(self.text, [(*self.span, "")])]
        if self.hint:
            lines.append(f"  help: {visible(shortened(self.hint))}")
        return "\n".join(lines)


def with_advice(message: str, line: str) -> str:
    """Replace the help of a message if the line looks like Python, or like a command without its colon.

    >>> print(with_advice("this is wrong", "np.ones(3)"))
    this is wrong
      help: Python goes behind !: !np.ones(3)
    """
    advice = _advice(line.strip())
    if not advice:
        return message
    lines = [line for line in message.split("\n") if not line.startswith("  help: ")]
    return "\n".join([*lines, f"  help: {visible(advice)}"])


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
