"""What the tests of the command line share: a folder with files, and ways to run commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nameexpr.cli.main import main

ROOT = Path(__file__).resolve().parents[3]
X = np.arange(96.0).reshape(2, 3, 4, 4)
S = np.array([1, 2, 3], np.float32)
SCALE = "N C H W, C -> N C H W"
SCALED = X * S[:, None, None]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test a folder of its own, with a few files, and no wish for colour."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    np.save("x.npy", X)
    np.save("s.npy", S)
    np.savez("two.npz", x=X, s=S)
    Path("t.csv").write_text("# a, b\n1,2\n3,4\n5,6\n", encoding="utf-8")
    return tmp_path


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "nameexpr", *arguments]


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a user with buffered standard output: closed pipes are then noticed late."""
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    clean = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONUNBUFFERED": ""}
    return {**os.environ, **clean, **more}


def process(*arguments: str, stdin: bytes = b"", **more: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command(*arguments),
        input=stdin,
        env=environment(**more),
        capture_output=True,
        check=False,
        timeout=60,
    )


def fails(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 1) -> str:
    """Run a command that must fail without a traceback and without output; return what it says."""
    assert main(list(arguments)) == code
    said = capsys.readouterr()
    assert said.out == "" and "Traceback" not in said.err
    return said.err


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main([*arguments, "--json"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return json.loads(said.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
