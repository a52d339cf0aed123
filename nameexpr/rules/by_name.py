"""The rule of operators by name: a result has the union of the names, in the order of first appearance.

>>> from nameexpr.dims import Dim
>>> names_by_name([(Dim("N", 2), Dim("C", 3)), (Dim("K", 4), Dim("N", 2))], "add")
('N', 'C', 'K')
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.dims import Dims, Names, names_of
from nameexpr.errors import NameExprError
from nameexpr.rules.calls import listed
from nameexpr.rules.pairing import Pairing, paired_fault, size_fault


def names_by_name(tensors: Sequence[Dims], verb: str) -> Names:
    """Return the names of tensors that are paired by name.

    NE471 if a dim has no name, NE370 if sizes of one name differ and none is 1.
    """
    for at, dims in enumerate(tensors):
        if None in names_of(dims):
            other = tensors[1 if at == 0 else 0]
            raise _unnamed(dims, other, verb, is_left=at == 0)
    for at, right in enumerate(tensors):
        for left in tensors[:at]:
            _check_sizes(left, right, Pairing(verb, moves="none"))
    return tuple(dict.fromkeys(dim.name for dims in tensors for dim in dims))


def _unnamed(dims: Dims, other: Dims, verb: str, *, is_left: bool) -> NameExprError:
    at = names_of(dims).index(None)
    role = "left" if is_left else "right"
    message = f"{verb}: dim {at} of the {role} tensor has no name to be paired by"
    hint = f"{role}.refine_names(...) names it; .by_position pairs dims from the right"
    tensors, marked = (dims, other), ([at], ())
    if not is_left:
        return paired_fault("NE471", message, (other, dims), Pairing(verb), ((), [at]), hint)
    return paired_fault("NE471", message, tensors, Pairing(verb), marked, hint)


def _check_sizes(left: Dims, right: Dims, pairing: Pairing) -> None:
    names = names_of(right)
    for at, dim in enumerate(left):
        if dim.name in names:
            other = names.index(dim.name)
            if dim.size != right[other].size and 1 not in (dim.size, right[other].size):
                raise size_fault(left, right, (at, other), pairing)


def shared_names(left: Dims, right: Dims, verb: str) -> list[str]:
    """Return the names that both tensors have, over which a product by name is summed (NE373 if none)."""
    theirs = names_of(right)
    shared = [dim.name for dim in left if dim.name is not None and dim.name in theirs]
    if not shared:
        ours = listed(name for name in names_of(left) if name) or "no names"
        message = f"{verb}: the tensors share no dim to be summed over; the left one has {ours}"
        hint = "left * right multiplies without a sum"
        raise paired_fault("NE373", message, (left, right), Pairing(verb), ((), ()), hint)
    return shared
