"""Order statistics: median, mode, kthvalue, topk, sorting, and the largest and smallest elements with their
indices.

With a dim they return `Selected(values, indices)`, a named tuple of two tensors; indices are positions along
that dim. Which one of equal elements an index refers to is unspecified.

>>> x = ne.tensor([[3, 1, 2], [4, 6, 5]], names="N C")
>>> values, indices = x.median("C")
>>> values
tensor([2, 5], names=('N',), shape=(2,))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, Self, TypeVar, Unpack, cast, overload

import numpy as np

from nameexpr.backends.numpy import ordering
from nameexpr.backends.numpy.arrays import is_inexact
from nameexpr.rules.calls import ShownCall, called, counted, fault, shown, spelt
from nameexpr.tensors.arguments import checked_int
from nameexpr.tensors.core import Array, Core, OneDim
from nameexpr.tensors.faults import unordered
from nameexpr.tensors.operators import remove_names
from nameexpr.tensors.ops import op
from nameexpr.tensors.reductions import ALL, Reductions

if TYPE_CHECKING:
    from nameexpr.tensors.keywords import Axis, AxisAndKeepdims


T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Selected(NamedTuple, Generic[T_co]):
    """Elements that were selected along a dim, and their positions along it.

    >>> ne.tensor([3, 1, 2], names="N").max("N")
    values_and_indices(
    values=tensor(3),
    indices=tensor(0))
    """

    values: T_co
    indices: T_co

    def __repr__(self) -> str:
        """Return both tensors, each on separate lines."""
        return f"values_and_indices(\nvalues={self.values!r},\nindices={self.indices!r})"

    def _repr_html_(self) -> str:
        """Return the tables of both tensors for notebooks."""
        tables = ((name, getattr(self, name)._repr_html_()) for name in self._fields)
        return "".join(f"<p>{name}</p>{table}" for name, table in tables)


class _StatisticOfTensor(Protocol[T_co]):
    @overload
    def __call__(self) -> T_co: ...

    @overload
    def __call__(self, other: Core | Array, /) -> T_co: ...

    @overload
    def __call__(self, dim: OneDim, keepdim: bool = False) -> Selected[T_co]: ...

    @overload
    def __call__(self, *, axis: OneDim, keepdims: bool = False) -> Selected[T_co]: ...


class OrderStatistic(Protocol):
    """The type of `max` and the like for type checkers: a tensor, or along a dim `(values, indices)`."""

    @overload
    def __get__(self, tensor: None, kind: Any) -> Callable[..., Any]: ...

    @overload
    def __get__(self, tensor: T, kind: Any) -> _StatisticOfTensor[T]: ...


def _of_all_or_along(method: Callable[..., Any]) -> OrderStatistic:
    """Return a method unchanged: only type checkers see another type."""
    return cast("OrderStatistic", method)


class Ordering(Reductions):
    """median, nanmedian, mode, kthvalue, topk, max, min, argmax, argmin, sort, argsort."""

    __slots__ = ()

    @_of_all_or_along
    @op("removes")
    def median(self, dim: Any = ALL, keepdim: bool = False, **others: Unpack[AxisAndKeepdims]) -> Any:
        """Return the lower median: the middle element, or the smaller of the middle two; nan if there is one.

        The result is a 0-d tensor, or along a dim `(values, indices)`.

        >>> ne.tensor([3.0, 1.0, 2.0, 4.0]).median()
        tensor(2.)
        """
        return self._middle("median", dim, keepdim)

    @_of_all_or_along
    @op("removes")
    def nanmedian(self, dim: Any = ALL, keepdim: bool = False, **others: Unpack[AxisAndKeepdims]) -> Any:
        """Return the lower median of the elements that are not nan.

        >>> ne.tensor([3.0, float("nan"), 4.0]).nanmedian()
        tensor(3.)
        """
        return self._middle("nanmedian", dim, keepdim)

    def _middle(self, verb: str, dim: Any, keepdim: bool) -> Any:
        if dim is not ALL:
            return self._select(verb, dim, keepdim)
        self._check_ordered(verb)
        if not is_inexact(self._data.dtype):  # the median of no elements is nan, if the dtype has it
            self._check_not_empty(verb, ALL)
        return self._named(ordering.OF_ALL[verb](self._data), ())

    @op("removes")
    def mode(
        self, dim: OneDim = -1, keepdim: bool = False, **others: Unpack[AxisAndKeepdims]
    ) -> Selected[Self]:
        """Return the most frequent element along a dim, the smallest of several, and a position of it.

        >>> ne.tensor([2, 1, 1, 2, 3]).mode().values
        tensor(1)
        """
        return self._select("mode", dim, keepdim)

    @op("removes")
    def kthvalue(
        self, k: int, dim: OneDim = -1, keepdim: bool = False, **others: Unpack[AxisAndKeepdims]
    ) -> Selected[Self]:
        """Return the k-th smallest element along a dim, counted from 1, and its position.

        Raises
        ------
        SizeError
            NE389 if there are fewer than k elements.

        Examples
        --------
        >>> ne.tensor([[3, 1, 2]], names="N C").kthvalue(2, "C").values
        tensor([2], names=('N',), shape=(1,))
        """
        self._check_count(k, self._along(dim, "kthvalue")[1], "kthvalue", least=1)
        return self._select("kthvalue", dim, keepdim, k)

    @op("keeps")
    def topk(
        self, k: int, dim: OneDim = -1, largest: bool = True, sorted: bool = True, **others: Unpack[Axis]
    ) -> Selected[Self]:
        """Return the k largest (or smallest) elements along a dim, the best first, and their positions.

        >>> ne.tensor([[3, 1, 2]], names="N C").topk(2, "C").values
        tensor([[3, 2]], names=('N', 'C'), shape=(1, 2))
        """
        at = self._along(dim, "topk")[1]
        self._check_count(k, at, "topk", least=0)
        self._check_ordered("topk")
        if not self._data.ndim:
            return Selected(self, self._named(np.zeros((), np.int64), ()))
        values, indices = ordering.of_any(ordering.topk, self._data, k, at, largest, sorted)
        return Selected(self._wrap(values, self._names), self._wrap(indices, self._names))

    @_of_all_or_along
    @op("removes", extra=True)
    def max(self, dim: Any = ALL, keepdim: bool = False, **others: Unpack[AxisAndKeepdims]) -> Any:
        """Return the largest element; along a dim `(values, indices)`; `x.max(y)` is `maximum`.

        >>> ne.tensor([[3, 1], [2, 4]], names="N C").max("C").values
        tensor([3, 4], names=('N',), shape=(2,))
        """
        return self._extreme("max", dim, keepdim)

    @_of_all_or_along
    @op("removes", extra=True)
    def min(self, dim: Any = ALL, keepdim: bool = False, **others: Unpack[AxisAndKeepdims]) -> Any:
        """Return the smallest element; along a dim `(values, indices)`; `x.min(y)` is `minimum`.

        >>> ne.tensor([[3, 1], [2, 4]], names="N C").min("C").indices
        tensor([1, 0], names=('N',), shape=(2,))
        """
        return self._extreme("min", dim, keepdim)

    def _extreme(self, verb: str, dim: Any, keepdim: bool) -> Any:
        if isinstance(dim, Core | np.ndarray):
            return getattr(self, f"{verb}imum")(dim)
        if dim is ALL:
            self._check_choice(verb, ALL)
            return getattr(self, f"a{verb}")()
        return self._select(verb, dim, keepdim)

    @op("removes", extra=True)
    def argmax(
        self, dim: OneDim | None = None, keepdim: bool = False, **others: Unpack[AxisAndKeepdims]
    ) -> Self:
        """Return the index of the largest element along a dim; without a dim, in the flattened tensor.

        >>> ne.tensor([[3, 1], [2, 4]], names="N C").argmax("C")
        tensor([0, 1], names=('N',), shape=(2,))
        """
        return self._where_extreme("argmax", dim, keepdim)

    @op("removes", extra=True)
    def argmin(
        self, dim: OneDim | None = None, keepdim: bool = False, **others: Unpack[AxisAndKeepdims]
    ) -> Self:
        """Return the index of the smallest element along a dim; without a dim, in the flattened tensor.

        >>> ne.tensor([[3, 1], [2, 4]], names="N C").argmin()
        tensor(1)
        """
        return self._where_extreme("argmin", dim, keepdim)

    def _where_extreme(self, verb: str, dim: Any, keepdim: bool) -> Self:
        if dim is not None:
            return self._select(verb, dim, keepdim).indices
        self._check_choice(verb, ALL)
        indices = ordering.of_any(ordering.ALONG[verb], self._data.reshape(-1), 0)[1]
        if keepdim:
            return self._named(indices.reshape((1,) * self._data.ndim), self._names)
        return self._named(indices, ())

    @op("keeps", extra=True)
    def sort(
        self, dim: OneDim = -1, descending: bool = False, *, stable: bool = False, **others: Unpack[Axis]
    ) -> Selected[Self]:
        """Return the elements in order along a dim, and the index of each; nan counts as largest.

        >>> ne.tensor([[3, 1, 2]], names="N C").sort("C").values
        tensor([[1, 2, 3]], names=('N', 'C'), shape=(1, 3))
        """
        if self._data.dtype.kind == "c":
            raise unordered("sort")
        indices = self.argsort(dim, descending, stable=stable)
        if not self._data.ndim:
            return Selected(self._wrap(self._data.copy(), ()), indices)
        values = np.take_along_axis(self._data, indices._data, self._position(dim, "sort"))
        return Selected(self._wrap(values, self._names), indices)

    @op("keeps", extra=True)
    def argsort(
        self, dim: OneDim = -1, descending: bool = False, *, stable: bool = False, **others: Unpack[Axis]
    ) -> Self:
        """Return the indices that sort the elements along a dim; equal ones keep their order if `stable`.

        >>> ne.tensor([[3, 1, 2]], names="N C").argsort("C", descending=True)
        tensor([[0, 2, 1]], names=('N', 'C'), shape=(1, 3))
        """
        data, at = self._along(dim, "argsort")
        if self._data.dtype.kind == "c":
            raise unordered("argsort")
        if not self._data.ndim:
            return self._named(np.zeros((), np.int64), ())
        data = ordering.sortable(data) if data.dtype.kind == "V" else data
        order = np.argsort(np.flip(data, at) if descending else data, axis=at, kind="stable")
        if descending:  # the last of equal elements of the flipped array is the first of this one
            order = np.flip(data.shape[at] - 1 - order, at)
        return self._wrap(np.ascontiguousarray(order), self._names)

    def _select(self, verb: str, dim: Any, keepdim: bool, *options: Any) -> Selected[Self]:
        """Return `(values, indices)` of a kernel along one dim, which is removed."""
        data, at = self._along(dim, verb)
        if data.dtype.kind == "c":
            raise unordered(verb)
        if self._data.ndim:
            self._check_not_empty(verb, dim)
        kernel = ordering.ALONG[verb]
        is_sortable = data.dtype.kind != "V"
        found = kernel(data, at, *options) if is_sortable else ordering.of_any(kernel, data, at, *options)
        values, indices = found
        if keepdim and self._data.ndim:
            values, indices = np.expand_dims(values, at), np.expand_dims(indices, at)
        names = self._names if keepdim else remove_names(self._names, (at,))
        return Selected(self._named(values, names), self._named(indices, names))

    def _check_count(self, k: Any, at: int, verb: str, *, least: int) -> None:
        size = self._data.shape[at] if self._data.ndim else 1
        if least <= checked_int(k, verb, "k") <= size:
            return
        dims = self._dims
        where, dim = (called(dims, at), spelt(dims[at], at)) if dims else ("the 0-d tensor", at)
        message = f"{verb}: k={shown(k)}, and {where} has {counted(size, 'element')}"
        is_none = least > size
        hint = "there are none to choose from" if is_none else f"k is a number from {least} to {size}"
        raise fault("NE390" if is_none else "NE389", message, ShownCall(verb, (k, dim), (dims,)), (0,), hint)
