"""The commands as rows: what help says of each is right, and none loads what computes before it has to."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nameexpr.cli import parser
from nameexpr.cli.main import main
from nameexpr.cli.parser import NAMES, ROWS, Subcommand
from tools.cli.helpers import environment, fails, folder  # noqa: F401  every test runs in it

OURS = ("eval", "plan", "code", "gradient", "fmt", "explain", "doctor", "calibrate", "completion")


def examples(text: str) -> list[str]:
    """Return the commands of a help text, without the remarks behind them."""
    lines = re.findall(r"^  (nameexpr .*)$", text, flags=re.MULTILINE)
    return [re.sub(r"\s{3,}\S.*$", "", line) for line in lines]


EXAMPLES = [(row.name, line) for row in ROWS for line in examples(row.load().EXAMPLES)]
EXAMPLES += [("nameexpr", line) for line in examples(parser._EXAMPLES)]


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:  # noqa: F811  the fixture
    """Make the files that the examples speak of."""
    np.save("images.npy", np.ones((2, 16, 4, 4)))
    np.save("scale.npy", np.ones(16))
    np.save("x.npy", np.ones((5, 16)))
    np.savez("arrays.npz", weights=np.ones((2, 3)), other=np.ones(2))
    np.save("points.npy", np.ones((4, 2)))
    np.save("z.npy", np.ones(2, complex))
    np.save("centres.npy", np.ones((3, 2)))
    Path("table.csv").write_text("1,2\n3,4\n", encoding="utf-8")
    Path("formula.txt").write_text("y[N] = sum[C](x[N C])\n", encoding="utf-8")


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_help_is_the_same_in_both_spellings_and_shows_examples(
    row: Subcommand, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([row.name, "--help"]) == 0
    said = capsys.readouterr().out
    assert main(["help", row.name]) == 0
    assert capsys.readouterr().out == said
    assert said.startswith(f"usage: nameexpr {row.name} [options]")
    assert "examples:\n" in said and "exit codes:" in said and "--json" in said and "--color" in said
    assert row.summary in said[:300].lower() or row.summary[1:] in said[:300]


def test_help_alone_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    said = capsys.readouterr().out
    assert main(["--help"]) == 0
    assert capsys.readouterr().out == said
    assert all(re.search(rf"^  {row.name} +{re.escape(row.summary)}$", said, re.MULTILINE) for row in ROWS)
    assert "there is no command 'bogus'" in fails(capsys, "help", "bogus", code=2)


@pytest.mark.parametrize(("name", "line"), EXAMPLES, ids=[line for _, line in EXAMPLES])
def test_the_examples_of_help_are_right(
    name: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [word for word in shlex.split(line) if word not in "<>|"]
    command = words[1]
    if command not in ("eval", "plan", "code", "gradient", "fmt", "explain"):
        plain = re.split(r" [<>|] ", line)[0]
        assert parser.parse(shlex.split(plain)[1:]).command == command
        return
    if not re.search(r" [<>|] ", line):
        assert main(words[1:]) == 0
        return
    program = tmp_path / "nameexpr"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m nameexpr "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    env = environment(PATH=f"{tmp_path}:{Path('/usr/bin')}:/bin")
    subprocess.run(line, shell=True, env=env, check=True, capture_output=True, timeout=60)


def test_every_command_of_ours_has_an_example() -> None:
    assert {name for name, _ in EXAMPLES} >= {*OURS, "nameexpr"} - {"completion"}


LOADED = """
import sys
from nameexpr.cli.main import main
status = main(sys.argv[1:])
print([name for name in ("numpy", "lark", "opt_einsum", "prompt_toolkit") if name in sys.modules], status)
"""


@pytest.mark.parametrize(
    "arguments",
    [
        *([name, "--help"] for name in NAMES),
        ["help"],
        ["fmt", "N  C -> C N"],
        ["explain", "NE304"],
        ["explain"],
        ["explain", "NE999"],
        ["completion", "bash"],
        ["completion", "zsh", "--json"],
        ["plan", "a -> a", "3", "--svg", "x.gif"],
        ["eval", "a -> a", "--memory-limit", "x"],
    ],
    ids=" ".join,
)
def test_what_needs_no_arrays_loads_nothing_heavy(arguments: list[str]) -> None:
    result = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    is_wrong = arguments[-1] in ("NE999", "x.gif", "x")
    assert result.stdout.splitlines()[-1] == f"[] {2 if is_wrong else 0}"


def test_a_formula_is_formatted_without_numpy_or_lark() -> None:
    command = [sys.executable, "-c", LOADED, "fmt", "y[N]=x[N]"]
    result = subprocess.run(
        command, env=environment(), capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout == "y[N] = x[N]\n[] 0\n"


def test_texts_that_begin_with_a_hyphen_are_no_options(capsys: pytest.CaptureFixture[str]) -> None:
    for text, shown in [
        ("-x[N]", "-x[N]"),
        ("-(x[N] + 1)", "-(x[N] + 1)"),
        ("->a=2", "-> a=2"),
        ("-out[N]", "-out[N]"),
        ("~m[N]", "~m[N]"),
    ]:
        assert main(["fmt", text]) == 0
        assert capsys.readouterr().out == shown + "\n"
    assert main(["eval", "N C -> C N", "x.npy", "-oy[1].npy"]) == 0
    assert Path("y[1].npy").exists()
