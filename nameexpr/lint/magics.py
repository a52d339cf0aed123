r"""IPython's own lines in a cell, made Python of the same length, so that everything keeps its place.

`%time call()` still holds its call; other magics, `!commands` and `help?` become statements that do nothing.
A cell of another language (`%%bash`) is empty.

>>> blanked("%time f(x)\n!ls 'a\ny = !date\nf?")
'0;    f(x)\n0\ny = 0\n0'
"""

from __future__ import annotations

import re

_PYTHON_CELLS = {"time", "timeit", "capture", "prun", "memit", "mprun", "lprun", "python", "python3", "py"}
"""Cell magics whose cells are Python, run in the notebook's own names, or nearly so."""
_RUNS = re.compile(r"(\s*)(%(?:time|timeit|prun|memit)(?:\s+-[A-Za-z]\s*\d*)*\s)(?=\s*\S)")
_MAGIC = re.compile(r"(\s*)(?:[%!?]|[^\s#'\"(\[{][^#'\"]*\?\??\s*$)")
_ASSIGNED = re.compile(r"(\s*[\w.,\s\[\]]+=\s*)(?:!|%\s*[A-Za-z])")
_TOKEN = re.compile(
    r"#[^\n]*|[A-Za-z]{0,2}(?:'''(?:[^\\]|\\.)*?(?:'''|\Z)|\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z)"
    r"|'(?:[^\\'\n]|\\.)*'?|\"(?:[^\\\"\n]|\\.)*\"?)|[()\[\]{}]|\\\n|\n",
    re.DOTALL,
)


def blanked(cell: str) -> str:
    """Return the cell as Python: line by line as long as it was, or shorter."""
    first = cell.lstrip()
    if first.startswith("%%"):
        name = re.match(r"%%(\w*)", first)
        if name is None or name[1] not in _PYTHON_CELLS:
            return "\n" * cell.count("\n")
        before, _, rest = cell.partition("%%")
        cell = f"{before}0{'' if chr(10) not in rest else chr(10) + rest.partition(chr(10))[2]}"
    done, place = [], 0
    while place < len(cell):
        end = cell.find("\n", place) % (len(cell) + 1)
        line = _python_line(cell[place:end])
        if line is None:
            end = _statement_end(cell, place)
            done.append(cell[place:end])
        else:
            while cell[end - 1 : end] == "\\" and end < len(cell):  # the command goes on
                line, end = line + "\n", cell.find("\n", end + 1) % (len(cell) + 1)
            done.append(line)
        done.append(cell[end : end + 1])
        place = end + 1
    return "".join(done)


def _python_line(line: str) -> str | None:
    """Return what stands for a line of IPython's, or None for a line of Python."""
    run = _RUNS.match(line)
    if run:
        return f"{run[1]}0;{' ' * (len(run[2]) - 2)}{line[run.end() :]}"
    found = _MAGIC.match(line) or _ASSIGNED.match(line)
    return f"{found[1]}0" if found else None


def _statement_end(cell: str, place: int) -> int:
    """Return where the line ends that closes every bracket and string opened since `place`."""
    depth = 0
    for token in _TOKEN.finditer(cell, place):
        if token[0] == "\n" and depth <= 0:
            return token.start()
        depth += (token[0] in "([{") - (token[0] in ")]}") if token[0] != "\n" else 0
    return len(cell)
