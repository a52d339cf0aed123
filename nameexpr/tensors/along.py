"""Functions along one dim: cumulative sums and products, softmax, flips and rolls; and parts of a dim, as
views.

>>> ne.tensor([[1, 2, 3]], names="N C").cumsum("C")
tensor([[1, 3, 6]], names=('N', 'C'), shape=(1, 3))
>>> [part.shape for part in ne.zeros(2, 3, names="N C").split(2, "C")]
[(2, 2), (2, 1)]
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from nameexpr.backends.numpy import ordering
from nameexpr.backends.numpy.arrays import is_float, native
from nameexpr.backends.numpy.reductions import running
from nameexpr.errors import NameExprError
from nameexpr.rules.calls import ShownCall, called, counted, fault
from nameexpr.rules.indexing import no_index
from nameexpr.tensors.arguments import checked_int
from nameexpr.tensors.core import Array, Core, OneDim
from nameexpr.tensors.faults import explained, undefined
from nameexpr.tensors.operators import NEEDED, REFUSED, Operators
from nameexpr.tensors.ops import in_place, op
from nameexpr.tensors.ordering import Selected

if TYPE_CHECKING:
    from nameexpr.tensors.core import Dtype
    from nameexpr.tensors.keywords import Axis

_SCANS = {"cumsum": np.add, "cumprod": np.multiply}


class AlongDim(Operators):
    """cumsum, cumprod, cummax, cummin, diff, (log_)softmax, flip, roll; select, narrow, split, unbind."""

    __slots__ = ()

    @op("keeps")
    def cumsum(
        self, dim: OneDim = NEEDED, dtype: Dtype = None, *, out: Core | None = None, **others: Unpack[Axis]
    ) -> Self:
        """Return the sums of the elements up to each along a dim; of integers and bools in int64.

        >>> ne.tensor([1, 2, 3], names="N").cumsum("N")
        tensor([1, 3, 6], names=('N',), shape=(3,))
        """
        return self._scan("cumsum", dim, dtype, out)

    cumsum_ = in_place(cumsum, extra=True)

    @op("keeps")
    def cumprod(
        self, dim: OneDim = NEEDED, dtype: Dtype = None, *, out: Core | None = None, **others: Unpack[Axis]
    ) -> Self:
        """Return the products of the elements up to each along a dim; of integers and bools in int64.

        >>> ne.tensor([1, 2, 3], names="N").cumprod("N")
        tensor([1, 2, 6], names=('N',), shape=(3,))
        """
        return self._scan("cumprod", dim, dtype, out)

    cumprod_ = in_place(cumprod, extra=True)

    def _scan(self, verb: str, dim: Any, dtype: Any, out: Core | None) -> Self:
        wanted = self._as_dtype(dtype)
        if wanted is None and self._data.dtype.kind in "iub":
            wanted = np.dtype(np.uint64 if native(self._data.dtype) == np.uint64 else np.int64)
        data, at = self._along(dim, verb)
        try:
            result = running(_SCANS[verb], data, at, wanted)
        except REFUSED as refused:
            raise explained(verb, (self,), refused) from refused
        return self._put(result.reshape(self._data.shape), self._names, verb, out)

    @op("keeps", extra=True)
    def diff(self, n: int | str = 1, dim: OneDim = -1, **others: Unpack[Axis]) -> Self:
        """Return the differences of adjacent elements along a dim, `n` times; for bools, whether they differ.

        The dim gets `n` elements shorter. `x.diff("C")` is `x.diff(1, "C")`.

        >>> ne.tensor([[1, 4, 9]], names="N C").diff("C")
        tensor([[3, 5]], names=('N', 'C'), shape=(1, 2))
        """
        if isinstance(n, str):
            n, dim = 1, n
        times = checked_int(n, "diff", "n")
        at = self._position(dim, "diff")
        if times < 0:
            raise self._not_positive("diff", "n", times, dim)
        return self._named(self._differences(times, at), self._names)

    def _differences(self, times: int, at: int) -> Array:
        try:
            return np.diff(self._data, times, at)
        except REFUSED as refused:
            raise explained("diff", (self,), refused) from refused

    @op("keeps", extra=True)
    def cummax(self, dim: OneDim = NEEDED, **others: Unpack[Axis]) -> Selected[Self]:
        """Return the largest of the elements up to each along a dim, and its index.

        >>> ne.tensor([1, 3, 2], names="N").cummax("N").values
        tensor([1, 3, 3], names=('N',), shape=(3,))
        """
        return self._cumulative("cummax", dim)

    @op("keeps", extra=True)
    def cummin(self, dim: OneDim = NEEDED, **others: Unpack[Axis]) -> Selected[Self]:
        """Return the smallest of the elements up to each along a dim, and its index.

        >>> ne.tensor([3, 1, 2], names="N").cummin("N").indices
        tensor([0, 1, 1], names=('N',), shape=(3,))
        """
        return self._cumulative("cummin", dim)

    def _cumulative(self, verb: str, dim: Any) -> Selected[Self]:
        data, at = self._along(dim, verb)
        self._check_ordered(verb)
        both = ordering.of_any(ordering.ALONG[verb], data, at)
        return Selected(*[self._named(each.reshape(self._data.shape), self._names) for each in both])

    @op("keeps")
    def softmax(self, dim: OneDim = NEEDED, *, dtype: Dtype = None, **others: Unpack[Axis]) -> Self:
        """Return exponentials along a dim, divided by their sum: in floats, or in the given dtype.

        >>> ne.tensor([[0.0, 0.0]], names="N C").softmax("C")
        tensor([[0.5, 0.5]], names=('N', 'C'), shape=(1, 2))
        """
        return self._normalised("softmax", dim, dtype)

    @op("keeps", extra=True)
    def log_softmax(self, dim: OneDim = NEEDED, *, dtype: Dtype = None, **others: Unpack[Axis]) -> Self:
        """Return the logarithm of the softmax along a dim, without overflow.

        >>> ne.tensor([[1000.0, 1000.0]], names="N C").log_softmax("C")
        tensor([[-0.69314718, -0.69314718]], names=('N', 'C'), shape=(1, 2))
        """
        return self._normalised("log_softmax", dim, dtype)

    def _normalised(self, verb: str, dim: Any, dtype: Any) -> Self:
        from nameexpr.backends.numpy import normalising

        data, at = self._along(dim, verb)
        data = data if dtype is None else data.astype(self._as_dtype(dtype))
        if not is_float(data.dtype):
            raise undefined(verb, (data,))
        return self._named(getattr(normalising, verb)(data, at).reshape(self._data.shape), self._names)

    @op("keeps", extra=True)
    def flip(self, *dims: OneDim | Sequence[OneDim], **others: Unpack[Axis]) -> Self:
        """Return a view with the order along some dims reversed.

        >>> ne.tensor([[1, 2, 3]], names="N C").flip("C")
        tensor([[3, 2, 1]], names=('N', 'C'), shape=(1, 3))
        """
        wanted = dims[0] if len(dims) == 1 else dims
        return self._wrap(self._flipped(self._axes(wanted, "flip")), self._names)

    def _flipped(self, axes: tuple[int, ...]) -> Array:
        return np.flip(self._data, axes)

    @op("keeps", extra=True)
    def roll(self, shifts: Any, dims: Any = None, **others: Unpack[Axis]) -> Self:
        """Return a copy with the elements shifted along dims; those beyond one end reappear at the other.

        >>> ne.tensor([1, 2, 3], names="N").roll(1, "N")
        tensor([3, 1, 2], names=('N',), shape=(3,))
        """
        given = shifts if isinstance(shifts, list | tuple) else (shifts,)
        counts = tuple(checked_int(shift, "roll", "a shift") for shift in given)
        if dims is None:
            return self._named(self._rolled((sum(counts),), None), self._names)
        at = self._axes(dims, "roll")
        counts = counts * len(at) if shifts is not given else counts
        if len(counts) != len(at):
            message = f"roll: {counted(len(counts), 'shift')} for {counted(len(at), 'dim')}"
            call = ShownCall("roll", (shifts, dims), (self._dims,))
            raise fault("NE676", message, call, (0, 1), "give one shift for each dim, or one for all")
        return self._wrap(self._rolled(counts, at), self._names)

    def _rolled(self, counts: tuple[int, ...], axes: tuple[int, ...] | None) -> Array:
        return np.roll(self._data, counts, axes) if axes is not None else np.roll(self._data, counts[0])

    @op("removes")
    def select(self, dim: OneDim, index: int) -> Self:
        """Return a view of the elements at one index of a dim, without that dim.

        Raises
        ------
        DimRangeError
            NE802 if the dim has no such index.

        Examples
        --------
        >>> ne.tensor([[1, 2, 3], [4, 5, 6]], names="N C").select("C", 1)
        tensor([2, 5], names=('N',), shape=(2,))
        """
        at = self._position(dim, "select", (dim, index))
        number = checked_int(index, "select", "an index")
        size = self._data.shape[at]
        if not -size <= number < size:
            call = ShownCall("select", (dim, number), (self._dims,))
            raise no_index(number, called(self._dims, at), size, call, 1, "select: ")
        return self._part(at, number, keep=False)

    @op("keeps")
    def narrow(self, dim: OneDim, start: int, length: int) -> Self:
        """Return a view of `length` elements of a dim from `start`, which may be negative.

        >>> ne.tensor([[1, 2, 3]], names="N C").narrow("C", 1, 2)
        tensor([[2, 3]], names=('N', 'C'), shape=(1, 2))
        """
        at = self._position(dim, "narrow", (dim, start, length))
        size = self._data.shape[at]
        first, count = checked_int(start, "narrow", "the start"), checked_int(length, "narrow", "the length")
        begin = first + size if first < 0 else first
        is_start = 0 <= begin <= size
        if is_start and 0 <= count <= size - begin:
            return self._part(at, slice(begin, begin + count))
        call = ShownCall("narrow", (dim, first, count), (self._dims,))
        hint = f"at most {size - begin} from there" if is_start else ""
        if count < 0:
            raise fault("NE803", f"narrow: a length must be 0 or more, not {count}", call, (2,), hint)
        message = f"narrow: {called(self._dims, at)} of size {size} does not hold"
        message += f" {counted(count, 'element')} from {first} on"
        raise fault("NE803", message, call, (1, 2), hint or f"the start is {-size} to {size}")

    @op("keeps")
    def split(
        self, split_size: int | Sequence[int], dim: OneDim = 0, **others: Unpack[Axis]
    ) -> tuple[Self, ...]:
        """Return views of consecutive parts of a dim: of one size, with a smaller last part, or of given
        sizes.

        >>> a, b = ne.tensor([1, 2, 3], names="N").split([1, 2])
        >>> b
        tensor([2, 3], names=('N',), shape=(2,))
        """
        at = self._position(dim, "split", (split_size, dim), 1)
        size = self._data.shape[at]
        if isinstance(split_size, list | tuple):
            return self._sections([checked_int(part, "split", "a size") for part in split_size], at, dim)
        step = checked_int(split_size, "split", "the size")
        if step < 0 or (step == 0 and size):
            raise self._not_positive("split", "the size of the parts", step, dim)
        starts = range(0, size, step) if size else [0]
        before, data, names = (slice(None),) * at, self._data, self._names
        return tuple([self._wrap(data[(*before, slice(start, start + step))], names) for start in starts])

    def _sections(self, sizes: list[int], at: int, dim: Any) -> tuple[Self, ...]:
        size = self._data.shape[at]
        if sum(sizes) != size or min(sizes, default=0) < 0:
            message = f"split: the sizes add up to {sum(sizes)}, and {called(self._dims, at)} has size {size}"
            call = ShownCall("split", (sizes, dim), (self._dims,))
            raise fault("NE377", message, call, (0,), "they must add up to the size, and none be negative")
        ends = zip(accumulate(sizes), sizes, strict=True)
        return tuple(self._part(at, slice(stop - part, stop)) for stop, part in ends)

    @op("keeps")
    def chunk(self, chunks: int, dim: OneDim = 0, **others: Unpack[Axis]) -> tuple[Self, ...]:
        """Return views of at most `chunks` parts of a dim, of equal size except for the last.

        The size is rounded up, so there may be fewer parts than requested: 5 in 4 gives 2, 2 and 1.

        >>> [part.shape for part in ne.tensor([1, 2, 3, 4, 5], names="N").chunk(4, "N")]
        [(2,), (2,), (1,)]
        """
        number = checked_int(chunks, "chunk", "the number of parts")
        if number <= 0:
            raise self._not_positive("chunk", "the number of parts", number, dim)
        at = self._position(dim, "chunk", (chunks, dim), 1)
        size = self._data.shape[at]
        if not size:
            return tuple(self._part(at, slice(0, 0)) for _ in range(number))
        return self.split(-(-size // number), at)

    @op("removes")
    def unbind(self, dim: OneDim = 0, **others: Unpack[Axis]) -> tuple[Self, ...]:
        """Return views of the elements at each index of a dim, without that dim.

        >>> ne.tensor([[1, 2], [3, 4]], names="N C").unbind("C")[0]
        tensor([1, 3], names=('N',), shape=(2,))
        """
        at = self._position(dim, "unbind")
        return tuple(self._part(at, number, keep=False) for number in range(self._data.shape[at]))

    def _not_positive(self, verb: str, what: str, number: int, dim: Any) -> NameExprError:
        call = ShownCall(verb, (number, dim), (self._dims,))
        return fault("NE677", f"{verb}: {what} is {number}", call, (0,), "it must be at least 1")

    def _part(self, at: int, where: int | slice, *, keep: bool = True) -> Self:
        """Return the view of one index, or a range, of an axis; `...` keeps a 0-d part an array."""
        data = self._data[(*(slice(None),) * at, where, ...)]
        names = self._names if keep else (*self._names[:at], *self._names[at + 1 :])
        return self._wrap(data, names)
