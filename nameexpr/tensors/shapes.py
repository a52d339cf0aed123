"""Methods that change the order, the number and the sizes of dims: views, except for `resize_`.

>>> x = ne.tensor([[1, 2, 3], [4, 5, 6]], names="N C")
>>> x.transpose("N", "C").names, x.expand(4, -1, -1).names
(('C', 'N'), (None, 'N', 'C'))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from nameexpr.dims import DIM_LIMIT, Dim, Names
from nameexpr.errors import Diagnostic, error
from nameexpr.rules.calls import ShownCall, called, counted, fault, is_only, positions, shown
from nameexpr.rules.pairing import Pairing, paired_fault
from nameexpr.rules.targets import added_name
from nameexpr.rules.writing import check_written
from nameexpr.tensors.arguments import checked_int, checked_sizes
from nameexpr.tensors.core import Array, Core, OneDim, SomeDims
from nameexpr.tensors.operators import Operators
from nameexpr.tensors.ops import exhausted, op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nameexpr.tensors.keywords import Axis


class Shapes(Operators):
    """transpose, permute, movedim, t, T, mT, squeeze, unsqueeze, expand, diagonal, resize_, resize_as_."""

    __slots__ = ()

    @op("permutes")
    def transpose(self, dim0: OneDim, dim1: OneDim) -> Self:
        """Return a view with two dims swapped.

        >>> ne.tensor([[1, 2]], names="N C").transpose("N", -1).shape
        (2, 1)
        """
        if not self._names and is_only(dim0) and is_only(dim1):
            return self._ordered([])
        dims = (dim0, dim1)
        a, b = self._position(dim0, "transpose", dims), self._position(dim1, "transpose", dims, 1)
        return self._swapped(a, b)

    def _swapped(self, a: int, b: int) -> Self:
        names = list(self._names)
        names[a], names[b] = names[b], names[a]
        return self._wrap(self._data.swapaxes(a, b), tuple(names))

    @op("permutes", extra=True)
    def swapaxes(self, axis0: OneDim, axis1: OneDim) -> Self:
        """Return a view with two dims swapped: NumPy's name for `transpose`.

        >>> ne.tensor([[1, 2]], names="N C").swapaxes("N", "C").names
        ('C', 'N')
        """
        return self.transpose(axis0, axis1)

    @op("permutes", extra=True)
    def permute(self, *dims: OneDim | Sequence[OneDim]) -> Self:
        """Return a view with the dims in another order; each must be given once.

        >>> ne.tensor([[1, 2]], names="N C").permute("C", "N").names
        ('C', 'N')
        """
        wanted = dims[0] if len(dims) == 1 and isinstance(dims[0], str | list | tuple) else dims
        if isinstance(wanted, str):
            wanted = wanted.split()
        call = ShownCall("permute", tuple(wanted), (self._dims,))
        order = positions(self._dims, call)
        if len(order) != self._data.ndim:
            message = f"permute: {len(order)} of {self._data.ndim} dims are given"
            raise fault("NE379", message, call, hint="give every dim; align_to takes '...' for the others")
        return self._ordered(list(order))

    @op("permutes", extra=True)
    def movedim(self, source: Any, destination: Any) -> Self:
        """Return a view with one dim at another position.

        >>> ne.tensor([[[1, 2]]], names="N H C").movedim("C", 0).names
        ('C', 'N', 'H')
        """
        dims = (source, destination)
        at, to = self._position(source, "movedim", dims), self._position(destination, "movedim", dims, 1)
        order = [axis for axis in range(self._data.ndim) if axis != at]
        order.insert(to, at)
        return self._ordered(order)

    @op("permutes", extra=True)
    def t(self) -> Self:
        """Return a view of a matrix with its dims swapped; a vector unchanged.

        >>> ne.tensor([[1, 2]], names="N C").t().names
        ('C', 'N')
        """
        if self._data.ndim > 2:  # noqa: PLR2004  a matrix
            message = f"t is for matrices, and the tensor has {self._data.ndim} dims"
            hint = "transpose(dim0, dim1) swaps two dims by name"
            raise fault("NE378", message, ShownCall("t", (), (self._dims,)), hint=hint)
        return self._ordered(list(range(self._data.ndim))[::-1])

    @property
    def T(self) -> Self:  # noqa: N802  NumPy's and PyTorch's name
        """A view with the dims in reverse order."""
        return self._ordered(list(range(self._data.ndim))[::-1])

    @property
    def mT(self) -> Self:  # noqa: N802
        """A view with the last two dims swapped, the transpose of each matrix."""
        return self.transpose(-2, -1)

    def _ordered(self, order: list[int]) -> Self:
        return self._wrap(self._data.transpose(order), tuple(self._names[axis] for axis in order))

    @op("removes")
    def squeeze(self, dim: SomeDims = (), **others: Unpack[Axis]) -> Self:
        """Return a view without dims of size 1: all of them, or those given; given dims of other sizes are
        kept.

        >>> ne.tensor([[[1, 2]]], names="N H C").squeeze("H").names
        ('N', 'C')
        """
        if dim is None:
            self._position(dim, "squeeze")
        gone = {at for at in self._axes(dim, "squeeze") if self._data.shape[at] == 1}
        kept = [at for at in range(self._data.ndim) if at not in gone]
        shape = [self._data.shape[at] for at in kept]
        return self._wrap(self._data.reshape(shape), tuple(self._names[at] for at in kept))

    @op("names", extra=True)
    def unsqueeze(self, dim: int, name: str | None = None) -> Self:
        """Return a view with a new dim of size 1 at a position, with a name or none.

        >>> ne.tensor([1, 2], names="C").unsqueeze(0, "N").names
        ('N', 'C')
        """
        rank = self._data.ndim + 1
        if isinstance(dim, str):  # type: ignore[unreachable]
            message = f"unsqueeze: the position must be an integer, not {shown(dim)}"  # type: ignore[unreachable]
            call = ShownCall("unsqueeze", (dim,), (self._dims,))
            raise fault("NE677", message, call, (0,), f"unsqueeze(0, {shown(dim)}) names the new dim")
        number = checked_int(dim, "unsqueeze", "the position")
        if not -rank <= number < rank:
            message = f"unsqueeze: a new dim can be at {-rank} to {rank - 1}, not {number}"
            raise fault("NE801", message, ShownCall("unsqueeze", (dim,), (self._dims,)), (0,))
        at = number % rank
        if name is not None:
            name = added_name(name, self._dims, ShownCall("unsqueeze", (dim, name), (self._dims,)))
        names = (*self._names[:at], name, *self._names[at:])
        shape = self._data.shape
        return self._wrap(self._data.reshape((*shape[:at], 1, *shape[at:])), names)

    @op("keeps")
    def expand(self, *sizes: Any) -> Self:
        """Return a read-only view with dims of size 1 repeated, and new unnamed dims in front.

        -1 keeps a size.

        >>> ne.tensor([[1], [2]], names="N C").expand(-1, 3).shape
        (2, 3)
        """
        wanted = checked_sizes(sizes, "expand")
        new = len(wanted) - self._data.ndim
        call = ShownCall("expand", wanted, (self._dims,))
        if not 0 <= new <= DIM_LIMIT - self._data.ndim:
            message = f"expand: {counted(len(wanted), 'size')} for {counted(self._data.ndim, 'dim')}"
            raise fault("NE376", message, call, hint="give one size per dim; -1 keeps a size")
        for index, size in enumerate(wanted):
            here = self._data.shape[index - new] if index >= new else None
            if here is None and size == -1:
                message = "expand: -1 keeps a size, and a new dim has none yet"
                raise fault("NE376", message, call, (index,), "write its size")
            if size < -1:
                raise fault("NE384", "expand: sizes must be 0 or more", call, (index,), "-1 keeps a size")
            if here not in (None, 1, size) and size != -1:
                dim = called(self._dims, index - new)
                message = f"expand: {dim} has size {here}, and cannot be expanded to {size}"
                raise fault("NE376", message, call, (index,), "only dims of size 1 are repeated")
        shape = [self._data.shape[at - new] if size == -1 else size for at, size in enumerate(wanted)]
        try:
            return self._wrap(self._expanded(shape), (None,) * new + self._names)
        except ValueError as refused:
            raise fault("NE707", "expand: an array cannot have so many elements", call) from refused

    def _expanded(self, shape: Sequence[int]) -> Array:
        return np.broadcast_to(self._data, shape)

    @op("removes", extra=True)
    def diagonal(self, offset: int = 0, dim1: OneDim = 0, dim2: OneDim = 1) -> Self:
        """Return a view of the diagonal of two dims, which becomes a last dim without a name.

        >>> ne.tensor([[1, 2], [3, 4]], names="N C").diagonal()
        tensor([1, 4], shape=(2,))
        """
        offset = checked_int(offset, "diagonal", "the offset")
        limit = max(self._data.shape, default=0)  # beyond it the diagonal is empty
        offset = min(max(offset, -limit), limit)
        call = ShownCall("diagonal", (dim1, dim2), (self._dims,), f"({offset}, ")
        a, b = positions(self._dims, call)
        names = tuple(name for at, name in enumerate(self._names) if at not in (a, b))
        return self._wrap(self._data.diagonal(offset, a, b), (*names, None))

    @op("names")
    def resize_(self, *sizes: Any) -> Self:
        """Change the sizes of an unnamed tensor in place; a named one accepts only the sizes that it has.

        Existing elements are kept, in row-major order; new ones are not initialised. Views no longer share
        memory.

        >>> ne.tensor([1, 2, 3]).resize_(2, 1)
        tensor([[1],
                [2]], shape=(2, 1))
        """
        return self._resize(checked_sizes(sizes, "resize_"), None)

    def _resize(self, shape: tuple[int, ...], names: Names | None) -> Self:
        """Set the sizes and, unless they are None, the names of the tensor, both or neither."""
        if min(shape, default=0) < 0:
            call = ShownCall("resize_", shape, (self._dims,))
            marked = [index for index, size in enumerate(shape) if size < 0]
            raise fault("NE384", "resize_: sizes must be 0 or more", call, marked)
        if shape == self.shape:
            self._names = self._names if names is None else names
            return self
        if any(self._names):
            result = tuple(Dim(None, size) for size in shape)
            message = f"resize_: a tensor with names keeps its sizes; {shape} is requested"
            hint = "flatten and unflatten merge and split dims by name; rename(None) drops the names"
            pairing = Pairing("resize_", "tensor", "wanted")
            raise paired_fault("NE371", message, (self._dims, result), pairing, ((), ()), hint)
        names = (None,) * len(shape) if names is None else names
        self._data, self._names = self._resized(shape), names
        return self

    def _resized(self, shape: tuple[int, ...]) -> Array:
        """Return an array of another shape with the elements of this one, in row-major order."""
        try:
            new = np.empty(shape, self._data.dtype)
        except (MemoryError, ValueError) as refused:  # the latter for sizes beyond the address space
            raise exhausted("resize_", refused, shape) from refused
        old = self._data.reshape(-1)
        count = min(old.size, new.size)
        new.reshape(-1)[:count] = old[:count]
        return new

    @op("names")
    def resize_as_(self, other: Core) -> Self:
        """Set the sizes and names of an unnamed tensor to those of another, in place.

        >>> ne.tensor([1, 2]).resize_as_(ne.tensor([[3, 4]], names="N C")).names
        ('N', 'C')
        """
        if not isinstance(other, Core):
            message = f"resize_as_ takes the sizes of a NamedTensor, not of {type(other).__name__}"  # type: ignore[unreachable]
            raise error(Diagnostic("NE656", message, hint="resize_ takes sizes"))
        if any(self._names):
            check_written(self._dims, other._names, other.shape, "resize_as_", source="other")
        return self._resize(other.shape, other._names)
