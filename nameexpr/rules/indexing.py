"""The rule for indexing: the names of the dims of `x[...]`.

- An integer drops its dim, a slice keeps it, None adds a dim without a name, `...` stands for the dims that
  are not mentioned.
- Arrays of integers, and masks, are broadcast together, and their dims replace those that they index: where
  the first of them was if they (and integers between) are adjacent, before all others if not. The positions
  are NumPy's.
- These new dims have the names of the index tensors. A single index of one dim, for one dim, keeps the dim's
  name; any other index without names leaves its dims unnamed.

>>> from nameexpr.dims import Dim
>>> dims = (Dim("N", 2), Dim("C", 3), Dim("W", 4))
>>> indexed_names(dims, (IndexItem("slice", 1), IndexItem("array", 1, (None,)), IndexItem("slice", 1)), "[]")
('N', 'C', 'W')
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal, NamedTuple

from nameexpr.dims import Clash, Dims, Names, dims_of, duplicate, unify_from_right
from nameexpr.errors import NameExprError
from nameexpr.rules.calls import ShownCall, Verbatim, fault
from nameexpr.rules.pairing import Pairing, broadcast, first_clash, size_fault, unequal


class IndexItem(NamedTuple):
    """One item of an index: its kind, the number of dims it takes, and for an array its names and sizes.

    A mask counts as the indices of its true elements: one dim. A gap is a `...` that stands for no dim: it
    separates the arrays on both sides of it, as in NumPy.
    """

    kind: Literal["int", "slice", "new", "array", "gap"]
    takes: int
    names: Names = ()
    sizes: tuple[int, ...] = ()
    mask: Names = ()


def indexed_names(dims: Dims, items: Sequence[IndexItem], verb: str) -> Names:
    """Return the names after indexing; the items, `...` written out, take all dims.

    NE470 if the names of several index tensors clash, NE411 if a name would occur twice.
    """
    names: list[str | None] = []
    arrays: list[tuple[int, IndexItem, str | None]] = []
    at = 0
    for item in items:
        old = dims[at].name if item.takes else None
        at += item.takes
        if item.kind in ("slice", "new"):
            names.append(old)
        elif item.kind == "array" or (item.kind == "int" and _has_array(items)):
            arrays.append((len(names), item, old if item.takes == 1 else None))
    if not _has_array(items):
        return tuple(names)
    where = arrays[0][0] if _side_by_side(items) else 0
    result = (*names[:where], *_array_names(arrays, verb), *names[where:])
    twice = duplicate(result)
    if twice:
        message = f"{verb}: two dims of the result would be called {twice[0]!r}"
        hint = "rename the index tensor's dim, or index by its array: index.numpy()"
        raise fault("NE411", message, ShownCall("x", (Verbatim("..."),), (dims,), "[", "]"), hint=hint)
    return result


def _has_array(items: Sequence[IndexItem]) -> bool:
    return any(item.kind == "array" for item in items)


def _side_by_side(items: Sequence[IndexItem]) -> bool:
    """Return whether the arrays, and integers that join them, are adjacent."""
    places = [index for index, item in enumerate(items) if item.kind in ("array", "int")]
    return places[-1] - places[0] == len(places) - 1


def _array_names(arrays: Sequence[tuple[int, IndexItem, str | None]], verb: str) -> Names:
    only = [(item, old) for _, item, old in arrays if item.kind == "array"]
    if len(only) == 1 and only[0][0].names == (None,):
        return (only[0][1],)
    names: Names = ()
    for item, _ in only:
        unified = unify_from_right(names, item.names)
        if isinstance(unified, Clash):
            tensors = [dims_of(item.names, item.sizes) for item, _ in only]
            raise first_clash(tensors, lambda left, right: _pairing(left, right, verb))
        names = unified
    return names


def _pairing(left: int, right: int, verb: str) -> Pairing:
    return Pairing(verb, f"index {left}", f"index {right}", "right")


def no_index(
    index: int, dim: str, size: int, call: ShownCall, argument: int, verb: str = ""
) -> NameExprError:
    """Return (not raise) NE802 for an index that is out of bounds for a dim."""
    message = f"{verb}there is no index {index} in {dim}, whose size is {size}"
    hint = f"indices go from {-size} to {size - 1}" if size else ""
    return fault("NE802", message, call, (argument,), hint)


def check_mask(dims: Dims, mask: Names) -> None:
    """Raise NE470 or NE471 unless the names of a mask match those of the dims that it indexes."""
    sizes = tuple(dim.size for dim in dims)
    broadcast(dims, dims_of(mask, sizes), Pairing("x[...]", "tensor", "mask", "right"))


def check_array_sizes(items: Sequence[IndexItem], verb: str) -> None:
    """Raise NE370 unless the arrays of an index broadcast together."""
    arrays = [item for item in items if item.kind == "array"]
    for left, right in combinations(range(len(arrays)), 2):
        dims, others = (dims_of(arrays[at].names, arrays[at].sizes) for at in (left, right))
        position = unequal(dims, others)
        if position is not None:
            raise size_fault(dims, others, (position, position), _pairing(left, right, verb))
