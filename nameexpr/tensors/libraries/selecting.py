"""Indexing and masks, by the functions of a library, and the methods that move dims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from nameexpr.dims import dims_of, names_of, shape_of
from nameexpr.errors import Diagnostic, error
from nameexpr.rules.calls import ShownCall, called, counted, shown
from nameexpr.rules.indexing import IndexItem, indexed_names, no_index
from nameexpr.rules.names import Alignment
from nameexpr.rules.pairing import Pairing, paired_fault
from nameexpr.rules.pairing import broadcast as pairing_broadcast
from nameexpr.tensors.core import Array, Core, OneDim, Other
from nameexpr.tensors.indexing import Indexing, bad_item, mask_item
from nameexpr.tensors.libraries.operators import LibraryOperators
from nameexpr.tensors.masks import Masks
from nameexpr.tensors.movement import Movement
from nameexpr.tensors.operators import NUMBERS
from nameexpr.tensors.ops import checked
from nameexpr.tensors.shapes import Shapes

_ASSIGNED = "x[...] = value"


class LibrarySelecting(LibraryOperators, Movement, Shapes, Indexing, Masks):
    """The methods of `Movement`, `Shapes`, `Indexing` and `Masks` that touch elements."""

    __slots__ = ()

    def _aligned(self, alignment: Alignment) -> Self:
        data, order = self._data, alignment.order
        if None not in order:
            return self._named(self._kernels.permute(data, order), alignment.names)
        moved = self._kernels.permute(data, [at for at in order if at is not None])
        return self._named(
            moved.reshape([1 if at is None else data.shape[at] for at in order]), alignment.names
        )

    def _ordered(self, order: list[int]) -> Self:
        return self._named(self._kernels.permute(self._data, order), tuple([self._names[at] for at in order]))

    def _expanded(self, shape: Sequence[int]) -> Array:
        return self._kernels.broadcast_to(self._data, shape)  # type: ignore[no-any-return]

    def _resized(self, shape: tuple[int, ...]) -> Array:
        self._check_writes("resize_")
        try:
            return self._kernels.resized(self._data, shape)  # type: ignore[no-any-return]
        except Exception as fault:
            raise self._refusal(fault, "resize_", (self,)) from fault

    def _part_at(self, key: Any, call: ShownCall | None = None) -> Self:
        places, items = self._key(key, call)
        names = indexed_names(self._dims, items, "x[...]")
        try:
            return self._wrap(self._kernels.at(self._data, places), names)
        except Exception as fault:
            raise self._refusal(fault, "x[...]", (self,)) from fault

    def _item(self, item: Any, *, is_isel: bool = False) -> tuple[Any, IndexItem]:
        if isinstance(item, Core | self._kernels.Array | np.ndarray | list | tuple):
            return self._array_item(item)
        return super()._item(item, is_isel=is_isel)

    def _array_item(self, item: Any) -> tuple[Any, IndexItem]:
        kernels = self._kernels
        if isinstance(item, list | tuple) and not item:
            return kernels.empty_index(self._data), IndexItem("array", 1, (None,), (0,))
        try:
            core = self._operand(item, "x[...]")
        except ValueError as refused:
            if isinstance(item, list | tuple):
                raise bad_item(item) from refused
            raise
        array, kind = core._data, kernels.kind_of(core._data.dtype)
        names = core._names if any(core._names) else None
        if kind == "b" and array.ndim:
            return array, mask_item(array.ndim, core._read("count_true", "x[...]"), names)
        if kind not in "iu":
            raise bad_item(item)
        if not array.ndim and kernels.has_values(array):
            return int(array), IndexItem("int", 1)
        return array, IndexItem("array", 1, core._names, tuple(array.shape))

    def _is_mask(self, array: Any) -> bool:
        return self._kernels.kind_of(array.dtype) == "b"  # type: ignore[no-any-return]

    def _extremes(self, indices: Any) -> list[int]:
        is_known = self._kernels.has_values(indices) and self._kernels.size(indices)
        return [int(indices.min()), int(indices.max())] if is_known else []

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check_writes(_ASSIGNED)
        places, items = self._key(key)
        names = indexed_names(self._dims, items, "x[...]")
        value = self._operand(value, _ASSIGNED)
        is_number = type(value) in NUMBERS
        data = value if is_number else value._data
        try:
            if not is_number:
                shape = tuple(self._kernels.at(self._data, places).shape)
                self._check_fits_into(names, shape, value._names, tuple(data.shape))
            self._kernels.put(self._data, places, data)
        except Exception as fault:
            raise self._refusal(fault, _ASSIGNED, (self,)) from fault

    def _check_fits_into(self, names: Any, shape: Any, value_names: Any, value_shape: Any) -> None:
        """Raise NE371 unless a value fits into the part of the tensor at an index."""
        pairing = Pairing(_ASSIGNED, "target", "value", "right")
        here, there = dims_of(names, shape), dims_of(value_names, value_shape)
        if shape_of(pairing_broadcast(here, there, pairing)) != shape:
            message = f"{_ASSIGNED}: a value of shape {value_shape} does not fit into {shape}"
            most = f"x[...] has {counted(len(shape), 'dim')}: give a value of at most {len(shape)}"
            hint = most if len(there) > len(shape) else "a dim of size 1 is not enlarged by what is written"
            raise paired_fault("NE371", message, (here, there), pairing, ((), ()), hint)

    def __contains__(self, value: object) -> bool:
        operand = self._operand(value, "in")
        return bool((self._data == (operand if type(operand) in NUMBERS else operand._data)).any())

    def _as_mask(self, mask: Any, verb: str, role: str = "mask") -> Core:
        tensor: Core = self._as_core(mask, verb)
        if self._kernels.kind_of(tensor._data.dtype) != "b":
            message = f"{verb}: the {role} is {tensor._data.dtype}, not bool"
            raise error(Diagnostic("NE573", message, hint=f"a comparison makes one: {role} != 0"))
        return tensor

    def _filled_where(self, mask: Array, number: Any, shape: tuple[int, ...]) -> Array:
        data = self._data if tuple(self._data.shape) == shape else self._expanded(shape)
        return self._kernels.masked_fill(data, mask, number)  # type: ignore[no-any-return]

    def _fill_where(self, mask: Array, number: Any, names: Any) -> Self:
        self._check_writes("masked_fill_")
        try:
            self._kernels.IN_PLACE["masked_fill"](self._data, mask, number)
        except Exception as fault:
            raise self._refusal(fault, "masked_fill_", (self,), self) from fault
        self._names = names
        return self

    def _where_true(self, mask: Array, shape: tuple[int, ...]) -> Array:
        return self._kernels.masked_select(self._data, mask)  # type: ignore[no-any-return]

    def _fill_value(self, value: Any, verb: str) -> Any:
        """Return a number, or a 0-d tensor, in the dtype of this tensor (NE570, NE579)."""
        operand: Any = self._operand(value, verb) if not isinstance(value, str | None) else value
        is_number = type(operand) in NUMBERS
        if not is_number and not (isinstance(operand, Core) and not operand._data.ndim):
            message = f"{verb}: the value must be a number or a 0-d tensor, not {shown(value)}"
            hint = {"fill": "copy_", "index_fill": "x[...] = values"}.get(
                verb.rstrip("_"), "where(condition, x, y)"
            )
            raise error(Diagnostic("NE579", message, hint=f"{hint} takes values from a tensor"))
        kernels = self._kernels
        if is_number and kernels.is_held(operand, self._data.dtype):
            return operand
        is_complex = type(operand) is complex if is_number else kernels.kind_of(operand.dtype) == "c"
        if is_complex and kernels.kind_of(self._data.dtype) != "c":
            message = f"{verb}: a complex value cannot be written into a tensor of {self.dtype}"
            raise error(Diagnostic("NE570", message, hint="convert the tensor first: x.to('complex128')"))
        try:
            if is_number:
                return kernels.scalar(operand, self._data)
            return kernels.cast(operand._data, self._data.dtype)
        except Exception as fault:
            raise self._refusal(fault, verb, (self,)) from fault

    def _filled_at(self, data: Array, places: Any, at: int, number: Any, out: Core | None) -> Array:
        if out is self:
            self._check_writes("index_fill_")
        try:
            if out is self:
                self._kernels.IN_PLACE["index_fill"](data, at, places, number)
                return data
            return self._kernels.fill_at(data, places, at, number)  # type: ignore[no-any-return]
        except Exception as fault:
            raise self._refusal(fault, "index_fill", (self,)) from fault

    @checked
    def index_select(self, dim: OneDim, index: Other) -> Self:
        """Return the elements at some indices along a dim, which keeps its name."""
        at = self._position(dim, "index_select")
        given: Any = index._data if type(index) is type(self) else index
        if isinstance(given, self._kernels.Array) and given.ndim == 1 and self._kernels.checks_bounds(given):
            try:
                return self._named(self._kernels.take(self._data, given, at), self._names)
            except self._kernels.REFUSED:
                pass  # negative indices, or an error that is analysed below
        places = self._indices(index, at, self._data, "index_select")
        return self._named(self._taken(places, at), self._names)

    def _taken(self, places: Any, at: int) -> Array:
        return self._kernels.take(self._data, places.reshape(-1), at)  # type: ignore[no-any-return]

    def _taken_along(self, places: Any, at: int) -> Array:
        return self._kernels.take_along(self._data, places, at)  # type: ignore[no-any-return]

    def _indices(self, index: Any, at: int, data: Array, verb: str) -> Any:
        is_empty = isinstance(index, list | tuple) and not index
        places = self._kernels.empty_index(self._data) if is_empty else self._places(index, verb)
        if places.ndim > 1:
            message = f"{verb}: indices along a dim must have one dim, not {places.ndim}"
            raise error(Diagnostic("NE677", message, hint="flatten them first"))
        if not self._kernels.size(places):
            places = self._kernels.empty_index(self._data)
        return self._bounded(places, at, data.shape[at], verb)

    def _places(self, index: Any, verb: str) -> Any:
        return self._as_core(index, verb)._data

    def _bounded(self, places: Any, at: int, size: int, verb: str) -> Any:
        """Return positions along an axis, none of them negative (NE802 if a known one is outside)."""
        kind = self._kernels.kind_of(places.dtype)
        if kind not in "iu":
            message = f"{verb}: indices must be integers, not {places.dtype}"
            raise error(Diagnostic("NE677", message, hint="x.long() converts them to integers"))
        extremes = self._extremes(places)
        for index in extremes:
            if not -size <= index < size:
                what = called(self._dims, at) if self._data.ndim else "the 0-d tensor"
                call = ShownCall(verb, (self._names[at] if self._data.ndim else 0, ...), (self._dims,))
                raise no_index(index, what, size, call, 1, f"{verb}: ")
        if extremes and extremes[0] >= 0:
            return places
        return self._kernels.where(places < 0, places + size, places)

    def _chosen(self, condition: Any, x: Any, y: Any) -> Any:
        mask = self._as_mask(condition, "where", "condition")
        given = [self._operand(value, "where") for value in (x, y)]
        names = mask._names
        if all(type(each) in NUMBERS or each._names == names for each in given):
            data = [each if type(each) in NUMBERS else each._data for each in given]
            try:
                return self._named(self._kernels.where(mask._data, *data), names)
            except self._kernels.REFUSED:
                pass  # analysed below
        both = [self._as_core(value, "where") for value in (x, y)]
        dims = pairing_broadcast(both[0]._dims, both[1]._dims, Pairing("where"))
        dims = pairing_broadcast(dims, mask._dims, Pairing("where", "tensor", "condition"))
        data = [
            given if type(given) in NUMBERS else each._data for given, each in zip((x, y), both, strict=True)
        ]
        try:
            return self._named(self._kernels.where(mask._data, *data), names_of(dims))
        except Exception as fault:
            raise self._refusal(fault, "where", tuple(both)) from fault
