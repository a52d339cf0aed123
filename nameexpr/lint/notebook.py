"""Notebooks to findings: the code cells as one program, each with its own lines.

Cells see what earlier cells have imported, and a cell that is no Python spoils no other.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate
from typing import Any

from nameexpr.lint.findings import Checked, Finding, no_python, unreadable
from nameexpr.lint.magics import blanked
from nameexpr.lint.python import SourceError, check_tree, parse_python, shifted
from nameexpr.lint.source import Source


def check_notebook(text: str, path: str) -> Checked:
    """Return what is found in a notebook: a JSON document of Jupyter's."""
    try:
        data = json.loads(text)
        cells = _code_cells(data)
    except (ValueError, RecursionError):
        return unreadable(path, "it is no notebook, but says that it is one")
    if cells is None:
        return unreadable(path, "it is no notebook: there are no cells")
    if not _is_python(data):
        return Checked((), 0, 1)
    return _check_cells(cells, path)


def _code_cells(data: Any) -> list[tuple[int, str]] | None:
    """Return the code cells with their numbers, counting all cells from 1; None if this is no notebook."""
    sheets = data.get("worksheets") if isinstance(data, dict) else None
    first = sheets[0] if isinstance(sheets, list) and sheets else data  # as notebooks were before 2015
    cells = first.get("cells") if isinstance(first, dict) else None
    if not isinstance(cells, list):
        return None
    found = []
    for number, cell in enumerate(cells, 1):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            written = cell.get("source", cell.get("input", ""))
            pieces = written if isinstance(written, list) else [written]
            found.append((number, "".join(piece for piece in pieces if isinstance(piece, str))))
    return found


def _is_python(data: dict[str, Any]) -> bool:
    """Whether the notebook does not say that it is in another language."""
    about = data.get("metadata")
    about = about if isinstance(about, dict) else {}
    said = [about.get("language_info"), about.get("kernelspec")]
    names = [one.get(key) for one in said if isinstance(one, dict) for key in ("language", "name")]
    first = next((name for name in names if isinstance(name, str) and name), "python")
    return "python" in first.lower() or first.lower() in ("ipython", "sage", "xpython")


def _check_cells(cells: list[tuple[int, str]], path: str) -> Checked:
    """Check the cells as one source, and give each finding back to its cell."""
    broken: list[Finding] = []
    sources = []
    for number, written in cells:
        source = Source(written.replace("\0", " "))
        python = Source(blanked(source.text))
        try:
            parse_python(python)
        except SourceError as fault:
            broken.append(no_python(path, fault.message, fault.place, number))
            python = Source("\n" * source.text.count("\n"))
        sources.append(python.text)
    starts = [0, *accumulate(text.count("\n") + 1 for text in sources)]
    joined = Source("\n".join(sources))
    checked = check_tree(parse_python(joined), joined, path)
    found = list(broken)
    for finding in checked.findings:
        place = bisect_right(starts, finding.region.start.line - 1) - 1
        region = shifted(finding.region, starts[place])
        found.append(replace(finding, region=region, cell=cells[place][0]))
    found.sort(key=lambda one: (one.cell, one.region, one.code, one.diagnostic.message))
    return Checked(tuple(found), checked.texts, 1)
