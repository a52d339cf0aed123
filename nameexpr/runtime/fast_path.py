"""The shortest way of a call by text: one look-up of the text in a dict, and the function found is called.

`calls` leads from a text, called with no options, to the function that its last operands were compiled to,
`with_options` from a text and its options to what keeps such functions.
That function checks for itself whether it is the right one (`nameexpr.runtime.specialise`). What is not found
here goes the longer way round, which puts it here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from nameexpr.runtime.cache import Generations

Function = Callable[..., Any]
Long = TypeVar("Long", bound=Function)

MISSING: Any = object()
"""Stands for an operand that was not given."""
TEXTS = 1024
"""Texts that are remembered, with and without options; when there are more, all are forgotten, and
soon remembered again.
"""
calls: dict[str, Function] = {}
with_options: dict[tuple[Any, ...], Any] = {}
CONSTANTS = frozenset({int, str, bool, type(None)})
"""Kinds of options that never change."""

templates: Generations[Any, Any] = Generations(TEXTS)
"""Generated code by what a text says of its operands, whatever its labels are called."""


def remember(text: str, function: Function) -> None:
    """Let a text lead to a function of its operands."""
    if len(calls) >= TEXTS and text not in calls:
        calls.clear()
    calls[text] = function


def by_text(find: Callable[..., Any]) -> Callable[[Long], Long]:
    """Return a decorator that gives a function of a text, operands and options this shortest way.

    Two operands are parameters of their own, because packing and unpacking a tuple costs more than the whole
    look-up. `find(text, **options)` returns what has a `call` for a text with options.
    """

    def decorate(long: Long) -> Long:
        known, chosen = calls, with_options

        @wraps(long)
        def short(text: str, a0: Any = MISSING, a1: Any = MISSING, /, *rest: Any, **options: Any) -> Any:
            call = None
            try:
                if not options:
                    call = known[text]
                else:
                    # The kinds of the options count: True is 1 for a dict, but no size.
                    call = chosen[text, *options.items(), *map(type, options.values())].call
            except (KeyError, TypeError):  # new, or nothing that can be looked up
                pass
            if call is None:
                given = tuple(value for value in (a0, a1, *rest) if value is not MISSING)
                if options and "out" not in options and isinstance(text, str):
                    return _remembered(find, text, options).call(*given)
                return long(text, *given, **options)
            if a1 is MISSING:
                return call(a0)
            if rest:
                return call(a0, a1, *rest)
            return call(a0, a1)

        return short  # type: ignore[return-value]  # the same signature, spelt for speed

    return decorate


def _remembered(find: Callable[..., Any], text: str, options: dict[str, Any]) -> Any:
    """Return the entry of a text with options, and keep it where its options can be looked up."""
    entry = find(text, **options)
    if len(with_options) >= TEXTS:
        with_options.clear()
    if all(map(_is_constant, options.values())):
        with suppress(TypeError):
            with_options[text, *options.items(), *map(type, options.values())] = entry
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


def forget() -> None:
    """Forget everything."""
    calls.clear()
    with_options.clear()
    templates.clear()
