"""Functions along a dim that keep it: running sums and products, softmax, flips and rolls.

>>> ne.tensor([[1, 2, 3]], names="N C").cumsum("C")
tensor([[1, 3, 6]], names=('N', 'C'), shape=(1, 3))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from nameexpr.backends.numpy import ordering
from nameexpr.backends.numpy.arrays import is_float, native
from nameexpr.backends.numpy.reductions import into_log_softmax, into_softmax, normalised, running
from nameexpr.rules.calls import ShownCall, counted, fault
from nameexpr.tensors.arguments import as_dtype, checked_int
from nameexpr.tensors.core import Core
from nameexpr.tensors.faults import allocating, check_ordered, explained, undefined
from nameexpr.tensors.operators import REFUSED
from nameexpr.tensors.ops import in_place, op
from nameexpr.tensors.ordering import Ordering, Selected

if TYPE_CHECKING:
    from nameexpr.tensors.core import Dtype


class Scans(Ordering):
    """cumsum, cumprod, cummax, cummin, softmax, log_softmax, flip, roll."""

    __slots__ = ()

    @op("keeps")
    def cumsum(self, dim: Any, dtype: Dtype = None, *, out: Core | None = None) -> Self:
        """Return the sums of the elements up to each along a dim; of integers and bools in int64.

        >>> ne.tensor([1, 2, 3], names="N").cumsum("N")
        tensor([1, 3, 6], names=('N',), shape=(3,))
        """
        return self._scan(np.add, dim, dtype, "cumsum", out)

    cumsum_ = in_place(cumsum, extra=True)

    @op("keeps")
    def cumprod(self, dim: Any, dtype: Dtype = None, *, out: Core | None = None) -> Self:
        """Return the products of the elements up to each along a dim; of integers and bools in int64.

        >>> ne.tensor([1, 2, 3], names="N").cumprod("N")
        tensor([1, 2, 6], names=('N',), shape=(3,))
        """
        return self._scan(np.multiply, dim, dtype, "cumprod", out)

    cumprod_ = in_place(cumprod, extra=True)

    def _scan(self, ufunc: np.ufunc, dim: Any, dtype: Any, verb: str, out: Core | None) -> Self:
        wanted = as_dtype(dtype)
        if wanted is None and self._data.dtype.kind in "iub":
            wanted = np.dtype(np.uint64 if native(self._data.dtype) == np.uint64 else np.int64)
        data, at = self._along(dim, verb)
        try:
            result = running(ufunc, data, at, wanted)
        except REFUSED as refused:
            raise explained(verb, (self,), refused) from refused
        return self._put(result.reshape(self._data.shape), self._names, verb, out)

    @allocating("keeps", extra=True)
    def cummax(self, dim: Any) -> Selected:
        """Return the largest of the elements up to each along a dim, and where it is.

        >>> ne.tensor([1, 3, 2], names="N").cummax("N").values
        tensor([1, 3, 3], names=('N',), shape=(3,))
        """
        return self._cumulative(ordering.cumulative_largest, dim, "cummax")

    @allocating("keeps", extra=True)
    def cummin(self, dim: Any) -> Selected:
        """Return the smallest of the elements up to each along a dim, and where it is.

        >>> ne.tensor([3, 1, 2], names="N").cummin("N").indices
        tensor([0, 1, 1], names=('N',), shape=(3,))
        """
        return self._cumulative(ordering.cumulative_smallest, dim, "cummin")

    def _cumulative(self, kernel: Any, dim: Any, verb: str) -> Selected:
        values, indices = ordering.of_any(kernel, *self._along(dim, verb))
        check_ordered(values, verb)
        pair = (self._named(data.reshape(self._data.shape), self._names) for data in (values, indices))
        return Selected(*pair)

    @allocating("keeps")
    def softmax(self, dim: Any, *, dtype: Dtype = None) -> Self:
        """Return exponentials along a dim, divided by their sum: of floats, or in the dtype that is given.

        >>> ne.tensor([[0.0, 0.0]], names="N C").softmax("C")
        tensor([[0.5, 0.5]], names=('N', 'C'), shape=(1, 2))
        """
        return self._normalised(into_softmax, dim, dtype, "softmax")

    @allocating("keeps", extra=True)
    def log_softmax(self, dim: Any, *, dtype: Dtype = None) -> Self:
        """Return the logarithm of the softmax along a dim, without overflow.

        >>> ne.tensor([[1000.0, 1000.0]], names="N C").log_softmax("C")
        tensor([[-0.69314718, -0.69314718]], names=('N', 'C'), shape=(1, 2))
        """
        return self._normalised(into_log_softmax, dim, dtype, "log_softmax")

    def _normalised(self, finish: Any, dim: Any, dtype: Any, verb: str) -> Self:
        data, at = self._along(dim, verb)
        data = data if dtype is None else data.astype(as_dtype(dtype))
        if not is_float(data.dtype):
            raise undefined(verb, (data,))
        return self._named(normalised(data, at, finish).reshape(self._data.shape), self._names)

    @allocating("keeps", extra=True)
    def flip(self, *dims: Any) -> Self:
        """Return a view with the order along some dims turned around.

        >>> ne.tensor([[1, 2, 3]], names="N C").flip("C")
        tensor([[3, 2, 1]], names=('N', 'C'), shape=(1, 3))
        """
        wanted = dims[0] if len(dims) == 1 else dims
        return self._wrap(np.flip(self._data, self._axes(wanted, "flip")), self._names)

    @allocating("keeps", extra=True)
    def roll(self, shifts: Any, dims: Any = None) -> Self:
        """Return a copy with the elements moved along dims, those that leave coming in at the other end.

        >>> ne.tensor([1, 2, 3], names="N").roll(1, "N")
        tensor([3, 1, 2], names=('N',), shape=(3,))
        """
        given = shifts if isinstance(shifts, list | tuple) else (shifts,)
        counts = tuple(checked_int(shift, "roll", "a shift") for shift in given)
        if dims is None:
            return self._named(np.roll(self._data, sum(counts)), self._names)
        at = self._axes(dims, "roll")
        counts = counts * len(at) if shifts is not given else counts
        if len(counts) != len(at):
            message = f"roll: {counted(len(counts), 'shift')} for {counted(len(at), 'dim')}"
            call = ShownCall("roll", (shifts, dims), (self._dims,))
            raise fault("NE676", message, call, (0, 1), "give one shift for each dim, or one for all")
        return self._wrap(np.roll(self._data, counts, at), self._names)
