"""Group g: one-time costs, in fresh processes: imports, the first parse, and new texts."""

from __future__ import annotations

import gc
import importlib
import itertools
import json
import os
import random
import statistics
import string
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

LATE = ("lark", "opt_einsum")  # neither may load with nameexpr
PLAIN = "i j, j k -> i k"
GROUPED = "b (h w) -> h (b w)"
GREEK = "\u03b1 \u03b2, \u03b2 \u03b3 -> \u03b1 \u03b3"  # beyond ASCII, which Lark parses

IMPORT = """
import json, sys, time
start = time.perf_counter()
import {module}
{touch}
taken = time.perf_counter() - start
print(json.dumps([taken, [name for name in {late} if name in sys.modules]]))
"""
# The package loads its public names when they are first used, so they are used: the time of an import that
# loads nothing means nothing.
TOUCH = {"nameexpr": "import numpy; nameexpr.einsum, nameexpr.tensor, nameexpr.NamedTensor"}
FIRST = """
import json, sys, time
import numpy, nameexpr
x = numpy.ones((4, 4))
start = time.perf_counter()
nameexpr.einsum({text!r}, *[x] * {operands}, **{sizes})
taken = time.perf_counter() - start
print(json.dumps([taken, [name for name in {late} if name in sys.modules]]))
"""
NEW = "from benchmarks.cold import print_new_texts; print_new_texts({names}, {count})"


class FreshProcessError(Exception):
    """A child ended with an error, here with its traceback."""


def measure_cold(peers: list[str], rounds: int) -> dict[str, Any]:
    """Return medians in seconds of imports, first texts and new texts, and what was loaded."""
    modules = [
        "numpy",
        "nameexpr",
        *sorted({peer.partition(".")[0] for peer in peers} & {"opt_einsum", "einops"}),
    ]
    imports = _interleaved(
        {name: IMPORT.format(module=name, touch=TOUCH.get(name, ""), late=LATE) for name in modules}, rounds
    )
    texts = {
        "plain": FIRST.format(text=PLAIN, operands=2, sizes={}, late=LATE),
        "grouped": FIRST.format(text=GROUPED, operands=1, sizes={"h": 2}, late=LATE),
        "Greek": FIRST.format(text=GREEK, operands=2, sizes={}, late=LATE),
    }
    first = _interleaved(texts, max(3, rounds // 2))
    return {
        "imports": {name: _median(runs) for name, runs in imports.items()},
        "import_ratio": {
            name: statistics.median(a[0] / b[0] for a, b in zip(runs, imports["numpy"], strict=True))
            for name, runs in imports.items()
        },
        "loaded": sorted({name for run in imports["nameexpr"] for name in run[1]}),
        "first": {name: _median(runs) for name, runs in first.items()},
        "first_loaded": {name: runs[0][1] for name, runs in first.items()},
        "new": _new_texts(peers, max(2, rounds // 4)),
    }


def _interleaved(sources: dict[str, str], rounds: int) -> dict[str, list[Any]]:
    """Run each source in fresh processes, round by round; a first round only warms the file cache."""
    runs: dict[str, list[Any]] = {name: [] for name in sources}
    for number in range(rounds + 1):
        for name, source in random.sample(list(sources.items()), len(sources)):
            value = _fresh(source)
            if number:
                runs[name].append(value)
    return runs


def _new_texts(peers: list[str], rounds: int) -> dict[str, float]:
    names = ["nameexpr", "nameexpr grouped", "nameexpr Greek", *(name for name in peers if name in CALLS)]
    found = [_fresh(NEW.format(names=names, count=60)) for _ in range(rounds)]
    return {name: statistics.median(one[name] for one in found) for name in names}


def _fresh(source: str) -> Any:
    """Run the source in a new Python and return what it prints as JSON."""
    roots = [str(Path(__file__).resolve().parents[1]), *(path for path in sys.path if path)]
    # Byte code is cached as for a user, even if the caller has disabled that.
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPATH"] = os.pathsep.join([str(Path.cwd()), *roots])
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, env=env, check=False
    )
    if done.returncode:
        raise FreshProcessError(f"a fresh process failed:\n{done.stderr.strip()}")
    return json.loads(done.stdout)


def _median(runs: list[Any]) -> float:
    return statistics.median(run[0] for run in runs)


def print_new_texts(names: list[str], count: int) -> None:
    """Print, as JSON, the median seconds of a call with a new text for each name; run in a child."""
    import numpy as np

    x = np.ones((4, 4))
    calls = {name: CALLS[name](x) for name in names}
    times: dict[str, list[float]] = {name: [] for name in names}
    fresh = _fresh_names()
    gc.disable()
    for number in range(count + 10):
        for name, call in calls.items():
            arguments = [next(fresh) for _ in range(3)]
            start = time.perf_counter()
            call(*arguments)
            taken = time.perf_counter() - start
            if number >= 10:
                times[name].append(taken)
    print(json.dumps({name: statistics.median(values) for name, values in times.items()}))


def _fresh_names() -> Iterator[str]:
    """Yield words that are new in the process, each a letter with a number."""
    for number in itertools.count():
        yield f"{string.ascii_lowercase[number % 26]}{number}"


def _ours(x: Any) -> Callable[[str, str, str], Any]:
    einsum = importlib.import_module("nameexpr").einsum
    return lambda i, j, k: einsum(f"{i} {j}, {j} {k} -> {i} {k}", x, x)


def _ours_grouped(x: Any) -> Callable[[str, str, str], Any]:
    einsum = importlib.import_module("nameexpr").einsum
    return lambda b, h, w: einsum(f"{b} ({h} {w}) -> {h} ({b} {w})", x, sizes={h: 2})


def _ours_greek(x: Any) -> Callable[[str, str, str], Any]:
    einsum = importlib.import_module("nameexpr").einsum
    return lambda i, j, k: einsum(f"\u03b1{i} \u03b1{j}, \u03b1{j} \u03b1{k} -> \u03b1{i} \u03b1{k}", x, x)


def _einops(x: Any) -> Callable[[str, str, str], Any]:
    einsum = importlib.import_module("einops").einsum
    return lambda i, j, k: einsum(x, x, f"{i} {j}, {j} {k} -> {i} {k}")


def _lettered(function: Callable[..., Any], x: Any) -> Callable[[str, str, str], Any]:
    """Return calls with single letters, another three each time: these peers do not cache texts."""
    triples = itertools.cycle(itertools.permutations(string.ascii_letters, 3))

    def call(*_: str) -> Any:
        i, j, k = next(triples)
        return function(f"{i}{j},{j}{k}->{i}{k}", x, x)

    return call


def _np(x: Any) -> Callable[[str, str, str], Any]:
    return _lettered(importlib.import_module("numpy").einsum, x)


def _np_optimize(x: Any) -> Callable[[str, str, str], Any]:
    einsum = importlib.import_module("numpy").einsum
    return _lettered(lambda *args: einsum(*args, optimize=True), x)


def _contract(x: Any) -> Callable[[str, str, str], Any]:
    return _lettered(importlib.import_module("opt_einsum").contract, x)


CALLS: dict[str, Callable[[Any], Callable[[str, str, str], Any]]] = {
    "nameexpr": _ours,
    "nameexpr grouped": _ours_grouped,
    "nameexpr Greek": _ours_greek,
    "einops": _einops,
    "np.einsum": _np,
    "np.einsum.optimize": _np_optimize,
    "opt_einsum.contract": _contract,
}
