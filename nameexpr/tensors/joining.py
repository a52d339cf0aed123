"""Functions that join tensors: cat and stack.

>>> x = ne.tensor([[1, 2]], names="N C")
>>> cat([x, x], "C")
tensor([[1, 2, 1, 2]], names=('N', 'C'), shape=(1, 4))
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any

import numpy as np

from nameexpr.dims import Names, dims_of
from nameexpr.errors import Diagnostic, error
from nameexpr.rules.calls import ShownCall, Verbatim, fault, shown
from nameexpr.rules.combining import check_ranks
from nameexpr.rules.remembered import joined
from nameexpr.rules.targets import added_name
from nameexpr.tensors.arguments import checked_int
from nameexpr.tensors.core import Core, OneDim
from nameexpr.tensors.faults import explained
from nameexpr.tensors.named_tensor import NamedTensor, wrap
from nameexpr.tensors.operators import REFUSED, as_core
from nameexpr.tensors.ops import RECORDED, MeetsRecorded, op
from nameexpr.tensors.writing import write

_LISTED = Verbatim("[...]")
_COORDINATES = attrgetter("_coordinates")
_PLAIN = {NamedTensor}


@op("joins")
def cat(tensors: Iterable[Any], dim: OneDim = 0, *, out: NamedTensor | None = None) -> NamedTensor:
    """Return tensors joined along a dim that all of them have.

    A dim given by name is looked up in the first tensor; names unify over all.

    Raises
    ------
    DimNameError
        NE410 for an unknown dim, NE470 and NE471 if names clash.
    SizeError
        NE385 if numbers of dims differ or are 0, NE386 if other sizes differ.

    Notes
    -----
    `torch.cat` of PyTorch's page "Named Tensors operator coverage".

    Examples
    --------
    >>> cat([wrap(np.zeros((1, 2)), ("N", "C")), wrap(np.ones((1, 2)), ("N", None))]).names
    ('N', 'C')
    """
    parts = _tensors(tensors, "cat")
    given = [(part._names, part._data.shape) for part in parts]
    are_alike = given and given[0][0] and given == given[:1] * len(given)
    if not are_alike:
        _check_joined(parts)
    first = parts[0]
    if isinstance(dim, str) and dim not in first._names and not any(first._names):
        later = next((part._names for part in parts if dim in part._names), ())
        if later:
            call = ShownCall("cat", (_LISTED, dim), (first._dims,))
            hint = f"tensor 0 has no names: tensors[0].refine_names({', '.join(map(shown, later))})"
            raise fault("NE410", f"no dim of tensor 0 is called {dim!r}", call, (1,), hint)
    at = first._position(dim, "cat", (_LISTED, dim), 1)
    names = first._names if are_alike else joined("cat", at, *given)
    return joined_along(parts, at, names, "cat", out)


concat = concatenate = cat


def _check_joined(parts: list[Core]) -> None:
    """Raise NE385 if there are 0-d tensors, or the numbers of dims differ."""
    for index, part in enumerate(parts):
        if not part._names:
            call = ShownCall("cat", (_LISTED,), (part._dims,))
            hint = "stack puts 0-d tensors side by side along a new dim"
            raise fault("NE385", f"cat: tensor {index} is 0-d and has no dim to join along", call, hint=hint)
    if len({len(part._names) for part in parts}) != 1:
        check_ranks([part._dims for part in parts], "cat")


@op("joins", extra=True)
def stack(
    tensors: Iterable[Any], dim: int = 0, *, name: str | None = None, out: NamedTensor | None = None
) -> NamedTensor:
    """Return tensors of the same sizes joined along a new dim, which may get a name.

    >>> x = wrap(np.zeros(2), ("C",))
    >>> stack([x, x], name="N").names
    ('N', 'C')
    """
    parts = _tensors(tensors, "stack")
    all_dims = [part._dims for part in parts]
    check_ranks(all_dims, "stack")
    names = joined("stack", None, *[(part._names, part._data.shape) for part in parts])
    rank = len(names) + 1
    at = checked_int(dim, "stack", "the position of the new dim")
    if not -rank <= at < rank:
        call = ShownCall("stack", (_LISTED, dim), (all_dims[0],))
        raise fault("NE801", f"stack: the new dim can be at {-rank} to {rank - 1}, not {at}", call, (1,))
    at %= rank
    if name is not None:
        dims = dims_of(names, parts[0]._data.shape)
        arguments = (_LISTED, at, Verbatim(f"name={shown(name)}"))
        name = added_name(name, dims, ShownCall("stack", arguments, (dims,)))
    return joined_along(parts, at, (*names[:at], name, *names[at:]), "stack", out)


def _tensors(tensors: Any, verb: str) -> list[Core]:
    is_listed = type(tensors) in (list, tuple)
    if not is_listed and (isinstance(tensors, Core | np.ndarray) or not isinstance(tensors, Iterable)):
        what = f"one {type(tensors).__name__}" if isinstance(tensors, Core) else type(tensors).__name__
        hint = f"{verb}([x, y])"
        raise error(Diagnostic("NE656", f"{verb} takes a list of tensors, not {what}", hint=hint))
    parts = list(tensors)
    kinds = set(map(type, parts))
    if kinds == _PLAIN or (len(kinds) == 1 and issubclass(*kinds, NamedTensor)):  # type: ignore[call-arg]
        return parts
    are_recorded = [isinstance(part, Core) and part._kernels is RECORDED for part in parts]
    if any(are_recorded):
        if all(are_recorded):
            return parts
        raise MeetsRecorded
    from nameexpr.tensors.foreign import of_library  # imported here: most parts are tensors of NumPy

    own = of_library(*parts)
    if own is not None:
        return [part if type(part) is type(own) else own._as_core(part, verb) for part in parts]
    return [part if isinstance(part, Core) else as_core(part, verb) for part in parts]


def joined_along(parts: list[Any], at: int, names: Names, verb: str, out: Any) -> NamedTensor:
    """Return tensors joined along an axis, or along a new one, with the names of the result."""
    if parts[0]._kernels is not None:
        return parts[0]._joined(parts, at, names, verb, out)  # type: ignore[no-any-return]
    join = np.stack if verb == "stack" else np.concatenate
    try:
        data = join([part._data for part in parts], at)
    except REFUSED as refused:
        raise explained(verb, tuple(parts), refused) from refused
    coordinates: Any = ()
    if any(map(_COORDINATES, parts)):
        from nameexpr.tensors.coordinates import agreed
        from nameexpr.tensors.labelled import attach
        from nameexpr.tensors.surviving import joined

        coordinates = joined(parts, names[at], verb)
        agreed([coordinates, () if out is None else out._coordinates], verb)
    if out is not None:
        return write(out, data, names, verb, is_out=True)  # type: ignore[no-any-return]
    return attach(wrap(data, names), coordinates) if coordinates else wrap(data, names)
