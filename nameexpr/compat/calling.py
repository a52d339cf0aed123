"""Calls by text: one look-up and the guard of the function that was compiled for the last operands.

What NumPy's options mean is computed around that function: they are used rarely, except for `optimize=`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from nameexpr.compat.contraction import COMPUTED, SubscriptsEntry, is_foreign
from nameexpr.compat.memory_order import ordered
from nameexpr.errors import Diagnostic, NameExprError, did_you_mean, error
from nameexpr.runtime.cache import MISSING, TEXTS, others

Documented = TypeVar("Documented", bound=Callable[..., Any])
Entries = dict[Any, SubscriptsEntry]
Slow = Callable[[Entries, Any, list[Any], dict[str, Any]], Any]
CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")
ORDERS = ("K", "A", "C", "F")
DEFAULTS = {"dtype": None, "order": "K", "casting": "safe"}


def by_text(slow: Slow, aside: Collection[Any] = ()) -> Callable[[Documented], Documented]:
    """Return a decorator for a documented function: it looks texts up, and calls `slow` for new ones, and for
    all while there is anything in `aside`.

    Two operands have parameters of their own, because packing and unpacking a tuple takes longer than the
    look-up.
    """

    def decorate(documented: Documented) -> Documented:
        entries: Entries = {}
        others.append(entries)

        @wraps(documented)
        def fast(
            text: Any = MISSING, a0: Any = MISSING, a1: Any = MISSING, /, *rest: Any, **options: Any
        ) -> Any:
            call = out = None
            try:
                if options:  # their types matter: 1 equals True, but is not an order of contractions
                    out = options.pop("out", None)
                    call = entries[_key(text, options)].call
                else:
                    call = entries[text].call
            except (KeyError, TypeError):  # new, or not hashable
                pass
            try:
                if call is None or aside:
                    operands = [one for one in (a0, a1, *rest) if one is not MISSING]
                    return slow(entries, text, operands, options if out is None else {**options, "out": out})
                result = call(a0) if a1 is MISSING else call(a0, a1, *rest) if rest else call(a0, a1)
                return result if out is None else written(out, result, text, is_loose=bool(options))
            except NameExprError as wrong:
                wrong._forget_frames()
                raise

        return fast  # type: ignore[return-value]  # the same signature, spelt for speed

    return decorate


def _key(text: Any, options: dict[str, Any]) -> Any:
    return (text, *options.items(), *map(type, options.values())) if options else text


def keep(entries: Entries, text: str, options: dict[str, Any], entry: SubscriptsEntry) -> None:
    """Have the next call with this text and these options find the entry, if they are hashable."""
    if len(entries) >= TEXTS:
        entries.clear()
    with suppress(TypeError):
        entries[_key(text, options)] = entry


def check_options(function: str, options: dict[str, Any], known: Sequence[str]) -> None:
    """Raise a TypeError for an option that a function does not have (NE673), and a ValueError for an order
    or a casting that NumPy does not have.
    """
    for name in options:
        if name not in known:
            message = f"{function}() got an unexpected keyword argument '{name}'"
            hint = did_you_mean(name, known) or f"it has {', '.join(known)}"
            raise error(Diagnostic("NE681", message, hint=hint))
    for name, choices in (("order", ORDERS), ("casting", CASTINGS)):
        value = options.get(name, DEFAULTS[name])
        if not isinstance(value, str) or (value.upper() if name == "order" else value) not in choices:
            message = f"{name}={value!r} is not one of {', '.join(map(repr, choices))}"
            raise error(Diagnostic("NE614", message))


def with_options(
    entry: SubscriptsEntry,
    operands: Sequence[Any],
    peer: Callable[..., Any],
    *,
    out: Any = None,
    dtype: Any = None,
    order: str = "K",
    casting: str = "safe",
    is_loose: bool = False,
) -> Any:
    """Return the result as NumPy's options ask for it; `peer` computes what the compiler does not.

    `casting` is the rule for casting operands to the dtype of the computation, and that to `out`; if
    `is_loose`, any result without dims is written to `out`.
    """
    wanted = None if dtype is None else np.dtype(dtype)
    if out is not None:
        _check_is_array(out, entry.text)
    arrays = [one if is_foreign(one) else np.asarray(one) for one in operands]
    dtypes = [getattr(one, "dtype", None) for one in arrays]
    every = [*dtypes, *[one for one in (wanted, None if out is None else out.dtype) if one is not None]]
    if any(map(is_foreign, operands)) or not all(getattr(one, "char", "O") in COMPUTED for one in every):
        return peer(*operands, **_given(out, dtype, order, casting))
    compute = wanted or np.result_type(*arrays)
    for position, array in enumerate(arrays):
        _check_cast(array.dtype, compute, casting, f"operand {position}", entry.text)
    if wanted is not None:
        arrays = [array.astype(wanted, copy=False) for array in arrays]
    result = ordered(entry.call(*arrays), order.upper(), arrays)
    return result if out is None else written(out, result, entry.text, casting, is_loose=is_loose)


def _given(out: Any, dtype: Any, order: str, casting: str) -> dict[str, Any]:
    """Return the options that are not defaults."""
    options = {"dtype": dtype, "order": order, "casting": casting}
    given = {name: value for name, value in options.items() if value != DEFAULTS[name]}
    return given if out is None else given | {"out": out}


def _check_cast(source: Any, target: Any, casting: str, what: str, text: str) -> None:
    if not np.can_cast(source, target, casting):  # type: ignore[arg-type]
        message = f"{what} is of dtype {source}, which casting='{casting}' does not cast to {target}"
        hint = "convert it first, or allow more: casting='same_kind', casting='unsafe'"
        raise error(Diagnostic("NE613", message, text, hint=hint))


def written(out: Any, result: Any, text: str, casting: str = "safe", *, is_loose: bool = False) -> Any:
    """Return `out` with the result in it; if `is_loose`, a result without dims is always cast."""
    _check_is_array(out, text)
    if out.shape != np.shape(result):
        message = f"the result has shape {np.shape(result)}, and out= has shape {out.shape}"
        raise error(Diagnostic("NE312", message, text, hint="give an array of the result's shape"))
    if not out.flags.writeable:
        raise error(Diagnostic("NE612", "out= is read-only", text, hint="pass a writable array"))
    dtype = getattr(result, "dtype", np.dtype(object))  # a result that is an object has none
    if dtype is not out.dtype and not (is_loose and not out.ndim):
        _check_cast(dtype, out.dtype, casting, "the result", text)
    np.copyto(out, result, casting="unsafe")
    return out


def _check_is_array(out: Any, text: str) -> None:
    if not isinstance(out, np.ndarray):
        message = f"out= is a {type(out).__name__}, not an array"
        raise error(Diagnostic("NE611", message, text, hint="give an array of the result's shape"))
