"""The rules for matrix products: the dims that meet are contracted whatever their names, the others stay.

Batch dims unify from the right as in any broadcast; the last one or two dims of each operand do not take part
in that. A name may come only once in the result, batch dims included (PyTorch 2.12 overlooks the latter).

>>> from nameexpr.dims import Dim
>>> left, right = (Dim("N", 5), Dim("A", 2), Dim("B", 3)), (Dim("C", 3), Dim("D", 4))
>>> matmul_names(left, right, "matmul")
('N', 'A', 'D')
"""

from __future__ import annotations

from nameexpr.dims import Clash, Dims, Names, another_name, duplicate, names_of, unify_from_right
from nameexpr.errors import NameExprError
from nameexpr.rules.calls import shown
from nameexpr.rules.lookup import called
from nameexpr.rules.pairing import Pairing, clashing, paired_fault, size_fault, unequal


def matmul_names(left: Dims, right: Dims, verb: str) -> Names:
    """Return the names of the product of two tensors with at least one dim each.

    Raises
    ------
    DimNameError
        NE470 or NE471 if batch dims do not unify, NE473 if a name would come twice.
    SizeError
        NE372 if the contracted sizes differ, NE370 if batch sizes do not broadcast, NE373 if an operand has
        no dims.
    """
    pairing = Pairing(verb, moves="none")
    _check_has_dims(left, right, pairing)
    batch_left, rows = _split(left, is_left=True)
    batch_right, columns = _split(right, is_left=False)
    batch = _batch_names(batch_left, batch_right, left, right, pairing)
    names = (*batch, *names_of(rows), *names_of(columns))
    twice = duplicate(names)
    if twice:
        raise _doubled(twice[0], left, right, pairing)
    _check_contracted(left, right, pairing)
    place = unequal(batch_left, batch_right)
    if place is not None:
        places = place - len(left) + len(batch_left), place - len(right) + len(batch_right)
        raise size_fault(left, right, places, pairing)
    return names


def product_names(left: Dims, right: Dims, ranks: tuple[int, int], verb: str) -> Names:
    """Return the names of `mm`, `mv`, `bmm`, whose operands have exactly these numbers of dims (NE373)."""
    if (len(left), len(right)) != ranks:
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


_OPERANDS = {
    (2, 2): "two matrices",
    (2, 1): "a matrix and a vector",
    (1, 1): "two vectors",
    (3, 3): "two batches of matrices, of 3 dims each",
}


def _check_has_dims(left: Dims, right: Dims, pairing: Pairing) -> None:
    if not left or not right:
        message = f"{pairing.verb} needs at least one dim on each side, to contract"
        raise paired_fault(
            "NE373", message, (left, right), pairing, ((), ()), "mul multiplies by a 0-d tensor"
        )


def _split(dims: Dims, *, is_left: bool) -> tuple[Dims, Dims]:
    """Return the batch dims, and the dim that stays besides them."""
    if len(dims) == 1:
        return (), ()
    return dims[:-2], dims[-2:-1] if is_left else dims[-1:]


def _batch_names(batch_left: Dims, batch_right: Dims, left: Dims, right: Dims, pairing: Pairing) -> Names:
    names = unify_from_right(names_of(batch_left), names_of(batch_right))
    if isinstance(names, Clash):
        # The operands are shown whole: their last two dims stand to the right of where the clash was counted.
        shift_left, shift_right = len(left) - len(batch_left), len(right) - len(batch_right)
        shifted = Clash(names.kind, names.left - shift_left, names.right - shift_right)
        raise clashing(shifted, left, right, pairing)
    for a, b in zip(reversed(range(len(batch_left))), reversed(range(len(batch_right))), strict=False):
        _check_aligned((a, left), (b, right), pairing)
    return names


def _check_aligned(one: tuple[int, Dims], other: tuple[int, Dims], pairing: Pairing) -> None:
    """Raise NE471 if a batch dim without a name meets one whose name is among the features here."""
    (a, left), (b, right) = one, other
    if left[a].name is None and right[b].name in names_of(left[a + 1 :]) and right[b].name is not None:
        a = names_of(left).index(right[b].name)
    elif right[b].name is None and left[a].name in names_of(right[b + 1 :]) and left[a].name is not None:
        b = names_of(right).index(left[a].name)
    else:
        return
    message = f"{pairing.verb}: {left[a].name!r} is a batch dim of one tensor and not of the other"
    hint = "align_to brings the dims of both into one order: batch dims first"
    raise paired_fault("NE471", message, (left, right), pairing, ([a], [b]), hint)


def _doubled(name: str, left: Dims, right: Dims, pairing: Pairing) -> NameExprError:
    message = f"{pairing.verb}: the result would have two dims called {name!r}"
    marked = tuple([at for at, dim in enumerate(dims) if dim.name == name] for dims in (left, right))
    hint = f"rename one of them first, for example {pairing.right}.rename({name}={another_name(name)!r})"
    return paired_fault("NE473", message, (left, right), pairing, (marked[0], marked[1]), hint)


def _check_contracted(left: Dims, right: Dims, pairing: Pairing) -> None:
    at = -1 if len(right) == 1 else -2
    if left[-1].size == right[at].size:
        return
    raise contracted_fault(left, right, (-1, at), pairing, _contracted_hint(left, right, at, pairing))


def contracted_fault(
    left: Dims, right: Dims, places: tuple[int, int], pairing: Pairing, hint: str
) -> NameExprError:
    """Return (not raise) NE372 for two dims that are contracted and differ in size."""
    sizes = left[places[0]].size, right[places[1]].size
    dims = called(left, places[0]), called(right, places[1])
    message = f"{pairing.verb}: {dims[0]} of size {sizes[0]} is contracted with {dims[1]} of size {sizes[1]}"
    return paired_fault("NE372", message, (left, right), pairing, ([places[0]], [places[1]]), hint)


def _contracted_hint(left: Dims, right: Dims, at: int, pairing: Pairing) -> str:
    """Return which dims meet, or how the one of the same name gets to the place where it is looked for."""
    name, names = left[-1].name, names_of(right)
    if name is not None and left[-1] in right and None not in names:
        order = [other for other in names if other != name]
        order.insert(len(order) - 1, name)
        moved = f"{pairing.right}.align_to({', '.join(map(shown, order))})"
        by_name = f"tensordot({pairing.left}, {pairing.right}, ([{name!r}], [{name!r}]))"
        return f"{moved} puts {name!r} there; {by_name} goes by name"
    if pairing.verb == "dot":
        return "dot takes two vectors of one size"
    where = "only dim" if len(right) == 1 else "last but one"
    return f"the last dim of the left tensor meets the {where} of the right one"
