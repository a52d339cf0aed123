"""The command line as a process: pipes, signals, devices, and what it loads."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from tools.cli.helpers import X, command, environment, folder, process  # noqa: F401  every test runs in it

pytestmark = pytest.mark.slow


def test_pipes_carry_arrays() -> None:
    first = process("eval", "N C H W -> C N H W", "-", "-o", "-", stdin=Path("x.npy").read_bytes())
    assert first.returncode == 0 and first.stderr == b""
    second = process("eval", "C N H W -> N C : max", "-", "--json", stdin=first.stdout)
    np.testing.assert_array_equal(json.loads(second.stdout)["data"], X.max((2, 3)))
    contiguous = process("eval", "C, -> C", "-", "2", "-o", "-", stdin=Path("s.npy").read_bytes())
    np.testing.assert_array_equal(np.load(io.BytesIO(contiguous.stdout)), [2, 4, 6])
    text = process("eval", "a b -> b : sum", "-", "--json", stdin=b"1,2\n3,4\n")
    assert json.loads(text.stdout)["data"] == [4, 6]
    archive = process("eval", "C -> C", "-", stdin=Path("two.npz").read_bytes())
    assert archive.returncode == 1 and b"standard input holds 2 arrays" in archive.stderr
    assert process("eval", "a -> a", "-").returncode == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_named_pipe_is_a_file() -> None:
    os.mkfifo("fifo.npy")
    with subprocess.Popen(
        command("eval", "C -> C", "fifo.npy", "--json"), env=environment(), stdout=subprocess.PIPE
    ) as it:
        # In a thread of its own: writing waits for a reader, and there is none if the command fails.
        data = Path("s.npy").read_bytes()
        threading.Thread(target=Path("fifo.npy").write_bytes, args=(data,), daemon=True).start()
        assert json.loads(it.communicate(timeout=60)[0])["data"] == [1, 2, 3]


@pytest.mark.parametrize("more", [[], ["-o", "-"], ["--json"]])
def test_a_closed_pipe_is_no_mistake(more: list[str]) -> None:
    np.save("large.npy", np.zeros((300, 300)))
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen(
        command("eval", "a b -> b a", "large.npy", *more),
        env=environment(),
        stdout=writing,
        stderr=subprocess.PIPE,
    ) as it:
        os.close(writing)
        assert it.communicate(timeout=60)[1] == b""
    assert it.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_a_full_disk_is_said_once() -> None:
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            command("plan", "a b -> b a", "2,3"),
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert result.returncode == 1 and result.stderr.count(b"\n") == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_ctrl_c_is_exit_code_130_and_quiet() -> None:
    os.mkfifo("never.npy")
    with (
        subprocess.Popen(
            command("eval", "a -> a", "never.npy"),
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as it,
        Path("never.npy").open("wb"),
    ):  # opens when the command opens it, to wait for what never comes
        it.send_signal(signal.SIGINT)
        assert it.communicate(timeout=60) == (b"", b"")
    assert it.returncode == 130


def test_warnings_of_numpy_are_one_line() -> None:
    result = process("eval", "a -> a", "-", "--dtype", "float16", stdin=b"1e9\n")
    assert result.returncode == 0
    assert result.stderr.startswith(b"nameexpr: warning: ") and result.stderr.count(b"\n") == 1


def test_an_output_that_lacks_letters_is_escaped() -> None:
    result = process("plan", "é b -> b é", "2,3", PYTHONIOENCODING="ascii")
    assert result.returncode == 0 and b"\\xe9" in result.stdout


def test_version_and_help_load_nothing_heavy() -> None:
    for arguments in (["--version"], ["--help"], ["eval", "--help"], ["bogus"]):
        script = (
            "import sys; from nameexpr.cli.main import main; main(sys.argv[1:]);"
            "print([name for name in ('numpy', 'lark', 'opt_einsum', 'json') if name in sys.modules])"
        )
        result = subprocess.run(
            [sys.executable, "-c", script, *arguments],
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        assert result.stdout.splitlines()[-1] == "[]", result.stdout
