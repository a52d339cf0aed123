"""Paths as they are completed: which files, how they are quoted, and how little is looked at."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from nameexpr.session import complete as completing
from nameexpr.session.complete import Known, complete
from nameexpr.session.complete.choices import MOST


def offered(text: str) -> list[str]:
    return [one.text for one in complete(text, len(text), Known({"x": (("N",), (2,))}))]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    names = [
        "photos.npy",
        "Photo.csv",
        "all.npz",
        "my photo.npy",
        "notes.txt",
        "run.ne",
        ".hidden.npy",
        "it's.npy",
    ]
    for name in [*names, "a\x1b[2J.npy", "b\u202e.npy", "both'\".npy", "größe.npy"]:
        (tmp_path / name).touch()
    for name in ("data", "my data", ".git"):
        (tmp_path / name).mkdir()
    (tmp_path / "data" / "one.npy").touch()
    (tmp_path / "my data" / "two 2.npy").touch()
    os.mkfifo(tmp_path / "pipe.npy")
    (tmp_path / "lost").symlink_to(tmp_path / "nowhere")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":load x ph", ["photos.npy", "Photo.csv"]),
        (":load x my", ['"my data/', '"my photo.npy"']),
        (':load x "my', ['"my data/', '"my photo.npy"']),
        (":load x 'my", ["'my data/", "'my photo.npy'"]),
        (':load x "my data/', ['"my data/two 2.npy"']),
        (":load x da", ["data/"]),
        (":load x data/", ["data/one.npy"]),
        (":load x ./data/o", ["./data/one.npy"]),
        (":load x ~/al", ["~/all.npz"]),
        (":load x ~root/", []),
        (":load x .h", [".hidden.npy"]),
        (":load x .g", [".git/"]),
        (":load x g", ["größe.npy"]),
        (":load x it", ['"it\'s.npy"']),
        (":load x 'it", ["'it's.npy'"]),
        (":load x bo", ["'both'\".npy'"]),
        (":load x my p", ['"my photo.npy"']),
        (":load x[N C] al", ["all.npz"]),
        (":load x [N C] al", ["all.npz"]),
        (":load x[N ", []),
        (":load x no", []),
        (":load x nowhere/", []),
        (":load x photos.npy ", []),
        (":load ", []),
        (":save x al", ["all.npz"]),
        (":save ", ["x", "data/", '"my data/', "run.ne"]),
        (":save r", ["run.ne"]),
        (":save ./r", ["./run.ne"]),
        (":save _ al", ["all.npz"]),
        (":script r", ["run.ne"]),
        (":script ph", []),
        (":script d", ["data/"]),
    ],
)
@pytest.mark.usefixtures("folder")
def test_which_files_are_offered(text: str, expected: list[str]) -> None:
    assert offered(text) == expected


@pytest.mark.usefixtures("folder")
def test_every_file_that_is_offered_is_there_without_its_quotes() -> None:
    found = [text for text in offered(":load x ") if not text.endswith("/")]
    assert len(found) == 8
    assert all(Path(re.sub(r"^(['\"])(.*)\1$", r"\2", text)).exists() for text in found)


@pytest.mark.usefixtures("folder")
def test_names_that_a_terminal_would_act_on_are_left_out() -> None:
    assert not [text for text in offered(":load x ") if not text.isprintable()]
    assert offered(":load x a") == ["all.npz"]


def test_a_large_folder_is_looked_at_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(MOST + 100):
        (tmp_path / f"{number}.npy").touch()
    monkeypatch.chdir(tmp_path)
    assert len(offered(":load x ")) == MOST
    monkeypatch.setattr(completing, "LOOKED_AT", 10)
    assert len(offered(":load x ")) == 10


@pytest.mark.parametrize(
    "path", ["\x00/", "\ud800/", "a" * 5000 + "/", "/proc/self/mem/", "~\x00/", "//", "/dev/fd/9/"]
)
def test_a_path_that_is_none_offers_nothing_or_something_and_raises_nothing(path: str) -> None:
    assert isinstance(offered(f":load x {path}"), list)
