"""Parts of a tensor along one dim, as views: select, narrow, split, chunk, unbind.

>>> import nameexpr as ne
>>> x = ne.tensor([[1, 2, 3], [4, 5, 6]], names="N C")
>>> x.select("C", -1)
tensor([3, 6], names=('N',), shape=(2,))
>>> [part.shape for part in x.split(2, "C")]
[(2, 2), (2, 1)]
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as as_index
from typing import Any, Self

import numpy as np

from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.inference.calls import Call, counted, fault, shown
from nameexpr.inference.lookup import called
from nameexpr.tensors.core import Core
from nameexpr.tensors.ops import op
from nameexpr.tensors.rules import Rules


class Pieces(Rules):
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
        at = self._position(dim, "select")
        number = checked_int(index, "select", "index")
        size = self._data.shape[at]
        if not -size <= number < size:
            message = f"select: there is no index {number} in {called(self._dims, at)}, whose size is {size}"
            call = Call("select", (dim, number), (self._dims,))
            raise fault(
                "NE802", message, call, (1,), f"indices go from {-size} to {size - 1}" if size else ""
            )
        return self._part(at, number, keep=False)

    @op("keeps")
    def narrow(self, dim: Any, start: int, length: int) -> Self:
        """Return a view of `length` elements of a dim from `start` on, which may count from the end.

        >>> ne.tensor([[1, 2, 3]], names="N C").narrow("C", 1, 2)
        tensor([[2, 3]], names=('N', 'C'), shape=(1, 2))
        """
        at = self._position(dim, "narrow")
        size = self._data.shape[at]
        first, count = checked_int(start, "narrow", "start"), checked_int(length, "narrow", "length")
        begin = first + size if first < 0 else first
        if not 0 <= begin <= size or not 0 <= count <= size - begin:
            message = f"narrow: {counted(count, 'element')} from {first} on do not lie within"
            message += f" {called(self._dims, at)}, whose size is {size}"
            hint = (
                f"at most {size - begin} from there" if 0 <= begin <= size else f"start is {-size} to {size}"
            )
            call = Call("narrow", (dim, first, count), (self._dims,))
            raise fault("NE803", message, call, (1, 2), hint)
        return self._part(at, slice(begin, begin + count))

    @op("keeps")
    def split(self, split_size: int | Sequence[int], dim: Any = 0) -> tuple[Self, ...]:
        """Return views of consecutive parts of a dim: of one size, the last one smaller, or of given sizes.

        >>> a, b = ne.tensor([1, 2, 3], names="N").split([1, 2])
        >>> b
        tensor([2, 3], names=('N',), shape=(2,))
        """
        at = self._position(dim, "split")
        size = self._data.shape[at]
        if isinstance(split_size, list | tuple):
            return self._sections([checked_int(part, "split", "a size") for part in split_size], at)
        step = checked_int(split_size, "split", "the size")
        if step < 0 or (step == 0 and size):
            raise _not_positive("split: the size of the parts", step)
        starts = range(0, size, step) if size else [0]
        before, data, names = (slice(None),) * at, self._data, self._names
        return tuple([self._wrap(data[(*before, slice(start, start + step))], names) for start in starts])

    def _sections(self, sizes: list[int], at: int) -> tuple[Self, ...]:
        size = self._data.shape[at]
        if sum(sizes) != size or min(sizes, default=0) < 0:
            message = f"split: the sizes add up to {sum(sizes)}, and {called(self._dims, at)} has size {size}"
            call = Call("split", (sizes,), (self._dims,))
            raise fault("NE377", message, call, (0,), "they must add up to the size, and none be negative")
        stops = [sum(sizes[: place + 1]) for place in range(len(sizes))]
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
            raise _not_positive("chunk: the number of parts", number)
        at = self._position(dim, "chunk")
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

    def _part(self, at: int, where: int | slice, *, keep: bool = True) -> Self:
        """Return the view of one index, or a range, of an axis; `...` keeps a 0-d part an array."""
        data = self._data[(*(slice(None),) * at, where, ...)]
        names = self._names if keep else (*self._names[:at], *self._names[at + 1 :])
        return self._wrap(data, names)


def checked_int(value: object, verb: str, what: str) -> int:
    """Return an integer argument as an int (NE677)."""
    try:
        if isinstance(value, bool) or getattr(value, "shape", ()) != ():
            raise TypeError
        return as_index(value)  # type: ignore[arg-type]
    except TypeError:
        message = f"{verb}: {what} is an integer, not {shown(value)}"
        raise error(Diagnostic("NE677", message)) from None


def checked_number(value: object, verb: str, what: str) -> Any:
    """Return an argument that must be a number, or a 0-d array or tensor of one (NE677)."""
    data = value._data if isinstance(value, Core) else value
    number = data.item() if isinstance(data, np.ndarray | np.generic) and data.shape == () else data
    if isinstance(number, bool) or not isinstance(number, int | float | complex):
        raise error(Diagnostic("NE677", f"{verb}: {what} is a number, not {shown(value)}"))
    return number


def _not_positive(what: str, number: int) -> NameExprError:
    return error(Diagnostic("NE677", f"{what} is {number}", hint="give a number from 1 on"))
