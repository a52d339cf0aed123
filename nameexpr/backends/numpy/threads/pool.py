"""The worker threads: started when the first job needs them, and idle between jobs.

A job never depends on them: the thread that calls computes, too, and a worker that comes late finds nothing
left to do. So they can be stopped at any time, and a forked child, which has none, starts its own.
"""

from __future__ import annotations

import atexit
from _thread import get_ident
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread

from nameexpr.forks import around_forks, lock

Help = Callable[[], None]
INTERRUPTS = 100
"""The most interrupts after which cleaning up begins again."""


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
            self.workers.append(worker)  # an interrupt may come while it starts
            try:
                worker.start()
            except RuntimeError:
                self.workers.pop()
                return

    def stop(self) -> None:
        """Let the workers finish what they compute, and end them; it may be called again."""
        self.asked.put(None)  # each worker puts it back for the next one
        for worker in self.workers:
            if worker.ident != get_ident() and worker.is_alive():
                worker.join()


_pools = [Pool()]
"""The pool that is asked, and before it those whose workers are ending."""
_inside: set[int] = set()
"""The threads that are workers."""


def ask(help_with: list[Help]) -> None:
    """Ask as many workers as there are functions to call them, each one."""
    with lock:
        _pools[-1].start(len(help_with))
        for one in help_with:
            _pools[-1].asked.put(one)


def is_worker() -> bool:
    """Return whether the calling thread is a worker."""
    return get_ident() in _inside


def stop() -> None:
    """End all workers; the next job starts new ones. It may be called again after an interrupt."""
    with lock:
        _pools.append(Pool())
        ending = _pools[:-1]
    for one in ending:
        one.stop()
    with lock:
        _pools[:-1] = [one for one in _pools[:-1] if one not in ending]


def despite_interrupts(act: Callable[[], None]) -> None:
    """Call a function that may be called again, and again after each interrupt.

    An interrupt is any error, as the handler of a signal may raise any; it is dropped, for an earlier one is
    on its way.
    """
    for _ in range(INTERRUPTS):
        with suppress(BaseException):
            act()
            return


def _work(asked: SimpleQueue[Help | None]) -> None:
    _inside.add(get_ident())
    try:
        while (one := asked.get()) is not None:
            one()
            del one  # whose arrays would live until the next job
        asked.put(None)
    finally:
        _inside.discard(get_ident())


def _forget() -> None:
    """Forget the workers in a forked child, which has none."""
    _pools[:] = [Pool()]
    _inside.clear()


around_forks(lambda: None, _forget)
atexit.register(stop)
