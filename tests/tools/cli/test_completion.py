"""Shell completion: bash runs the script as if keys were pressed; zsh, where there is one, reads its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nameexpr.cli.commands.completion import script
from nameexpr.cli.main import main
from nameexpr.cli.parser import NAMES, ROWS, command_parser
from nameexpr.terminal.pages import codes
from tools.cli.helpers import answer, fails, folder  # noqa: F401  every test runs in it

TEXT = "'N C, C -> N C'"
ARRAYS = {"x.npy", "xx.npz", "t.csv", "star*.npy"}
PRESS = """
source completion.sh
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_shtab_nameexpr nameexpr
for word in "${COMPREPLY[@]}"; do printf '%s\\n' "$word"; done
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a folder with files to complete, and the script."""
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "there")
    for name in [*ARRAYS, "y.txt", "code.py", "book.ipynb"]:
        Path(name).touch()
    Path("folder").mkdir()
    Path("completion.sh").write_text(script("bash"), encoding="utf-8")


def offered(*words: str) -> set[str]:
    """Return what bash offers for the last word."""
    command = ["bash", "--norc", "-c", PRESS, "bash", "nameexpr", *words]
    result = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    # compopt has nobody to tell when no key was pressed, and says so nowhere.
    assert result.stderr == "" and result.returncode == 0
    return set(result.stdout.splitlines())


def options(name: str) -> set[str]:
    row = next(row for row in ROWS if row.name == name)
    return {spelling for action in command_parser(row)._actions for spelling in action.option_strings}


def test_commands_are_completed() -> None:
    assert offered("") == {*NAMES, "help"}
    assert offered("-") == {"-h", "--help", "--version"}
    assert offered("e") == {"eval", "explain"}
    assert offered("help", "co") == {"code", "completion"}
    assert offered("bogus", "x") == set()


def test_options_of_the_command_are_completed() -> None:
    assert offered("eval", "--o") == {"--output", "--optimize", "--order"}
    assert offered("plan", "--s") == {"--save", "--size", "--svg"}
    for name in NAMES:
        assert offered(name, "-") == options(name)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["eval", "--color", "a"], {"auto", "always"}),
        (["plan", "--draw", ""], {"network", "tree", "memory"}),
        (["eval", "--dtype", "float"], {"float16", "float32", "float64"}),
        (["eval", "--reduce", "me"], {"mean", "median"}),
        (["check", "--format", ""], {"text", "json", "github", "sarif"}),
        (["eval", "--size", ""], set()),
        (["eval", "-o", "y"], {"y.txt"}),
        (["repl", "--script", "b"], {"book.ipynb"}),
        (["explain", "NE80"], {"NE801", "NE802", "NE803", "NE804", "NE805"}),
        (["explain", "NE304", "N"], {*codes()}),
        (["completion", ""], {"bash", "zsh"}),
    ],
)
def test_values_are_completed(words: list[str], expected: set[str]) -> None:
    assert offered(*words) == expected


def test_operands_are_files_of_the_right_kind() -> None:
    assert offered("eval", TEXT, "") == offered("plan", TEXT, "") == {*ARRAYS, "folder"}
    assert offered("eval", TEXT, "x.npy", "x") == {"x.npy", "xx.npz"}
    assert offered("check", "") == {"code.py", "book.ipynb", "folder"}
    assert offered("repl", "x", "=", "x") == offered("eval", TEXT, "x", "=", "x") == {"x.npy", "xx.npz"}
    assert offered("doctor", "") == offered("fmt", "x") == set()


def test_an_expression_is_no_file() -> None:
    assert offered("eval", "") == offered("plan", "--draw", "tree", "x") == set()
    assert offered("plan", "--draw", "tree", TEXT, "x") == {"x.npy", "xx.npz"}
    assert offered("eval", "--", "->a", "x") == {"x.npy", "xx.npz"}


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_scripts_are_printed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert capsys.readouterr().out == script(shell).rstrip("\n") + "\n"
    assert answer(capsys, "completion", shell) == {"shell": shell, "script": script(shell)}


def test_there_are_scripts_for_two_shells(capsys: pytest.CaptureFixture[str]) -> None:
    assert "invalid choice: 'fish'" in fails(capsys, "completion", "fish", code=2)


def test_without_shtab_it_is_said_how_to_get_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    said = fails(capsys, "completion", "bash")
    assert "OptionError[NE686]: completion needs shtab" in said
    assert "help: pip install 'nameexpr[completion]'" in said


def test_the_script_of_zsh_has_every_command_and_option() -> None:
    written = script("zsh")
    assert written.startswith("#compdef nameexpr\n")
    for name in NAMES:
        part = written.partition(f"_shtab_nameexpr_{name}_options=(\n")[2].partition("\n)\n")[0]
        assert all(spelling in part for spelling in options(name))


@pytest.mark.parametrize("shell", ["bash", *filter(shutil.which, ["zsh"])])
def test_the_shell_can_read_its_script(shell: str) -> None:
    result = subprocess.run(
        [shell, "-n"], input=script(shell), capture_output=True, text=True, check=False, timeout=60
    )
    assert result.returncode == 0 and result.stderr == ""
