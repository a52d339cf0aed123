"""Which files are read, and what becomes of those that cannot be."""

from __future__ import annotations

import codecs
import os
from pathlib import Path

import pytest

from nameexpr.lint.files import check_bytes, check_file, find_files
from nameexpr.lint.findings import Checked
from nameexpr.lint.python import check_python

WRONG = b"import nameexpr as ne\nne.einsum('a -> a : maen', x)\n"


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(WRONG)


def found(root: Path, *paths: str, exclude: tuple[str, ...] = ()) -> list[str]:
    given = [str(root / path) for path in paths] or [str(root)]
    return [os.path.relpath(path, root).replace(os.sep, "/") for path in find_files(given, exclude)]


def test_folders_are_searched_in_the_order_of_names(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a/z.ipynb", "a/b/c.pyw", "a.txt", "README", "c/d.pyi")
    assert found(tmp_path) == ["b.py", "a/z.ipynb", "a/b/c.pyw"]


def test_what_tools_write_is_left_out(tmp_path: Path) -> None:
    hidden = [".venv/x.py", ".git/x.py", "__pycache__/x.py", "node_modules/a/x.py", "build/lib/x.py"]
    make(tmp_path, "x.py", *hidden, "mine/lib/x.py", "mine/pyvenv.cfg", "site-packages/x.py", ".#y.py")
    assert found(tmp_path) == ["x.py"]
    assert found(tmp_path, "build") == ["build/lib/x.py"], "what is named is searched"


def test_a_file_that_is_named_is_read_whatever_its_name(tmp_path: Path) -> None:
    make(tmp_path, "script", ".hidden/x.py")
    assert found(tmp_path, "script", ".hidden/x.py", "script", "./script") == ["script", ".hidden/x.py"]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("*.py", []),
        ("old", ["x.py", "new/test_y.py", "new/y.py"]),
        ("old/", ["x.py", "new/test_y.py", "new/y.py"]),
        ("[xy].py", ["new/test_y.py", "old/z.py"]),
        ("test_*", ["x.py", "new/y.py", "old/z.py"]),
        ("nothing", ["x.py", "new/test_y.py", "new/y.py", "old/z.py"]),
    ],
)
def test_patterns_leave_out_files_and_folders(tmp_path: Path, pattern: str, left: list[str]) -> None:
    root = tmp_path / "root"
    make(root, "x.py", "old/z.py", "new/y.py", "new/test_y.py")
    assert found(root, exclude=(pattern,)) == left


def test_a_pattern_may_be_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a/x.py", "b/x.py")
    monkeypatch.chdir(tmp_path)
    assert list(find_files(["."], ["a/*"])) == [os.path.join("b", "x.py")]
    assert list(find_files(["a", "b/x.py"], ["b/x.py"])) == [os.path.join("a", "x.py")]


