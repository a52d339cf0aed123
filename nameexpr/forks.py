"""What a forked child must not inherit: a lock that is held, a module that is half loaded, random numbers.

A child has only the thread that forked. What another thread of the parent held stays held in it for good, so
every change of what threads share is made under one lock, and a fork waits for that lock and keeps it: the
child finds it free, and nothing half written behind it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from threading import RLock

LOADED = frozenset({"nameexpr", "lark", "numpy", "opt_einsum"})
"""Packages of which modules are loaded on first use, in whichever thread that is."""
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
    return [
        name
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in LOADED
        and getattr(getattr(module, "__spec__", None), "_initializing", False)
    ]


def _before() -> None:
    for _ in range(ROUNDS):
        names = _loading()
        if not names:
            break
        for name in names:
            with suppress(ImportError):  # for the thread that loads it to tell
                import_module(name)
    lock.acquire()
    for act in _in_parent:
        act()


def _after_in_child() -> None:
    for act in _in_child:
        act()
    lock.release()


if hasattr(os, "register_at_fork"):  # there are no forks elsewhere
    os.register_at_fork(before=_before, after_in_parent=lock.release, after_in_child=_after_in_child)
