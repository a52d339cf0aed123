"""The methods that concern names alone: rename, refine_names, and align_to and align_as, which order dims.

A name that no dim has creates a new dim of size 1.

>>> from nameexpr.dims import Dim
>>> dims = (Dim("N", 2), Dim("C", 3))
>>> renamed(dims, (), {"N": "C", "C": "N"}, "rename")
('C', 'N')
>>> aligned_to(dims, ("C", "H", ...))
Alignment(names=('C', 'H', 'N'), order=(1, None, 0))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nameexpr.dims import DIM_LIMIT, Dims, Names, duplicate, find, names_of, normalised
from nameexpr.errors import NameExprError, did_you_mean
from nameexpr.rules.calls import ShownCall, Verbatim, as_keywords, fault, listed, unknown_hint
from nameexpr.rules.targets import Target, checked_name, doubled, filled, fitting, targets


def renamed(dims: Dims, arguments: Sequence[object], mapping: Mapping[str, object], verb: str) -> Names:
    """Return the names after `rename(*arguments)` or `rename(**mapping)`.

    In a list, `...` keeps the names at its position, and a single None drops all. A mapping is applied at
    once, so that names can be swapped. NE411 to NE414 and NE650 for the new names, NE417 for a dim given in
    two spellings, NE420 for an old name that no dim has, NE421 for both forms at once.
    """
    if mapping:
        pairs = [Verbatim(f"{old}={new!r}") for old, new in mapping.items()]
        call = ShownCall(verb, [*arguments, *pairs], (dims,))
        if arguments:
            hint = f"write {verb}(old='new') to change some names, {verb}('new', ...) to give them in order"
            raise fault("NE421", "new names are given in order or as old=new, not both", call, hint=hint)
        return _mapped(dims, mapping, call)
    if len(arguments) == 1 and arguments[0] is None:
        return (None,) * len(dims)
    return fitting(targets(dims, arguments, verb), dims, verb)


def _mapped(dims: Dims, mapping: Mapping[str, object], call: ShownCall) -> Names:
    old_names = names_of(dims)
    new_names: dict[str, str | None] = {}
    for index, (old, new) in enumerate(mapping.items()):
        known = normalised(old)
        if find(old_names, known) is None:
            raise fault("NE420", f"no dim is called {old!r}", call, (index,), unknown_hint(dims, old))
        if known in new_names:
            places = (list(new_names).index(known), index)
            raise fault("NE417", f"dim {known!r} is given twice", call, places, "give each dim once")
        new_names[known] = None if new is None else checked_name(new, index, call)
    names = tuple(None if name is None else new_names.get(name, name) for name in old_names)
    twice = duplicate(names)
    if twice:
        name, hint = twice[0], ""
        marked = [index for index, new in enumerate(new_names.values()) if new == name]
        takers = [old for old, new in new_names.items() if new == name != old]
        if takers and name in old_names and name not in new_names:
            hint = f"dim {old_names.index(name)} has that name already: rename it too, or swap the two with "
            hint += f"{takers[0]}={name!r}, {name}={takers[0]!r}"
        raise doubled(twice, call, marked, hint)
    return names


def refined(dims: Dims, arguments: Sequence[object]) -> Names:
    """Return the names after `refine_names(*arguments)`: only dims without a name take a new one.

    NE430 if a dim already has another name, NE431 if None would drop its name.
    """
    wanted = targets(dims, arguments, "refine_names")
    for at, new in enumerate(filled(wanted, dims, "refine_names")):
        if dims[at].name not in (None, new):
            raise _not_finer(dims, at, new, wanted)
    return fitting(wanted, dims, "refine_names")


def _not_finer(dims: Dims, at: int, new: str | None, wanted: Sequence[Target]) -> NameExprError:
    """Return the error for a dim that already has a name; `...` shifts where the new one is written."""
    old = dims[at].name
    before = wanted.index(...) if ... in wanted else len(wanted)
    index = at if at < before else at - len(dims) + len(wanted)
    if new is None:
        message = f"dim {at} is called {old!r}, and refining cannot take a name away"
        hint = f"write {old!r} to keep it; rename({as_keywords({old: None})}) drops it"
        return fault("NE431", message, ShownCall("refine_names", wanted, (dims,)), (index,), hint)
    message = f"dim {at} is called {old!r} already, not {new!r}"
    hint = f"refine_names names only dims that have no name; rename({as_keywords({old: new})}) changes one"
    return fault("NE430", message, ShownCall("refine_names", wanted, (dims,)), (index,), hint)


class Alignment(NamedTuple):
    """The result's names, and the position that each dim comes from, or None for a new one of size 1."""

    names: Names
    order: tuple[int | None, ...]


