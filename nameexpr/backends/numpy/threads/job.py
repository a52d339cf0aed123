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
Place = tuple[int, int]
"""The number of a task, and that of a block."""
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
    return _run(count, (task,), extents, is_one_call=False)


def parts(count: int, tasks: Sequence[Task], size: int, step: int) -> None:
    """Call functions for each part of calls, one after the other; each gives a warning once."""
    _run(count, tasks, ((size, step),), is_one_call=True)


def _run(
    count: int, tasks: Sequence[Task], extents: Sequence[tuple[int, int]], *, is_one_call: bool
) -> list[Any]:
    starts = list(product(*(range(0, size, step) for size, step in extents)))
    modes = np.geterr()
    if min(count, len(starts)) < 2 or not SILENT.issuperset(modes.values()) or pool.is_worker():  # noqa: PLR2004
        return [task(*start) for task in tasks for start in starts]
    return Job(tasks, starts, modes).run(min(count, len(starts)), is_one_call=is_one_call)


class Job:
    """The blocks that are left, and what those that were computed have given.

    All tasks are called for a block, one after the other; errors and warnings have the number of the task and
    that of the block. `helping` has a lock for each worker that helps, which it holds until it is done.
    """

    def __init__(self, tasks: Sequence[Task], starts: Sequence[tuple[int, ...]], modes: Any) -> None:
        self.tasks = tasks
        self.left = deque(enumerate(starts))
        self.modes: dict[str, Any] = {kind: "log" for kind, mode in modes.items() if mode == "warn"}
        self.results: list[Any] = [None] * len(starts)
        self.faults: list[tuple[Place, BaseException]] = []
        self.heard: list[tuple[Place, str]] = []
        self.helping: list[LockType] = []

    def run(self, count: int, *, is_one_call: bool) -> list[Any]:
        """Return the results of all blocks."""
        try:
            pool.ask([partial(copy_context().run, self.help) for _ in range(count - 1)])
            self.work()
            self.finish()
        except BaseException:  # an interrupt, as errors of blocks are kept
            pool.despite_interrupts(self.finish)
            pool.despite_interrupts(pool.stop)
            raise
        self.warn(is_one_call=is_one_call)
        del self.tasks  # whose arrays would live until a worker that comes late has seen that nothing is left
        results, self.results = self.results, []
        if self.faults:
            raise self.first_fault()
        return results

    def first_fault(self) -> BaseException:
        """Return the error of the first block that has failed, and forget all of them."""
        faults, self.faults = self.faults, []
        return min(faults, key=lambda fault: fault[0])[1]

    def finish(self) -> None:
        """Let no block begin, and wait for those that are being computed; it may be called again."""
        self.left.clear()
        for done in list(self.helping):
            with done:
                pass

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
                try:
                    for order, task in enumerate(self.tasks):
                        listener.place = order, number
                        self.results[number] = task(*start)
                except BaseException as fault:
                    self.faults.append((listener.place, fault))
                    self.left.clear()
                    if not isinstance(fault, Exception):
                        raise

    def warn(self, *, is_one_call: bool) -> None:
        """Give the warnings of blocks up to the first that has failed, in their order."""
        end = min([place for place, _ in self.faults], default=(len(self.tasks), 0))
        heard = sorted([one for one in self.heard if one[0] <= end], key=lambda one: one[0])
        if is_one_call:
            each = dict.fromkeys([(order, text) for (order, _), text in heard])
            texts = [text for _, text in sorted(each, key=lambda one: (one[0], _kind(one[1])))]
        else:
            texts = [text for _, text in heard]
        for text in texts:
            warnings.warn(text, RuntimeWarning, stacklevel=5)


def _kind(text: str) -> int:
    return next((number for number, kind in enumerate(KINDS) if text.startswith(kind)), len(KINDS))


class Listener:
    """Takes the warnings that NumPy would give in a thread, with the task and the block."""

    def __init__(self, heard: list[tuple[Place, str]]) -> None:
        self.heard = heard
        self.place: Place = 0, 0

    def write(self, text: str) -> None:
        """Take one, which NumPy writes as a line."""
        self.heard.append((self.place, text.removeprefix("Warning: ").rstrip("\n")))
