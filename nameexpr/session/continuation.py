r"""Line continuation: at a prompt, in a script, and in a transcript.

No input may be impossible to end: an empty line always ends it, and so does an error that further lines
cannot fix, such as an unmatched closing bracket. A formula that ends in an operator is complete: a line break
ends its statement, so the next line could not complete it.

>>> is_open("y[N] = sum[C]("), is_open("y[N] = sum[C](\n"), is_open("N C,"), is_open("i i ->")
(True, False, True, False)

A transcript is also a script: if a file begins with the prompt, its lines are those after prompts.

>>> lines_of("> x = arange(N=3)\nx: N=3  int64\n> x + 1\n")
['x = arange(N=3)', 'x + 1']
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator

from nameexpr.session.lines import ALIASES, COMMAND, PYTHON, without_comments

PROMPT = "> "
MORE = ". "
LONGEST = 65_536
"""The length from which a text is rejected anyway (`nameexpr.set_limits`)."""
_CLOSED_BY = {"(": ")", "[": "]"}


def is_open(text: str) -> bool:
    r"""Return whether a text continues on the next line.

    It is open if a bracket is open, if it ends in a backslash, if an expression ends in a comma or a bar, or
    if Python considers the code after `!` incomplete. It never is after an empty line.

    >>> is_open("x[N C] * w[C])"), is_open("!for i in range(3):"), is_open(":load x photo(1.npy")
    (False, True, False)
    """
    last = text.rpartition("\n")[2]
    if not last.strip() or len(text) > LONGEST:
        return False
    code = python_start(text)
    if code is not None:
        return _is_open_python(text[code:])
    if last.rstrip().endswith("\\"):
        return True
    command = COMMAND.match(text)
    row = ALIASES.get(command[1]) if command else None
    has_no_text = row is not None and row.takes in ("file", "setting", "code", "word")
    if has_no_text or ("\n" in text and last.lstrip().startswith((":", "!"))):
        return False
    return _is_unfinished(without_comments(text[command.end() :] if command else text))


def python_start(text: str) -> int | None:
    """Return the offset of the Python code after `!` or `name = !`, or None.

    >>> python_start("z[N C] = !np.ones(3)"), python_start("x != y")
    (10, None)
    """
    python = PYTHON.match(text)
    return python.end() if python else None


def continued(text: str) -> str:
    r"""Replace backslashes before line breaks, and the breaks, by spaces; offsets stay valid.

    >>> continued("x[N] \\\n + 1")
    'x[N]    + 1'
    """
    return re.sub(r"\\[ \t\r]*\n", lambda line_break: " " * len(line_break[0]), text)


def lines_of(text: str) -> list[str]:
    r"""Split a script or a transcript into lines, continuation lines joined.

    >>> lines_of("y[N] = sum[C](\n  x)\n:names")
    ['y[N] = sum[C](\n  x)', ':names']
    """
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    return list(_behind_prompts(lines) if first.startswith(PROMPT.rstrip() + " ") else joined(lines))


def _behind_prompts(lines: Iterable[str]) -> Iterator[str]:
    entered: list[str] = []
    for line in lines:
        if line.startswith(PROMPT) or line == PROMPT.rstrip():
            if entered:
                yield "\n".join(entered)
            entered = [line.removeprefix(PROMPT.rstrip()).removeprefix(" ")]
        elif entered and (line.startswith(MORE) or line == MORE.rstrip()) and is_open("\n".join(entered)):
            entered.append(line.removeprefix(MORE.rstrip()).removeprefix(" "))
    if entered:
        yield "\n".join(entered)


def joined(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines together with their continuation lines."""
    waiting: list[str] = []
    for line in lines:
        waiting.append(line)
        if not is_open("\n".join(waiting)):
            yield "\n".join(waiting)
            waiting = []
    if waiting:
        yield "\n".join(waiting)


def _is_unfinished(text: str) -> bool:
    """Whether a bracket is open and none is unmatched, or the text ends in a comma or an expression's bar."""
    waiting: list[str] = []
    outside = []
    for piece in re.findall(r"[()\[\]]|[^()\[\]]+", text):
        if piece in _CLOSED_BY:
            waiting.append(_CLOSED_BY[piece])
        elif piece not in _CLOSED_BY.values():
            outside.append("" if waiting else piece)
        elif not waiting or waiting.pop() != piece:
            return False
    plain = "".join(outside)
    is_expression = "->" in plain or "," in plain
    return bool(waiting) or text.rstrip().endswith(",") or (text.rstrip().endswith("|") and is_expression)


def _is_open_python(code: str) -> bool:
    from codeop import compile_command

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            is_whole = compile_command(code) is not None
        except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError):
            return False
        if is_whole or "\n" in code:
            return not is_whole
        try:  # one line may be a whole block, `for i in x: print(i)`, which Python's prompt would continue
            compile(code, "<line>", "exec")
        except SyntaxError:
            return True
    return False
