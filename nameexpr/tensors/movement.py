"""Methods that move, merge and split dims: views if NumPy can create them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Self, overload

from nameexpr.dims import Names
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.rules import remembered
from nameexpr.rules.calls import DimLike, ShownCall, fault, shown
from nameexpr.rules.names import Alignment, aligned_as
from nameexpr.tensors.core import Core
from nameexpr.tensors.ops import op


class _Missing:
    """An argument that is not given, in cases where None has a meaning."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<not given>"


_MISSING: Final = _Missing()


class Movement(Core):
    """align_to, align_as, flatten, unflatten."""

    __slots__ = ()

    @op("names")
    def align_to(self, *names: object) -> Self:
        """Return a view with the dims in this order, and a new dim of size 1 for every new name.

        Parameters
        ----------
        *names
            The names in the requested order. `...`, at most once, stands for all dims that are not mentioned,
            in their order; it is the only way to keep dims that have no name. One string "C ... N" or one
            list is also accepted.

        Raises
        ------
        DimNameError
            If a dim is not mentioned or has no name (and there is no `...`), or a name is malformed or
            mentioned twice.

        Notes ----- `Tensor.align_to` of PyTorch's page "Named Tensors". None as a name, which PyTorch accepts
        in some cases, is an error.

        Examples
        --------
        >>> x = ne.tensor([[1, 2, 3]], names="N C")
        >>> y = x.align_to("C H ...")
        >>> y.names, y.shape
        (('C', 'H', 'N'), (3, 1, 1))
        """
        return self._aligned(remembered.aligned_to(self._names, self._data.shape, *names))

    @op("names")
    def align_as(self, other: Core) -> Self:
        """Return a view with the dims in the order of another tensor.

        A dim that only the other tensor has gets size 1.

        Raises
        ------
        DimNameError
            If a dim of this tensor has no name, or the other has no dim of that name.
        OptionError
            If `other` is not a NamedTensor.

        Notes
        -----
        `Tensor.align_as` of PyTorch's page "Named Tensors".

        Examples
        --------
        >>> x = ne.tensor([[1, 2, 3]], names="N C")
        >>> scale = ne.tensor([10, 20, 30], names="C")
        >>> scale.align_as(x).shape
        (1, 3)
        """
        if not isinstance(other, Core):
            message = f"align_as needs a NamedTensor, whose names give the order, not {type(other).__name__}"  # type: ignore[unreachable]
            hint = "name its dims with from_numpy(array, names=...), or give the order to align_to"
            raise error(Diagnostic("NE656", message, hint=hint))
        return self._aligned(aligned_as(self._dims, other._dims))

    @property
    def by_name(self) -> Self:
        """A view whose operators pair dims by name, in any order, and so do those of its results.

        >>> x = ne.tensor([[1, 2], [3, 4]], names="N C")
        >>> (x.by_name - x.amax("C")).names
        ('N', 'C')
        """
        if self._is_by_name:
            return self
        from nameexpr.tensors.by_name import kind_by_name  # imported here: few programs need it

        return kind_by_name(self._plain or type(self))._wrap(self._data, self._names)  # type: ignore[arg-type,return-value]

    @property
    def by_position(self) -> Self:
        """A view whose operators pair dims from the right, the tensor before `by_name`."""
        return (self._by_position or type(self))._wrap(self._data, self._names)  # type: ignore[return-value]

    def _aligned(self, alignment: Alignment) -> Self:
        """Return the view; inserting dims of size 1 by reshape never copies."""
        data, order = self._data, alignment.order
        if None not in order:
            return self._wrap(data.transpose(order), alignment.names)  # type: ignore[arg-type]
        moved = data.transpose([at for at in order if at is not None])
        moved = moved.reshape([1 if at is None else data.shape[at] for at in order])
        return self._wrap(moved, alignment.names)

    @overload
    def flatten(self, dims: Sequence[DimLike], out_dim: str | None, /) -> Self: ...

    @overload
    def flatten(self, *, dims: Sequence[DimLike], out_dim: str | None) -> Self: ...

    @overload
    def flatten(self, start_dim: DimLike = 0, end_dim: DimLike = -1, out_dim: str | None = ...) -> Self: ...

    @op("names")
    def flatten(
        self,
        start_dim: Any = _MISSING,
        end_dim: Any = _MISSING,
        out_dim: Any = _MISSING,
        *,
        dims: Any = _MISSING,
    ) -> Self:
        """Return the tensor with adjacent dims merged into one, row-major.

        `flatten(dims, out_dim)` or `flatten(start_dim, end_dim, out_dim)`; a view if NumPy can create one.

        Parameters
        ----------
        dims
            A list of adjacent dims in their order, by name or position; or one string, "C H
            W".
        start_dim, end_dim
            The first and the last of the dims to merge, by name or position; all dims if left out.
        out_dim
            Name of the merged dim; None leaves it without one. It may be left out only if no name would be
            lost.

        Raises
        ------
        DimNameError
            If the dims are not adjacent in this order, or `out_dim` is missing, malformed or the name of
            another dim.
        DimRangeError
            If there is no such position.

        Notes
        -----
        `Tensor.flatten` of PyTorch's page "Named Tensors". A single dim is not renamed in place, as it is
        there.

        Examples
        --------
        >>> x = ne.tensor([[[1, 2], [3, 4]]], names="N H W")
        >>> x.flatten(["H", "W"], "pixel").names
        ('N', 'pixel')
        >>> x.flatten("H", "W", "pixel").shape
        (1, 4)
        """
        if dims is not _MISSING:
            return self._flattened(dims, (start_dim, end_dim, out_dim))
        if _is_list(start_dim):
            return self._flattened(start_dim, (end_dim, out_dim))
        if isinstance(start_dim, str) and end_dim is _MISSING and out_dim is not _MISSING:
            # One name alone may be a list of one, or the start of a range to the end.
            last = (self._names[-1:] or (None,))[0] or -1
            up_to_end = f"flatten({start_dim!r}, {last!r}, {shown(out_dim)}) merges up to the end"
            hint = f"{up_to_end}, flatten([{start_dim!r}], {shown(out_dim)}) this dim alone"
            call = ShownCall("flatten", (start_dim,), (self._dims,), closing=f", out_dim={shown(out_dim)})")
            raise fault("NE455", f"flatten from {start_dim!r} up to which dim?", call, (0,), hint)
        start = 0 if start_dim is _MISSING else start_dim
        end = -1 if end_dim is _MISSING else end_dim
        names = () if out_dim is _MISSING else (out_dim,)
        return self._reshaped(*remembered.flattened_range(self._names, self._data.shape, start, end, *names))

    def _flattened(self, dims: Any, rest: tuple[object, ...]) -> Self:
        """Return `flatten(dims, out_dim)`, with out_dim in the remaining arguments."""
        wanted = dims.split() if isinstance(dims, str) else list(dims) if _is_list(dims) else [dims]
        given = [argument for argument in rest if argument is not _MISSING]
        if len(given) != 1:
            message = "a list of dims takes one more argument: the name of the result"
            hint = "write flatten(dims, out_dim), or flatten(start_dim, end_dim, out_dim) for a range"
            raise fault("NE453", message, ShownCall("flatten", (wanted, *given), (self._dims,)), hint=hint)
        return self._reshaped(*remembered.flattened(self._names, self._data.shape, given[0], *wanted))

    @op("names")
    def unflatten(
        self, dim: DimLike, sizes: str | Mapping[str, int] | Sequence[tuple[str | None, int]] | Sequence[int]
    ) -> Self:
        """Return the tensor with one dim split into several, row-major; a view if NumPy can create one.

        Parameters
        ----------
        dim
            The dim to split, by name or position.
        sizes
            Names and sizes of the new dims: pairs, a mapping, or a string "C=3 H=8 W"; plain sizes for a dim
            without a name. One size may be -1, or left out in the string: it follows from the others.

        Raises
        ------
        SizeError
            If the sizes do not multiply to the size of the dim.
        DimNameError
            If the dim is unknown, a new name is malformed or repeated, or a named dim gets plain sizes.

        Notes
        -----
        `Tensor.unflatten` of PyTorch's page "Named Tensors".

        Examples
        --------
        >>> x = ne.tensor([[1, 2, 3, 4, 5, 6]], names="N pixel")
        >>> x.unflatten("pixel", [("H", 2), ("W", -1)]).shape
        (1, 2, 3)
        >>> x.unflatten("pixel", "H W=3").names
        ('N', 'H', 'W')
        """
        names, shape = self._names, self._data.shape
        if type(sizes) is list:
            try:
                return self._reshaped(*remembered.unflattened(names, shape, dim, tuple(sizes)))
            except NameExprError:
                pass  # tried again, for an error that shows the list as it was passed
        return self._reshaped(*remembered.unflattened(names, shape, dim, sizes))

    def _reshaped(self, names: Names, shape: tuple[int, ...]) -> Self:
        return self._wrap(self._data.reshape(shape), names)


def _is_list(dims: object) -> bool:
    """Return whether this names several dims; a string with one word is the start of a range."""
    return len(dims.split()) != 1 if isinstance(dims, str) else isinstance(dims, (list, tuple))
