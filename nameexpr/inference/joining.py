"""The rule for tensors that are put together along a dim: names unify over all, the other sizes are equal.

>>> from nameexpr.dims import Dim
>>> joined(((Dim("N", 2), Dim("C", 3)), (Dim(None, 4), Dim("C", 3))), 0, "cat")
('N', 'C')
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.dims import Dims, Names, dims_of, names_of, shape_of
from nameexpr.inference.calls import Call, Verbatim, fault
from nameexpr.inference.lookup import called
from nameexpr.inference.pairing import Pairing, paired_fault, unified


def check_ranks(tensors: Sequence[Dims], verb: str) -> None:
    """Raise NE385 unless there are tensors, and all have the same number of dims."""
    if not tensors:
        raise fault("NE385", f"{verb} needs at least one tensor", Call(verb, (Verbatim("[]"),)), (0,))
    for place, dims in enumerate(tensors):
        if len(dims) != len(tensors[0]):
            message = f"{verb}: tensor 0 has {len(tensors[0])} dims, tensor {place} has {len(dims)}"
            pairing = Pairing(verb, "tensor 0", f"tensor {place}")
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
        pairing = Pairing(verb, "tensor 0", f"tensor {place}")
        so_far = dims_of(names, shape_of(first))
        names = unified(so_far, dims, pairing)
        for axis, (a, b) in enumerate(zip(so_far, dims, strict=True)):
            if a.size != b.size and axis != at:
                message = f"{verb}: {called(so_far, axis)} has size {a.size} in tensor 0"
                message += f" and {b.size} in tensor {place}"
                where = "" if at is None else f" except in {called(so_far, at)}, along which they are joined"
                hint = f"sizes must be equal{where}"
                raise paired_fault("NE386", message, (so_far, dims), pairing, ([axis], [axis]), hint)
    return names
