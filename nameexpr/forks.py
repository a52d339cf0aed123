"""State that a forked child must not inherit: a lock that is held, a module that is half loaded, random
numbers.

A child has only the thread that forked. A lock that another thread of the parent held remains locked in it
forever; therefore every change of shared state is made under one lock, and a fork acquires that lock and
keeps it: the child finds it free, and all state consistent.
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
"""Packages whose modules are loaded on first use, in any thread. No others: a user's module may wait for a
child while it is loaded.
"""

ROUNDS = 1000
"""The number of times that a fork looks for modules that are being loaded: a thread loads one after the
other.
"""

lock = RLock()
"""Held while caches, limits and seeds are changed, and over a fork."""
_in_parent: list[Callable[[], None]] = []
_in_child: list[Callable[[], None]] = []


def around_forks(before: Callable[[], None], in_child: Callable[[], None]) -> None:
    """Register functions to be called before every fork, and after it in the child, with the lock held."""
    _in_parent.append(before)
    _in_child.append(in_child)


def _loading() -> list[str]:
    """Return the modules that a thread is loading, which a child could never load."""
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
            except ImportError:  # left to the thread that loads it
                pass
    else:
        _acquire()  # this thread loads them itself
    for act in _in_parent:
        act()


def _acquire() -> None:
    lock.acquire()
    _imp.acquire_lock()  # every import begins under it


def _release() -> None:
    _imp.release_lock()
    lock.release()


def _after_in_child() -> None:
    for act in _in_child:
        act()
    _release()


if hasattr(os, "register_at_fork"):  # other systems do not fork
    os.register_at_fork(before=_before, after_in_parent=_release, after_in_child=_after_in_child)
