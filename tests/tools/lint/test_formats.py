"""The four ways to say what was found, and that nothing of a file gets through unescaped."""

from __future__ import annotations

import json
import os
import re
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from nameexpr.errors import Diagnostic, Mark, Span
from nameexpr.lint.findings import Checked, Finding, no_python, unreadable
from nameexpr.lint.formats import as_github, as_json, as_sarif, as_text, summary, uri
from nameexpr.lint.notebook import check_notebook
from nameexpr.lint.python import check_python
from nameexpr.lint.source import Position, TextRange

WRONG = "import nameexpr as ne\nne.einsum('a -> a : maen', x)\n"
CELL = {"cell_type": "code", "source": WRONG}
NOTEBOOK = check_notebook(json.dumps({"cells": [{"cell_type": "markdown"}, CELL]}), "n.ipynb")
EVIL = "\x1b[31m\r\n::error::\u202e%0A,:<b>\udcff"


def one(path: str = "x.py", source: str = WRONG) -> Finding:
    (finding,) = check_python(source, path).findings
    return finding


def evil() -> Finding:
    diagnostic = Diagnostic("NE202", EVIL, EVIL, (), (), EVIL)
    return Finding("a" + EVIL, TextRange(Position(1, 1), Position(1, 2)), diagnostic)


def test_text_has_place_code_message_carets_and_hint() -> None:
    assert as_text(one()).split("\n") == [
        "x.py:2:21: NE202 there is no reducer 'maen'",
        "    a -> a : maen",
        "             ^^^^",
        "  help: did you mean 'mean'?",
    ]
    assert as_text(one(), is_short=True) == "x.py:2:21: NE202 there is no reducer 'maen'"


def test_text_of_a_notebook_names_the_cell() -> None:
    assert as_text(NOTEBOOK.findings[0]).startswith("n.ipynb:cell 2:2:21: NE202 ")


def test_colour_is_around_place_and_code_only() -> None:
    line = as_text(one(), is_short=True, is_coloured=True)
    assert line == "\x1b[1mx.py:2:21:\x1b[0m \x1b[1;31mNE202\x1b[0m there is no reducer 'maen'"
    assert re.sub("\x1b\\[[0-9;]*m", "", line) == as_text(one(), is_short=True)


def test_nothing_of_a_file_acts_on_a_terminal() -> None:
    written = as_text(evil())
    assert all(character.isprintable() for line in written.split("\n") for character in line)
    assert written.split("\n")[0].startswith("a\\x1b[31m\\r\\n::error::\\u202e%0A,:<b>\\udcff:1:1: NE202 ")


def test_json_is_one_line_with_everything() -> None:
    written = as_json(Checked((one(), evil()), 3, 2))
    assert "\n" not in written
    assert written.isascii()
    data = json.loads(written)
    assert (data["texts"], data["files"], len(data["findings"])) == (3, 2, 2)
    assert data["findings"][0] == {
        "path": "x.py",
        "cell": None,
        "line": 2,
        "column": 21,
        "end_line": 2,
        "end_column": 25,
        "code": "NE202",
        "message": "there is no reducer 'maen'",
        "hint": "did you mean 'mean'?",
        "text": "a -> a : maen",
        "marks": [[9, 13]],
    }
    assert data["findings"][1]["path"] == "a" + EVIL


COMMAND = re.compile(r"::error ([^:]*)::(.*)")


def unescaped(text: str) -> str:
    """Undo GitHub's escapes, as its runner does."""
    for escape, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, character)
    return text


def test_github_commands_are_escaped() -> None:
    written = as_github(evil())
    found = COMMAND.fullmatch(written)
    assert found
    properties = dict(pair.split("=", 1) for pair in found[1].split(","))
    assert properties.keys() == {"file", "line", "endLine", "col", "endColumn", "title"}
    assert unescaped(properties["file"]) == "a\\x1b[31m\r\n::error::\\u202e%0A,:<b>\\udcff"
    assert unescaped(found[2]).startswith("\\x1b[31m\r\n::error::\\u202e%0A,:<b>")
    assert all(character.isprintable() for character in written)


