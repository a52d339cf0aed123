"""Hostile names and files: every string through every surface, and files that want to be run or unpacked.

A string that is executed leaves a canary; what is shown is read by parsers of markup that are none of ours;
an audit hook tells of processes, connections, and files that are written outside the folder.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hardening import hostile_commands, hostile_entering, hostile_files
from hardening.figures import SHOWN, Figures, counted
from hardening.hostile_entering import Shown
from hardening.hostile_leaving import KINDS
from hardening.hostile_strings import strings, touched

STRINGS = 1000
SURFACES: Mapping[str, Callable[[str], Shown]] = {**hostile_entering.SURFACES, **hostile_commands.SURFACES}
BUG = "which is a bug of its own"


class Count:
    """What was tried and found."""

    def __init__(self) -> None:
        self.shown = self.files = 0
        self.breaches: dict[str, str] = {}

    def add(self, what: str, example: str) -> None:
        """Keep the first example of a breach."""
        self.breaches.setdefault(what, f"{what}, for {example}")


def measure(scale: float = 1.0) -> Figures:
    """Send 1,000 strings through every surface, and read every hostile file."""
    count, texts = Count(), list(strings(counted(STRINGS, scale, least=10)))
    with in_folder() as folder, audited(folder) as told:
        try_strings(texts, SURFACES, count)
        try_files(count)
        for event in told:
            count.add(event, "an audit hook")
    summary = (
        f"{len(texts):,} strings x {len(SURFACES)} surfaces, {count.shown:,} texts shown, "
        f"{count.files} hostile files read: {len(count.breaches) or 'no'} breaches"
    )
    return Figures(summary, tuple(count.breaches.values())[:SHOWN])


@contextmanager
def in_folder() -> Iterator[Path]:
    """Work in a new folder inside another, in which nothing else may appear."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as outer:
        inner = Path(outer, "outer", "inner")
        inner.mkdir(parents=True)
        os.chdir(inner)
        try:
            hostile_commands.prepare()
            yield inner
        finally:
            os.chdir(before)


def try_strings(texts: list[str], surfaces: Mapping[str, Callable[[str], Shown]], count: Count) -> None:
    """Send every string through every surface, and look at all that is shown."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for text in texts:
            for name, surface in surfaces.items():
                for fault in _faults(surface, text, count):
                    count.add(f"{name}: {fault}", ascii(text[:300]))


def _faults(surface: Callable[[str], Shown], text: str, count: Count) -> Iterator[str]:
    try:
        for kind, shown in surface(text):
            count.shown += 1
            yield from (f"{kind}: {fault}" for fault in KINDS[kind](shown))
            if BUG in shown:
                yield f"{kind}: {shown[:200]}"
    except Exception as fault:  # noqa: BLE001  any but ours, which the surface itself shows, is a finding
        yield _told(fault)
    if canary := touched():
        yield canary
    yield from escaped(Path.cwd())


def _told(fault: BaseException) -> str:
    trace = fault.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
    return f"{type(fault).__name__} at {place}"


def escaped(folder: Path) -> Iterator[str]:
    """Yield what appeared beside the folder, or above; it is taken away."""
    for above, below in ((folder.parent, folder), (folder.parent.parent, folder.parent)):
        for path in above.iterdir():
            if path != below:
                yield f"{path.name} was made outside the folder"
                path.unlink()


def try_files(count: Count) -> None:
    """Read pickles and bombs with every reader."""
    for path in [*hostile_files.pickles(), *hostile_files.bombs()]:
        for how in hostile_files.READERS:
            count.files += 1
            for fault in hostile_files.wrong(hostile_files.read(how, path)):
                count.add(f"{how}: {fault}", path)
            if canary := touched():
                count.add(f"{how}: {canary}", path)
        os.unlink(path)


@contextmanager
def audited(folder: Path) -> Iterator[list[str]]:
    """Note processes, connections, unpickling, and files that are written outside a folder.

    A hook stays for as long as the process lives; this is for one of its own.
    """
    told: list[str] = []
    is_on = True
    inside = os.path.realpath(folder)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if not is_on:
            return
        if event == "open" and _is_write(*arguments[1:3]):
            path = arguments[0]
            if isinstance(path, str | bytes) and not _is_inside(os.fsdecode(path), inside):
                told.append(f"{os.fsdecode(path)!r} was written")
        elif event in ("os.system", "os.exec", "os.posix_spawn", "socket.connect"):
            told.append(f"{event}{arguments!r}"[:200])

    sys.addaudithook(hook)
    try:
        yield told
    finally:
        is_on = False


def _is_write(mode: Any, flags: Any) -> bool:
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def _is_inside(path: str, folder: str) -> bool:
    return path == os.devnull or os.path.realpath(path).startswith(folder + os.sep)
