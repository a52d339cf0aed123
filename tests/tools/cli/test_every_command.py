"""What holds for every command as a process: exit codes, closed pipes, JSON, colour and standard error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nameexpr.cli.main import main
from nameexpr.cli.parser import NAMES
from tools.cli.helpers import command, environment, folder, process  # noqa: F401  every test runs in it

pytestmark = pytest.mark.slow

FINE = {
    "eval": ["eval", "N C H W, C -> N : sum", "x.npy", "s.npy"],
    "plan": ["plan", "a b, b c -> a c", "2,3", "3,4"],
    "code": ["code", "a b, b c -> a c", "2,3", "3,4"],
    "gradient": ["gradient", "y = sum[N](x[N] ** 2)", "--wrt", "x"],
    "check": ["check", "fine.py"],
    "fmt": ["fmt", "a  b->b a"],
    "explain": ["explain"],
    "repl": ["repl", "--script", "lines.txt"],
    "doctor": ["doctor"],
    "lsp": ["lsp"],
    "completion": ["completion", "bash"],
}
LONG = {"calibrate"}
"""Commands that measure for seconds: they have tests of their own."""
COMMANDS = [name for name in NAMES if name not in LONG]
SERVERS = {"lsp"}
"""Commands that say nothing of their own, but answer what they are asked."""
WRONG = {
    "eval": ["eval", "N C H W, H -> N : sum", "x.npy", "s.npy"],
    "plan": ["plan", "a b, b c -> a c", "2,3", "4,4"],
    "code": ["code", "a b, b c -> a c", "2,3", "4,4"],
    "gradient": ["gradient", "y = sum[N](x[N] ** 2)", "--wrt", "z"],
    "fmt": ["fmt", "a (b -> a"],
    "explain": ["explain", "a b, b c -> a c", "2,3", "4,4"],
}


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:  # noqa: F811  the fixture
    """Make the files that the commands above read."""
    Path("fine.py").write_text("import nameexpr as ne\nne.einsum('a b -> b a', x)\n", encoding="utf-8")
    Path("lines.txt").write_text("x = ones(N=2)\nx + 1\n", encoding="utf-8")


def test_every_command_is_here() -> None:
    assert set(FINE) == set(COMMANDS)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in {"doctor", *SERVERS}])
def test_what_is_fine_says_so_on_standard_output(name: str) -> None:
    result = process(*FINE[name], FORCE_COLOR="1")
    assert result.returncode == 0
    assert (result.stdout or name == "check") and (result.stderr == b"" or name == "check")
    assert b"\x1b" not in result.stdout


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in SERVERS])
def test_json_is_one_object_a_line(name: str) -> None:
    result = process(*FINE[name], "--json", FORCE_COLOR="1")
    lines = result.stdout.decode("ascii").splitlines()
    assert len(lines) == 1 or name == "repl"
    assert all(isinstance(json.loads(line), dict) for line in lines) and lines


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_goes_to_standard_error_with_code_1(name: str) -> None:
    plain = process(*WRONG[name])
    assert plain.returncode == 1 and plain.stdout == b"" and b"\x1b" not in plain.stderr
    assert b"Error[NE" in plain.stderr and b"Traceback" not in plain.stderr
    told = json.loads(process(*WRONG[name], "--json").stderr)
    assert told["error"]["code"].startswith("NE")


@pytest.mark.parametrize("name", COMMANDS)
def test_wrong_usage_is_code_2(name: str) -> None:
    for more in (["--bogus"], ["--color", "pink"]):
        result = process(*FINE[name], *more)
        assert result.returncode == 2 and result.stdout == b""
        assert result.stderr.startswith(f"usage: nameexpr {name} ".encode())
    told = json.loads(process(*FINE[name], "--json", "--bogus").stderr)
    assert told["error"]["code"] == "usage"


COLOURS = [
    ([], {}, False),
    ([], {"FORCE_COLOR": "1"}, True),
    ([], {"FORCE_COLOR": ""}, False),
    ([], {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    (["--color", "always"], {"NO_COLOR": "1"}, True),
    (["--color=always"], {}, True),
    (["--color", "never"], {"FORCE_COLOR": "1"}, False),
    (["--json"], {"FORCE_COLOR": "1"}, False),
]


@pytest.mark.parametrize(("more", "variables", "is_coloured"), COLOURS)
@pytest.mark.parametrize("name", ["fmt", "explain"])
def test_colour_is_as_asked_for(
    name: str, more: list[str], variables: dict[str, str], *, is_coloured: bool
) -> None:
    assert (b"\x1b[1;31m" in process(*WRONG[name], *more, **variables).stderr) is is_coloured
    # A mistake in the arguments is coloured by the same rule, though the options were not read to the end.
    assert (b"\x1b[1;31m" in process(*FINE[name], "--bogus", *more, **variables).stderr) is is_coloured


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
def test_a_closed_pipe_is_no_mistake(name: str, more: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen(
        command(*FINE[name], *more), env=environment(), stdout=writing, stderr=subprocess.PIPE
    ) as it:
        os.close(writing)
        said = it.communicate(timeout=60)[1]
    assert it.returncode == 0
    assert said == b"" or name == "check", said


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["help", "eval"]])
def test_help_into_a_closed_pipe_is_no_mistake(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen(
        command(*arguments), env=environment(), stdout=writing, stderr=subprocess.PIPE
    ) as it:
        os.close(writing)
        assert it.communicate(timeout=60)[1] == b""
    assert it.returncode == 0


def test_ctrl_c_while_reading_a_text_is_code_130(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted:
        @property
        def buffer(self) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Interrupted())
    assert main(["fmt"]) == 130
    said = capsys.readouterr()
    assert said.out == said.err == ""


def test_closed_standard_streams_are_survived() -> None:
    for name in ("plan", "fmt", "explain"):
        script = f'"{sys.executable}" -m nameexpr "$@" <&- >&-'
        words = ["sh", "-c", script, "sh", *FINE[name]]
        result = subprocess.run(words, env=environment(), capture_output=True, check=False, timeout=60)
        assert result.returncode == 0 and b"Traceback" not in result.stderr
