"""The rule for tensors that are put together along a dim: names unify over all, the other sizes are equal.

>>> from nameexpr.dims import Dim
>>> joined(((Dim("N", 2), Dim("C", 3)), (Dim(None, 4), Dim("C", 3))), 0, "cat")
('N', 'C')
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.dims import Clash, Dims, Names, dims_of, names_of, shape_of, unify_from_right
from nameexpr.errors import NameExprError
from nameexpr.rules.calls import Call, Verbatim, counted, fault
from nameexpr.rules.lookup import called
from nameexpr.rules.pairing import Pairing, clashing, paired_fault


def check_ranks(tensors: Sequence[Dims], verb: str) -> None:
    """Raise NE385 unless there are tensors, and all have the same number of dims."""
    if not tensors:
        raise fault("NE385", f"{verb} needs at least one tensor", Call(verb, (Verbatim("[]"),)), (0,))
    for place, dims in enumerate(tensors):
        if len(dims) != len(tensors[0]):
            first = counted(len(tensors[0]), "dim")
            message = f"{verb}: tensor 0 has {first}, tensor {place} has {len(dims)}"
            pairing = _pairing(verb, 0, place)
            hint = "align_to gives all of them the same dims"
            raise paired_fault("NE385", message, (tensors[0], dims), pairing, ((), ()), hint)


def joined(tensors: Sequence[Dims], at: int | None, verb: str) -> Names:
    """Return the unified names; sizes may differ only at position `at`, if there is one.

    Raises
    ------
    DimNameError
        NE470 or NE471 if names clash.
    SizeError
        NE386 if sizes differ elsewhere.
    """
    first = tensors[0]
    names = names_of(first)
    for place, dims in enumerate(tensors[1:], 1):
        so_far = dims_of(names, shape_of(first))
        both = unify_from_right(names, names_of(dims))
        if isinstance(both, Clash):
            raise _clashing(tensors, place, verb)
        names = both
        for axis, (a, b) in enumerate(zip(so_far, dims, strict=True)):
            if a.size != b.size and axis != at:
                message = f"{verb}: {called(so_far, axis)} has size {a.size} in tensor 0"
                message += f" and {b.size} in tensor {place}"
                where = "" if at is None else f" except in {called(so_far, at)}, along which they are joined"
                hint = f"sizes must be equal{where}"
                marked = ([axis], [axis])
                raise paired_fault("NE386", message, (first, dims), _pairing(verb, 0, place), marked, hint)
    return names


def _clashing(tensors: Sequence[Dims], place: int, verb: str) -> NameExprError:
    """Return the error for the first tensor whose own names clash with those of the one at `place`."""
    for earlier, dims in enumerate(tensors[:place]):
        clash = unify_from_right(names_of(dims), names_of(tensors[place]))
        if isinstance(clash, Clash):
            return clashing(clash, dims, tensors[place], _pairing(verb, earlier, place))
    raise AssertionError("names that unify one by one unify all together")


def _pairing(verb: str, left: int, right: int) -> Pairing:
    return Pairing(verb, f"tensor {left}", f"tensor {right}", "right")
