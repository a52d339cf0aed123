"""Parts of a tensor along one dim, as views: select, narrow, split, chunk, unbind.

>>> x = ne.tensor([[1, 2, 3], [4, 5, 6]], names="N C")
>>> x.select("C", -1)
tensor([3, 6], names=('N',), shape=(2,))
>>> [part.shape for part in x.split(2, "C")]
[(2, 2), (2, 1)]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from nameexpr.errors import NameExprError
from nameexpr.rules.calls import ShownCall, counted, fault
from nameexpr.rules.indexing import no_index
from nameexpr.rules.lookup import called
from nameexpr.tensors.arguments import checked_int
from nameexpr.tensors.operators import Operators
from nameexpr.tensors.ops import op


class Pieces(Operators):
    """select, narrow, split, chunk, unbind."""

    __slots__ = ()

    @op("removes")
    def select(self, dim: Any, index: int) -> Self:
        """Return a view of what stands at one index of a dim, without that dim.

        Raises
        ------
        DimRangeError
            NE802, if the dim has no such index.

        Examples
        --------
        >>> ne.tensor([[1, 2, 3], [4, 5, 6]], names="N C").select("C", 1)
        tensor([2, 5], names=('N',), shape=(2,))
        """
        at = self._position(dim, "select", index)
        number = checked_int(index, "select", "an index")
        size = self._data.shape[at]
        if not -size <= number < size:
            call = ShownCall("select", (dim, number), (self._dims,))
            raise no_index(number, called(self._dims, at), size, call, 1, "select: ")
        return self._part(at, number, keep=False)

    @op("keeps")
    def narrow(self, dim: Any, start: int, length: int) -> Self:
        """Return a view of `length` elements of a dim from `start` on, which may count from the end.

        >>> ne.tensor([[1, 2, 3]], names="N C").narrow("C", 1, 2)
        tensor([[2, 3]], names=('N', 'C'), shape=(1, 2))
        """
        at = self._position(dim, "narrow", start, length)
        size = self._data.shape[at]
        first, count = checked_int(start, "narrow", "the start"), checked_int(length, "narrow", "the length")
        begin = first + size if first < 0 else first
        is_start = 0 <= begin <= size
        if is_start and 0 <= count <= size - begin:
            return self._part(at, slice(begin, begin + count))
        call = ShownCall("narrow", (dim, first, count), (self._dims,))
        hint = f"at most {size - begin} from there" if is_start else ""
        if count < 0:
            raise fault("NE803", f"narrow: a length is 0 or more, not {count}", call, (2,), hint)
        message = f"narrow: {called(self._dims, at)} of size {size} does not hold"
        message += f" {counted(count, 'element')} from {first} on"
        raise fault("NE803", message, call, (1, 2), hint or f"the start is {-size} to {size}")

    @op("keeps")
    def split(self, split_size: int | Sequence[int], dim: Any = 0) -> tuple[Self, ...]:
        """Return views of consecutive parts of a dim: of one size, the last one smaller, or of given sizes.

        >>> a, b = ne.tensor([1, 2, 3], names="N").split([1, 2])
        >>> b
        tensor([2, 3], names=('N',), shape=(2,))
        """
        at = self._position(dim, "split", before=(split_size,))
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
        stops = [sum(sizes[: index + 1]) for index in range(len(sizes))]
        return tuple(
            self._part(at, slice(stop - part, stop)) for stop, part in zip(stops, sizes, strict=True)
        )

    @op("keeps")
    def chunk(self, chunks: int, dim: Any = 0) -> tuple[Self, ...]:
        """Return views of at most so many parts of a dim, of equal size except for the last.

        The size is rounded up, so there may be fewer parts than asked for: 5 in 4 gives 2, 2 and 1.

        >>> [part.shape for part in ne.tensor([1, 2, 3, 4, 5], names="N").chunk(4, "N")]
        [(2,), (2,), (1,)]
        """
        number = checked_int(chunks, "chunk", "the number of parts")
        if number <= 0:
            raise self._not_positive("chunk", "the number of parts", number, dim)
        at = self._position(dim, "chunk", before=(chunks,))
        size = self._data.shape[at]
        if not size:
            return tuple(self._part(at, slice(0, 0)) for _ in range(number))
        return self.split(-(-size // number), at)

    @op("removes")
    def unbind(self, dim: Any = 0) -> tuple[Self, ...]:
        """Return views of what stands at each index of a dim, without that dim.

        >>> ne.tensor([[1, 2], [3, 4]], names="N C").unbind("C")[0]
        tensor([1, 3], names=('N',), shape=(2,))
        """
        at = self._position(dim, "unbind")
        return tuple(self._part(at, number, keep=False) for number in range(self._data.shape[at]))

    def _not_positive(self, verb: str, what: str, number: int, dim: Any) -> NameExprError:
        call = ShownCall(verb, (number, dim), (self._dims,))
        return fault("NE677", f"{verb}: {what} is {number}", call, (0,), "give a number from 1 on")

    def _part(self, at: int, where: int | slice, *, keep: bool = True) -> Self:
        """Return the view of one index, or a range, of an axis; `...` keeps a 0-d part an array."""
        data = self._data[(*(slice(None),) * at, where, ...)]
        names = self._names if keep else (*self._names[:at], *self._names[at + 1 :])
        return self._wrap(data, names)
