"""The response times of interactive use: `python -m benchmarks.interactive` prints it, with the goals.

From a key to the line below the input of the REPL, alone and with prompt_toolkit's drawing around it; from a
command to its answer, in fresh processes. Medians of keys, least times of processes.
"""

from __future__ import annotations

import io
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

TENSORS = (
    "x = randn(N=32, C=16)",
    "w = randn(C=16, K=8)",
    "b = randn(K=8)",
    "q = randn(batch=2, heads=3, query=4, depth=5)",
    "k = randn(batch=2, heads=3, key=4, depth=5)",
    "v = randn(batch=2, heads=3, key=4, value=5)",
    "o = randn(value=5, model=6)",
    *(f"m{n} = randn(n{n}=3, n{n + 1}=3)" for n in range(22)),
)
LINES = {
    "an expression of 4 operands": (
        "batch heads query depth, batch heads key depth, batch heads key value, value model"
        " -> batch query heads model | q, k, v, o  # attention and its projection, "
        "each of the four operands by its name"
    ),
    "a chain of 22 matrices": ", ".join(f"n{n} n{n + 1}" for n in range(22)) + " -> n0 n22",
    "three statements of a formula": (
        "y[N K] = softmax[K](sum[C](x[N C] * w[C K]) + b[K]); z = mean[N](y); v[K] = sqrt(sum[N]((y - z)"
        " ** 2) / size[N]) + exp(-abs(b[K])) * tanh(z) + maximum(z, 0.5) - log(1 + exp(z)) + sum[N](y)"
    ),
}
KEYS = 30
PAUSE = 0.04
"""Seconds between keys, as for someone who types quickly: caches cool down meanwhile."""
GOAL_KEY, GOAL_VERSION, GOAL_EVAL = 5.0, 60.0, 1.5


class Figure(NamedTuple):
    """One line of the table; `goal` is the most it may be."""

    what: str
    value: float
    unit: str
    goal: float | None = None


def main() -> None:
    """Measure, and print a table."""
    for figure in (*_keys(), *_processes()):
        verdict = "" if figure.goal is None else "met" if figure.value <= figure.goal else "NOT MET"
        goal = "" if figure.goal is None else f"at most {figure.goal:g} {figure.unit}"
        print(f"{figure.what:<72} {figure.value:6.2f} {figure.unit:<6} {goal:<16} {verdict}".rstrip())


def _keys() -> Iterator[Figure]:
    from nameexpr.session.commands import new_session
    from nameexpr.session.feedback import status

    session = new_session()
    for line in TENSORS:
        assert not session.run(line).is_fault, line
    for name, line in LINES.items():
        found = status(session, line)
        assert found.kind == "type", f"{name}: {found.text}"
        times = [_timed(lambda text: status(session, text), line + " " * n) for n in range(KEYS)]
        yield Figure(f"{name}, {len(line)} characters: the toolbar", statistics.median(times), "ms", GOAL_KEY)
        yield Figure(f"{name}: key to screen, drawn by prompt_toolkit", _drawn(session, line), "ms")


def _timed(look: Callable[[str], object], text: str) -> float:
    time.sleep(PAUSE)
    start = time.perf_counter()
    look(text)
    return (time.perf_counter() - start) * 1e3


class _Sink(io.StringIO):
    """A terminal that only records when it was written to."""

    encoding = "utf-8"

    def __init__(self) -> None:
        super().__init__()
        self.last = 0.0

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        self.last = time.perf_counter()

    def isatty(self) -> bool:
        return True


def _drawn(session: object, line: str) -> float:
    """Return the median milliseconds from a key to the last byte that it brings to the screen."""
    from prompt_toolkit.application import create_app_session
    from prompt_toolkit.data_structures import Size
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output.vt100 import Vt100_Output

    from nameexpr.repl.prompt import PromptReader

    sink, times = _Sink(), []
    screen = Vt100_Output(sink, lambda: Size(40, 110), term="xterm-256color", enable_cpr=False)
    with (
        _folder("XDG_STATE_HOME"),
        create_pipe_input() as keys,
        create_app_session(input=keys, output=screen),
    ):
        reader = PromptReader(session)  # type: ignore[arg-type]

        def type_keys() -> None:
            time.sleep(0.5)
            keys.send_text(line)
            time.sleep(0.5)
            for _ in range(KEYS):
                start = time.perf_counter()
                keys.send_text(" ")
                time.sleep(PAUSE)
                times.append((sink.last - start) * 1e3)
            keys.send_text("\x03")

        typist = threading.Thread(target=type_keys)
        typist.start()
        reader.read()
        typist.join()
    return statistics.median(times)


@contextmanager
def _folder(variable: str) -> Iterator[None]:
    """Point a variable of the environment to a folder that is empty, for a while."""
    before = os.environ.get(variable)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[variable] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ[variable]
            else:
                os.environ[variable] = before


def _processes() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "x.npy", np.ones((4, 5)))
        np.save(Path(folder) / "w.npy", np.ones((5, 3)))
        needed = "import argparse, json, numpy, nameexpr.runtime.entry, nameexpr.runtime.einsum"
        operands = [str(Path(folder) / name) for name in ("x.npy", "w.npy")]
        least = _least(
            {
                "pass": ["-c", "pass"],
                "version": ["-m", "nameexpr", "--version"],
                "imports": ["-c", needed],
                "eval": ["-m", "nameexpr", "eval", "i j, j k -> i k", *operands],
            }
        )
    yield Figure(
        "nameexpr --version, more than a bare Python", least["version"] - least["pass"], "ms", GOAL_VERSION
    )
    yield Figure("nameexpr eval of two small files", least["eval"], "ms")
    yield Figure("... of the imports that it needs", least["eval"] / least["imports"], "times", GOAL_EVAL)


def _least(calls: dict[str, list[str]], rounds: int = 15) -> dict[str, float]:
    """Return the least milliseconds of each call, in turns."""
    root = str(Path(__file__).resolve().parents[1])
    environment = {**os.environ, "PYTHONPATH": root}
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, arguments in calls.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, check=True)
            least[name] = min(least[name], (time.perf_counter() - start) * 1e3)
    return least


if __name__ == "__main__":
    main()
