"""The search itself: one target, many inputs, what they broke; guided by coverage if atheris is there.

python -m hardening.fuzz_search TARGET --runs N --seed S --corpus FOLDER --report FILE [--guided]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SECONDS = 1.0
"""Processor time that one input may take."""
HANG = 20.0
"""Processor time after which an input is stopped."""
WARM = 3000
"""Inputs after which the memory is measured from."""
LOOK = 1000
FRESH = 0.4
"""Inputs that are made of a seed: what is found on the way is mostly wrong, and ends in the parser."""
ROOM = 1 << 26
"""Bytes of memory that one input may ask for: a text may name any size, and what fits is computed."""


class Hang(BaseException):
    """An input that is stopped, since it goes on for too long."""


class Target(NamedTuple):
    """What is called, how its inputs change, and what they begin with."""

    run: Callable[[bytes], bool]
    change: Callable[[bytes, random.Random], bytes]
    seeds: list[bytes]
    longest: int


class Watch:
    """Calls a target and keeps count: inputs, those accepted, the slowest, memory, and findings.

    Findings are told apart by the exception and the line that raised it; the first input of each is kept.
    """

    def __init__(
        self, run: Callable[[bytes], bool], report: Path | None = None, *, runs: int = 0, room: int = 0
    ) -> None:
        self._run, self._report, self._runs, self._room = run, report, runs, room
        self.inputs = self.accepted = self.characters = 0
        self.slowest, self.slowest_input = 0.0, b""
        self.warm_memory = self.memory = 0
        self.findings: dict[str, list[Any]] = {}
        self._last = report and os.open(report.with_suffix(".last"), os.O_CREAT | os.O_WRONLY)

    def __call__(self, data: bytes) -> None:
        """Try one input; nothing is raised."""
        self.inputs += 1
        self.characters += len(data)
        if self._last is not None:
            os.pwrite(self._last, len(data).to_bytes(4, "big") + data, 0)
        signal.setitimer(signal.ITIMER_PROF, HANG)
        start = time.process_time()
        try:
            self.accepted += bool(self._run(data))
        except KeyboardInterrupt:
            raise
        except BaseException as fault:  # noqa: BLE001  that is what is looked for
            self._keep(_where(fault), data, str(fault))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        taken = time.process_time() - start
        if taken > self.slowest:
            self.slowest, self.slowest_input = taken, data
        if taken > SECONDS:
            self._keep(f"more than {SECONDS:g} s of processor time", data, f"{taken:.1f} s")
        if self.inputs % LOOK == 0 or self.inputs == self._runs:  # libFuzzer ends the process without a word
            self._look()

    def _keep(self, what: str, data: bytes, told: str) -> None:
        known = self.findings.setdefault(what, [0, told, data])
        known[0] += 1
        if known[0] == 1:
            self.write()

    def _look(self) -> None:
        """Note the memory, and allow for some more."""
        size, resident = (int(word) * resource.getpagesize() for word in _statm()[:2])
        self.memory = resident
        if self.inputs <= WARM:
            self.warm_memory = resident
        if self._room:
            resource.setrlimit(resource.RLIMIT_AS, (size + self._room, resource.RLIM_INFINITY))
        self.write()

    def write(self) -> None:
        """Write down what is known: a process may end at any input."""
        if self._report is not None:
            beside = self._report.with_suffix(".part")
            beside.write_text(json.dumps(self.figures()), encoding="utf-8")
            beside.replace(self._report)

    def figures(self) -> dict[str, Any]:
        """Return what is known, as data."""
        return {
            "inputs": self.inputs,
            "accepted": self.accepted,
            "bytes": self.characters,
            "slowest": self.slowest,
            "slowest_input": repr(self.slowest_input),
            "growth": self.memory - self.warm_memory,
            "findings": [
                f"{what}: {told[:200]}, {count} times, first {data!r}"
                for what, (count, told, data) in self.findings.items()
            ],
        }


def _statm() -> list[str]:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return file.read().split()
    except OSError:  # a system without it: the memory is not looked at
        return ["0", "0"]


def _where(fault: BaseException) -> str:
    """Return the kind of an exception and the line of the package, or of ours, that raised it."""
    frames = traceback.extract_tb(fault.__traceback__)
    frame = next((one for one in reversed(frames) if "nameexpr" in one.filename), frames[-1])
    path = Path(frame.filename)
    return f"{type(fault).__name__} at {path.parent.name}/{path.name}:{frame.lineno}"


@contextmanager
def quiet() -> Iterator[None]:
    """Let NumPy and Python warn of nothing, and stop an input that goes on for too long."""

    def stop(*_: Any) -> None:
        raise Hang(f"stopped after {HANG:g} s of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def drawn(target: Target, runs: int, seed: int, more: list[bytes] | None = None) -> Iterator[bytes]:
    """Yield inputs without a guide: the seeds, and changes of them and of what was made of them."""
    rng = random.Random(seed)
    pool = [*target.seeds, *(more or ())]
    for _ in range(runs):
        data = target.change(rng.choice(target.seeds if rng.random() < FRESH else pool), rng)
        if rng.random() < 0.1:  # change upon change leads far from the seeds
            pool[rng.randrange(len(pool))] = data
        yield data


INSTRUMENTED = [
    "nameexpr.carets",
    "nameexpr.terminal.files",
    "nameexpr.terminal.tables",
    "nameexpr.compiler.analysis.fast_path",
    "nameexpr.compiler.analysis.rules.check",
    "nameexpr.compiler.pipeline",
    "nameexpr.compiler.analysis.scope",
    "nameexpr.compiler.analysis.views",
    "nameexpr.compiler.analysis.resolve_views",
    "nameexpr.compiler.analysis.infer",
    "nameexpr.compiler.analysis.infer_inputs",
    "nameexpr.compiler.analysis.names",
    "nameexpr.compiler.analysis.faults.misuse",
    "nameexpr.compiler.analysis.resolve",
    "nameexpr.compiler.analysis.faults.sizes",
    "nameexpr.compiler.analysis.sizes",
    "nameexpr.lint",
    "nameexpr.session.complete",
    "nameexpr.session.lines",
    "nameexpr.session.constructors",
    "nameexpr.session.continuation",
    "nameexpr.syntax",
    "nameexpr.tensors.storage",
]
"""Modules whose branches guide the search: those that read and judge. What computes is run, not searched."""


def _untouched() -> Iterator[str]:
    """Yield the modules that are no guide: what atheris includes are whole packages."""
    root = Path(__file__).parents[2]
    for path in sorted(root.glob("nameexpr/**/*.py")):
        name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        if not any(name == one or name.startswith(f"{one}.") for one in INSTRUMENTED):
            yield name


def guide(name: str, watch_of: Callable[[Target], Watch], options: argparse.Namespace) -> None:
    """Let libFuzzer choose the inputs, by the branches that they take; the process ends with it."""
    import atheris

    with atheris.instrument_imports(include=["nameexpr"], exclude=list(_untouched())):
        target = _target(name, options.folder)
        with quiet():
            for data in target.seeds:  # what is imported on first use is to be instrumented, too
                target.run(data)
    watch = watch_of(target)
    corpus = Path(options.corpus)
    for number, data in enumerate(target.seeds):
        (corpus / f"seed{number}").write_bytes(data)

    def change(data: bytes, size: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if seed % 8 == 0:
            return bytes(atheris.Mutate(data, size))
        return target.change(rng.choice(target.seeds) if rng.random() < FRESH else data, rng)[:size]

    flags = [f"-runs={options.runs}", f"-seed={options.seed}", f"-max_len={target.longest}", "-len_control=0"]
    flags += ["-rss_limit_mb=0", "-malloc_limit_mb=0", "-timeout=0", "-verbosity=0", "-print_final_stats=0"]
    atheris.Setup([sys.argv[0], *flags, str(corpus)], watch, custom_mutator=change)
    with quiet():
        atheris.Fuzz()


def search(target: Target, watch: Watch, runs: int, seed: int, more: list[bytes] | None = None) -> Watch:
    """Try inputs that are drawn without a guide, and return the watch."""
    with quiet():
        for data in drawn(target, runs, seed, more):
            watch(data)
    watch.write()
    return watch


def last_input(path: Path) -> bytes:
    """Return the input that a process was trying when it ended."""
    written = path.read_bytes()
    return written[4 : 4 + int.from_bytes(written[:4], "big")]


def _target(name: str, folder: str) -> Target:
    from hardening.fuzz_table import target  # late: it imports the package, perhaps to be instrumented

    return target(name, folder)


def main() -> None:
    """Run one search."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--corpus", required=True, help="folder of inputs that took new branches")
    parser.add_argument("--folder", required=True, help="folder for files of the inputs' own")
    parser.add_argument("--report", type=Path, required=True)
    parser.add_argument("--guided", action="store_true")
    parser.add_argument("--replay", type=Path, help="try the last input of this process again, and no other")
    options = parser.parse_args()

    def watch_of(target: Target) -> Watch:
        return Watch(target.run, options.report, runs=options.runs, room=ROOM)

    os.chdir(options.folder)
    if options.guided:
        guide(options.target, watch_of, options)
    target = _target(options.target, options.folder)
    if options.replay:
        target = target._replace(seeds=[last_input(options.replay)], change=lambda data, rng: data)
        search(target, watch_of(target), options.runs, options.seed)
        return
    kept = [path.read_bytes() for path in sorted(Path(options.corpus).iterdir())]
    search(target, watch_of(target), options.runs, options.seed, kept)


if __name__ == "__main__":
    main()
