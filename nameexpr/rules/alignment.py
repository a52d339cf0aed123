"""Rules for the verbs that put dims into an order by name: align_to, align_as.

A name that is new gives a new dim of size 1.

>>> from nameexpr.dims import Dim
>>> aligned_to((Dim("N", 2), Dim("C", 3)), ("C", "H", ...))
Alignment(names=('C', 'H', 'N'), order=(1, None, 0))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nameexpr.dims import DIM_LIMIT, Dims, Names, duplicate, find, names_of
from nameexpr.errors import NameExprError, did_you_mean
from nameexpr.rules.calls import Call, Verbatim, fault, listed
from nameexpr.rules.targets import Target, targets


class Alignment(NamedTuple):
    """The result's names, and the position that each dim comes from, or None for a new one of size 1."""

    names: Names
    order: tuple[int | None, ...]


def aligned_to(dims: Dims, arguments: Sequence[object], verb: str = "align_to") -> Alignment:
    """Return how the dims move in `align_to(*arguments)`.

    `...` stands for all dims that are not mentioned, unnamed ones too, in their order. Without it every dim
    must have a name and be mentioned.

    Raises
    ------
    DimNameError
        NE440 if a dim is not mentioned, NE441 if one has no name, NE442 if None is wanted, NE411 if a name is
        wanted twice.
    LimitError
        NE750, if that would be more than 64 dims.
    """
    wanted = targets(dims, arguments, verb)
    alignment = _arranged(names_of(dims), wanted)
    if None in wanted or len(set(alignment.order) - {None}) < len(dims) or duplicate(alignment.names):
        raise _not_alignable(dims, wanted, Call(verb, wanted, (dims,)))
    if len(alignment.order) > DIM_LIMIT:
        message = f"the result would have {len(alignment.order)} dims; {DIM_LIMIT} is the most there can be"
        raise fault("NE750", message, Call(verb, (...,), (dims,)))
    return alignment


def _arranged(names: Names, wanted: Sequence[Target]) -> Alignment:
    """Return the alignment, with `...` replaced by the dims that are not mentioned."""
    result: list[tuple[str | None, int | None]] = []
    for target in wanted:
        if target is None:
            result.append((None, None))
        elif isinstance(target, str):
            result.append((target, find(names, target)))
        else:
            result += [(name, at) for at, name in enumerate(names) if name not in wanted]
    return Alignment(tuple(name for name, _ in result), tuple(at for _, at in result))


def _not_alignable(dims: Dims, wanted: Sequence[Target], call: Call) -> NameExprError:
    """Return the error for wanted names that do not give each dim exactly one place."""
    twice = duplicate(name for name in wanted if name is not ...)
    if None in wanted:
        hint = "unnamed dims stay together at '...'; give a new dim of size 1 a name"
        return fault("NE442", "a dim cannot be found by None", call, (wanted.index(None),), hint)
    if twice:
        marked = [place for place, name in enumerate(wanted) if name == twice[0]]
        return fault("NE411", f"{twice[0]!r} is wanted twice", call, marked, "mention each name once")
    if None in names_of(dims):
        message = f"dim {names_of(dims).index(None)} has no name, so no order by names says where it goes"
        hint = "name it first (refine_names), or write '...' where the unnamed dims belong"
        return fault("NE441", message, call, hint=hint)
    return _left_out(dims, tuple(name for name in names_of(dims) if name not in wanted), wanted, call)


def _left_out(dims: Dims, left_out: Names, wanted: Sequence[Target], call: Call) -> NameExprError:
    is_or_are = "is" if len(left_out) == 1 else "are"
    message = f"{listed(left_out)} {is_or_are} not mentioned"
    new = [name for name in wanted if isinstance(name, str) and find(names_of(dims), name) is None]
    for name in new:
        near = did_you_mean(name, [left for left in left_out if left])
        if near:
            return fault("NE440", message, call, (wanted.index(name),), f"no dim is called {name!r}: {near}")
    hint = "align_to drops no dim: mention it, or write '...' for all dims that are not mentioned"
    return fault("NE440", message, call, hint=hint)


def aligned_as(dims: Dims, other: Dims, verb: str = "align_as") -> Alignment:
    """Return how the dims move to stand in the order of another tensor.

    A dim that only the other tensor has gets size 1; it is unnamed where the other's is.

    Raises
    ------
    DimNameError
        NE441 if a dim has no name, NE443 if the other tensor lacks one of the names.
    """
    call = Call(verb, (Verbatim("other"),), (dims, other))
    if None in names_of(dims):
        message = f"dim {names_of(dims).index(None)} has no name, so the other tensor's names do not place it"
        raise fault("NE441", message, call, hint="name it first, with refine_names")
    missing = [name for name in names_of(dims) if name not in names_of(other)]
    if missing:
        raise _missing(dims, other, missing, call)
    return _arranged(names_of(dims), names_of(other))


def _missing(dims: Dims, other: Dims, missing: Sequence[str | None], call: Call) -> NameExprError:
    message = f"the other tensor has no dim {listed(missing)}"
    if None not in names_of(other) and set(names_of(other)) < set(names_of(dims)):
        hint = "it has only some of these dims: align it as this one, with other.align_as(self)"
    else:
        near = did_you_mean(missing[0] or "", filter(None, names_of(other)))
        hint = near or "align_as adds and moves dims, it drops none: rename, reduce or select them first"
    return fault("NE443", message, call, hint=hint)
