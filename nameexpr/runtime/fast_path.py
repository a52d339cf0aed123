"""The shortest way of a call by text: one look-up of the text in a dict, and the function found is called.

That function checks for itself whether it is the right one (`nameexpr.runtime.specialise`). What is not found
goes the longer way round, which puts it there (`nameexpr.runtime.cache`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from nameexpr.runtime import cache

Function = Callable[..., Any]
Slow = TypeVar("Slow", bound=Function)

MISSING: Any = object()
"""Stands for an operand that was not given."""
CONSTANTS = frozenset({int, str, bool, type(None)})
"""Kinds of options that never change."""


def by_text(find: Callable[..., Any]) -> Callable[[Slow], Slow]:
    """Return a decorator that gives a function of a text, operands and options this shortest way.

    Two operands are parameters of their own, because packing and unpacking a tuple costs more than the whole
    look-up. `find(text, **options)` returns what has a `call` for a text with options.
    """

    def decorate(slow: Slow) -> Slow:
        functions, entries = cache.calls, cache.calls_with_options

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
    if len(cache.calls_with_options) >= cache.TEXTS:
        cache.calls_with_options.clear()
    if all(map(_is_constant, options.values())):
        with suppress(TypeError):
            cache.calls_with_options[text, *options.items(), *map(type, options.values())] = entry
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
