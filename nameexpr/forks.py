"""What a forked child must not inherit: a lock that is held, a module that is half loaded, random numbers.

A child has only the thread that forked. What another thread of the parent held stays held in it for good, so
every change of what threads share is made under one lock, and a fork waits for that lock and keeps it: the
child finds it free, and nothing half written behind it.
"""

from __future__ import annotations

import _imp
import os
import sys
from _thread import RLock  # `threading` takes longer to load
from importlib import _bootstrap, import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LOADED = sys.stdlib_module_names | {"nameexpr", "lark", "numpy", "opt_einsum"}
"""Packages of which modules are loaded on first use, in whichever thread that is. No others: what a user's
module does while it is loaded may be to wait for a child.
"""

ROUNDS = 1000
"""How often a fork looks for modules that are being loaded: a thread loads one after the other."""

lock = RLock()
"""Held while caches, limits and seeds are changed, and over a fork."""
_in_parent: list[Callable[[], None]] = []
_in_child: list[Callable[[], None]] = []


def around_forks(before: Callable[[], None], in_child: Callable[[], None]) -> None:
    """Have these called before every fork, and behind it in the child; the lock is held."""
    _in_parent.append(before)
    _in_child.append(in_child)


def _loading() -> list[str]:
    """Return the modules that some thread is loading, which a child could never load."""
    names = list(getattr(_bootstrap, "_module_locks", ()))
    return [name for name in names if name.partition(".")[0] in LOADED]


def _before() -> None:
    for _ in range(ROUNDS):
        _acquire()
        names = _loading()
        if not names:
            break
        _release()
        for name in names:
            try:  # noqa: SIM105  contextlib takes longer to load
                import_module(name)
            except ImportError:  # for the thread that loads it to tell
                pass
    else:
        _acquire()  # this thread loads them itself
    for act in _in_parent:
        act()


def _acquire() -> None:
    lock.acquire()
    _imp.acquire_lock()  # under which the loading of every module begins


def _release() -> None:
    _imp.release_lock()
    lock.release()


def _after_in_child() -> None:
    for act in _in_child:
        act()
    _release()


if hasattr(os, "register_at_fork"):  # there are no forks elsewhere
    os.register_at_fork(before=_before, after_in_parent=_release, after_in_child=_after_in_child)
