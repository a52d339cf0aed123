"""Advice on lines that are Python, or words that other programs know: what to type here instead.

>>> print(hinted("there is no tensor 'exit'", "exit"))
there is no tensor 'exit'
  help: :quit or Ctrl-D leaves
"""

from __future__ import annotations

import re

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
    r"(?:import|from|for|while|def|class|if|with|print|del|return|lambda|assert)\b|(?:np|ne|numpy)\.|['\"{]|\w+\.\w+\("
)
_MAKES = re.compile(r"\w+\s*=\s*(?:np\.|ne\.|numpy\.|[\[{'\"])")


def hinted(told: str, line: str) -> str:
    """Return a mistake with advice, if the line looks like something else than an expression."""
    word = line.strip().removesuffix("()").casefold()
    hint = _WORDS.get(word, "")
    if not hint and _MAKES.match(line.strip()):
        hint = "to name a value of Python's, write ! before it: x = !np.ones((2, 3))"
    elif not hint and _PYTHON.match(line.strip()):
        hint = "Python goes behind !: !print(x.shape)"
    if not hint:
        return told
    lines = [one for one in told.split("\n") if not one.startswith("  help: ")]
    return "\n".join([*lines, f"  help: {hint}"])
