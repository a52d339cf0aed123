"""The set-ups of docs/editors.md: the server as editors start it, and the problem matcher.

editors.json has what Visual Studio Code 1.95 (vscode-languageclient 9.0.1, as in the extension of the page)
and Neovim 0.11.4 sent to initialize the server, with other paths.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.lsp.client import ROOT, Editor

pytestmark = pytest.mark.slow

EDITORS = json.loads((Path(__file__).parent / "editors.json").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
WRONG = 'import nameexpr as ne\ny = "𝒳"; ne.einsum("batch chan -> batch : smu", x)\n'


@pytest.mark.parametrize(
    ("name", "encoding", "column"), [("Visual Studio Code", "utf-16", 43), ("Neovim", "utf-8", 45)]
)
def test_editors_get_mistakes_and_answers(name: str, encoding: str, column: int) -> None:
    with Editor(introduction=EDITORS[name]) as editor:
        assert editor.capabilities.get("positionEncoding", "utf-16") == encoding
        editor.notify("workspace/didChangeConfiguration", {"settings": None})
        editor.notify("$/setTrace", {"value": "off"})
        editor.open(WRONG)
        (mistake,) = editor.mistakes()
        assert mistake["range"]["start"] == {"line": 1, "character": column}
        (fix,) = editor.actions(mistake["range"])
        assert fix["title"] == "Write 'sum'"
        assert "operand 0" in editor.at("hover", 1, column - 20)["contents"]["value"]
        assert "sum" in [item["label"] for item in editor.at("completion", 1, column + 1)["items"]]
        assert editor.close() == 0
    assert editor.errors == []


def matcher() -> dict[str, Any]:
    """Return the problem matcher of the page's task."""
    blocks = [block.split("```")[0] for block in PAGE.split("```\n")]
    (tasks,) = [json.loads(block) for block in blocks if '"problemMatcher"' in block]
    (task,) = tasks["tasks"]
    assert task["command"] == "nameexpr check . --short"
    return task["problemMatcher"]["pattern"]  # type: ignore[no-any-return]


def test_the_problem_matcher_reads_every_line_of_check(tmp_path: Path) -> None:
    files = {
        "src/a.py": b'import nameexpr as ne\nne.einsum("a=2 a=3 ->", x); ne.einsum(t, x)\n',
        "src/with space.py": b'import nameexpr as ne\n\nne.einsum("a b -> b : smu", x)\n',
        "syntax.py": b"import nameexpr as ne\ndef (\n",
        "bytes.py": b"import nameexpr as ne\n\xff\n",
    }
    for path, source in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(source)
    command = [sys.executable, "-m", "nameexpr", "check", ".", "--short", "--strict"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False).stdout
    pattern = matcher()
    groups = [pattern[word] for word in ("file", "line", "column", "code")]
    found = [re.match(pattern["regexp"], line) for line in printed.splitlines()]
    assert sorted(each.group(*groups) if each else "not matched" for each in found) == [
        ("bytes.py", "1", "1", "file"),
        ("src/a.py", "2", "12", "NE301"),
        ("src/a.py", "2", "39", "unread"),
        ("src/with space.py", "3", "23", "NE202"),
        ("syntax.py", "2", "5", "syntax"),
    ]
