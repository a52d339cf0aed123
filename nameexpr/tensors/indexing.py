"""`x[...]`, `x[...] = value` and `x.isel(C=3)`: NumPy's indexing, with names (`nameexpr.inference.indexing`).

Basic indexing gives views. An index may be a NamedTensor, whose names then are those of the new dims.

>>> import nameexpr as ne
>>> x = ne.tensor([[1, 2, 3], [4, 5, 6]], names="N C")
>>> x[0], x[:, None].names, x[..., [2, 0]].names
(tensor([1, 2, 3], names=('C',), shape=(3,)), ('N', None, 'C'), ('N', 'C'))
>>> x.isel(C=-1)
tensor([3, 6], names=('N',), shape=(2,))
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import index as as_index
from typing import Any, Self

import numpy as np

from nameexpr.dims import dims_of
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.inference.calls import Call, Verbatim, counted, fault, shown
from nameexpr.inference.indexing import Item, indexed_names
from nameexpr.inference.lookup import called
from nameexpr.inference.pairing import Pairing, broadcast, paired_fault
from nameexpr.tensors.core import Core
from nameexpr.tensors.faults import explained
from nameexpr.tensors.gradients import Gradients
from nameexpr.tensors.ops import op
from nameexpr.tensors.rules import REFUSED, data_and_names
from nameexpr.tensors.writing import check_castable, check_writeable


class Indexing(Gradients):
    """Items by index, isel, iteration, len and `in`."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Self:
        quick = self._quick(key)
        if quick is not None:
            return quick
        places, items = self._key(key)
        names = indexed_names(self._dims, items, "x[...]")
        # The final `...` keeps a single element an array, and takes no dim: all dims are written out.
        data = (
            self._data[places] if any(item.kind == "array" for item in items) else self._data[(*places, ...)]
        )
        return self._wrap(np.asarray(data), names)

    def _quick(self, key: Any) -> Self | None:
        """Return the part for integers and slices alone, the usual index, or None where it needs a check."""
        data, names = self._data, self._names
        items = key if type(key) is tuple else (key,)
        if len(items) > len(names):
            return None
        kept = []
        for item, size, name in zip(items, data.shape, names, strict=False):
            if type(item) is slice:
                kept.append(name)
            elif type(item) is not int or not -size <= item < size:
                return None
        return self._wrap(data[(*items, ...)], (*kept, *names[len(items) :]))

    def __setitem__(self, key: Any, value: Any) -> None:
        places, items = self._key(key)
        names = indexed_names(self._dims, items, "x[...]")
        shape = np.broadcast_to(np.empty((), np.bool_), self._data.shape)[places].shape
        data, value_names = data_and_names(value, "x[...] = value")
        pairing = Pairing("x[...] = value", "place", "value")
        here, there = dims_of(names, shape), dims_of(value_names, np.shape(data))
        dims = broadcast(here, there, pairing)
        if tuple(dim.size for dim in dims) != shape:
            message = f"x[...] = value: a value of shape {np.shape(data)} does not fit into {shape}"
            raise paired_fault("NE371", message, (here, there), pairing, ((), ()), "the value is broadcast")
        dtype = np.asarray(data).dtype
        if dtype.kind == "c":
            check_castable(dtype, self._data.dtype, "x[...] = value", is_out=False)
        check_writeable(self, "x[...] = value")
        try:
            with np.errstate(all="ignore"):
                self._data[places] = data
        except REFUSED as refused:
            raise explained("x[...] = value", (self, value), refused) from refused

    @op("removes", extra=True)
    def isel(self, /, **indices: Any) -> Self:
        """Return what stands at indices of dims given by name: integers, slices, lists, masks, tensors.

        >>> ne.tensor([[1, 2, 3], [4, 5, 6]], names="N C").isel(N=0, C=slice(1, None))
        tensor([2, 3], names=('C',), shape=(2,))
        """
        key: list[Any] = [slice(None)] * self._data.ndim
        for name, index in indices.items():
            if index is None or index is ...:
                raise _bad_item(index)
            key[self._position(name, "isel")] = index
        return self[tuple(key)]

    def _key(self, key: Any) -> tuple[tuple[Any, ...], list[Item]]:
        """Return the index as NumPy takes it, every dim taken, and what its items are."""
        given = key if isinstance(key, tuple) else (key,)
        pairs = [self._item(item) for item in given]
        taken = sum(item.takes for _, item in pairs)
        dots = [place for place, (part, _) in enumerate(pairs) if part is ...]
        if len(dots) > 1 or taken > self._data.ndim:
            raise self._bad_count(key, taken, len(dots))
        rest: list[tuple[Any, Item]] = [(slice(None), Item("slice", 1))] * (self._data.ndim - taken)
        if not rest and any(item.kind == "array" for _, item in pairs):
            rest = [(..., Item("gap", 0))] if dots else []
        at = dots[0] if dots else len(pairs)
        pairs[at : at + 1] = rest
        self._check_bounds(pairs)
        return tuple(part for part, _ in pairs), [item for _, item in pairs]

    def _item(self, item: Any) -> tuple[Any, Item]:
        if item is ...:
            return ..., Item("slice", 0)
        if item is None:
            return None, Item("new", 0)
        if isinstance(item, slice):
            return item, Item("slice", 1)
        if isinstance(item, Core | np.ndarray | list | tuple):
            return _array_item(item)
        if not isinstance(item, bool | np.bool_):
            try:
                return as_index(item), Item("int", 1)
            except TypeError:
                pass
        raise _bad_item(item)

    def _check_bounds(self, pairs: list[tuple[Any, Item]]) -> None:
        at = 0
        for part, item in pairs:
            sizes = self._data.shape[at : at + item.takes]
            if item.kind == "int" and not -sizes[0] <= part < sizes[0]:
                raise self._out_of_bounds(part, at)
            if item.kind == "array" and part.dtype == np.bool_ and part.shape != sizes:
                message = f"x[...]: a mask of shape {part.shape} does not fit dims of shape {sizes}"
                raise fault("NE383", message, Call("x", (), (self._dims,), "[...]", ""), hint="")
            if item.kind == "array" and part.dtype != np.bool_ and part.size:
                for extreme in (int(part.min()), int(part.max())):
                    if not -sizes[0] <= extreme < sizes[0]:
                        raise self._out_of_bounds(extreme, at)
            at += item.takes
        arrays = [_counted_shape(part) for part, item in pairs if item.kind == "array"]
        try:
            np.broadcast_shapes(*arrays)
        except ValueError as clash:
            message = (
                f"x[...]: index arrays of shapes {', '.join(map(str, arrays))} do not broadcast together"
            )
            raise error(Diagnostic("NE383", message)) from clash

    def _out_of_bounds(self, index: int, at: int) -> NameExprError:
        size = self._data.shape[at]
        message = f"there is no index {index} in {called(self._dims, at)}, whose size is {size}"
        call = Call("x", (Verbatim(index),), (self._dims,), "[", "]")
        return fault("NE802", message, call, (0,), f"indices go from {-size} to {size - 1}" if size else "")

    def _bad_count(self, key: Any, taken: int, dots: int) -> NameExprError:
        if dots > 1:
            message = "'...' may stand only once in an index"
        else:
            message = f"an index for {counted(taken, 'dim')}, and the tensor has {self._data.ndim}"
        return fault("NE804", message, Call("x", (Verbatim(shown(key)),), (self._dims,), "[", "]"))

    def __len__(self) -> int:
        return self._data.shape[0] if self._data.ndim else self._position(0, "len")

    def __iter__(self) -> Iterator[Self]:
        if not self._data.ndim:
            self._position(0, "iter")
        return (self[number] for number in range(self._data.shape[0]))

    def __contains__(self, value: object) -> bool:
        data = value._data if isinstance(value, Core) else value
        return bool(np.any(self._data == data))


def _array_item(item: Any) -> tuple[Any, Item]:
    names = item._names if isinstance(item, Core) else None
    try:
        array = item._data if isinstance(item, Core) else np.asarray(item)
    except (TypeError, ValueError) as refused:
        raise _bad_item(item) from refused
    if not array.size and not isinstance(item, Core | np.ndarray):
        array = array.astype(np.int64)
    if array.dtype == np.bool_ and array.ndim:
        return array, Item("array", array.ndim, names if names and array.ndim == 1 else (None,))
    if array.dtype.kind not in "iu":
        raise _bad_item(item)
    if not array.ndim:
        return int(array), Item("int", 1)
    return array, Item("array", 1, names or (None,) * array.ndim)


def _counted_shape(part: Any) -> tuple[int, ...]:
    return (int(np.count_nonzero(part)),) if part.dtype == np.bool_ else part.shape


def _bad_item(item: Any) -> NameExprError:
    if isinstance(item, str):
        hint = f"x.isel({item}=3) indexes by name" if item.isidentifier() else "x.isel(C=3) indexes by name"
    else:
        hint = "an index is an integer, a slice, None, '...', or an array of integers or bools"
    return error(Diagnostic("NE683", f"{shown(item)} is no index", hint=hint))
