"""The caches: checked texts, the functions compiled from them, and generated code.

A call of `einsum` finds the function of its last operands in `calls`, a call with options the mapping of such
functions in `latest_options` or `calls_with_options`. If it is not found there, and for every formula, the
text is looked up among the checked texts, or read and checked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import wraps
from typing import Any, Generic, NamedTuple, TypeVar
from weakref import WeakSet

from nameexpr.errors import NameExprError
from nameexpr.forks import lock
from nameexpr.runtime import public

Function = Callable[..., Any]
Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept")
Documented = TypeVar("Documented", bound=Callable[..., Any])

others: list[Any] = []
"""The caches of layers above, which `cache_clear` clears as well."""
MISSING: Any = object()
"""A placeholder for an operand that is missing."""
TEXTS = 1024
"""The number of texts that are cached, with and without options."""


class Generations(Generic[Key, Kept]):
    """A bounded mapping without bookkeeping on a hit; safe with threads, and in a child forked next to them.

    An entry found in the old generation moves to the young one; when that is full it becomes the old one, and
    the old one is dropped. This keeps at least the `size` latest entries, and at most twice as many.
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
        """Return the entry of a key; create it if there is none. If two threads create it, the first one is
        kept.
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
"""Functions of the latest operands by their text; when there are `TEXTS` of them, all are dropped, and soon
cached again.
"""
calls_with_options: dict[tuple[Any, ...], Any] = {}
latest_options: dict[str, tuple[dict[str, Any], Any]] = {}
"""The last new options of each text, if they are ints and strings, with their value in `calls_with_options`:
comparing them is faster than looking them up.
"""
expressions: Generations[Any, Any] = Generations(TEXTS)
formulas: Generations[Any, Any] = Generations(TEXTS)
templates: Generations[Any, Any] = Generations(TEXTS)
"""Generated code by the structure of a text, which does not depend on the names of its labels."""
compiled: WeakSet[Any] = WeakSet()
"""The texts that functions have been compiled from, wherever they are held."""
_misses = 0


def remember(text: str, function: Function) -> None:
    """Cache the function of a text's latest operands."""
    if len(calls) >= TEXTS and text not in calls:
        calls.clear()
    calls[text] = function


def find(entries: Generations[Any, Kept], text: str, options: Any, make: Callable[..., Kept]) -> Kept:
    """Return the checked text with these options, from the cache or created; None means no options."""

    def counted() -> Kept:
        global _misses  # noqa: PLW0603  a count for `cache_info`, exact enough without a lock
        _misses += 1
        return make(text) if options is None else make(text, options)

    key = text if options is None else (text, options)
    try:
        entry = entries.get(key)
    except TypeError:  # an optimizer or reducer that cannot be hashed
        return counted()
    return entry or entries.get_or_make(key, counted)


def by_keywords(documented: Documented) -> Documented:
    """Return the function that calls a formula by text and keywords, under the signature and the
    documentation of another, which runs all other calls.

    It has no keywords of its own, because Python takes 15 ns to set the default of each.
    """

    @wraps(documented)
    def fast(text: str, /, *misplaced: Any, **named: Any) -> Any:
        values = None
        try:
            entry = formulas.young[text]
            if len(named) == entry.keywords and not misplaced:
                values = entry.in_order(named)
        except (KeyError, TypeError):  # new, not a text, or other names
            pass
        try:
            return documented(text, *misplaced, **named) if values is None else entry.call(*values)
        except NameExprError as wrong:
            wrong._forget_frames()
            raise

    return fast  # type: ignore[return-value]  # the same signature, spelt for speed


def check_is_text(text: Any, operands: Sequence[Any] = (), *, is_formula: bool = False) -> None:
    """Raise an `OperandError` if what should be an expression, or a formula, is something else (NE506)."""
    if isinstance(text, str):
        return
    from nameexpr.errors import Diagnostic, error

    kind, what = f"of type {type(text).__name__}", "formula" if is_formula else "expression"
    hint = "the text comes first, operands have names: evaluate(text, x=...)" if is_formula else ""
    message = f"the first argument must be the {what}, a str, but is {kind}"
    if text is MISSING:
        message = f"the first argument must be the {what}, a str, and there are no arguments"
    if operands and isinstance(operands[0], str):
        message = f"text and array are swapped: the first argument is {kind}"
        hint = hint or "the text comes first: einsum(text, array)"
    raise error(Diagnostic("NE506", message, hint=hint))


class CacheInfo(NamedTuple):
    """The contents of the caches: texts (with their options), functions compiled from them, texts compiled so
    far, and maxsize: at least this many of the latest expressions and of the latest formulas are kept, and at
    most twice as many.
    """

    texts: int
    programs: int
    misses: int
    maxsize: int


@public
def cache_info() -> CacheInfo:
    """Return the total contents of the caches of compiled expressions and formulas.

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


@public
def cache_clear() -> None:
    """Drop every compiled expression and formula, and restart the counts."""
    from nameexpr.backends.numpy.kernels import forget_ones

    global _misses  # noqa: PLW0603
    tables: tuple[Any, ...] = (calls, calls_with_options, latest_options, expressions, formulas, templates)
    for table in (*tables, *others):
        table.clear()
    forget_ones()
    _misses = 0