def test_links_that_lead_in_a_circle_or_nowhere_do_no_harm(tmp_path: Path) -> None:
    make(tmp_path, "a/x.py")
    (tmp_path / "a" / "up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "a" / "gone.py").symlink_to(tmp_path / "nowhere")
    (tmp_path / "a" / "self.py").symlink_to(tmp_path / "a" / "self.py")
    assert found(tmp_path) == ["a/x.py"]
    for name in ("gone.py", "self.py"):
        (finding,) = check_file(str(tmp_path / "a" / name)).findings
        assert finding.code == "file"


def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.py")
    assert found(tmp_path) == []


@pytest.mark.parametrize("path", ["nowhere.py", "a\0b.py", ".", "x" * 5000])
def test_a_file_that_cannot_be_read_is_a_finding(tmp_path: Path, path: str) -> None:
    checked = check_file(str(tmp_path / path))
    assert [one.code for one in checked.findings] == ["file"]
    assert checked.findings[0].diagnostic.message.startswith("cannot be read: ")


def test_a_file_without_the_word_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nameexpr.lint.files.check_python", lambda *_: pytest.fail("it was parsed"))
    assert check_bytes(b"ne.einsum('a -> b'", "x.py") == Checked((), 0, 1)


HOSTILE = {
    "brackets": b"nameexpr = " + b"(" * 100_000,
    "nested lists": b"nameexpr = " + b"[" * 5000 + b"]" * 5000,
    "signs": b"nameexpr = " + b"-" * 100_000 + b"1",
    "a long sum": b"nameexpr = " + b"+".join([b"1"] * 100_000),
    "a chain of attributes": b"nameexpr" + b".a" * 50_000,
    "zero bytes": b"import nameexpr\0",
    "no utf-8": b"import nameexpr # \xff",
    "an unknown encoding": b"# coding: nowhere\nimport nameexpr",
    "an encoding of bytes": b"# coding: hex\nimport nameexpr",
    "two encodings": codecs.BOM_UTF8 + b"# coding: latin-1\nimport nameexpr",
    "an encoding of escapes": b"# coding: unicode_escape\nimport nameexpr\nx = '\\ud800'",
    "half a string": b"import nameexpr\nx = '''",
    "half a block": b"import nameexpr\nif x:",
    "deep blocks": b"import nameexpr\n" + b"".join(b" " * n + b"if x:\n" for n in range(500)),
    "Python 2": b"import nameexpr\nprint 'x'",
    "control characters": b"import nameexpr\n\x1b[31m\x07\x0c",
}


@pytest.mark.parametrize("title", HOSTILE)
def test_a_hostile_file_is_one_finding_or_none(title: str) -> None:
    checked = check_bytes(HOSTILE[title], "x.py")
    assert {one.code for one in checked.findings} <= {"file", "syntax"}
    assert len(checked.findings) <= 1
    if title not in ("a long sum", "a chain of attributes", "an encoding of escapes", "signs"):
        assert len(checked.findings) == 1


@pytest.mark.slow
def test_a_large_file_is_checked() -> None:
    lines = b"x = ne.einsum('a b, b c -> a c', y, z)  # \xc3\xa9 and so on\n" * 15_000
    source = b"import nameexpr as ne\n" + lines + b"ne.einsum('a b -> a : maen', x)\n"
    assert len(source) > 800_000
    checked = check_bytes(source, "x.py")
    assert [(one.region.start, one.code) for one in checked.findings] == [((15_002, 23), "NE202")]
    assert checked.texts == 15_001


def test_a_text_beyond_the_limits_is_a_finding_of_its_own() -> None:
    for text in ("a" * 100_000 + " -> a", "(" * 5000 + "a" + ")" * 5000 + " -> a"):
        source = f"import nameexpr as ne\nne.einsum({text!r}, x)"
        (finding,) = check_python(source, "x.py").findings
        assert finding.code.startswith("NE70")


def test_odd_escapes_in_a_file_warn_nobody() -> None:
    source = "import nameexpr as ne\nx = '\\d' is 3\nne.einsum('a -> \\d', x)"
    assert [one.code[:3] for one in check_python(source, "x.py").findings] == ["NE1"]


@pytest.mark.parametrize(
    ("comments", "is_left"),
    [
        (("# nameexpr: ignore", "", "", ""), False),
        (("", "# nameexpr:ignore[NE202]", "", ""), False),
        (("", "", "# nameexpr: ignore[NE1, NE2]", ""), False),
        (("", "", "", "#nameexpr: ignore [NE202]"), False),
        (("# nameexpr: ignore[NE1]", "", "", ""), True),
        (("# nameexpr: ignored", "# noqa", "# nameexpr: ignore[]", "# nameexpr ignore"), True),
    ],
)
def test_a_comment_beside_call_text_or_mistake_silences(comments: tuple[str, ...], is_left: bool) -> None:
    call, text, mistake, end = comments
    source = (
        f"import nameexpr\nnameexpr.einsum( {call}\n  '''a {text}\n -> a : maen {mistake}\n ''', {end}\n x)"
    )
    assert len(check_python(source, "x.py").findings) == is_left


def test_a_comment_on_another_line_silences_nothing() -> None:
    source = WRONG.decode().replace("\n", "\n# nameexpr: ignore\n")
    assert len(check_python(source, "x.py").findings) == 1
