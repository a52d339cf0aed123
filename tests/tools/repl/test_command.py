"""`nameexpr repl` as a process: pipes, scripts, a terminal, and the file of its history."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

LINES = "x = arange(N=2, C=3)\nsum[C](x)\n"


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "XDG_STATE_HOME": str(folder), "TERM": "xterm", "COLUMNS": "100", "LINES": "30"}


def repl(folder: Path, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nameexpr", "repl", *arguments],
        input=given,
        env=environment(folder),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_pipe_gives_results_and_mistakes_apart(tmp_path: Path) -> None:
    run = repl(tmp_path, given=LINES + "x * q\nx + 1\n")
    assert run.stdout.splitlines()[:2] == ["x: N=2, C=3  int64", "tensor([ 3, 12], names=('N',), shape=(2,))"]
    assert run.stderr.startswith("there is no tensor 'q'")
    assert run.returncode == 1
    assert "tensor([[1, 2, 3]," in run.stdout
    assert repl(tmp_path, given=LINES).returncode == 0
    assert not (tmp_path / "nameexpr").exists(), "a pipe leaves no history"


def test_exit_of_python_closes_no_pipe(tmp_path: Path) -> None:
    run = repl(tmp_path, given="!exit()\n1 + 1\n")
    assert run.stdout == "tensor(2)\n"
    assert run.stderr.startswith("Python tried to exit")


def test_a_script_gives_a_transcript_that_replays(tmp_path: Path) -> None:
    (tmp_path / "s.ne").write_text(LINES)
    first = repl(tmp_path, "--script", "s.ne")
    assert first.stdout.startswith("> x = arange(N=2, C=3)\nx: N=2, C=3  int64\n> sum[C](x)\ntensor(")
    (tmp_path / "t.txt").write_text(first.stdout)
    assert repl(tmp_path, "--script", "t.txt").stdout == first.stdout
    assert repl(tmp_path, "--script", "-", given=first.stdout).stdout == first.stdout
    assert repl(tmp_path, "--script", "none.ne").returncode == 1


def test_tensors_come_from_files(tmp_path: Path) -> None:
    np.save(tmp_path / "a b.npy", np.ones((2, 3)))
    run = repl(tmp_path, "x[N C]=a b.npy", given="sum[C](x)\n")
    assert run.stdout == "tensor([3., 3.], names=('N',), shape=(2,))\n", run.stderr
    missing = repl(tmp_path, "x=none.npy")
    assert missing.returncode == 1 and "there is no file 'none.npy'" in missing.stderr
    assert repl(tmp_path, "x.npy").returncode == 2
    wrong = repl(tmp_path, "1x=a b.npy")
    assert wrong.returncode == 2 and "'1x' is not a name of a tensor" in wrong.stderr


def test_json_is_one_object_a_line(tmp_path: Path) -> None:
    printing = json.loads(repl(tmp_path, "--json", given="!print('a\x1b'); 1\n").stdout)
    assert printing["text"] == "a\\x1b\n1"
    (tmp_path / "s.ne").write_text(LINES + "# nothing\nq\n")
    for run in (
        repl(tmp_path, "--json", given=LINES + "# nothing\nq\n"),
        repl(tmp_path, "--json", "--script", "s.ne"),
    ):
        found = [json.loads(line) for line in run.stdout.splitlines()]
        assert [one["fault"] for one in found] == [False, False, False, True]
        assert [one["line"] for one in found] == [*LINES.splitlines(), "# nothing", "q"]
        assert found[0]["text"] == "x: N=2, C=3  int64" and found[2]["text"] == ""
        assert run.returncode == 1 and not run.stderr


@contextmanager
def terminal(folder: Path, *arguments: str, term: str = "xterm", columns: int = 100) -> Iterator[Terminal]:
    """Run the REPL at a terminal of its own."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "nameexpr", "repl", *arguments],
        stdin=slave, stdout=slave, stderr=slave, cwd=folder,
        env=environment(folder) | {"TERM": term, "COLUMNS": str(columns)},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509  so that Ctrl-C is a signal
    )  # fmt: skip
    os.close(slave)
    try:
        yield Terminal(master, process)
    finally:
        process.kill()
        process.wait()
        os.close(master)


