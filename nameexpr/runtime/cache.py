"""What is remembered between calls: texts that were checked, functions that were made of them, and code.

A call by text, without options, finds the function of its last operands in `calls`, one with options what
keeps such functions in `calls_with_options`: that is the fast path of `by_text`, one look-up in a dict. The
function checks for itself whether it is the right one (`nameexpr.runtime.specialise`). What is not found
there goes the longer way round: it is found among the checked texts, or read and checked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import wraps
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from nameexpr.forks import lock

Function = Callable[..., Any]
Slow = TypeVar("Slow", bound=Function)
Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept")

MISSING: Any = object()
"""Stands for an operand that was not given."""
CONSTANTS = frozenset({int, str, bool, type(None)})
"""Kinds of options that never change."""
TEXTS = 1024
"""Texts that are remembered, with and without options."""


class Generations(Generic[Key, Kept]):
    """A bounded mapping without bookkeeping on a hit; safe under threads, and in a child forked beside them.

    What is used stays: an entry found in the old generation moves to the young one, and when the young one is
    full it becomes the old one and the old one is dropped. That keeps at least the `size` latest entries and
    at most twice as many, whatever comes.
    """

    __slots__ = ("old", "size", "young")

    def __init__(self, size: int) -> None:
        self.size = size
        self.young: dict[Key, Kept] = {}
        self.old: dict[Key, Kept] = {}

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.young.keys() | self.old.keys())

    def get(self, key: Key) -> Kept | None:
        """Return the entry of a key, or None."""
        entry = self.young.get(key)
        if entry is None and (entry := self.old.get(key)) is not None:
            self.put(key, entry)
        return entry

    def get_or_make(self, key: Key, make: Callable[[], Kept]) -> Kept:
        """Return the entry of a key; make it if there is none. Two threads may both make it: then the first
        one stays.
        """
        entry = self.get(key)
        if entry is None:
            made = make()
            with lock:
                entry = self.young.get(key)
                if entry is None:
                    entry = made
                    self.put(key, made)
        return entry

    def put(self, key: Key, entry: Kept) -> None:
        """Set an entry."""
        with lock:
            if len(self.young) >= self.size:
                self.old = self.young
                self.young = {}
            self.young[key] = entry

    def clear(self) -> None:
        """Drop all entries."""
        with lock:
            self.young, self.old = {}, {}


calls: dict[str, Function] = {}
"""Functions of the latest operands by their text; when there are `TEXTS`, all are forgotten, and soon
remembered again.
"""
calls_with_options: dict[tuple[Any, ...], Any] = {}
expressions: Generations[Any, Any] = Generations(TEXTS)
formulas: Generations[Any, Any] = Generations(TEXTS)
templates: Generations[Any, Any] = Generations(TEXTS)
"""Generated code by what a text says of its operands, whatever its labels are called."""
_misses = 0


def remember(text: str, function: Function) -> None:
    """Let a text lead to a function of its operands."""
    if len(calls) >= TEXTS and text not in calls:
        calls.clear()
    calls[text] = function


def find(entries: Generations[Any, Kept], text: str, options: Any, read: Callable[[], Kept]) -> Kept:
    """Return the checked text with these options, from the cache if it is there; None stands for no
    options.
    """
    key = text if options is None else (text, options)
    try:
        entry = entries.get(key)
    except TypeError:  # an optimizer or reducer that cannot be hashed
        return _counted(read)
    return entry or entries.get_or_make(key, lambda: _counted(read))


def _counted(read: Callable[[], Kept]) -> Kept:
    global _misses  # noqa: PLW0603  a count for `cache_info`, exact enough without a lock
    _misses += 1
    return read()


def by_text(find: Callable[..., Any]) -> Callable[[Slow], Slow]:
    """Return a decorator that gives a function of a text, operands and options this shortest way.

    Two operands are parameters of their own, because packing and unpacking a tuple costs more than the whole
    look-up. `find(text, **options)` returns what has a `call` for a text with options.
    """

    def decorate(slow: Slow) -> Slow:
        functions, entries = calls, calls_with_options

        @wraps(slow)
        def fast(text: str, a0: Any = MISSING, a1: Any = MISSING, /, *rest: Any, **options: Any) -> Any:
            call = None
            try:
                if not options:
                    call = functions[text]
                else:
                    # The kinds of the options count: True is 1 for a dict, but no size.
                    call = entries[text, *options.items(), *map(type, options.values())].call
            except (KeyError, TypeError):  # new, or nothing that can be looked up
                pass
            if call is None:
                given = tuple(value for value in (a0, a1, *rest) if value is not MISSING)
                if options and "out" not in options and isinstance(text, str):
                    return _remembered(find, text, options).call(*given)
                return slow(text, *given, **options)
            if a1 is MISSING:
                return call(a0)
            if rest:
                return call(a0, a1, *rest)
            return call(a0, a1)

        return fast  # type: ignore[return-value]  # the same signature, spelt for speed

    return decorate


def _remembered(find: Callable[..., Any], text: str, options: dict[str, Any]) -> Any:
    """Return the entry of a text with options, and keep it where its options can be looked up."""
    entry = find(text, **options)
    if len(calls_with_options) >= TEXTS:
        calls_with_options.clear()
    if all(map(_is_constant, options.values())):
        with suppress(TypeError):
            calls_with_options[text, *options.items(), *map(type, options.values())] = entry
    return entry


def _is_constant(option: Any) -> bool:
    """Whether an option says the same for as long as it is equal: many other objects are equal to themselves
    only, and may be a size today and another one tomorrow.
    """
    if type(option) in CONSTANTS or isinstance(option, np.number | np.bool_ | np.dtype | type):
        return True
    if type(option) is tuple:
        return all(map(_is_constant, option))
    return callable(option) and not hasattr(option, "__index__")


class CacheInfo(NamedTuple):
    """What the cache holds: texts (with their options), functions made of them, texts compiled so far, and
    maxsize: of expressions and of formulas that many of the latest texts are kept at least, and twice as many
    at most.
    """

    texts: int
    programs: int
    misses: int
    maxsize: int


def cache_info() -> CacheInfo:
    """Return what the caches of compiled expressions and formulas hold, together.

    Examples
    --------
    >>> import nameexpr as ne
    >>> ne.cache_clear()
    >>> _ = ne.einsum("a -> a", [1, 2])
    >>> ne.cache_info().texts
    1
    """
    parts = (expressions.young, expressions.old, formulas.young, formulas.old)
    entries = [entry for part in parts for entry in [*part.values()]]  # other threads add to them
    programs = sum(len(entry.programs) for entry in entries)
    return CacheInfo(len(expressions) + len(formulas), programs, _misses, TEXTS)


def cache_clear() -> None:
    """Drop every compiled expression and formula, and count anew."""
    from nameexpr.backends.numpy.kernels import forget_ones

    global _misses  # noqa: PLW0603
    tables: tuple[Any, ...] = (calls, calls_with_options, expressions, formulas, templates)
    for table in tables:
        table.clear()
    forget_ones()
    _misses = 0
