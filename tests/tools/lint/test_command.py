"""`nameexpr check` from arguments to exit code, on trees of files and on standard input."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from nameexpr.cli.commands import check as command
from nameexpr.cli.commands.check import check_paths

ROOT = Path(__file__).resolve().parents[3]
WRONG = "import nameexpr as ne\nne.einsum('a -> a : maen', x)\n"
RIGHT = "import nameexpr as ne\nne.einsum('a -> a', x)\n"


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(exit_on_error=False)
    command.add_arguments(parser)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--color", default="auto")
    return parser.parse_intermixed_args(arguments)


def run(*arguments: str) -> int:
    return command.run(parsed(*arguments))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for variable in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "b.py").write_text(WRONG)
    (tmp_path / "src" / "a.py").write_text(RIGHT)
    (tmp_path / "c.py").write_text(WRONG.replace("a -> a : maen", "a b -> a : sum") + "ne.einsum('a', x)")
    return tmp_path


def test_findings_go_to_standard_output_and_the_summary_to_standard_error(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(".", "--short") == 1
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "c.py:3:13: NE218 an expression needs an arrow: this text is an assertion",
        f"src{os.sep}b.py:2:21: NE202 there is no reducer 'maen'",
    ]
    assert printed.err == "4 texts in 3 files, 2 findings\n"


def test_nothing_found_is_0(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("src/a.py") == 0
    assert capsys.readouterr() == ("", "1 text in 1 file, no findings\n")


def test_codes_are_chosen_by_their_beginning(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(".", "--select", "NE202") == 1
    assert run(".", "--ignore", "ne2") == 0
    assert run(".", "--select", "NE2", "--ignore", "NE202,NE218") == 0
    assert run(".", "--exclude", "b.py", "--exclude", "c.*") == 0


def test_a_file_that_is_missing_or_no_python_is_told_whatever_is_chosen(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "d.py").write_text("import nameexpr\nx = (")
    assert run("gone.py", "d.py", "--select", "NE1", "--short") == 1
    assert capsys.readouterr().out.splitlines() == [
        "gone.py:1:1: file cannot be read: no such file or directory",
        "d.py:2:5: syntax '(' was never closed",
    ]


@pytest.mark.parametrize("codes", ["", "E501", "NE2020", "NEx", ","])
def test_what_is_no_code_is_refused(codes: str) -> None:
    with pytest.raises(argparse.ArgumentError, match=r"is not a code: write NE304"):
        parsed("x.py", "--select", codes)


@pytest.mark.parametrize("form", ["json", "sarif", "github"])
def test_every_format_gives_the_same_findings(
    form: str, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(".", "--format", form) == 1
    printed = capsys.readouterr()
    assert printed.out.count("NE202") >= 1
    assert "\x1b" not in printed.out
    if form != "github":
        json.loads(printed.out)


def test_json_is_the_option_that_every_command_has(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(".", "--json") == 1
    first = capsys.readouterr()
    assert run(".", "--format", "json") == 1
    assert capsys.readouterr() == first
    assert [one["code"] for one in json.loads(first.out)["findings"]] == ["NE218", "NE202"]
    assert first.err == ""


def test_standard_input_is_a_file_with_a_name(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def given(text: str, *arguments: str) -> str:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert run("-", "--short", *arguments) == 1
        return capsys.readouterr().out

    assert given(WRONG).startswith("<stdin>:2:21: NE202")
    assert given(WRONG, "--stdin-filename", "q.py").startswith("q.py:2:21: NE202")
    cells = json.dumps({"cells": [{"cell_type": "code", "source": WRONG}]})
    assert given(cells, "--stdin-filename", "q.ipynb").startswith("q.ipynb:cell 1:2:21: NE202")
    assert given(WRONG, "c.py").splitlines()[1].startswith("c.py:3:13: NE218")


def test_standard_input_that_is_closed_is_a_finding(tree: Path) -> None:
    shell = f"{shlex.quote(sys.executable)} -m nameexpr check - --short <&-"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["sh", "-c", shell], check=False, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert done.stdout == "<stdin>:1:1: file cannot be read: standard input is closed\n"


def test_colour_is_as_told(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_coloured(*arguments: str) -> bool:
        run("c.py", *arguments)
        return "\x1b[" in capsys.readouterr().out

    assert not is_coloured()
    assert is_coloured("--color", "always")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert is_coloured()
    assert not is_coloured("--color", "never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not is_coloured()
    assert is_coloured("--color", "always")


def test_names_that_an_encoding_lacks_are_written_as_escapes(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "é名.py").write_text(WRONG.replace("maen", "mäen"), encoding="utf-8")
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii", write_through=True))
    assert run("é名.py", "--short") == 1
    assert raw.getvalue().startswith(b"\\xe9\\u540d.py:2:21: NE202 there is no reducer 'm\\xe4en'")


@pytest.mark.slow
def test_the_package_its_examples_and_its_documents_have_no_findings() -> None:
    checked = check_paths([str(ROOT / "nameexpr"), str(ROOT / "examples"), str(ROOT / "benchmarks")])
    assert checked.findings == ()
    examples = check_paths([str(ROOT / "examples")])
    assert examples.texts > 20


def test_the_python_of_the_documents_has_no_findings_but_those_it_shows(tmp_path: Path) -> None:
    shown = []
    for document in sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")]):
        text = document.read_text(encoding="utf-8")
        for number, block in enumerate(
            re.findall(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", text, re.M | re.S)
        ):
            source = (
                re.sub(r"^(?:>>>|\.\.\.) ?", "", block[0], flags=re.M) if ">>> " in block[0] else block[0]
            )
            file = tmp_path / f"{document.stem}_{number}.py"
            file.write_text("import nameexpr as ne\n" + source, encoding="utf-8")
            for finding in check_paths([str(file)]).findings:
                if finding.code == "syntax" and ">>> " in block[0]:
                    continue  # what the prompts print is not Python
                said = block[1].replace("NE503]: operand 0 is a list of", "NE501")  # a list is one operand
                assert finding.code in said, f"{document.name}: {finding}"
                shown.append(finding.code)
    assert len(shown) > 50


def test_the_hook_of_pre_commit_names_a_command_that_runs(tree: Path) -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    hook = dict(re.findall(r"^(?:- |  )(\w+): (.+)$", text, flags=re.MULTILINE))
    assert hook.keys() == {"id", "name", "description", "entry", "language", "types_or"}
    assert (hook["id"], hook["language"], hook["types_or"]) == (
        "nameexpr-check",
        "python",
        "[python, jupyter]",
    )
    program, *arguments = shlex.split(hook["entry"])
    assert program == "nameexpr"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    process = [sys.executable, "-m", program, *arguments, "src/a.py", "src/b.py"]
    done = subprocess.run(process, check=False, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.splitlines()[0]) == (
        1,
        "src/b.py:2:21: NE202 there is no reducer 'maen'",
    )


def test_checking_loads_neither_numpy_nor_what_is_not_needed(tree: Path) -> None:
    source = (
        "import sys; from nameexpr.cli.commands.check import check_paths; found = check_paths(['.']);"
        "assert len(found.findings) == 2; print(sorted({'numpy', 'opt_einsum', 'mypy'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", source],
        check=True,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "[]\n"
