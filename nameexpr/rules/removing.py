"""The rule for verbs that combine dims away: reductions, select, squeeze.

>>> from nameexpr.dims import Dim
>>> dims = (Dim("N", 2), Dim("C", 3), Dim(None, 4))
>>> axes(dims, ["C", -1], "sum")
(1, 2)
>>> removed(("N", "C", None), (1, 2))
('N',)
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.dims import Dim, Dims, Names
from nameexpr.rules.calls import Call
from nameexpr.rules.lookup import positions


def axes(dims: Dims, wanted: object, verb: str) -> tuple[int, ...]:
    """Return the positions of one dim or of several: a name, an int, a list that mixes them, or "N C".

    Raises
    ------
    DimNameError
        NE410 for an unknown name, NE416 for None, NE417 for a dim that is given twice.
    DimRangeError
        NE801 for a position that does not exist.
    OptionError
        NE651 for anything else.
    """
    if isinstance(wanted, list | tuple):
        call = Call(verb, wanted, (dims,), "([", "])")
    else:
        is_list = isinstance(wanted, str) and len(wanted.split()) > 1
        call = Call(verb, str(wanted).split() if is_list else (wanted,), (dims,))
    if not dims and call.arguments and all(map(_is_only, call.arguments)):
        positions(_ONLY, call)  # which sees to it that there is one
        return ()
    return positions(dims, call)


_ONLY = (Dim(None, 1),)


def _is_only(dim: object) -> bool:
    """Return whether PyTorch takes this for a dim of a 0-d tensor; reduced along it, that is unchanged."""
    return type(dim) is int and dim in (0, -1)


def removed(names: Names, gone: Sequence[int], *, keepdim: bool = False) -> Names:
    """Return the names without those of some positions, or all of them where the dims stay with size 1."""
    if keepdim:
        return names
    return tuple(name for at, name in enumerate(names) if at not in gone)
