"""A whole session with the server as a process, as an editor has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.lsp.client import TIMEOUT, URI, Editor

pytestmark = pytest.mark.slow

WRONG = 'import nameexpr as ne\ny = "𝒳"; ne.einsum("batch chan -> batch : smu", x)\n'
RIGHT = WRONG.replace("smu", "sum")
START, END = {"line": 1, "character": 43}, {"line": 1, "character": 46}


def test_a_mistake_is_shown_explained_mended_and_gone() -> None:
    with Editor() as editor:
        editor.open(WRONG)
        (mistake,) = editor.mistakes()
        assert mistake["range"] == {"start": START, "end": END}
        assert mistake["code"] == "NE202" and mistake["source"] == "nameexpr"
        assert mistake["message"] == "there is no reducer 'smu'\nhelp: did you mean 'sum'?"

        shown = editor.at("hover", 1, 23)
        assert shown["contents"]["value"].startswith("`batch`: a label\n\n- operand 0, `batch chan`: dim 0")
        assert shown["range"]["start"] == {"line": 1, "character": 21}

        items = editor.at("completion", 1, 44)["items"]
        assert "sum" in [item["label"] for item in items]
        assert items[0]["textEdit"]["range"] == {"start": START, "end": END}

        (fix,) = editor.actions({"start": START, "end": START})
        (edit,) = fix["edit"]["changes"][URI]
        assert fix["diagnostics"] == [mistake]
        assert edit == {"range": {"start": START, "end": END}, "newText": "sum"}

        editor.change(RIGHT)
        assert editor.mistakes() == []
        assert editor.close() == 0
    assert editor.errors == []


def test_positions_are_in_the_encoding_of_the_editor() -> None:
    with Editor(["utf-8", "utf-16"]) as editor:
        assert editor.capabilities["positionEncoding"] == "utf-8"
        editor.open(WRONG)
        (mistake,) = editor.mistakes()
        assert mistake["range"]["start"] == {"line": 1, "character": 45}


def test_other_marks_are_related_information() -> None:
    with Editor() as editor:
        editor.open('import nameexpr as ne\nne.einsum("a=2 a=3 ->", x)\n')
        (mistake,) = editor.mistakes()
        (related,) = mistake["relatedInformation"]
        place = {"start": {"line": 1, "character": 15}, "end": {"line": 1, "character": 18}}
        assert related == {"location": {"uri": URI, "range": place}, "message": "3"}


def test_while_a_file_is_no_python_the_last_mistakes_stay() -> None:
    with Editor() as editor:
        editor.open(WRONG)
        assert editor.mistakes()
        editor.change(WRONG + "f(")
        labels = [item["label"] for item in editor.at("completion", 1, 44)["items"]]
        assert "sum" in labels
        editor.change(RIGHT, version=3)
        assert editor.mistakes() == []  # nothing was sent between


def test_a_closed_file_has_no_mistakes() -> None:
    with Editor() as editor:
        editor.open(WRONG)
        assert editor.mistakes()
        editor.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
        assert editor.mistakes() == []


def test_texts_of_unsaved_files_are_followed(tmp_path: Path) -> None:
    (tmp_path / "texts.py").write_text("TEXT = 'a b -> b a'\n", encoding="utf-8")
    texts, uses = (tmp_path / name for name in ("texts.py", "uses.py"))
    with Editor() as editor:
        editor.open("TEXT = 'a b, c -> b a c'\n", texts.as_uri())
        assert editor.mistakes() == []
        editor.open("import nameexpr as ne\nfrom texts import TEXT\nne.einsum(TEXT, x)\n", uses.as_uri())
        (mistake,) = editor.mistakes()
        assert mistake["code"] == "NE501" and mistake["range"]["start"] == {"line": 2, "character": 10}
        editor.change("TEXT = 'a b -> b a'\n", texts.as_uri())
        assert editor.mistakes() == []
        editor.notify("textDocument/didSave", {"textDocument": {"uri": texts.as_uri()}})
        assert [editor.mistakes(), editor.mistakes()] == [[], []]


@pytest.mark.parametrize("junk", ["(" * 3000, "\0", "x = '", "\ud800", "\x0c\u2028\x85", "-" * 5000 + "x"])
def test_no_file_ends_the_server(junk: str) -> None:
    with Editor() as editor:
        editor.open(WRONG)
        assert editor.mistakes()
        editor.change(WRONG + junk)
        for line in (0, 1, 2, 99):
            for ask in ("hover", "completion"):
                editor.at(ask, line, 43)
            here = {"line": line, "character": 43}
            editor.actions({"start": here, "end": here})
        editor.change(RIGHT, version=3)
        while editor.mistakes():
            pass
        assert editor.close() == 0


def test_the_end_of_input_ends_the_server() -> None:
    with Editor() as editor:
        assert editor.process.stdin is not None
        editor.process.stdin.close()
        assert editor.process.wait(TIMEOUT) == 0


def test_changes_of_a_part_count_the_line_breaks_of_the_protocol() -> None:
    """`str.splitlines` finds two more in this file than editors do."""
    text = '# "\x0c", "\u2028"\r\n' + WRONG.replace("\n", "\r\n")
    place = {"start": {"line": 2, "character": 43}, "end": {"line": 2, "character": 46}}
    with Editor() as editor:
        editor.open(text)
        assert [one["range"] for one in editor.mistakes()] == [place]
        for start, end, new in ((43, 46, ""), (43, 43, "sux"), (21, 26, "𝒳")):
            span = {"start": {"line": 2, "character": start}, "end": {"line": 2, "character": end}}
            editor.change_part(span, new)
        (mistake,) = editor.mistakes()
        assert mistake["range"]["start"] == {"line": 2, "character": 40}
        assert mistake["message"].startswith("there is no reducer 'sux'")


def test_the_cells_of_a_notebook_are_one_program() -> None:
    cells = {
        "cell:1": "import nameexpr as ne\n%matplotlib inline",
        "cell:2": "x = (",
        "cell:3": "%time ne.einsum('batch chan -> batch : smu', x)",
    }
    with Editor() as editor:
        editor.open_notebook(cells)
        found = {sent["uri"]: sent["diagnostics"] for sent in editor.sent(3)}
        assert (found["cell:1"], found["cell:2"]) == ([], [])
        (mistake,) = found["cell:3"]
        place = {"start": {"line": 0, "character": 39}, "end": {"line": 0, "character": 42}}
        assert mistake["range"] == place and mistake["code"] == "NE202"
        assert editor.at("hover", 0, 18, "cell:3")["contents"]["value"].startswith("`batch`: a label")
        assert "sum" in [one["label"] for one in editor.at("completion", 0, 40, "cell:3")["items"]]
        (fix,) = editor.actions(place, "cell:3")
        assert fix["edit"]["changes"]["cell:3"] == [{"range": place, "newText": "sum"}]
        editor.change_cell("cell:3", place, "sum")
        assert [sent["diagnostics"] for sent in editor.sent(3)] == [[], [], []]
        assert editor.close() == 0
    assert editor.errors == []
