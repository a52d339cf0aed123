"""Shell completion: bash runs the script as if keys were pressed; zsh, where there is one, reads its own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from nameexpr.cli.completion import bash as completion_bash
from nameexpr.cli.completion import zsh as completion_zsh
from nameexpr.cli.completion.completion import completed
from nameexpr.cli.main import main
from nameexpr.cli.rows import NAMES
from nameexpr.terminal.pages import codes
from tools.cli.helpers import answer, fails, folder  # noqa: F401  every test runs in it

TEXT = "'N C, C -> N C'"
ARRAYS = {"x.npy", "xx.npz", "t.csv", "my file.npy", "a'b.npy", "star*.npy"}
PRESS = """
source completion.sh
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_nameexpr nameexpr
for word in "${COMPREPLY[@]}"; do printf '%s\\n' "$word"; done
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a folder with files to complete, and the script."""
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "there")
    for name in [*ARRAYS, "y.txt", "code.py", "book.ipynb"]:
        Path(name).touch()
    Path("my folder").mkdir()
    Path("completion.sh").write_text(completion_bash.script(), encoding="utf-8")


def offered(*words: str) -> set[str]:
    """Return what bash offers for the last word."""
    command = ["bash", "--norc", "-c", PRESS, "bash", "nameexpr", *words]
    result = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    # compopt has nobody to tell when no key was pressed, and says so nowhere.
    assert result.stderr == "" and result.returncode == 0
    return set(result.stdout.splitlines())


def test_commands_are_completed() -> None:
    assert offered("") == {*NAMES, "help", "--help", "--version"}
    assert offered("e") == {"eval", "explain"}
    assert offered("help", "co") == {"code", "completion"}
    assert offered("bogus", "x") == set()


def test_options_of_the_command_are_completed() -> None:
    assert offered("eval", "--o") == {"--output", "--optimize", "--order"}
    assert offered("plan", "--s") == {"--size", "--svg"}
    assert offered("fmt", "--c") == {"--check", "--color"}
    for one in completed():
        assert offered(one.row.name, "-") == {name for option in one.options for name in option.names}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["eval", "--color", "a"], {"auto", "always"}),
        (["eval", "--color", "=", "n"], {"never"}),
        (["eval", "--color", "="], {"auto", "always", "never"}),
        (["plan", "--draw", ""], {"network", "tree", "memory"}),
        (["eval", "--dtype", "float"], {"float16", "float32", "float64"}),
        (["eval", "--reduce", "me"], {"mean", "median"}),
        (["check", "--format", ""], {"text", "json", "github", "sarif"}),
        (["eval", "--size", ""], set()),
        (["eval", "-o", "y"], {"y.txt"}),
        (["repl", "--script", "b"], {"book.ipynb"}),
    ],
)
def test_values_of_options_are_completed(words: list[str], expected: set[str]) -> None:
    assert offered(*words) == expected


def test_operands_are_files_of_the_right_kind() -> None:
    assert offered("eval", TEXT, "") == offered("plan", TEXT, "") == {*ARRAYS, "my folder"}
    assert offered("eval", TEXT, "x.npy", "x") == {"x.npy", "xx.npz"}
    assert offered("check", "") == {"code.py", "book.ipynb", "my folder"}
    assert offered("doctor", "") == offered("fmt", "x") == set()


def test_an_expression_is_no_file() -> None:
    assert offered("eval", "") == offered("plan", "--draw", "tree", "x") == set()
    assert offered("plan", "--draw", "tree", TEXT, "x") == {"x.npy", "xx.npz"}
    assert offered("plan", "--size", "h", "=", "8", "x") == set()
    assert offered("plan", "--size", "h", "=", "8", TEXT, "x") == {"x.npy", "xx.npz"}
    assert offered("eval", "--", "->a", "x") == {"x.npy", "xx.npz"}


def test_named_operands_are_files_behind_the_equals_sign() -> None:
    for command in (["eval", TEXT], ["repl"]):
        assert offered(*command, "x", "=", "x") == {"x.npy", "xx.npz"}
        assert offered(*command, "x", "=") == {*ARRAYS, "my folder"}


def test_words_with_spaces_and_quotes_survive() -> None:
    assert offered("eval", TEXT, "my\\ f") == {"my file.npy", "my folder"}
    assert offered("eval", TEXT, "'my f") == offered("eval", TEXT, '"my f') == {"my file.npy", "my folder"}
    assert offered("eval", TEXT, '"a') == {"a'b.npy"}
    assert offered("eval", TEXT, "star") == {"star*.npy"}


def test_codes_and_shells_are_completed() -> None:
    assert offered("explain", "NE80") == {"NE801", "NE802", "NE803", "NE804"}
    assert offered("explain", "NE304", "N") == set(codes())
    assert offered("completion", "") == {"bash", "zsh"}


def test_the_scripts_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    for shell, module in (("bash", completion_bash), ("zsh", completion_zsh)):
        assert main(["completion", shell]) == 0
        assert capsys.readouterr().out == module.script()
        assert answer(capsys, "completion", shell) == {"shell": shell, "script": module.script()}
    assert "invalid choice: 'fish'" in fails(capsys, "completion", "fish", code=2)


def test_the_script_of_zsh_has_every_command_and_option() -> None:
    script = completion_zsh.script()
    assert script.startswith("#compdef nameexpr\n")
    for one in completed():
        part = script.partition(f"                {one.row.name})\n")[2].partition(";;")[0]
        for option in one.options:
            joint = ["=" if name.startswith("--") and option.takes_value else "" for name in option.names]
            assert all(f"'{name}{sign}[" in part for name, sign in zip(option.names, joint, strict=True))
    assert script.count("'") % 2 == 0


@pytest.mark.parametrize("shell", ["bash", *filter(shutil.which, ["zsh"])])
def test_the_shell_can_read_its_script(shell: str) -> None:
    script = {"bash": completion_bash, "zsh": completion_zsh}[shell].script()
    result = subprocess.run(
        [shell, "-n"], input=script, capture_output=True, text=True, check=False, timeout=60
    )
    assert result.returncode == 0 and result.stderr == ""
