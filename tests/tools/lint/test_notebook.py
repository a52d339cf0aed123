"""Notebooks: cells are one program, magics are no mistakes, and each finding has its cell."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nameexpr.lint.findings import Checked
from nameexpr.lint.notebook import blanked, check_notebook
from nameexpr.lint.source import Source, parse_python

IMPORT = "import nameexpr as ne"
CALL = "ne.einsum('a -> a : maen', x)"
COLUMN = CALL.index("maen") + 1


def notebook(*cells: Any, **metadata: Any) -> Checked:
    written = [cell if isinstance(cell, dict) else {"cell_type": "code", "source": cell} for cell in cells]
    return check_notebook(json.dumps({"cells": written, "metadata": metadata, "nbformat": 4}), "n.ipynb")


def places(checked: Checked) -> list[tuple[int, int, int, str]]:
    return [(one.cell, *one.region.start, one.code) for one in checked.findings]


def test_a_cell_sees_what_earlier_cells_import() -> None:
    text = {"cell_type": "markdown", "source": ["ne.einsum('a -> b', x)\n"]}
    found = notebook(text, [IMPORT + "\n", "x = 1"], "", ["y = 2\n", f"\n  \ny = {CALL}"])
    assert places(found) == [(4, 4, COLUMN + 4, "NE202")]
    assert found.texts == 1


def test_lines_and_columns_are_those_of_the_cell() -> None:
    found = notebook(IMPORT, CALL, f"'é'; {CALL}\n", f"\n{CALL}")
    assert places(found) == [(2, 1, COLUMN, "NE202"), (3, 1, COLUMN + 5, "NE202"), (4, 2, COLUMN, "NE202")]
    assert [one.region.end.line for one in found.findings] == [1, 1, 2]


def test_a_text_over_lines_of_a_cell_keeps_its_place() -> None:
    (finding,) = notebook(IMPORT, "x\nne.einsum('''a\n  -> a\n : maen''', x)").findings
    assert finding.region == ((4, 4), (4, 8))


def test_a_cell_that_is_no_python_spoils_no_other() -> None:
    found = notebook(IMPORT, "def f(:\n  pass", CALL)
    assert places(found) == [(2, 1, 7, "syntax"), (3, 1, COLUMN, "NE202")]


MAGICS = [
    "%matplotlib inline",
    "!pip install 'x",
    "!ls \\\n  -l (",
    "files = !ls *.py",
    "t = %timeit -o f()",
    "np.einsum?",
    "?np.einsum",
    "f??",
    "for x in y:\n  %cd {here",
    '%%bash\necho "it\'s" (',
    "%%html\n<b>",
    "%load_ext nameexpr\n%ne N C -> C",
    "%%ne\ny = x[N] +",
    "if 1:\n    %time f()\nelse:\n    !ls",
    "%%time\nf()",
    "%%timeit -n 3\nf()",
    "\n%%capture out\nf()",
    "x = '''\n%d (\n!'''",
    "y = (3\n  % 2)",
    "y = 3 \\\n  % 2",
    "await f()",
    "%time",
    "%%writefile x.py\nimport (",
]


@pytest.mark.parametrize("cell", MAGICS)
def test_magics_are_no_mistakes(cell: str) -> None:
    assert places(notebook(IMPORT, cell, CALL)) == [(3, 1, COLUMN, "NE202")]


@pytest.mark.parametrize("cell", MAGICS)
def test_magics_keep_every_line(cell: str) -> None:
    python = blanked(cell)
    assert python.count("\n") == cell.count("\n")
    parse_python(Source(python))


@pytest.mark.parametrize(
    ("before", "after"), [("%time ", ""), ("%timeit -n 3 -r2 ", ""), ("%time y = ", ""), ("%%time\n", "")]
)
def test_a_call_behind_a_magic_that_runs_it_is_read(before: str, after: str) -> None:
    cell = before + CALL + after
    place = Source(cell).place(cell.index("maen"))
    assert places(notebook(IMPORT, "if 1:\n  pass", cell)) == [(3, *place, "NE202")]


def test_strings_that_look_like_magics_are_left_as_they_are() -> None:
    for cell in ("x = '''\n%d\n'''\n", "f(3\n% 2)", "'''\n!\n'''; x", "# 'a\nx", "x = [\n%time\n]"):
        assert blanked(cell) == cell


def test_a_notebook_of_another_language_is_left_alone() -> None:
    for about in ({"kernelspec": {"language": "julia"}}, {"language_info": {"name": "R"}}):
        assert places(notebook(IMPORT, CALL, **about)) == []
    about = {"kernelspec": {"name": "python3"}, "language_info": {"name": "python"}}
    assert len(notebook(IMPORT, CALL, **about).findings) == 1


def test_a_comment_silences_in_a_cell() -> None:
    assert places(notebook(IMPORT, f"{CALL}  # nameexpr: ignore[NE202]")) == []


def test_notebooks_as_they_once_were_are_read() -> None:
    cells = [{"cell_type": "code", "input": [IMPORT + "\n", CALL]}]
    old = json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3})
    assert places(check_notebook(old, "n.ipynb")) == [(1, 2, COLUMN, "NE202")]


@pytest.mark.parametrize(
    "text",
    ["", "nameexpr", "[]", "{}", '{"cells": 3}', "[" * 100_000, '{"cells": {"a": 1}}', '"nameexpr"', "NaN"],
)
def test_what_is_no_notebook_is_said_to_be_none(text: str) -> None:
    (finding,) = check_notebook(text, "n.ipynb").findings
    assert finding.code == "file"


@pytest.mark.parametrize(
    "cell",
    [
        3,
        None,
        {"cell_type": "code"},
        {"cell_type": "code", "source": 3},
        {"cell_type": "code", "source": [3, None, "x"]},
        {"source": "ne.einsum('->->')"},
        {"cell_type": "code", "source": "\0\ud800'"},
        {"cell_type": "code", "source": "(" * 5000},
    ],
)
def test_a_cell_of_a_strange_kind_spoils_no_other(cell: Any) -> None:
    data = {"cells": [{"cell_type": "code", "source": IMPORT}, cell, {"cell_type": "code", "source": CALL}]}
    found = check_notebook(json.dumps(data), "n.ipynb").findings
    assert (found[-1].cell, found[-1].code) == (3, "NE202")
