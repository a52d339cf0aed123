"""Advice on lines that are Python, or words that other programs know: what to type here instead.

>>> print(hinted("there is no tensor 'exit'", "exit"))
there is no tensor 'exit'
  help: :quit or Ctrl-D leaves
"""

from __future__ import annotations

import re

from nameexpr.carets import visible
from nameexpr.dims import WORD

_WORDS = {
    "exit": ":quit or Ctrl-D leaves",
    "quit": ":quit or Ctrl-D leaves",
    "q": ":quit or Ctrl-D leaves",
    "help": ":help lists what can be typed",
    "?": ":help lists what can be typed",
    "ls": ":names lists the tensors",
    "dir": ":names lists the tensors",
    "names": ":names lists the tensors",
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
"""Characters of a line up to which the advice has it as it should be."""


def hinted(told: str, line: str) -> str:
    """Return a mistake with advice, if the line looks like something else than an expression.

    >>> print(hinted("this is wrong", "np.ones(3)"))
    this is wrong
      help: Python goes behind !: !np.ones(3)
    """
    hint = _advice(line.strip())
    if not hint:
        return told
    lines = [one for one in told.split("\n") if not one.startswith("  help: ")]
    return "\n".join([*lines, f"  help: {visible(hint)}"])


def _advice(line: str) -> str:
    is_short = len(line) <= LONGEST and "\n" not in line
    if word := _WORDS.get(line.removesuffix("()").casefold()):
        return word
    if made := _VALUE.match(line):
        example = f"{made[1]} = !{made[2]}" if is_short else "x = !np.ones((2, 3))"
        return f"a value of Python's has ! before it: {example}"
    if python := _PYTHON.match(line):
        example = line if is_short else "print(x.shape)"
        return f"Python goes behind !: !{'ne.' if python[1] else ''}{example}"
    return ""
