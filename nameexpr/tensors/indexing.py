"""`x[...]`, `x[...] = value` and `x.isel(C=3)`: NumPy's indexing, with names (`nameexpr.rules.indexing`).

Basic indexing returns views. An index may be a NamedTensor, whose names are then those of the new dims.

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

from nameexpr.dims import Names, dims_of
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.rules.calls import ShownCall, Verbatim, as_keywords, called, counted, fault, positions, shown
from nameexpr.rules.indexing import IndexItem, check_array_sizes, check_mask, indexed_names, no_index
from nameexpr.rules.pairing import Pairing, broadcast, paired_fault
from nameexpr.rules.remembered import remembered
from nameexpr.tensors.arguments import plain
from nameexpr.tensors.core import Core
from nameexpr.tensors.faults import explained
from nameexpr.tensors.operators import REFUSED, Operators, as_core, data_and_names, is_foreign
from nameexpr.tensors.ops import RECORDED, MeetsRecorded, exhausted, op
from nameexpr.tensors.writing import WATCHED, check_finite, check_real, check_writeable

_WHOLE = slice(None)


@remembered
def _names_at(names: Names, shape: tuple[int, ...], items: tuple[IndexItem, ...]) -> Names:
    return indexed_names(dims_of(names, shape), items, "x[...]")


class Indexing(Operators):
    """Items by index, isel, iteration, len and `in`."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Self:
        try:
            quick = self._quick(key)
            return self._part_at(key) if quick is None else quick
        except NameExprError as wrong:
            wrong._forget_frames()
            raise

    def _part_at(self, key: Any, call: ShownCall | None = None) -> Self:
        """Return the part for any index; an error shows the call, or `x[...]` with the index."""
        return self._taken_at(*self._key(key, call))

    def _taken_at(self, places: tuple[Any, ...], items: list[IndexItem]) -> Self:
        """Return the part for an index with every dim written out."""
        names = _names_at(self._names, self._data.shape, tuple(items))
        if all(item.kind != "array" for item in items):
            places = (*places, ...)  # keeps a single element an array, and stands for no dim
        try:
            data = self._data[places]
        except MemoryError as refused:
            raise exhausted("x[...]", refused) from refused
        return self._wrap(np.asarray(data), names)

    def _quick(self, key: Any) -> Self | None:
        """Return the part for integers and slices alone, the usual index, or None if it needs a check."""
        data, names = self._data, self._names
        if type(key) is int and len(names) > 1 and -data.shape[0] <= key < data.shape[0]:
            return self._wrap(data[key], names[1:])  # rows, the most frequent parts
        items = key if type(key) is tuple else (key,)
        if len(items) > len(names):
            return None
        kept = []
        for item, size, name in zip(items, data.shape, names):  # noqa: B905  a keyword takes a fifth of the time
            if type(item) is slice:
                kept.append(name)
            elif type(item) is not int or not -size <= item < size:
                return None
        try:
            return self._wrap(data[(*items, ...)], (*kept, *names[len(items) :]))
        except (TypeError, ValueError):
            return None  # an invalid slice

    def __setitem__(self, key: Any, value: Any) -> None:
        places, items = self._key(key)
        names = indexed_names(self._dims, items, "x[...]")
        shape = np.broadcast_to(np.empty((), np.bool_), self._data.shape)[places].shape
        try:
            data, value_names = data_and_names(value, "x[...] = value")
        except MeetsRecorded:
            RECORDED.assign(self, key, value)
            return
        pairing = Pairing("x[...] = value", "target", "value", "right")
        here, there = dims_of(names, shape), dims_of(value_names, np.shape(data))
        dims = broadcast(here, there, pairing)
        if tuple(dim.size for dim in dims) != shape:
            message = f"x[...] = value: a value of shape {np.shape(data)} does not fit into {shape}"
            most = f"x[...] has {counted(len(shape), 'dim')}: give a value of at most {len(shape)}"
            hint = most if len(there) > len(shape) else "a dim of size 1 is not enlarged by what is written"
            raise paired_fault("NE371", message, (here, there), pairing, ((), ()), hint)
        array = np.asarray(data)
        check_real(array, self._data.dtype, "x[...] = value")
        check_writeable(self, "x[...] = value")
        check_finite(array, self._data.dtype, "x[...] = value")
        if self._data.dtype.kind in "iu" and not array.ndim:
            value = data = plain(data)
        try:
            with np.errstate(all="ignore"):
                if array.dtype.kind in "OSU":  # each element may be invalid for the dtype
                    data = array.astype(self._data.dtype)
                if WATCHED:
                    is_view = all(item.kind != "array" for item in items)
                    WATCHED[0](self._data[(*places, ...)] if is_view else self._data, "x[...] = value")
                self._data[places] = data
        except REFUSED as refused:
            raise explained("x[...] = value", (self, value), refused) from refused

    @op("removes", extra=True)
    def isel(self, /, **indices: Any) -> Self:
        """Return the elements at indices of dims given by name: integers, slices, lists, masks, tensors.

        >>> ne.tensor([[1, 2, 3], [4, 5, 6]], names="N C").isel(N=0, C=slice(1, None))
        tensor([2, 3], names=('C',), shape=(2,))
        """
        key: list[Any] = [_WHOLE] * self._data.ndim
        for name, index in indices.items():
            if index is None or index is ...:
                raise bad_item(index)
            at = self._position(name, "isel")
            if key[at] is not _WHOLE:  # two spellings of one name
                positions(self._dims, ShownCall("isel", tuple(indices), (self._dims,)))
            key[at] = index
        quick = self._quick(tuple(key))
        if quick is not None:
            return quick
        arguments = [Verbatim(f"{name}={shown(index)}") for name, index in indices.items()]
        return self._part_at(tuple(key), ShownCall("isel", arguments, (self._dims,)))

    def _key(self, key: Any, call: ShownCall | None = None) -> tuple[tuple[Any, ...], list[IndexItem]]:
        """Return the index for NumPy, with every dim written out, and the kinds of its items."""
        given = key if isinstance(key, tuple) else (key,)
        pairs = [self._item(item, is_isel=call is not None) for item in given]
        taken = sum(item.takes for _, item in pairs)
        dots = [index for index, (part, _) in enumerate(pairs) if part is ...]
        if len(dots) > 1:
            raise fault("NE804", "an index can contain '...' only once", self._shown(key))
        if taken > self._data.ndim:
            message = f"an index for {counted(taken, 'dim')}, and the tensor has {self._data.ndim}"
            raise fault("NE804", message, self._shown(key))
        rest: list[tuple[Any, IndexItem]] = [(slice(None), IndexItem("slice", 1))] * (self._data.ndim - taken)
        if not rest and any(item.kind == "array" for _, item in pairs):
            rest = [(..., IndexItem("gap", 0))] if dots else []
        at = dots[0] if dots else len(pairs)
        pairs[at : at + 1] = rest
        self._check_bounds(pairs, given, call)
        return tuple(part for part, _ in pairs), [item for _, item in pairs]

    def _item(self, item: Any, *, is_isel: bool = False) -> tuple[Any, IndexItem]:
        if item is ...:
            return ..., IndexItem("slice", 0)
        if item is None:
            return None, IndexItem("new", 0)
        if isinstance(item, slice):
            return _checked_slice(item), IndexItem("slice", 1)
        if type(item) is not np.ndarray and not isinstance(item, int | Core) and is_foreign(item):
            item = as_core(item, "x[...]")
        if isinstance(item, Core | np.ndarray | list | tuple):
            return self._array_item(item)
        if not isinstance(item, bool | np.bool_):
            try:
                return as_index(item), IndexItem("int", 1)
            except TypeError:
                pass
        names = [name for name in self._names if name is not None]
        if isinstance(item, str) and names and not is_isel:
            name = item if item in names else names[0]
            raise bad_item(item, f"x.isel({as_keywords({name: 0})}) indexes by name")
        raise bad_item(item)

    def _check_bounds(
        self, pairs: list[tuple[Any, IndexItem]], given: tuple[Any, ...], call: ShownCall | None
    ) -> None:
        at = 0
        for place, (part, item) in enumerate(pairs):
            indices = [part] if item.kind == "int" else []
            if item.kind == "array" and self._is_mask(part):
                sizes = tuple(self._data.shape[at : at + part.ndim])
                if tuple(part.shape) != sizes:
                    message = f"x[...]: a mask of shape {part.shape} does not fit dims of shape {sizes}"
                    hint = "a mask has the sizes of the dims that it indexes"
                    raise fault("NE383", message, call or self._shown(given), hint=hint)
                if item.mask and item.mask != self._names[at : at + part.ndim]:
                    check_mask(self._dims[at : at + part.ndim], item.mask)
            elif item.kind == "array":
                indices = self._extremes(part)
            for index in indices:
                if not -self._data.shape[at] <= index < self._data.shape[at]:
                    is_behind = any(item is ... for item in given[: place + 1])
                    marked = place + is_behind * (len(given) - len(pairs))  # after `...` from the right
                    raise self._no_index(index, at, marked, given, call)
            at += item.takes
        check_array_sizes([item for _, item in pairs], "x[...]")

    def _is_mask(self, array: Any) -> bool:
        return array.dtype == np.bool_  # type: ignore[no-any-return]

    def _extremes(self, indices: Any) -> list[int]:
        """Return the smallest and the largest of an array of indices, nothing if it is empty."""
        return [int(indices.min()), int(indices.max())] if indices.size else []

    def _array_item(self, item: Any) -> tuple[Any, IndexItem]:
        is_plain = isinstance(item, Core) and item._kernels is not RECORDED
        names = as_core(item, "x[...]")._names if is_plain else None
        try:
            array = item._data if isinstance(item, Core) else np.asarray(item)
        except (TypeError, ValueError) as refused:
            raise bad_item(item) from refused
        if not array.size and not isinstance(item, Core | np.ndarray):
            array = array.astype(np.int64)
        if array.dtype == np.bool_ and array.ndim:
            count = int(np.count_nonzero(array))
            return array, mask_item(array.ndim, count, names)
        if array.dtype.kind not in "iu":
            raise bad_item(item)
        if not array.ndim:
            return int(array), IndexItem("int", 1)
        return array, IndexItem("array", 1, names or (None,) * array.ndim, array.shape)

    def _no_index(
        self, index: int, at: int, place: int, given: tuple[Any, ...], call: ShownCall | None
    ) -> NameExprError:
        """Return the error for an index that is out of bounds, as `x[...]` or a call of isel shows it."""
        if call is not None:
            name = f"{self._names[at]}="
            place = next(at for at, given in enumerate(call.arguments) if str(given).startswith(name))
        dims = self._dims
        return no_index(index, called(dims, at), dims[at].size, call or self._shown(given), place)

    def _shown(self, key: Any) -> ShownCall:
        items = key if isinstance(key, tuple) else (key,)
        return ShownCall("x", [Verbatim(shown(item)) for item in items], (self._dims,), "[", "]")

    def __len__(self) -> int:
        if not self._data.ndim:
            raise fault("NE801", "a 0-d tensor has no length", ShownCall("len", (Verbatim("x"),), ((),)))
        return len(self._data)

    def __iter__(self) -> Iterator[Self]:
        if not self._data.ndim:
            call = ShownCall("iter", (Verbatim("x"),), ((),))
            raise fault("NE801", "a 0-d tensor has no dim to iterate over", call)
        return (self[number] for number in range(self._data.shape[0]))

    def __contains__(self, value: object) -> bool:
        data = value._data if isinstance(value, Core) else value
        return bool(np.any(self._data == data))


_INDICES = "an index is an integer, a slice, None, '...', or an array of integers or bools"


def mask_item(ndim: int, count: int, names: Names | None) -> IndexItem:
    """Return the item for a mask with this number of dims and of true elements."""
    kept = names if names and ndim == 1 else (None,)
    return IndexItem("array", ndim, kept, (count,), names or ())


def _checked_slice(item: slice) -> slice:
    """Return a slice whose bounds are integers or None, and whose step is not 0 (NE683)."""
    try:
        item.indices(0)
    except (TypeError, ValueError) as refused:
        is_stuck = isinstance(item.step, int) and item.step == 0
        hint = "a step cannot be 0" if is_stuck else "the ends of a slice are integers or left out"
        raise bad_item(item, hint) from refused
    return item


def bad_item(item: Any, hint: str = _INDICES) -> NameExprError:
    """Return the error for an object that is not an index (NE683)."""
    return error(Diagnostic("NE683", f"{shown(item)} is not an index", hint=hint))
