"""Which dim or dims are meant: by name, or by position as NumPy counts (negative from the end).

>>> from nameexpr.dims import Dim
>>> dims = (Dim("N", 2), Dim("C", 3), Dim(None, 4))
>>> position(dims, "C", "size"), position(dims, -3, "size")
(1, 0)
>>> axes(dims, ["C", -1], "sum")
(1, 2)
>>> removed(("N", "C", None), (1, 2))
('N',)
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as as_index
from typing import SupportsIndex, TypeAlias

from nameexpr.dims import Dim, Dims, Names, find, names_of, normalised
from nameexpr.errors import did_you_mean
from nameexpr.rules.calls import ShownCall, fault, listed

DimLike: TypeAlias = str | int
"""A dim given by name or by position."""


def position(dims: Dims, dim: object, verb: str) -> int:
    """Return the position, from 0, of the dim given by name or number: see `position_of`."""
    return position_of(dims, ShownCall(verb, (dim,), (dims,)), 0)


def positions(dims: Dims, call: ShownCall) -> tuple[int, ...]:
    """Return the positions of all dims that a call's arguments mean, none of them twice (NE417)."""
    found_axes = tuple(position_of(dims, call, index) for index in range(len(call.arguments)))
    for index, at in enumerate(found_axes):
        if at in found_axes[:index]:
            message = f"{called(dims, at)} is given twice"
            raise fault("NE417", message, call, (found_axes.index(at), index), "give each dim once")
    return found_axes


def position_of(dims: Dims, call: ShownCall, index: int) -> int:
    """Return the position of the dim that one argument of a call means.

    NE410 if no dim has the name, NE416 for None, NE801 if there is no such position, NE651 for anything else.
    """
    dim = call.arguments[index]
    if isinstance(dim, str):
        at = find(names_of(dims), normalised(dim))
        if at is None:
            message = f"no dim is called {dim!r}" + ("" if dims else ": a 0-d tensor has no dims")
            raise fault("NE410", message, call, (index,), unknown_hint(dims, dim))
        return at
    if dim is None:
        message = "None does not say which dim is meant; unnamed dims are given by position"
        raise fault("NE416", message, call, (index,), _choices(dims))
    try:
        if isinstance(dim, bool) or not isinstance(dim, SupportsIndex):
            raise TypeError
        number = as_index(dim)
    except TypeError:
        message = f"a dim is given by name or by position, not as {type(dim).__name__}"
        raise fault("NE651", message, call, (index,), _choices(dims)) from None
    rank = len(dims)
    if -rank <= number < rank:
        return number % rank
    why = f"positions go from {-rank} to {rank - 1}" if rank else "a 0-d tensor has no dims"
    raise fault("NE801", f"there is no dim {number}: {why}", call, (index,), _choices(dims))


def dims_in(wanted: object) -> tuple[object, ...]:
    """Return the dims of a list, of the words of a string, or the only one."""
    if isinstance(wanted, str):
        return tuple(wanted.split())
    return tuple(wanted) if isinstance(wanted, list | tuple) else (wanted,)


def unknown_hint(dims: Dims, name: str) -> str:
    """Return what to do about a name that no dim has."""
    known = [known for known in names_of(dims) if known is not None]
    if not known:
        return "the tensor has no names at all; refine_names gives it some" if dims else ""
    names = f"the names are {listed(known)}" if len(known) > 1 else f"the only name is {known[0]!r}"
    return did_you_mean(name, known) or names


def _choices(dims: Dims) -> str:
    if not dims:
        return ""
    known = [name for name in names_of(dims) if name is not None]
    numbers = f"a position from {-len(dims)} to {len(dims) - 1}"
    return f"give {numbers}, or a name: {listed(known, 'or')}" if known else f"give {numbers}"


def called(dims: Dims, at: int) -> str:
    """Return how to speak of a dim: "dim 'C'", or "dim 1" where it has no name."""
    return f"dim {spelt(dims[at], at % len(dims))!r}"


def spelt(dim: Dim, at: int) -> DimLike:
    """Return how to write a dim: its name, or its position where it has none."""
    return at if dim.name is None else dim.name


def axes(dims: Dims, wanted: object, verb: str) -> tuple[int, ...]:
    """Return the positions of one dim or of several: a name, an int, a list that mixes them, or "N C".

    Errors are those of `position_of`, and NE417 for a dim that is given twice.
    """
    if isinstance(wanted, list | tuple):
        call = ShownCall(verb, wanted, (dims,), "([", "])")
    else:
        is_list = isinstance(wanted, str) and len(wanted.split()) > 1
        call = ShownCall(verb, str(wanted).split() if is_list else (wanted,), (dims,))
    if not dims and call.arguments and all(map(is_only, call.arguments)):
        positions((Dim(None, 1),), call)  # which sees to it that there is one
        return ()
    return positions(dims, call)


def is_only(dim: object) -> bool:
    """Return whether PyTorch takes this for a dim of a 0-d tensor, which is its only element."""
    return type(dim) is int and dim in (0, -1)


def removed(names: Names, gone: Sequence[int], *, keepdim: bool = False) -> Names:
    """Return the names without those of some positions, or all of them where the dims stay with size 1."""
    if keepdim:
        return names
    return tuple(name for at, name in enumerate(names) if at not in gone)
