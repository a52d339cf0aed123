r"""Notebooks to findings: the code cells as one program, each with its own lines.

Cells see what earlier cells have imported, and a cell that is not Python spoils no other. IPython's own lines
are made Python of the same length, so that everything keeps its place: `%time call()` still holds its call,
other magics, `!commands` and `help?` become statements that do nothing. A cell of another language (`%%bash`)
is empty.

>>> blanked("%time f(x)\n!ls 'a\ny = !date\nf?")
'0;    f(x)\n0\ny = 0\n0'
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate
from typing import Any

from nameexpr.lint.findings import Checked, Finding, no_python, unreadable
from nameexpr.lint.modules import Module
from nameexpr.lint.python import check_module
from nameexpr.lint.source import Source, SourceError, TextRange, parse_python

_PYTHON_CELLS = {"time", "timeit", "capture", "prun", "memit", "mprun", "lprun", "python", "python3", "py"}
"""Cell magics whose cells are Python, run in the notebook's own names, or nearly so."""
_RUNS = re.compile(r"(\s*)(%(?:time|timeit|prun|memit)(?:\s+-[A-Za-z]\s*\d*)*\s)(?=\s*\S)")
_MAGIC = re.compile(r"(\s*)(?:[%!?]|[^\s#'\"(\[{][^#'\"]*\?\??\s*$)")
_ASSIGNED = re.compile(r"(\s*[\w.,\s\[\]]+=\s*)(?:!|%\s*[A-Za-z])")
TOKEN = re.compile(
    r"#[^\n]*|[A-Za-z]{0,2}(?:'''(?:[^\\]|\\.)*?(?:'''|\Z)|\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z)"
    r"|'(?:[^\\'\n]|\\.)*'?|\"(?:[^\\\"\n]|\\.)*\"?)|[()\[\]{}]|\\\n|\n",
    re.DOTALL,
)


def check_notebook(text: str, path: str) -> Checked:
    """Check a notebook, a JSON document of Jupyter's."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return unreadable(path, "it has the extension of a notebook, but is not one")
    cells = _code_cells(data)
    if cells is None:
        return unreadable(path, "it is not a notebook: there are no cells")
    return _check_cells(cells, path) if _is_python(data) else Checked((), 0, 1)


def _code_cells(data: Any) -> list[tuple[int, str]] | None:
    """Return the code cells with their numbers, counting all cells from 1; None if it is not a notebook."""
    sheets = data.get("worksheets") if isinstance(data, dict) else None
    first = sheets[0] if isinstance(sheets, list) and sheets else data  # as notebooks were before 2015
    cells = first.get("cells") if isinstance(first, dict) else None
    if not isinstance(cells, list):
        return None
    code = []
    for number, cell in enumerate(cells, 1):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            written = cell.get("source", cell.get("input", ""))
            pieces = written if isinstance(written, list) else [written]
            code.append((number, "".join(piece for piece in pieces if isinstance(piece, str))))
    return code


def _is_python(data: dict[str, Any]) -> bool:
    """Return whether the notebook names no other language."""
    about = data.get("metadata")
    records = [about.get("language_info"), about.get("kernelspec")] if isinstance(about, dict) else []
    names = [one.get(key) for one in records if isinstance(one, dict) for key in ("language", "name")]
    first = next((name.lower() for name in names if isinstance(name, str) and name), "python")
    return "python" in first or first == "sage"


def _check_cells(cells: list[tuple[int, str]], path: str) -> Checked:
    """Check the cells as one source, and map each finding back to its cell."""
    findings: list[Finding] = []
    sources = []
    for number, written in cells:
        python, fault = as_python(written)
        if fault is not None:
            message, place = fault.args
            findings.append(no_python(path, message, place, number))
        sources.append("\n" * python.text.count("\n") if fault else python.text)
    starts = [0, *accumulate(text.count("\n") + 1 for text in sources)]
    joined = Source("\n".join(sources))
    checked = check_module(Module(path, joined, parse_python(joined)))
    for finding in checked.findings:
        place = bisect_right(starts, finding.region.start.line - 1) - 1
        start, end = (one._replace(line=one.line - starts[place]) for one in finding.region)
        findings.append(replace(finding, region=TextRange(start, end), cell=cells[place][0]))
    findings.sort(key=lambda finding: finding.rank)
    return Checked(tuple(findings), checked.texts, 1)


def as_python(cell: str) -> tuple[Source, SourceError | None]:
    """Return a cell with IPython's syntax replaced, and what is wrong if that is not Python."""
    python = Source(blanked(Source(cell.replace("\0", " ")).text))
    try:
        parse_python(python)
    except SourceError as fault:
        return python, fault
    return python, None


def blanked(cell: str) -> str:
    """Replace IPython's syntax by Python, line by line of the same length or shorter."""
    first = cell.lstrip()
    if first.startswith("%%"):
        name = re.match(r"%%(\w*)", first)
        if name is None or name[1] not in _PYTHON_CELLS:
            return "\n" * cell.count("\n")
        before, _, rest = cell.partition("%%")
        cell = before + "0" + "".join(rest.partition("\n")[1:])
    done, place = [], 0
    while place < len(cell):
        end = cell.find("\n", place) % (len(cell) + 1)
        line = _python_line(cell[place:end])
        if line is None:
            end = _statement_end(cell, place)
            done.append(cell[place:end])
        else:
            while cell[end - 1 : end] == "\\" and end < len(cell):  # the command continues
                line, end = line + "\n", cell.find("\n", end + 1) % (len(cell) + 1)
            done.append(line)
        done.append(cell[end : end + 1])
        place = end + 1
    return "".join(done)


def _python_line(line: str) -> str | None:
    """Translate a line of IPython's syntax; None for a line of Python."""
    run = _RUNS.match(line)
    if run:
        return f"{run[1]}0;{' ' * (len(run[2]) - 2)}{line[run.end() :]}"
    match = _MAGIC.match(line) or _ASSIGNED.match(line)
    return f"{match[1]}0" if match else None


def _statement_end(cell: str, place: int) -> int:
    """Find the end of the line that closes every bracket and string opened since `place`."""
    depth = 0
    for token in TOKEN.finditer(cell, place):
        if token[0] == "\n" and depth <= 0:
            return token.start()
        depth += (token[0] in "([{") - (token[0] in ")]}") if token[0] != "\n" else 0
    return len(cell)