def test_github_has_columns_within_a_line_only() -> None:
    assert "line=2,endLine=2,col=21,endColumn=25," in as_github(one())
    spread = one(source="import nameexpr\nnameexpr.einsum('a ->'\n'a b a' ' , c', x)")
    assert "line=3,endLine=3,col=2," in as_github(spread)
    whole = one(source="import nameexpr\nnameexpr.einsum(''' \n ''', x)")
    assert whole.code == "NE218"
    assert "line=2,endLine=3,title=" in as_github(whole)


def test_github_has_no_lines_in_a_notebook() -> None:
    written = as_github(NOTEBOOK.findings[0])
    assert written.startswith("::error file=n.ipynb,title=NE202::cell 2:2:21: there is no reducer")


def sarif(*findings: Finding) -> dict[str, Any]:
    log = json.loads(as_sarif(Checked(findings, 1, 1)))
    assert isinstance(log, dict)
    return log


def test_sarif_has_what_the_standard_asks_for() -> None:
    syntax = no_python("y.py", "invalid syntax", Position(3, 4))
    (broken,) = unreadable("z.py", "no such file").findings
    log = sarif(one(), syntax, broken, NOTEBOOK.findings[0])
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("/sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    driver = run["tool"]["driver"]
    assert driver["name"] == "nameexpr"
    assert [rule["id"] for rule in driver["rules"]] == ["NE202", "file", "syntax"]
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"none", "note", "warning", "error"}
        assert result["message"]["text"]
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"]


def test_sarif_regions_are_those_of_the_file() -> None:
    (result,) = sarif(one())["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 2, "startColumn": 21, "endLine": 2, "endColumn": 25}


def test_sarif_names_the_cell_of_a_notebook_and_no_line_of_its_file() -> None:
    (result,) = sarif(NOTEBOOK.findings[0])["runs"][0]["results"]
    (location,) = result["locations"]
    assert "region" not in location["physicalLocation"]
    assert location["logicalLocations"] == [{"name": "cell 2", "kind": "cell"}]
    assert result["message"]["text"].startswith("cell 2:2:21: ")


@pytest.mark.parametrize(
    "path",
    ["x.py", "a b/ü.py", "a:b.py", "a%20b.py", "a#b?c.py", "x\n.py", "\udcff.py", "日.py"],
)
def test_sarif_paths_are_references_that_lead_back(path: str) -> None:
    written = uri(path)
    assert written.isascii()
    assert re.fullmatch(r"[A-Za-z0-9._~/%-]+", written)
    assert os.fsdecode(unquote(urlsplit(written).path, "utf-8", "surrogateescape")) == path
    absolute = uri(f"{os.sep}tmp{os.sep}{path}")
    assert urlsplit(absolute).scheme == "file"


def test_sarif_and_json_are_the_same_every_time() -> None:
    assert as_sarif(NOTEBOOK) == as_sarif(NOTEBOOK)
    assert json.loads(as_sarif(Checked((evil(),), 1, 1)).encode("ascii"))


def test_the_summary_counts() -> None:
    assert summary(Checked((), 0, 0)) == "0 texts in 0 files, no findings"
    assert summary(Checked((one(),), 1, 1)) == "1 text in 1 file, 1 finding"
    assert summary(Checked((one(), evil()), 12, 5)) == "12 texts in 5 files, 2 findings"


@pytest.mark.parametrize("path", ["x.py", "::error file=y::z.py", "##[error]x.py"])
@pytest.mark.parametrize(
    "text", ["a\n   ::error file=x.py::evil\n-> b", "a ##[error]evil", "::stop-commands::x", "a -> b"]
)
def test_the_log_of_a_workflow_obeys_no_line_of_a_text(text: str, path: str) -> None:
    diagnostic = Diagnostic("NE202", text, text, (), (), text)
    finding = Finding(path, TextRange(Position(1, 1), Position(1, 2)), diagnostic)
    for is_short in (False, True):
        for line in as_text(finding, is_short=is_short).split("\n"):
            assert not line.lstrip().startswith("::") and "##[" not in line


def test_carets_stand_below_their_place_beside_a_margin() -> None:
    text = "x[i] +\n ::sum"
    diagnostic = Diagnostic("NE202", "wrong", text, (Mark(Span(8, 10)),), ())
    lines = as_text(Finding("x.py", TextRange(Position(1, 1), Position(1, 2)), diagnostic)).split("\n")
    at = next(place for place, line in enumerate(lines) if "::sum" in line)
    assert lines[at + 1].index("^") == lines[at].index("::")
