"""Rules for the verbs that give dims other names and leave the array alone: rename, rename_, refine_names.

>>> from nameexpr.dims import Dim
>>> renamed((Dim("N", 2), Dim("C", 3)), (), {"N": "C", "C": "N"}, "rename")
('C', 'N')
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameexpr.dims import Dims, Names, duplicate, find, names_of, normalised
from nameexpr.errors import NameExprError
from nameexpr.rules.calls import Call, Verbatim, fault
from nameexpr.rules.lookup import unknown_hint
from nameexpr.rules.targets import Target, checked_name, doubled, filled, fitting, targets


def renamed(dims: Dims, arguments: Sequence[object], mapping: Mapping[str, object], verb: str) -> Names:
    """Return the names after `rename(*arguments)` or `rename(**mapping)`.

    In order, `...` keeps the names that stand there, and a single None drops all. A mapping is applied at
    once, so that names can be swapped.

    Raises
    ------
    DimNameError
        NE411 to NE414 for the new names, NE417 for a dim given in two spellings, NE420 for an old name that
        no dim has, NE421 for both ways at once.
    OptionError
        NE650, if a new name is neither a string nor None.

    Examples
    --------
    >>> from nameexpr.dims import Dim
    >>> renamed((Dim("N", 2), Dim("C", 3)), (..., "features"), {}, "rename")
    ('N', 'features')
    """
    if arguments and mapping:
        raise _both_ways(Call(verb, [*arguments, *_pairs(mapping)], (dims,)))
    if mapping:
        return _mapped(dims, mapping, Call(verb, _pairs(mapping), (dims,)))
    if len(arguments) == 1 and arguments[0] is None:
        return (None,) * len(dims)
    return fitting(targets(dims, arguments, verb), dims, verb)


def _pairs(mapping: Mapping[str, object]) -> list[Verbatim]:
    return [Verbatim(f"{old}={new!r}") for old, new in mapping.items()]


def _both_ways(call: Call) -> NameExprError:
    hint = f"write {call.verb}(old='new') to change some names, {call.verb}('new', ...) to give them in order"
    return fault("NE421", "new names are given in order or as old=new, not both", call, hint=hint)


def _mapped(dims: Dims, mapping: Mapping[str, object], call: Call) -> Names:
    old_names = names_of(dims)
    new_names: dict[str, str | None] = {}
    for place, (old, new) in enumerate(mapping.items()):
        known = normalised(old)
        if find(old_names, known) is None:
            raise fault("NE420", f"no dim is called {old!r}", call, (place,), unknown_hint(dims, old))
        if known in new_names:
            places = (list(new_names).index(known), place)
            raise fault("NE417", f"dim {known!r} is given twice", call, places, "give each dim once")
        new_names[known] = None if new is None else checked_name(new, place, call)
    names = tuple(None if name is None else new_names.get(name, name) for name in old_names)
    twice = duplicate(names)
    if twice:
        marked = [place for place, new in enumerate(new_names.values()) if new == twice[0]]
        raise doubled(twice, call, marked, _swap_hint(twice[0], old_names, new_names))
    return names


def _swap_hint(name: str, old_names: Names, new_names: Mapping[str, str | None]) -> str:
    """Propose the swap where one dim takes the name of another that keeps it."""
    takers = [old for old, new in new_names.items() if new == name != old]
    if name not in old_names or name in new_names or not takers:
        return ""
    swap = f"{takers[0]}={name!r}, {name}={takers[0]!r}"
    return f"dim {old_names.index(name)} has that name already: rename it too, or swap the two with {swap}"


def refined(dims: Dims, arguments: Sequence[object], verb: str = "refine_names") -> Names:
    """Return the names after `refine_names(*arguments)`: only dims without a name take a new one.

    Raises
    ------
    DimNameError
        NE430 where a dim has another name already, NE431 where None would drop its name, NE411 to NE414
        otherwise.

    Examples
    --------
    >>> from nameexpr.dims import Dim
    >>> refined((Dim(None, 2), Dim("C", 3)), ("N", ...))
    ('N', 'C')
    """
    wanted = targets(dims, arguments, verb)
    for at, new in enumerate(filled(wanted, dims, verb)):
        if dims[at].name not in (None, new):
            raise _not_finer(dims, at, new, wanted, verb)
    return fitting(wanted, dims, verb)


def _not_finer(dims: Dims, at: int, new: str | None, wanted: Sequence[Target], verb: str) -> NameExprError:
    """Return the error for a dim that has a name already; `...` shifts where the new one is written."""
    old = dims[at].name
    before = wanted.index(...) if ... in wanted else len(wanted)
    place = at if at < before else at - len(dims) + len(wanted)
    if new is None:
        message = f"dim {at} is called {old!r}, and refining cannot take a name away"
        hint = f"write {old!r} to keep it; rename({old}=None) drops it"
        return fault("NE431", message, Call(verb, wanted, (dims,)), (place,), hint)
    message = f"dim {at} is called {old!r} already, not {new!r}"
    hint = f"{verb} names only dims that have no name; rename({old}={new!r}) changes one"
    return fault("NE430", message, Call(verb, wanted, (dims,)), (place,), hint)
