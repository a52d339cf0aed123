"""The forms of a list of names: `"N C"`, or `"N", "C"`, or `["N", "C"]`.

None is a dim without a name, and `...` stands for names that are not mentioned, if the method has any. In a
string `_` (or `None`) is a dim without a name, as `_` is in an expression. A single list is accepted in place
of separate arguments, for which PyTorch raises a TypeError: it is unambiguous.

>>> targets((), ("N ... C",), "rename")
('N', Ellipsis, 'C')
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import TypeAlias

from nameexpr.dims import (
    DIM_LIMIT,
    Dims,
    Names,
    another_name,
    duplicate,
    find,
    name_fault,
    names_of,
    nearest_name,
    normalised,
)
from nameexpr.errors import NameExprError
from nameexpr.rules.calls import ShownCall, counted, fault

Target: TypeAlias = str | EllipsisType | None
"""One requested name: a name, None, or `...` for the names that are not mentioned."""

_WORDS: dict[str, Target] = {"...": ..., "_": None, "None": None}


def targets(dims: Dims, arguments: Sequence[object], verb: str) -> tuple[Target, ...]:
    """Return the requested names: each a valid name, None or `...`, and `...` at most once.

    NE650 if one is not a string, None or `...`, NE412 if a name is malformed, NE414 if `...` occurs twice.
    """
    items = tuple(arguments)
    if len(items) == 1 and isinstance(items[0], str):
        items = tuple(_WORDS.get(word, word) for word in items[0].split())
    elif len(items) == 1 and isinstance(items[0], list | tuple):
        items = tuple(items[0])
    call = ShownCall(verb, items, (dims,))
    wanted = tuple(_target(item, index, call) for index, item in enumerate(items))
    dots = [index for index, item in enumerate(wanted) if item is ...]
    if len(dots) > 1:
        hint = "keep one '...': it stands for all names that are not mentioned"
        raise fault("NE414", "'...' can be used only once", call, dots, hint=hint)
    return wanted


def _target(item: object, index: int, call: ShownCall) -> Target:
    if item is None or item is ...:
        return item
    if isinstance(item, str) and item == "...":
        return ...
    return checked_name(item, index, call)


def checked_name(item: object, index: int, call: ShownCall) -> str:
    """Return `item` as a normalised name of a dim; `index` is its position in the call."""
    if not isinstance(item, str):
        message = f"a dim's name must be a string or None, not {type(item).__name__}"
        hint = "names look like 'N', 'batch' or 'x_1'; a dim without a name is None"
        if isinstance(item, list | tuple | set | frozenset | dict):
            hint = "write the names as separate arguments, as one list, or as one string: 'N C'"
        raise fault("NE650", message, call, (index,), hint)
    reason = name_fault(item)
    if reason:
        if item in ("", "_", "*"):
            hint = "write None for a dim without a name"
        elif len(item.split()) > 1:
            hint = "write each name as an argument of its own, or all of them in one string"
        else:
            hint = f"{nearest_name(item)!r} would do: letters, digits, underscores, and no digit first"
        raise fault("NE412", f"{item!r} cannot name a dim: {reason}", call, (index,), hint)
    return str.__str__(item) if item.isascii() else normalised(item)


def checked_names(names: object, dims: Dims) -> Names:
    """Return the names for a tensor with these dims: a string, a list, a tuple or None (no names at all).

    NE411 to NE415 if they are repeated, malformed, or not one per dim; NE650 or NE652 for anything else.
    """
    if names is None:
        return (None,) * len(dims)
    if not isinstance(names, (str, list, tuple)):
        message = f"names are a string, a list, a tuple or None, not {type(names).__name__}"
        hint = "write names='N C' or names=('N', 'C')"
        raise fault("NE652", message, ShownCall("names=", (names,), (dims,)), (0,), hint)
    wanted = targets(dims, (names,), "names=")
    if ... in wanted:
        message = "'...' keeps names that a tensor has, and names= gives it its first"
        hint = "write None for each dim without a name"
        raise fault("NE415", message, ShownCall("names=", wanted, (dims,)), (wanted.index(...),), hint)
    return fitting(wanted, dims, "names=")


def added_name(
    name: object, dims: Dims, call: ShownCall, what: str = "name", gone: Sequence[int] = ()
) -> str | None:
    """Return the checked name of a new dim, the last argument of a call; no remaining dim may have it."""
    if name is None:
        return None
    index = len(call.arguments) - 1
    new = checked_name(name, index, call)
    at = find(names_of(dims), new)
    if at is not None and at not in gone:
        hint = f"choose another {what}, such as {another_name(new)!r}"
        raise fault("NE411", f"{new!r} is the name of dim {at} already", call, (index,), hint)
    return new


def filled(wanted: Sequence[Target], dims: Dims, verb: str) -> Names:
    """Return one name per dim, with `...` replaced by the names at its position (NE413 if they do
    not fit).
    """
    rank = len(dims)
    if len(wanted) - (... in wanted) > rank or (len(wanted) < rank and ... not in wanted):
        raise _wrong_count(wanted, dims, verb)
    names: list[str | None] = []
    for at, name in enumerate(wanted):
        if isinstance(name, EllipsisType):
            names += names_of(dims[at : rank - len(wanted) + at + 1])
        else:
            names.append(name)
    return tuple(names)


def fitting(wanted: Sequence[Target], dims: Dims, verb: str) -> Names:
    """Return one name per dim as `filled` does, none of them twice (NE411)."""
    names = filled(wanted, dims, verb)
    twice = duplicate(names)
    if twice:
        marked = [index for index, item in enumerate(wanted) if item == twice[0]]
        raise doubled(twice, ShownCall(verb, wanted, (dims,)), marked)
    return names


def doubled(
    twice: tuple[str, int, int], call: ShownCall, marked: Sequence[int], hint: str = ""
) -> NameExprError:
    """Return the error for a name that two dims would have."""
    name, first, second = twice
    message = f"{name!r} would name both dim {first} and dim {second}"
    advice = f"call one of them {another_name(name)!r}, or give it no name (None)"
    return fault("NE411", message, call, marked, hint or f"names are unique in a tensor: {advice}")


def _wrong_count(wanted: Sequence[Target], dims: Dims, verb: str) -> NameExprError:
    number = len(wanted) - (... in wanted)
    message = f"{counted(number, 'name')} for {counted(len(dims), 'dim')}"
    if number > DIM_LIMIT:
        hint = f"a tensor has at most {DIM_LIMIT} dims"
        return fault("NE413", message, ShownCall(verb, (...,), (dims,)), hint=hint)
    only = wanted[0] if len(wanted) == 1 else None
    hint = "give one name per dim, None for a dim without a name"
    if isinstance(only, str) and len(only) == len(dims) > 1 and only.isalpha():
        hint = f"one word is one name; for one name per letter write {' '.join(only)!r}"
    elif not dims:
        hint = "a 0-d tensor has no dims to name"
    elif len(wanted) < len(dims) and not verb.endswith("="):
        hint = "'...' stands for the names that stay as they are"
    return fault("NE413", message, ShownCall(verb, wanted, (dims,)), hint=hint)