def aligned_to(dims: Dims, arguments: Sequence[object]) -> Alignment:
    """Return how the dims move in `align_to(*arguments)`.

    `...` stands for all dims that are not mentioned, including unnamed ones, in their order. Without it every
    dim must have a name (NE441) and be mentioned (NE440). NE442 if None is given, NE411 if a name is given
    twice, NE750 if that would be more than 64 dims.
    """
    wanted = targets(dims, arguments, "align_to")
    alignment = _arranged(names_of(dims), wanted)
    if None in wanted or len(set(alignment.order) - {None}) < len(dims) or duplicate(alignment.names):
        raise _not_alignable(dims, wanted, ShownCall("align_to", wanted, (dims,)))
    if len(alignment.order) > DIM_LIMIT:
        message = f"the result would have {len(alignment.order)} dims, and the limit is {DIM_LIMIT}"
        raise fault("NE750", message, ShownCall("align_to", (...,), (dims,)))
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


def _not_alignable(dims: Dims, wanted: Sequence[Target], call: ShownCall) -> NameExprError:
    """Return the error for names that do not give each dim exactly one position."""
    twice = duplicate(name for name in wanted if name is not ...)
    if None in wanted:
        hint = "unnamed dims stay together at '...'; give a new dim of size 1 a name"
        return fault("NE442", "a dim cannot be found by None", call, (wanted.index(None),), hint)
    if twice:
        marked = [index for index, name in enumerate(wanted) if name == twice[0]]
        return fault("NE411", f"{twice[0]!r} is wanted twice", call, marked, "mention each name once")
    if None in names_of(dims):
        message = f"dim {names_of(dims).index(None)} has no name, so an order of names cannot include it"
        hint = "name it first (refine_names), or write '...' where the unnamed dims belong"
        return fault("NE441", message, call, hint=hint)
    return _left_out(dims, tuple(name for name in names_of(dims) if name not in wanted), wanted, call)


def _left_out(dims: Dims, left_out: Names, wanted: Sequence[Target], call: ShownCall) -> NameExprError:
    is_or_are = "is" if len(left_out) == 1 else "are"
    message = f"{listed(left_out)} {is_or_are} not mentioned"
    new = [name for name in wanted if isinstance(name, str) and find(names_of(dims), name) is None]
    for name in new:
        near = did_you_mean(name, [left for left in left_out if left])
        if near:
            return fault("NE440", message, call, (wanted.index(name),), f"no dim is called {name!r}: {near}")
    hint = "align_to drops no dim: mention it, or write '...' for all dims that are not mentioned"
    return fault("NE440", message, call, hint=hint)


def aligned_as(dims: Dims, other: Dims) -> Alignment:
    """Return how the dims move into the order of another tensor.

    A dim that only the other tensor has gets size 1; it is unnamed if the other's is. NE441 if a dim has no
    name, NE443 if the other tensor lacks one of the names.
    """
    call = ShownCall("align_as", (Verbatim("other"),), (dims, other))
    if None in names_of(dims):
        message = f"dim {names_of(dims).index(None)} has no name, so the other tensor's names do not place it"
        raise fault("NE441", message, call, hint="name it first, with refine_names")
    missing = [name for name in names_of(dims) if name not in names_of(other)]
    if missing:
        raise _missing(dims, other, missing, call)
    return _arranged(names_of(dims), names_of(other))


def _missing(dims: Dims, other: Dims, missing: Sequence[str | None], call: ShownCall) -> NameExprError:
    message = f"the other tensor has no dim {listed(missing)}"
    if None not in names_of(other) and set(names_of(other)) < set(names_of(dims)):
        hint = "it has only some of these dims: align it as this one, with other.align_as(self)"
    else:
        near = did_you_mean(missing[0] or "", filter(None, names_of(other)))
        hint = near or "align_as adds and moves dims, it drops none: rename, reduce or select them first"
    return fault("NE443", message, call, hint=hint)
