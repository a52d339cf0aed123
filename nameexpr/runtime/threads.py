"""How many threads compute: `set_threads`, and what it changes in texts that are compiled already.

With one thread nothing here is loaded, and functions are the same as if there were no threads. Another number
makes every text look for its function again, among those for this number.
"""

from __future__ import annotations

import os
from operator import index
from types import TracebackType
from typing import Any, SupportsIndex
from weakref import WeakKeyDictionary

from nameexpr.backends.numpy.threads import pool
from nameexpr.errors import Diagnostic, error
from nameexpr.forks import lock
from nameexpr.runtime import cache, public
from nameexpr.runtime.entry import PROGRAMS, Entry

MOST = 1024
"""The largest number of threads."""
_functions: WeakKeyDictionary[Entry, dict[int, Any]] = WeakKeyDictionary()
"""The functions of each text for other numbers of threads."""


class Threads:
    """The number of threads that was set, as a context in which it holds; see `set_threads`."""

    __slots__ = ("before", "count")

    def __init__(self, count: int, before: int) -> None:
        self.count = count
        self.before = before

    def __repr__(self) -> str:
        return f"set_threads({self.count})"

    def __enter__(self) -> Threads:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        _use(self.before)


@public
def set_threads(count: SupportsIndex) -> Threads:
    """Set the number of threads that compute one expression or formula on NumPy arrays.

    Parameters
    ----------
    count : int
        At least 1, which is the default unless the environment variable ``NAMEEXPR_THREADS`` sets another.

    Returns
    -------
    Threads
        A context manager, which sets the previous number at its end. It can be ignored.

    Raises
    ------
    OptionError
        NE617 if it is not a number of threads.

    Notes
    -----
    It applies to the whole process. Results are the same, bit for bit, for any number. Only steps that
    are expected to gain use threads; `Plan` shows them. Products of matrices have the threads of NumPy's
    BLAS, and steps that contain such products use more only if the BLAS has one thread
    (docs/performance.md).

    Examples
    --------
    >>> import nameexpr as ne
    >>> with ne.set_threads(2):
    ...     ne.get_threads()
    2
    >>> ne.get_threads()
    1
    """
    wanted = _number(count)
    if wanted is None:
        hint = f"give an int from 1 to {MOST}: set_threads(2)"
        raise error(Diagnostic("NE617", f"{count!r:.60} is not a number of threads", hint=hint))
    return Threads(wanted, _use(wanted))


@public
def get_threads() -> int:
    """Return the number of threads that compute one expression or formula: see `set_threads`.

    >>> import nameexpr as ne
    >>> ne.get_threads()
    1
    """
    return Entry.threads


def _number(count: Any) -> int | None:
    try:
        number = index(count)
    except TypeError:
        return None
    return number if 1 <= number <= MOST and not isinstance(count, bool) else None


def _use(count: int) -> int:
    """Use `count` threads from now on, and return the number before."""
    with lock:
        before = Entry.threads
        if count != before:
            Entry.threads = count
            cache.templates.clear()
            cache.calls.clear()
            for entry in list(cache.compiled):
                _exchange(entry, before, count)
    if count < before:
        pool.stop()  # those that are needed start again
    return before


def _exchange(entry: Entry, before: int, count: int) -> None:
    """Make a text use the functions for another number of threads, which it compiles where there are none."""
    known = _functions.setdefault(entry, {})
    known[before] = entry.programs
    entry.programs = known.setdefault(count, cache.Generations(PROGRAMS))
    entry.call = entry.slow_call


def _read_environment() -> None:
    """Use the number of threads that the environment sets (NE617)."""
    text = os.environ.get("NAMEEXPR_THREADS", "").strip()
    wanted = _number(int(text)) if text.isdecimal() else None
    if text and wanted is None:
        hint = f"set NAMEEXPR_THREADS to an int from 1 to {MOST}, or unset it"
        raise error(
            Diagnostic("NE617", f"NAMEEXPR_THREADS={text!r:.60} is not a number of threads", hint=hint)
        )
    _use(wanted or 1)


_read_environment()
