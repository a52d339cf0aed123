"""Choosing elements by a mask or by indices along a dim.

A mask is a tensor or array of bools; it pairs with the tensor from the right, and paired names must match.

>>> x = ne.tensor([[1.0, 2.0], [3.0, 4.0]], names="N C")
>>> x.masked_fill(ne.tensor([True, False], names="C"), 0)
tensor([[0., 2.],
        [0., 4.]], names=('N', 'C'), shape=(2, 2))
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from nameexpr.backends.numpy.arrays import category, common_dtype
from nameexpr.dims import Names, shape_of
from nameexpr.errors import Diagnostic, error
from nameexpr.rules.calls import ShownCall, called, counted, shown
from nameexpr.rules.indexing import no_index
from nameexpr.rules.pairing import Pairing, paired_fault
from nameexpr.rules.pairing import broadcast as pairing_broadcast
from nameexpr.rules.remembered import broadcast
from nameexpr.rules.writing import check_written
from nameexpr.tensors.arguments import plain
from nameexpr.tensors.core import Array, Core, OneDim, Other
from nameexpr.tensors.faults import explained
from nameexpr.tensors.operators import Operators, as_core, carrying, data_and_names
from nameexpr.tensors.ops import check_constant, in_place, op
from nameexpr.tensors.writing import COMPLEX, WATCHED, check_real, check_writeable, store

_FILLED = Pairing("masked_fill", "tensor", "mask")
_CHOICES, _CONDITION = Pairing("where"), Pairing("where", "tensor", "condition")
_FILLED_IN_PLACE = Pairing("masked_fill_", "tensor", "mask", "right")


class Masks(Operators):
    """masked_fill, masked_select, where, index_fill, index_select, gather."""

    __slots__ = ()

    @op("keeps")
    @carrying
    def masked_fill(self, mask: Other, value: Other, *, out: Core | None = None) -> Self:
        """Return a copy with `value` where the mask is true; the value is cast to the dtype.

        Raises
        ------
        OperandError
            NE573 if the mask is not of bools, NE579 if the value is neither a number nor a 0-d tensor.
        SizeError
            NE380 if the mask has more dims than the tensor.

        Examples
        --------
        >>> ne.tensor([1, 2], names="N").masked_fill(np.array([True, False]), 7)
        tensor([7, 2], names=('N',), shape=(2,))
        """
        roles = _FILLED_IN_PLACE if out is self else _FILLED
        where = self._as_mask(mask, roles.verb)
        number = self._fill_value(value, roles.verb)
        names, shape = self._names, self._data.shape
        if where._names != names or where._data.shape != shape:
            names, shape = broadcast(names, shape, where._names, where._data.shape, roles)
        if where._data.ndim > self._data.ndim:
            rank = counted(where._data.ndim, "dim")
            message = f"{roles.verb}: the mask has {rank}, the tensor {self._data.ndim}"
            hint = "a mask has at most the dims of the tensor"
            if None not in self._names and set(self._names) <= set(where._names):
                hint = "tensor.align_as(mask).masked_fill(mask, value) gives the tensor the mask's dims"
            raise paired_fault("NE380", message, (self._dims, where._dims), roles, ((), ()), hint)
        if out is self:
            check_written(self._dims, names, shape, "masked_fill_")
            return self._fill_where(where._data, number, names)
        return self._put(self._filled_where(where._data, number, shape), names, "masked_fill", out)

    masked_fill_ = in_place(masked_fill)

    def _filled_where(self, mask: Array, number: Array, shape: tuple[int, ...]) -> Array:
        data = self._data.copy() if shape == self._data.shape else np.broadcast_to(self._data, shape).copy()
        np.copyto(data, number, where=mask, casting="unsafe")
        return data

    def _fill_where(self, mask: Array, number: Array, names: Names) -> Self:
        check_writeable(self, "masked_fill_")
        if names == self._names:
            if WATCHED:
                WATCHED[0](self._data, "masked_fill_")
            np.copyto(self._data, number, where=mask, casting="unsafe")
        else:
            store(self, np.where(mask, number, self._data), names, "masked_fill_")
        return self

    def _as_mask(self, mask: Any, verb: str) -> Core:
        return as_mask(mask, verb)

    @op("drops")
    def masked_select(self, mask: Other, *, out: Core | None = None) -> Self:
        """Return the elements where the mask is true, in row-major order: one dim, without a name.

        >>> ne.tensor([[1, 2], [3, 4]], names="N C").masked_select(ne.tensor([True, False], names="C"))
        tensor([1, 3], shape=(2,))
        """
        where = self._as_mask(mask, "masked_select")
        roles = Pairing("masked_select", "tensor", "mask")
        shape = broadcast(self._names, self._data.shape, where._names, where._data.shape, roles)[1]
        return self._put(self._where_true(where._data, shape), (None,), "masked_select", out)

    def _where_true(self, mask: Array, shape: tuple[int, ...]) -> Array:
        return np.atleast_1d(np.broadcast_to(self._data, shape)[np.broadcast_to(mask, shape)])

    @op("unifies", extra=True)
    def where(self, condition: Other, other: Other) -> Self:
        """Return the elements where the condition is true, and those of `other` elsewhere.

        >>> x = ne.tensor([1, -2], names="N")
        >>> x.where(x > 0, 0)
        tensor([1, 0], names=('N',), shape=(2,))
        """
        return self._chosen(condition, self, other)  # type: ignore[no-any-return]

    def _chosen(self, condition: Any, x: Any, y: Any) -> Any:
        return choose(condition, x, y)

    def _fill_value(self, value: Any, verb: str) -> Array:
        """Return a number, or a 0-d tensor, as a 0-d array (NE579)."""
        if type(value) in (int, float, bool):
            return self._cast_value(value, verb)
        check_constant(value)
        array = np.asarray(value._data if isinstance(value, Core) else value)
        if not array.ndim and category(array.dtype) <= COMPLEX:
            check_real(array, self._data.dtype, verb)
            return self._cast_value(array, verb)
        message = f"{verb}: the value must be a number or a 0-d tensor, not {shown(value)}"
        hint = _VALUES.get(verb.rstrip("_"), "where(condition, x, y)")
        raise error(Diagnostic("NE579", message, hint=f"{hint} takes values from a tensor"))

    def _cast_value(self, value: Any, verb: str) -> Array:
        """Return a number in the tensor's dtype: fractions are truncated (NE577 if an integer dtype cannot
        hold it).
        """
        dtype = self._data.dtype
        try:
            if dtype.kind in "iu":
                return np.asarray(plain(value), dtype)
            if type(value) is not int and (dtype.kind != "f" or dtype.itemsize < np.float64().itemsize):
                with np.errstate(all="ignore"):
                    return np.asarray(value).astype(dtype)
            return np.asarray(value, dtype)
        except (OverflowError, ValueError) as refused:
            raise explained(verb, (self, plain(value)), refused) from refused

    @op("keeps")
    def index_fill(self, dim: OneDim, index: Other, value: Other, *, out: Core | None = None) -> Self:
        """Return a copy with `value` at some indices along a dim; the value is cast to the dtype.

        >>> ne.tensor([[1, 2, 3]], names="N C").index_fill("C", [0, -1], 7)
        tensor([[7, 2, 7]], names=('N', 'C'), shape=(1, 3))
        """
        verb = "index_fill_" if out is self else "index_fill"
        data, at = self._along(dim, verb)
        places = self._indices(index, at, data, verb)
        filled = self._filled_at(data, places, at, self._fill_value(value, verb), out)
        if out is self:
            return self
        return self._put(filled.reshape(self._data.shape), self._names, "index_fill", out)

    index_fill_ = in_place(index_fill)

    def _filled_at(self, data: Array, places: Array, at: int, number: Array, out: Core | None) -> Array:
        """Return a copy with a number at positions along an axis; in place, the array itself."""
        if out is self:
            check_writeable(self, "index_fill_")
            if WATCHED:
                WATCHED[0](self._data, "index_fill_")
        else:
            data = data.copy()
        data[(slice(None),) * at + (places,)] = number
        return data

    @op("keeps", extra=True)
    def index_select(self, dim: OneDim, index: Other) -> Self:
        """Return the elements at some indices along a dim, which keeps its name.

        >>> ne.tensor([[1, 2, 3]], names="N C").index_select("C", [2, 0])
        tensor([[3, 1]], names=('N', 'C'), shape=(1, 2))
        """
        at = self._position(dim, "index_select")
        places = self._indices(index, at, self._data, "index_select")
        return self._wrap(self._taken(places, at), self._names)

    def _taken(self, places: Array, at: int) -> Array:
        return np.take(self._data, np.atleast_1d(places), axis=at)

    @op("keeps", extra=True)
    @carrying
    def gather(self, dim: OneDim, index: Other) -> Self:
        """Return the elements that `index`, a tensor with the same dims, points at along a dim.

        >>> x = ne.tensor([[1, 2], [3, 4]], names="N C")
        >>> x.gather("C", ne.tensor([[1], [0]], names="N C"))
        tensor([[2],
                [3]], names=('N', 'C'), shape=(2, 1))
        """
        at = self._position(dim, "gather")
        tensor = self._as_core(index, "gather")
        pairing = Pairing("gather", "tensor", "index", "right")
        without = self._dims[:at] + self._dims[at + 1 :]
        others = tensor._dims[:at] + tensor._dims[at + 1 :]
        pairing_broadcast(without, others, pairing)
        if shape_of(without) != shape_of(others) or tensor._data.ndim != self._data.ndim:
            along = called(self._dims, at)
            message = f"gather: the index differs from the tensor in more than {along}"
            hint = f"the index has the dims of the tensor, and all its sizes except in {along}"
            raise paired_fault("NE381", message, (self._dims, tensor._dims), pairing, ((), ()), hint)
        places = self._bounded(tensor._data, at, self._data.shape[at], "gather")
        return self._wrap(self._taken_along(places, at), self._names)

    def _taken_along(self, places: Array, at: int) -> Array:
        return np.take_along_axis(self._data, places, at)

    def _indices(self, index: Any, at: int, data: Array, verb: str) -> Array:
        """Return indices along an axis as an array of at most one dim (NE677, NE802)."""
        places = as_core(index, verb)._data
        if places.ndim > 1:
            message = f"{verb}: indices along a dim must have one dim, not {places.ndim}"
            raise error(Diagnostic("NE677", message, hint="flatten them first"))
        places = places.astype(np.int64) if not places.size else places
        return self._bounded(places, at, data.shape[at], verb)

    def _bounded(self, places: Array, at: int, size: int, verb: str) -> Array:
        if places.dtype.kind not in "iu":
            message = f"{verb}: indices must be integers, not {places.dtype}"
            mask = f"{_MASKED[verb.rstrip('_')]} takes a mask of bools"
            hint = mask if places.dtype == np.bool_ else "x.long() converts them to integers"
            raise error(Diagnostic("NE677", message, hint=hint))
        bad = places[(places < -size) | (places >= size)]
        if bad.size:
            what = called(self._dims, at) if self._data.ndim else "the 0-d tensor"
            call = ShownCall(verb, (self._names[at] if self._data.ndim else 0, ...), (self._dims,))
            raise no_index(int(bad.flat[0]), what, size, call, 1, f"{verb}: ")
        return places


_VALUES = {"fill": "copy_", "index_fill": "x[...] = values"}
"""The functions that take values from a tensor, other than `where`."""
_MASKED = {"index_fill": "masked_fill", "index_select": "masked_select", "gather": "where"}


def as_mask(mask: Any, verb: str, role: str = "mask") -> Core:
    """Return a mask as a tensor (NE573 if it is not of bools)."""
    tensor = as_core(mask, verb)
    if tensor._data.dtype != np.bool_:
        message = f"{verb}: the {role} is {tensor._data.dtype}, not bool"
        raise error(Diagnostic("NE573", message, hint=f"a comparison makes one: {role} != 0"))
    return tensor


def choose(mask: Any, x: Any, y: Any) -> Any:
    """Return `x` where the condition is true and `y` elsewhere; the dims of all three pair from the right."""
    condition = as_mask(mask, "where", "condition")
    (a, left), (b, right) = (data_and_names(value, "where") for value in (x, y))
    both = broadcast(left, np.shape(a), right, np.shape(b), _CHOICES)
    names, _ = broadcast(*both, condition._names, condition._data.shape, _CONDITION)
    dtype = common_dtype(a, b)  # np.where does not treat Python scalars as weak
    values = np.where(condition._data, np.asarray(a, dtype), np.asarray(b, dtype))
    chosen = Core._tensor_class._wrap(np.asarray(values), names)
    operands = [as_core(value, "where") for value in (mask, x, y) if hasattr(value, "shape")]
    if not any(operand._coordinates for operand in operands):
        return chosen
    from nameexpr.tensors.labelled import attach
    from nameexpr.tensors.surviving import of_all

    return attach(chosen, of_all(operands, "where"))