class Terminal:
    """Keys in, what appeared out."""

    def __init__(self, master: int, process: subprocess.Popen[bytes]) -> None:
        self.master, self.process, self.seen = master, process, ""

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def interrupt(self, typed: str) -> None:
        """Type something, and Ctrl-C until there is a new prompt: Python's `input` misses a signal that comes
        right before it waits for a key, and is stuck if a key is there that Ctrl-C then takes away.
        """
        self.type(typed)
        self.wait(typed)
        for _ in range(10):
            self.type("\x03")
            with suppress(AssertionError):
                self.wait("> ", seconds=3)
                return
        raise AssertionError("Ctrl-C brought no prompt")

    def wait(self, pattern: str, *, is_raw: bool = False, seconds: float = 30) -> str:
        """Return what appeared since the last time, up to a pattern; fail after some seconds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            plain = re.sub(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[=>])|\r", "", self.seen)
            if re.search(pattern, plain):
                raw, self.seen = self.seen, ""
                return raw if is_raw else plain
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    read = os.read(self.master, 65536).decode("utf-8", "replace")
                except OSError:
                    break
                self.type("\x1b[10;1R" * read.count("\x1b[6n"))  # where the cursor is, as terminals answer
                self.seen += read
        raise AssertionError(f"{pattern!r} did not appear in {self.seen!r}")


def test_a_person_at_a_terminal(tmp_path: Path) -> None:
    with terminal(tmp_path) as screen:
        screen.wait("Ctrl-D or exit leaves")
        screen.type("x = ones(N=2, C=3)")
        screen.wait(r"N=2, C=3  float64  48 B")
        screen.type("\r")
        screen.wait(r"x: N=2, C=3  float64")
        screen.type("sum[Q](x)")
        screen.wait("! NE241 ")
        screen.type("\x15su")
        shown = screen.wait(r"sum\[ +the sum; of a product[\s\S]*sum\[C\]\(x\)")
        assert shown.count("sum[") == 2, "the menu and the signature, without Tab"
        screen.type("\t")
        screen.wait(r"m\[")
        screen.type("\x15:na")
        screen.wait(r":names +list the tensors")
        screen.type("\t")
        screen.wait("mes")
        screen.type("\r")
        screen.wait(r"x  N=2, C=3  float64  48 B")
        screen.type("sum[C](x)\x1bOQ")  # F2
        screen.wait(r"flops: 12 planned")
        screen.type("\r")
        screen.wait(r"tensor\(\[3., 3.\]")
        screen.type("!import time; print('be' + 'gun', flush=True); time.sleep(60)\r")
        screen.wait("begun")
        screen.type("\x03")
        screen.wait("interrupted")
        screen.wait("lists what can be typed")
        screen.type("half a li\x03")
        screen.wait("lists what can be typed")
        screen.type("su")
        screen.wait(r"m\[C\]\(x\)")  # what is left of an earlier line, in grey
        screen.type("\x1b[C\r")  # Right
        screen.wait(r"tensor\(\[3., 3.\]")
        screen.type("exit\r")
        assert screen.process.wait(20) == 0
    history = tmp_path / "nameexpr" / "history"
    assert history.stat().st_mode & 0o777 == 0o600
    assert "sum[C](x)" in history.read_text()


def test_a_plain_terminal(tmp_path: Path) -> None:
    with terminal(tmp_path, "--plain") as screen:
        screen.wait("> ")
        screen.type("x = ones(\rN=2)\r")
        screen.wait(r"x: N=2  float64")
        screen.type("x *\r")
        screen.wait("NE144[^>]*> ")
        screen.interrupt("half")
        screen.type("x + 1\r")
        screen.wait(r"tensor\(\[2., 2.\][^>]*> ")
        screen.type("softmax?\r")
        screen.wait(r"exponentials over their sum[^>]*> ")
        screen.type("\x04")
        assert screen.process.wait(20) == 0


WAITS = {(): "lists what can be typed", ("--plain",): r"> $"}
"""What a terminal shows when it waits for a line."""


@pytest.mark.parametrize(("options", "waits"), WAITS.items())
def test_a_slow_line_is_confirmed_at_a_terminal(tmp_path: Path, options: tuple[str, ...], waits: str) -> None:
    with terminal(tmp_path, *options) as screen:
        screen.wait(waits)
        for name in ("big[A B]", "mat[B K]"):
            screen.type(f"{name} = !np.broadcast_to(1.0, (9000, 9000))\r")
            screen.wait(rf": [AB]=9000, [BK]=9000  float64[\s\S]*{waits}")
        screen.type("sum[A B K](exp(big * mat))\r")
        screen.wait(r"expected to take [0-9,]+ minutes; run it\? \(y/n\)")
        screen.type("n\r" if options else "n")
        screen.wait(rf"not run[\s\S]*:plan shows[\s\S]*{waits}")


@pytest.mark.parametrize(("options", "waits"), WAITS.items())
@pytest.mark.parametrize("columns", [50, 80])
def test_tables_fit_the_terminal(tmp_path: Path, columns: int, options: tuple[str, ...], waits: str) -> None:
    with terminal(tmp_path, *options, columns=columns) as screen:
        screen.wait(waits)
        screen.type("photos = ones(Batch=2, Height=3, Width=4, Channel=5)\r")
        screen.wait(rf"photos: [\s\S]*Channel=5  float64[\s\S]*{waits}")
        screen.type(":plan exp(photos * photos) + photos\r")
        plan = screen.wait(r"result: shape[\s\S]*time: about")
        _, *steps = plan[plan.index("  step  what") : plan.index("result: shape")].rstrip().split("\n")
        assert len(steps) == 3 and all(len(step) <= columns and "…" in step for step in steps)


def test_a_pipe_is_not_asked(tmp_path: Path) -> None:
    lines = "big[A B] = !np.broadcast_to(1.0, (9000, 9000))\nmat[B K] = !np.broadcast_to(1.0, (9000, 9000))\n"
    given = f"{lines}:type sum[A B K](exp(big * mat))\n:set memory_limit 1kB\nsum[A B K](exp(big * mat))\n"
    run = repl(tmp_path, given=given)
    assert " minutes\n" in run.stdout and "run it?" not in run.stdout + run.stderr
    assert "LimitError" in run.stderr, "it was about to run"


def test_a_terminal_that_moves_no_cursor_gets_plain_text(tmp_path: Path) -> None:
    with terminal(tmp_path, term="dumb") as screen:
        screen.wait("> ")
        screen.type("1 + 1\r")
        assert "\x1b[" not in screen.wait(r"tensor\(2\)", is_raw=True).replace("\x1b[?2004", "")


def test_without_prompt_toolkit_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "prompt_toolkit.py").write_text("raise ImportError('not here')")
    with terminal(tmp_path) as screen:
        screen.wait(r"pip install 'nameexpr\[repl\]'")
        screen.type("1 + 1\r")
        screen.wait(r"tensor\(2\)")


@pytest.mark.parametrize("mode", [0o644, 0o600])
def test_the_history_is_its_owners_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int) -> None:
    from nameexpr.repl.loop import history_file

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "nameexpr").mkdir()
    (tmp_path / "nameexpr" / "history").write_text("old\n")
    (tmp_path / "nameexpr" / "history").chmod(mode)
    path = history_file("history")
    assert path == str(tmp_path / "nameexpr" / "history")
    assert os.stat(path).st_mode & 0o777 == 0o600 and Path(path).read_text() == "old\n"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "nameexpr" / "history"))
    assert history_file("history") is None
