"""The worker threads: started when the first job needs them, and idle between jobs.

A job never depends on them: the thread that calls computes, too, and a worker that comes late finds nothing
left to do. So they can be stopped at any time, and a forked child, which has none, starts its own.
"""

from __future__ import annotations

import atexit
from _thread import get_ident
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread

from nameexpr.forks import around_forks, lock

Help = Callable[[], None]


class Pool:
    """Worker threads, and the queue of the jobs that they are asked to help with."""

    def __init__(self) -> None:
        self.asked: SimpleQueue[Help | None] = SimpleQueue()
        self.workers: list[Thread] = []

    def start(self, count: int) -> None:
        """Start workers until there are `count`, or the system has no more threads."""
        while len(self.workers) < count:
            name = f"nameexpr-{len(self.workers) + 1}"
            worker = Thread(target=_work, args=(self.asked,), name=name, daemon=True)
            self.workers.append(worker)
            try:
                worker.start()
            except RuntimeError:
                self.workers.pop()
                return

    def stop(self) -> None:
        """Let the workers finish what they compute, and end them."""
        for _ in self.workers:
            self.asked.put(None)
        for worker in self.workers:
            if worker.ident not in {None, get_ident()}:
                worker.join()


_pool = Pool()
_inside: set[int] = set()
"""The threads that are workers."""


def ask(help_with: list[Help]) -> None:
    """Ask as many workers as there are functions to call them, each one."""
    with lock:
        _pool.start(len(help_with))
        for one in help_with:
            _pool.asked.put(one)


def is_worker() -> bool:
    """Return whether the calling thread is a worker."""
    return get_ident() in _inside


def stop() -> None:
    """End all workers; the next job starts new ones."""
    global _pool
    with lock:
        old, _pool = _pool, Pool()
    old.stop()


def _work(asked: SimpleQueue[Help | None]) -> None:
    _inside.add(get_ident())
    try:
        while (one := asked.get()) is not None:
            one()
            del one  # whose arrays would live until the next job
    finally:
        _inside.discard(get_ident())


def _forget() -> None:
    """Forget the workers in a forked child, which has none."""
    global _pool  # noqa: PLW0603
    _pool = Pool()
    _inside.clear()


around_forks(lambda: None, _forget)
atexit.register(stop)
