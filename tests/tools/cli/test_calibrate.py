"""`nameexpr calibrate`: what it writes, and where. Nothing is timed, except by the last test."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from nameexpr.backends.numpy import calibration
from nameexpr.backends.numpy.calibration import Accuracy, Calibration
from nameexpr.backends.numpy.costs import GENERIC
from nameexpr.backends.numpy.profiles import read_profile
from nameexpr.backends.numpy.target import cache_folder, this_machine
from nameexpr.cli.main import main
from nameexpr.records import replace
from tools.cli.helpers import fails, folder, process  # noqa: F401  every test runs in it

FOUND = replace(GENERIC, flop=0.0125)


@pytest.fixture(autouse=True)
def made_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    both = (Accuracy(9, 1.5, 0.25), Accuracy(9, 1.125, 1.0))
    monkeypatch.setattr(calibration, "calibrate", lambda seconds: Calibration(FOUND, seconds, {"all": both}))
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0), raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_the_profile_is_written_to_the_cache_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate"]) == 0
    path = Path(cache_folder(), this_machine().own)
    header, profile = read_profile(str(path))
    assert profile == FOUND and header.machine + ".json" == path.name
    assert header.measured == f"nameexpr calibrate, 20 s, load 0.0 of {os.cpu_count()}"
    said = capsys.readouterr()
    assert "warning: other work" not in said.err and said.out.splitlines()[-1] == f"written to {path}"
    assert "all   1.50x, 25% close 1.12x, 100% close" in said.out


def test_the_profile_is_written_to_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "--output", "mine.json", "--seconds", "5", "--json"]) == 0
    assert read_profile("mine.json")[1] == FOUND
    data = json.loads(capsys.readouterr().out)
    assert data["output"] == "mine.json" and data["figures"]["flop"] == 0.0125
    assert data["accuracy"]["all"][1] == {"calls": 9, "off": 1.125, "close": 1.0}


def test_other_work_on_the_machine_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (3.0, 0.0, 0.0), raising=False)
    assert main(["calibrate", "-o", "mine.json"]) == 0
    assert "warning: other work keeps 3.0 of" in capsys.readouterr().err


def test_what_cannot_be_done_is_said_before_anything_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no folder" in fails(capsys, "calibrate", "-o", "nowhere/mine.json", code=1)
    assert "it is a folder; name a file in it" in fails(capsys, "calibrate", "-o", ".", code=1)
    assert "the file to write has no name" in fails(capsys, "calibrate", "-o", "", code=1)
    for wrong in ("0", "soon", "1e9", "nan"):
        assert "a number of seconds from 1 to 3600" in fails(capsys, "calibrate", "--seconds", wrong, code=2)


def test_a_cache_folder_that_cannot_be_created_is_said_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(calibration, "calibrate", None)
    assert "write elsewhere: --output" in fails(capsys, "calibrate", code=1)


def test_a_profile_that_the_environment_does_not_use_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    assert os.environ["NAMEEXPR_TARGET"] == "generic"
    assert main(["calibrate"]) == 0
    assert "this profile is used where NAMEEXPR_TARGET=generic is not set" in capsys.readouterr().err
    assert main(["calibrate", "-o", "mine.json"]) == 0
    assert capsys.readouterr().err == ""


def test_a_user_without_a_home_folder_names_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as Python does then
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    assert "the home folder of this user is not known" in fails(capsys, "calibrate", code=1)
    assert main(["calibrate", "-o", "mine.json"]) == 0


@pytest.mark.slow
def test_a_real_calibration_writes_what_doctor_then_shows(tmp_path: Path) -> None:
    own = {"XDG_CACHE_HOME": str(tmp_path), "NAMEEXPR_TARGET": "", "OPENBLAS_NUM_THREADS": "1"}
    ran = process("calibrate", "--seconds", "1", "--json", **own)
    assert ran.returncode == 0
    data = json.loads(ran.stdout)
    assert Path(data["output"]).exists()
    shown = json.loads(process("doctor", "--json", **own).stdout)["profile"]
    assert shown["path"] == data["output"] and shown["machine"] == data["machine"]
