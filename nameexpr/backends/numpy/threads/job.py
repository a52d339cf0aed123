"""Blocks of one program, computed by several threads as one thread would.

The blocks do not depend on the number of threads, each is computed by one thread, and results that are
combined are combined in order, by the calling thread. So the bits of the result do not depend on it, either.

A block that fails ends the job: those before it have been taken already and are finished, none after it is
begun, and the error of the first one is raised. Workers run in copies of the caller's context, so that
`np.errstate` holds in them. NumPy's warnings are collected and given by the calling thread, in the order of
the blocks.
"""

from __future__ import annotations

import warnings
from _thread import LockType, allocate_lock
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from nameexpr.backends.numpy.threads import pool

Task = Callable[..., Any]
SILENT = frozenset({"ignore", "warn"})
"""What may happen after errors of floating-point numbers so that blocks can be computed at once: what raises,
prints or calls does so in the order of the calls.
"""
KINDS = ("divide by zero", "overflow", "underflow", "invalid value")
"""The beginnings of NumPy's warnings, in the order in which a function gives them."""


def blocks(count: int, task: Task, *extents: tuple[int, int]) -> list[Any]:
    """Return what a function returns for the start of each block, in the order of nested loops.

    Parameters
    ----------
    count : int
        The number of threads, the calling one included.
    task : callable
        Computes a block.
    *extents : tuple of int and int
        Of each loop the size, and that of a block.
    """
    return _run(count, task, extents, is_one_call=False)


def parts(count: int, task: Task, size: int, step: int) -> list[Any]:
    """Return what a function returns for each part of one call, of which a warning is given once."""
    return _run(count, task, ((size, step),), is_one_call=True)


def _run(count: int, task: Task, extents: Sequence[tuple[int, int]], *, is_one_call: bool) -> list[Any]:
    starts = list(product(*(range(0, size, step) for size, step in extents)))
    modes = np.geterr()
    if min(count, len(starts)) < 2 or not SILENT.issuperset(modes.values()) or pool.is_worker():  # noqa: PLR2004
        return [task(*start) for start in starts]
    return Job(task, starts, modes).run(min(count, len(starts)), is_one_call=is_one_call)


class Job:
    """The blocks that are left, and what those that were computed have given.

    `helping` has a lock for each worker that helps, which it holds until it is done.
    """

    def __init__(self, task: Task, starts: Sequence[tuple[int, ...]], modes: Any) -> None:
        self.task = task
        self.left = deque(enumerate(starts))
        self.modes: dict[str, Any] = {kind: "log" for kind, mode in modes.items() if mode == "warn"}
        self.results: list[Any] = [None] * len(starts)
        self.faults: list[tuple[int, BaseException]] = []
        self.heard: list[tuple[int, str]] = []
        self.helping: list[LockType] = []

    def run(self, count: int, *, is_one_call: bool) -> list[Any]:
        """Return the results of all blocks."""
        try:
            pool.ask([partial(copy_context().run, self.help) for _ in range(count - 1)])
            self.work()
        except BaseException:  # an interrupt, as errors of blocks are kept
            self.finish()
            pool.stop()
            raise
        self.finish()
        self.warn(is_one_call=is_one_call)
        del self.task  # whose arrays would live until a worker that comes late has seen that nothing is left
        results, self.results = self.results, []
        if self.faults:
            raise self.first_fault()
        return results

    def first_fault(self) -> BaseException:
        """Return the error of the first block that has failed, and forget all of them."""
        faults, self.faults = self.faults, []
        return min(faults, key=lambda fault: fault[0])[1]

    def finish(self) -> None:
        """Let no block begin, and wait for those that are being computed; a second interrupt waits, too."""
        interrupt = None
        while True:
            try:
                self.left.clear()
                for done in list(self.helping):
                    with done:
                        pass
                break
            except KeyboardInterrupt as fault:
                interrupt = fault
        if interrupt is not None:
            pool.stop()
            raise interrupt

    def help(self) -> None:
        """Compute blocks in a worker."""
        done = allocate_lock()
        done.acquire()
        self.helping.append(done)  # before the first block is taken
        try:
            with suppress(BaseException):  # which is kept
                self.work()
        finally:
            done.release()

    def work(self) -> None:
        """Compute blocks until none is left."""
        listener = Listener(self.heard)
        with np.errstate(call=listener, **self.modes):
            while True:
                try:
                    number, start = self.left.popleft()
                except IndexError:
                    return
                listener.block = number
                try:
                    self.results[number] = self.task(*start)
                except BaseException as fault:
                    self.faults.append((number, fault))
                    self.left.clear()
                    if not isinstance(fault, Exception):
                        raise

    def warn(self, *, is_one_call: bool) -> None:
        """Give the warnings of blocks up to the first that has failed, in their order."""
        end = min([number for number, _ in self.faults], default=len(self.results))
        texts = [text for number, text in sorted(self.heard, key=lambda heard: heard[0]) if number <= end]
        if is_one_call:
            texts = sorted(dict.fromkeys(texts), key=_kind)
        for text in texts:
            warnings.warn(text, RuntimeWarning, stacklevel=5)


def _kind(text: str) -> int:
    return next((number for number, kind in enumerate(KINDS) if text.startswith(kind)), len(KINDS))


class Listener:
    """Takes the warnings that NumPy would give in a thread, with the number of the block."""

    def __init__(self, heard: list[tuple[int, str]]) -> None:
        self.heard = heard
        self.block = 0

    def write(self, text: str) -> None:
        """Take one, which NumPy writes as a line."""
        self.heard.append((self.block, text.removeprefix("Warning: ").rstrip("\n")))
