"""The rules for matrix products, and for tensors that are joined along a dim.

In a product the paired dims are contracted regardless of their names, and the others are kept. Batch dims,
all except the last one or two of each operand, unify from the right as in any broadcast. A name may occur
only once in the result, including batch dims (PyTorch 2.12 overlooks the latter).

>>> from nameexpr.dims import Dim
>>> left, right = (Dim("N", 5), Dim("A", 2), Dim("B", 3)), (Dim("C", 3), Dim("D", 4))
>>> matmul_names(left, right, "matmul")
('N', 'A', 'D')
>>> joined(((Dim("N", 2), Dim("C", 3)), (Dim(None, 4), Dim("C", 3))), 0, "cat")
('N', 'C')
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.dims import (
    Clash,
    Dims,
    Names,
    another_name,
    dims_of,
    duplicate,
    names_of,
    shape_of,
    unify_from_right,
)
from nameexpr.errors import NameExprError
from nameexpr.rules.calls import ShownCall, Verbatim, as_keywords, called, counted, fault, shown
from nameexpr.rules.pairing import Pairing, clashing, first_clash, paired_fault, size_fault, unequal


def matmul_names(left: Dims, right: Dims, verb: str) -> Names:
    """Return the names of the product of two tensors with at least one dim each (NE373).

    NE470 or NE471 if batch dims do not unify, NE473 if a name would occur twice, NE372 if the contracted
    sizes differ, NE370 if batch sizes do not broadcast.
    """
    pairing = Pairing(verb, moves="none")
    if not left or not right:
        message = f"{verb} needs at least one dim on each side, to contract"
        hint = "mul multiplies by a 0-d tensor"
        raise paired_fault("NE373", message, (left, right), pairing, ((), ()), hint)
    batch_left, rows = _split(left, is_left=True)
    batch_right, columns = _split(right, is_left=False)
    batch = _batch_names(batch_left, batch_right, left, right, pairing)
    names = (*batch, *names_of(rows), *names_of(columns))
    twice = duplicate(names)
    if twice:
        raise doubled_fault(twice[0], left, right, pairing)
    at = -1 if len(right) == 1 else -2
    if left[-1].size != right[at].size:
        raise contracted_fault(left, right, (-1, at), pairing, _contracted_hint(left, right, pairing))
    position = unequal(batch_left, batch_right)
    if position is not None:
        places = position - len(left) + len(batch_left), position - len(right) + len(batch_right)
        raise size_fault(left, right, places, pairing)
    return names


def product_names(left: Dims, right: Dims, ranks: tuple[int, int] | None, verb: str) -> Names:
    """Return the names of a product; `mm`, `mv`, `bmm` take exactly these numbers of dims (NE373).

    "@" is `matmul` of dims whose names match if both have one (NE470).
    """
    if verb == "@":
        verb = "matmul"
        _check_contracted_names(left, right)
    if ranks is not None and (len(left), len(right)) != ranks:
        message = f"{verb} takes {_OPERANDS[ranks]}: these have {len(left)} and {len(right)} dims"
        hint = "matmul takes vectors, matrices and batches of them"
        raise paired_fault("NE373", message, (left, right), Pairing(verb), ((), ()), hint)
    if ranks == (3, 3) and left[0].size != right[0].size:
        names = unify_from_right(names_of(left[:1]), names_of(right[:1]))
        if not isinstance(names, Clash):
            message = f"bmm: the batch sizes are {left[0].size} and {right[0].size}"
            hint = "bmm does not broadcast the batch dim; matmul does, where one of the sizes is 1"
            raise paired_fault("NE370", message, (left, right), Pairing(verb), ([0], [0]), hint)
    return matmul_names(left, right, verb)


def _check_contracted_names(left: Dims, right: Dims) -> None:
    if not left or not right:
        return
    at = -1 if len(right) == 1 else -2
    ours, theirs = left[-1].name, right[at].name
    if ours is None or theirs is None or ours == theirs:
        return
    message = f"@: dim {ours!r} in the left tensor meets dim {theirs!r} in the right tensor"
    hint = f"if both are the same dim, right.rename({as_keywords({theirs: ours})})"
    hint += "; left.matmul(right) does not compare these names"
    if ours in names_of(right) and None not in names_of(right):
        hint = _contracted_hint(left, right, Pairing("@"))
    raise paired_fault("NE470", message, (left, right), Pairing("@", moves="none"), ([-1], [at]), hint)


_OPERANDS = {
    (2, 2): "two matrices",
    (2, 1): "a matrix and a vector",
    (1, 1): "two vectors",
    (3, 3): "two batches of matrices, of 3 dims each",
}


def _split(dims: Dims, *, is_left: bool) -> tuple[Dims, Dims]:
    if len(dims) == 1:
        return (), ()
    return dims[:-2], dims[-2:-1] if is_left else dims[-1:]


def _batch_names(batch_left: Dims, batch_right: Dims, left: Dims, right: Dims, pairing: Pairing) -> Names:
    names = unify_from_right(names_of(batch_left), names_of(batch_right))
    if isinstance(names, Clash):
        # The operands are shown whole: their last two dims are to the right of the position of the clash.
        shift_left, shift_right = len(left) - len(batch_left), len(right) - len(batch_right)
        shifted = Clash(names.kind, names.left - shift_left, names.right - shift_right)
        raise clashing(shifted, left, right, pairing)
    for a, b in zip(reversed(range(len(batch_left))), reversed(range(len(batch_right))), strict=False):
        _check_aligned(a, b, left, right, pairing)
    return names


def _check_aligned(a: int, b: int, left: Dims, right: Dims, pairing: Pairing) -> None:
    """Raise NE471 if an unnamed batch dim is paired with one whose name is among the features here."""
    if left[a].name is None and right[b].name in names_of(left[a + 1 :]) and right[b].name is not None:
        a = names_of(left).index(right[b].name)
    elif right[b].name is None and left[a].name in names_of(right[b + 1 :]) and left[a].name is not None:
        b = names_of(right).index(left[a].name)
    else:
        return
    message = f"{pairing.verb}: {left[a].name!r} is a batch dim of one tensor and not of the other"
    hint = "align_to brings the dims of both into the same order: batch dims first"
    raise paired_fault("NE471", message, (left, right), pairing, ([a], [b]), hint)


def doubled_fault(name: str, left: Dims, right: Dims, pairing: Pairing) -> NameExprError:
    """Return (not raise) NE473 for a name that two dims of the result would have, one of each tensor."""
    message = f"{pairing.verb}: the result would have two dims called {name!r}"
    marked = tuple([at for at, dim in enumerate(dims) if dim.name == name] for dims in (left, right))
    renamed = as_keywords({name: another_name(name)})
    hint = f"rename one of them first, for example {pairing.right}.rename({renamed})"
    return paired_fault("NE473", message, (left, right), pairing, (marked[0], marked[1]), hint)


def contracted_fault(
    left: Dims, right: Dims, places: tuple[int, int], pairing: Pairing, hint: str
) -> NameExprError:
    """Return (not raise) NE372 for two dims that are contracted and differ in size."""
    sizes = left[places[0]].size, right[places[1]].size
    dims = called(left, places[0]), called(right, places[1])
    message = f"{pairing.verb}: {dims[0]} of size {sizes[0]} is contracted with {dims[1]} of size {sizes[1]}"
    return paired_fault("NE372", message, (left, right), pairing, ([places[0]], [places[1]]), hint)


def _contracted_hint(left: Dims, right: Dims, pairing: Pairing) -> str:
    """Return which dims are paired, or how to move the one of the same name to the expected position."""
    name, names = left[-1].name, names_of(right)
    if name is not None and left[-1] in right and None not in names:
        order = [other for other in names if other != name]
        order.insert(len(order) - 1, name)
        moved = f"{pairing.right}.align_to({', '.join(map(shown, order))})"
        by_name = f"tensordot({pairing.left}, {pairing.right}, ([{name!r}], [{name!r}]))"
        return f"{moved} puts {name!r} there; {by_name} goes by name"
    if pairing.verb == "dot":
        return "dot takes two vectors of the same size"
    where = "only dim" if len(right) == 1 else "second-to-last"
    return f"the last dim of the left tensor meets the {where} of the right one"


def check_ranks(tensors: Sequence[Dims], verb: str) -> None:
    """Raise NE385 unless there are tensors, and all have the same number of dims."""
    if not tensors:
        raise fault("NE385", f"{verb} needs at least one tensor", ShownCall(verb, (Verbatim("[]"),)), (0,))
    for index, dims in enumerate(tensors):
        if len(dims) != len(tensors[0]):
            first = counted(len(tensors[0]), "dim")
            message = f"{verb}: tensor 0 has {first}, tensor {index} has {len(dims)}"
            pairing = _pairing(verb, 0, index)
            hint = "align_to gives all of them the same dims"
            raise paired_fault("NE385", message, (tensors[0], dims), pairing, ((), ()), hint)


def joined(tensors: Sequence[Dims], at: int | None, verb: str) -> Names:
    """Return the unified names (NE470, NE471); sizes may differ only at position `at`, if any (NE386)."""
    first = tensors[0]
    names = names_of(first)
    for index, dims in enumerate(tensors[1:], 1):
        so_far = dims_of(names, shape_of(first))
        both = unify_from_right(names, names_of(dims))
        if isinstance(both, Clash):
            raise first_clash(tensors[: index + 1], lambda left, right: _pairing(verb, left, right))
        names = both
        for axis, (a, b) in enumerate(zip(so_far, dims, strict=True)):
            if a.size != b.size and axis != at:
                message = f"{verb}: {called(so_far, axis)} has size {a.size} in tensor 0"
                message += f" and {b.size} in tensor {index}"
                where = "" if at is None else f" except in {called(so_far, at)}, along which they are joined"
                hint = f"sizes must be equal{where}"
                marked = ([axis], [axis])
                raise paired_fault("NE386", message, (first, dims), _pairing(verb, 0, index), marked, hint)
    return names


def _pairing(verb: str, left: int, right: int) -> Pairing:
    return Pairing(verb, f"tensor {left}", f"tensor {right}", "right")
