"""The command line's files: round trips, and files that are damaged or hostile."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nameexpr.cli.main import main
from tools.cli.helpers import SCALE, SCALED, S, answer, fails, folder  # noqa: F401  every test runs in it

HEADER = b"{'descr': '<f8', 'fortran_order': False, 'shape': "


@pytest.mark.parametrize("target", ["y.npy", "y.npz", "y.npz:key", "Y.NPY"])
def test_what_eval_writes_is_what_numpy_computes(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", SCALE, "x.npy", "s.npy", "-o", target]) == 0
    assert capsys.readouterr().out == ""
    loaded = np.load(target.partition(":")[0], allow_pickle=False)
    array = loaded if isinstance(loaded, np.ndarray) else loaded["key" if ":" in target else "arr_0"]
    assert array.dtype == SCALED.dtype
    np.testing.assert_array_equal(array, SCALED)
    assert not list(Path().glob(".*.part"))
    assert main(["eval", "a b c d -> a b c d", target, "-o", "again.npy"]) == 0
    np.testing.assert_array_equal(np.load("again.npy"), SCALED)


@pytest.mark.parametrize(
    "array",
    [
        np.array([0.1, -1e-300, np.inf, np.nan, -0.0]),
        np.array([[1 / 3, 2.0], [3.0, 4.0]], np.float64),
        np.array([[2**63 - 1, -(2**63)]]),
        np.array([2**64 - 1], np.uint64),
        np.array([1 + 2j, -1.5 - 0.5j, 2j]),
        np.array([[0.1 - 2j, 3]]),
    ],
)
def test_csv_gives_back_every_number(array: np.ndarray[Any, Any]) -> None:
    np.save("a.npy", array)
    assert main(["eval", "... -> ...", "a.npy", "-o", "a.csv"]) == 0
    assert main(["eval", "... -> ...", "a.csv", "-o", "b.npy"]) == 0
    again = np.load("b.npy")
    assert again.dtype == array.dtype and again.shape == array.shape
    assert again.tobytes() == array.tobytes() or np.array_equal(again, array, equal_nan=True)


def test_csv_has_one_dim_without_commas_and_two_with_them(capsys: pytest.CaptureFixture[str]) -> None:
    for text, expected in [("1\n2\n", [1, 2]), ("1,2\n", [[1, 2]]), ("\ufeff1.5\r\n\r\n2 # c\r\n", [1.5, 2])]:
        Path("v.csv").write_text(text, encoding="utf-8", newline="")
        assert answer(capsys, "eval", "... -> ...", "v.csv")["data"] == expected


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is empty"),
        (b"hello world, this is text", "it is not a .npy file"),
        (b"\x93NUMPY", "it seems damaged"),
        (b"\x93NUMPY\x01\x00\xff\xff{'descr'", "it seems damaged"),
        (b"\x93NUMPY\x09\x00\x10\x00", "version"),
        (
            b"\x93NUMPY\x01\x00\x46\x00" + HEADER + b"(99999999999999,)}   \n",
            "cut short",
        ),
        (
            b"\x93NUMPY\x01\x00\x3a\x00" + HEADER + b"(-3,)}  \n",
            "no array has shape",
        ),
        (b"PK\x03\x04 and no more", "it is not a .npy file"),
    ],
)
def test_a_bad_npy_file_is_one_line_and_no_traceback(
    content: bytes, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.npy").write_bytes(content)
    said = fails(capsys, "eval", "a -> a", "bad.npy")
    assert said.startswith("nameexpr: cannot read 'bad.npy': ") and words in said and said.count("\n") == 1


def test_a_cut_file_says_how_much_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.npy").write_bytes(Path("x.npy").read_bytes()[:-8])
    assert "promises 768 bytes" in fails(capsys, "eval", SCALE, "x.npy", "s.npy")
    whole = Path("two.npz").read_bytes()
    Path("two.npz").write_bytes(whole[: len(whole) // 2])
    assert "cannot read 'two.npz'" in fails(capsys, "eval", "a -> a", "two.npz:s")


def test_pickles_are_never_loaded(capsys: pytest.CaptureFixture[str]) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, ("sprung",)

    np.save("o.npy", np.array([Trap()], object), allow_pickle=True)
    np.savez("o.npz", np.array([Trap()], object))
    for name in ("o.npy", "o.npz"):
        for verb in ("eval", "plan"):
            assert "never loaded" in fails(capsys, verb, "a -> a", name)
    assert not Path("sprung").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b\n1,2\n", "line 1, column 1: 'a' is not a number; a line of column names begins with #"),
        ("1,2\n3\n", "line 2 has 1 numbers"),
        ("1,2\n3,\n", "line 2, column 2: there is no number"),
        ("# nothing\n\n", "it holds no numbers"),
    ],
)
def test_a_bad_csv_says_where(content: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.csv").write_text(content, encoding="utf-8")
    assert words in fails(capsys, "eval", "... -> ...", "bad.csv")


@pytest.mark.slow
def test_every_damaged_byte_is_survived(capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(0)
    for name in ("s.npy", "one.npz"):
        np.savez("one.npz", S)
        whole = bytearray(Path(name).read_bytes())
        for position in range(len(whole)):
            damaged = whole.copy()
            damaged[position] = int(random.integers(256))
            Path(f"bad{name[-4:]}").write_bytes(damaged)
            for verb in ("eval", "plan"):
                assert main([verb, "... -> ...", f"bad{name[-4:]}"]) in (0, 1)
            said = capsys.readouterr().err
            assert "Traceback" not in said


def test_a_failed_write_leaves_the_old_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    before = Path("s.npy").read_bytes()
    monkeypatch.setattr(np.lib.format, "write_array", refuse)
    assert "no space left" in fails(capsys, "eval", "a -> a", "s.npy", "-o", "s.npy")
    assert Path("s.npy").read_bytes() == before and not list(Path().glob(".*.part"))


def test_a_link_is_written_through() -> None:
    Path("link.npy").symlink_to("real.npy")
    for _ in range(2):
        assert main(["eval", "a -> a", "s.npy", "-o", "link.npy"]) == 0
        assert Path("link.npy").is_symlink() and np.array_equal(np.load("real.npy"), S)


@pytest.mark.parametrize(
    ("content", "place"),
    [("1,2\n3,1" + "0" * 400 + "\n", "line 2, column 2"), ("1e400\n", "line 1, column 1")],
)
def test_a_number_beyond_float64_is_refused(
    content: str, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("big.csv").write_text(content)
    terms = "a b -> a b" if "," in content else "a -> a"
    assert place in fails(capsys, "eval", terms, "big.csv")


def test_written_infinities_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    Path("inf.csv").write_text("1\n-inf\n")
    assert answer(capsys, "eval", "a -> a", "inf.csv")["data"] == [1, "-inf"]


@pytest.mark.slow
def test_what_is_packed_counts_against_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    np.savez_compressed("bomb.npz", x=np.zeros(1_000_000))
    np.save("plain.npy", np.zeros(1_000_000))
    said = fails(capsys, "eval", "a -> : sum", "bomb.npz", "--memory-limit", "1MB")
    assert "8,000,000 bytes" in said and "--memory-limit" in said
    answer(capsys, "eval", "a -> : sum", "bomb.npz")
    answer(capsys, "eval", "a -> : sum", "plain.npy", "--memory-limit", "1MB")
    np.savez_compressed("bomb.npz", x=np.zeros(20_000_000))  # to a thousandth of its size
    assert "--memory-limit" in fails(capsys, "eval", "a -> : sum", "bomb.npz")
    answer(capsys, "eval", "a -> : sum", "bomb.npz", "--memory-limit", "1GB")


def test_a_pipe_without_an_end_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Endless(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            buffer[:] = b"1" * len(buffer)
            return len(buffer)

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(Endless())))
    assert "1,000,000 are to be had" in fails(capsys, "eval", "a -> a", "-", "--memory-limit", "1MB")
