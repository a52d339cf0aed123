"""The rule for the verb that merges neighbouring dims into one, row-major: flatten.

>>> from nameexpr.dims import Dim
>>> flattened((Dim("N", 2), Dim("H", 3), Dim("W", 4)), ("H", "W"), "pixel")
(Dim(name='N', size=2), Dim(name='pixel', size=12))
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from nameexpr.dims import Dim, Dims, another_name, find, names_of
from nameexpr.rules.calls import Call, fault, listed, shown
from nameexpr.rules.lookup import called, place_of, positions, spelt
from nameexpr.rules.targets import checked_name


def flattened(dims: Dims, wanted: Sequence[object], out_dim: object) -> Dims:
    """Return the dims after `flatten(wanted, out_dim)`; names and positions may be mixed.

    Raises
    ------
    DimNameError
        NE450 if they are not neighbours in this order, NE451 if there are none, NE410 and NE417 for a dim
        that is unknown or given twice, NE411 if another dim has the name `out_dim` already.
    """
    call = Call("flatten", wanted, (dims,), "([", f"], {shown(out_dim)})")
    if not dims:
        raise _nothing_to_flatten(call)
    if not wanted:
        raise fault("NE451", "no dims are given to flatten", call, hint="align_to adds a new dim of size 1")
    found = positions(dims, call)
    if found != tuple(range(found[0], found[0] + len(found))):
        raise _apart(dims, found, out_dim, call)
    name = _out_name(dims, found, out_dim, Call("flatten", (list(wanted), out_dim), (dims,)))
    return _merged(dims, found[0], found[-1], name)


def flattened_range(dims: Dims, start: object, end: object, *out_dim: object) -> Dims:
    """Return the dims after `flatten(start, end)`, with `out_dim` if one is given; both ends are meant.

    Where no out_dim is given the merged dims must be unnamed, or be a single dim, which then stays as it is:
    names are never dropped in silence. A 0-d tensor becomes a 1-d one.

    Raises
    ------
    DimNameError
        NE452 if `start` stands after `end`, NE453 if dims with names are merged without an out_dim, NE454 if
        a 0-d tensor is given an out_dim, NE410, NE411 as for `flattened`.
    DimRangeError
        NE801 if there is no such position.
    """
    call = Call("flatten", (start, end, *out_dim), (dims,))
    if not dims:
        return _from_scalar(start, end, out_dim, call)
    first, last = place_of(dims, call, 0), place_of(dims, call, 1)
    if first > last:
        message = (
            f"{called(dims, first)}, the start, is at position {first}, after the end at position {last}"
        )
        hint = f"dims stay in their order: flatten({', '.join(map(shown, (end, start, *out_dim)))})"
        raise fault("NE452", message, call, (0, 1), hint)
    if out_dim:
        name = _out_name(dims, range(first, last + 1), out_dim[0], call)
    else:
        name = _implied_name(dims, first, last, call)
    return _merged(dims, first, last, name)


def _from_scalar(start: object, end: object, out_dim: tuple[object, ...], call: Call) -> Dims:
    """Return one dim of size 1, for the positions that PyTorch and NumPy take as those of a 0-d tensor."""
    if out_dim:
        raise _nothing_to_flatten(call)
    one = (Dim(None, 1),)
    place_of(one, call, 0)
    place_of(one, call, 1)
    return one


def _nothing_to_flatten(call: Call) -> Exception:
    hint = "align_to gives it a new dim of size 1"
    return fault("NE454", "a 0-d tensor has no dims to flatten", call, hint=hint)


def _out_name(dims: Dims, merged: Sequence[int], out_dim: object, call: Call) -> str | None:
    """Return the checked name of the merged dim; it may be the name of one of the dims that go into it."""
    if out_dim is None:
        return None
    place = len(call.arguments) - 1
    name = checked_name(out_dim, place, call)
    at = find(names_of(dims), name)
    if at is not None and at not in merged:
        message = f"{name!r} is the name of dim {at} already"
        raise fault(
            "NE411", message, call, (place,), f"choose another out_dim, such as {another_name(name)!r}"
        )
    return name


def _implied_name(dims: Dims, first: int, last: int, call: Call) -> str | None:
    names = names_of(dims)[first : last + 1]
    if first == last or not any(names):
        return names[0]
    message = f"flattening {listed(filter(None, names))} needs a name for the result: out_dim is missing"
    written = ", ".join(shown(spelt(dims[at], at)) for at in (first, last))
    hint = f"flatten({written}, 'features') names it; out_dim=None leaves it without a name"
    raise fault("NE453", message, call, hint=hint)


def _merged(dims: Dims, first: int, last: int, name: str | None) -> Dims:
    size = prod(dim.size for dim in dims[first : last + 1])
    return (*dims[:first], Dim(name, size), *dims[last + 1 :])


def _apart(dims: Dims, found: tuple[int, ...], out_dim: object, call: Call) -> Exception:
    """Return the error for dims that are not neighbours in this order, with the call that makes them so."""
    words = [spelt(dims[at], at) for at in found]
    is_block = max(found) - min(found) + 1 == len(found)
    message = f"{listed(words)} {'stand in another order' if is_block else 'are not neighbours'}"
    if is_block:
        in_order = [spelt(dims[at], at) for at in sorted(found)]
        hint = f"write them as they stand, flatten({in_order!r}, {shown(out_dim)}), or change that: "
    else:
        hint = "bring them together: "
    return fault("NE450", message, call, range(len(found)), hint + _alignment_hint(dims, found))


def _alignment_hint(dims: Dims, found: tuple[int, ...]) -> str:
    """Return the align_to that puts the dims side by side, at the place of the first of them."""
    if any(dims[at].name is None for at in found):
        return "align_to can do that once they have names (refine_names)"
    if None in names_of(dims):
        order: list[object] = [*(dims[at].name for at in found), ...]
    else:
        before = [at for at in range(found[0]) if at not in found]
        after = [at for at in range(found[0], len(dims)) if at not in found]
        order = [dims[at].name for at in (*before, *found, *after)]
    return f"align_to({', '.join(map(shown, order))})"
