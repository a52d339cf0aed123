"""Matrix products: the paired dims are summed over, the others keep their names.

The methods ignore the names of the paired dims, as in PyTorch; for `x @ y` they must match.

The operands must have the same dtype, as in PyTorch: a mixture is more often a mistake than intended.

>>> w = ne.tensor([[1.0, 2.0], [3.0, 4.0]], names="out in")
>>> (w @ ne.tensor([1.0, 1.0], names="in")).names
('out',)
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from nameexpr.backends.numpy.arrays import NARROW, is_narrow, widened
from nameexpr.dims import Dims, Names, duplicate, names_of
from nameexpr.errors import Diagnostic, error
from nameexpr.rules.calls import ShownCall, counted, dims_in, positions, shown
from nameexpr.rules.combining import contracted_fault, doubled_fault
from nameexpr.rules.pairing import Pairing, bias_names, paired_fault
from nameexpr.rules.remembered import matmul_names
from nameexpr.tensors.arguments import checked_number
from nameexpr.tensors.core import Array, Core, Other
from nameexpr.tensors.faults import undefined
from nameexpr.tensors.operators import (
    KNOWN,
    REFUSED,
    Operators,
    as_core,
    carrying,
    data_and_names,
    is_operand,
)
from nameexpr.tensors.ops import exhausted, in_place, op
from nameexpr.tensors.writing import spelt


class MatrixProducts(Operators):
    """matmul, mm, mv, bmm, dot, addmm, addmv, tensordot, and the operator @."""

    __slots__ = ()

    @op("contracts")
    @carrying
    def matmul(self, other: Other, *, out: Core | None = None) -> Self:
        """Return the matrix product: of vectors, matrices, and batches of them, whose dims broadcast.

        >>> ne.tensor([[1, 2]], names="A B").matmul(ne.tensor([[3], [4]], names="C D"))
        tensor([[11]], names=('A', 'D'), shape=(1, 1))
        """
        return self._product(other, "matmul", None, out)

    @op("contracts")
    @carrying
    def mm(self, mat2: Other, *, out: Core | None = None) -> Self:
        """Return the product of two matrices.

        >>> ne.tensor([[1, 2]], names="A B").mm(ne.tensor([[3], [4]], names="C D")).names
        ('A', 'D')
        """
        return self._product(mat2, "mm", (2, 2), out)

    @op("contracts")
    @carrying
    def mv(self, vec: Other, *, out: Core | None = None) -> Self:
        """Return the product of a matrix and a vector.

        >>> ne.tensor([[1, 2]], names="A B").mv(ne.tensor([3, 4], names="C"))
        tensor([11], names=('A',), shape=(1,))
        """
        return self._product(vec, "mv", (2, 1), out)

    @op("contracts")
    @carrying
    def bmm(self, mat2: Other, *, out: Core | None = None) -> Self:
        """Return the products of two batches of matrices; the batch sizes must be equal.

        >>> x = ne.tensor([[[1, 2]]], names="N A B")
        >>> x.bmm(ne.tensor([[[3], [4]]], names="N C D")).names
        ('N', 'A', 'D')
        """
        return self._product(mat2, "bmm", (3, 3), out)

    @op("drops")
    def dot(self, other: Other, *, out: Core | None = None) -> Self:
        """Return the sum of the products of two vectors, regardless of their names.

        >>> ne.tensor([1, 2], names="N").dot(ne.tensor([3, 4], names="C"))
        tensor(11)
        """
        return self._product(other, "dot", (1, 1), out)

    @op("contracts")
    @carrying
    def addmm(
        self, mat1: Other, mat2: Other, *, beta: complex = 1, alpha: complex = 1, out: Core | None = None
    ) -> Self:
        """Return `beta * x + alpha * (mat1 @ mat2)`; for `beta=0` the values of x do not matter.

        x is paired with the product from the right, as in a sum.

        >>> x = ne.tensor([1.0], names="D")
        >>> x.addmm(ne.tensor([[1.0, 2.0]], names="A B"), ne.tensor([[3.0], [4.0]], names="C D"))
        tensor([[12.]], names=('A', 'D'), shape=(1, 1))
        """
        return self._add_product(mat1, mat2, (2, 2), beta, alpha, "addmm", out)

    addmm_ = in_place(addmm)

    @op("contracts")
    @carrying
    def addmv(
        self, mat: Other, vec: Other, *, beta: complex = 1, alpha: complex = 1, out: Core | None = None
    ) -> Self:
        """Return `beta * x + alpha * (mat @ vec)`; for `beta=0` the values of x do not matter.

        >>> x = ne.tensor([1.0], names="A")
        >>> x.addmv(ne.tensor([[1.0, 2.0]], names="A B"), ne.tensor([3.0, 4.0]), alpha=10)
        tensor([111.], names=('A',), shape=(1,))
        """
        return self._add_product(mat, vec, (2, 1), beta, alpha, "addmv", out)

    addmv_ = in_place(addmv)

    @op("contracts", extra=True)
    @carrying
    def tensordot(self, other: Other, dims: Any = 2) -> Self:
        """Return the sum of products over dims: the last `dims` and the other's first, or two lists.

        >>> x = ne.tensor([[1, 2]], names="N C")
        >>> x.tensordot(x.rename(N="M"), (["C"], ["C"])).names
        ('N', 'M')
        """
        return self._wrap(*self._contraction(self, self._as_core(other, "tensordot"), dims))

    def _contraction(self, left: Core, right: Core, dims: Any) -> tuple[Array, Names]:
        return contracted(left, right, dims)

    def _met(self, other: Other, dims: Any) -> list[tuple[str | None, str | None]]:
        """Return the names of the dims that tensordot contracts, in pairs."""
        right = as_core(other, "tensordot")
        places = contracted_positions(self._dims, right._dims, dims)
        return [(self._names[at], right._names[there]) for at, there in zip(*places, strict=True)]

    def _add_product(
        self, mat: Any, other: Any, ranks: Any, beta: complex, alpha: complex, verb: str, out: Core | None
    ) -> Self:
        left, right = as_core(mat, verb), as_core(other, verb)
        names = _names(left, right, verb, ranks)
        product = self._wrap(_matmul(left, right, verb), names)
        said = spelt(verb, is_out=out is not self)
        kind = left if left._data.itemsize == NARROW and is_narrow(left.dtype) else product
        _check_dtypes(kind, self, said, ("the product is", "the bias"))
        names = bias_names(product._dims, self._dims, verb, said)
        data = _weighted(product._data, alpha, said, "alpha")
        if beta != 0:
            data = data + _weighted(widened(self._data), beta, said, "beta")
        return self._put(_rounded(data, left), names, verb, out)

    def _product(
        self, other: Any, verb: str, ranks: tuple[int, int] | None, out: Core | None, by: str = ""
    ) -> Self:
        right = as_core(other, verb)
        names = _names(self, right, by or verb, ranks)
        return self._put(_rounded(_matmul(self, right, verb), self), names, verb, out)

    @carrying
    def __matmul__(self, other: Other) -> Self:
        if not isinstance(other, KNOWN) and not is_operand(other):
            return NotImplemented
        return self._product(other, "matmul", None, None, by="@")

    @carrying
    def __rmatmul__(self, other: Other) -> Self:
        if not is_operand(other):
            return NotImplemented
        data, names = data_and_names(other, "matmul")
        return self._wrap(np.asarray(data), names)._product(self, "matmul", None, None, by="@")

    @carrying
    def __imatmul__(self, other: Other) -> Self:
        if not is_operand(other):
            return NotImplemented
        return self._product(other, "matmul", None, self, by="@")


def _names(left: Core, right: Core, verb: str, ranks: tuple[int, int] | None) -> Names:
    shapes = left._data.shape, right._data.shape
    return matmul_names(left._names, shapes[0], right._names, shapes[1], verb, ranks)


def _matmul(left: Core, right: Core, verb: str) -> Array:
    """Return the product, of narrow floats in float32."""
    _check_dtypes(left, right, verb)
    a, b = left._data, right._data
    if a.dtype.kind in "iu" and a.dtype.itemsize == 8 and a.ndim > 1 and b.ndim > 1:  # noqa: PLR2004  bytes
        from nameexpr.backends.numpy import kernels  # imported here: it is mainly for generated code

        return kernels.integer_matmul(a, b)
    try:
        if a.itemsize == NARROW:
            a, b = widened(a), widened(b)
        return np.asarray(np.matmul(a, b))
    except MemoryError as refused:
        raise exhausted(verb, refused) from refused
    except REFUSED as refused:
        raise undefined(verb, (left, right)) from refused


def _rounded(data: Array, like: Core) -> Array:
    """Return a result computed in float32 in the dtype of a tensor of narrow floats."""
    is_wide = like._data.itemsize == NARROW and is_narrow(like.dtype) and data.dtype == np.float32
    return data.astype(like.dtype.type) if is_wide else data


def _weighted(data: Array, factor: complex, verb: str, option: str) -> Array:
    if isinstance(factor, int) and factor == 1:
        return data
    factor = checked_number(factor, verb, option)
    if isinstance(factor, float) and data.dtype.kind in "iub":
        message = f"{verb}: {option}={factor} of integers is not an integer"
        raise error(Diagnostic("NE578", message, hint="convert the tensors to floats first: x.float()"))
    return np.asarray(np.multiply(data, factor))


def _check_dtypes(
    left: Core, right: Core, verb: str, words: tuple[str, str] = ("the left tensor is", "the right one")
) -> None:
    if left.dtype != right.dtype:
        message = f"{verb}: {words[0]} {left.dtype}, and {words[1]} {right.dtype}"
        try:
            common = np.result_type(left.dtype, right.dtype)
        except TypeError:  # for numbers and text
            common = left.dtype
        raise error(Diagnostic("NE572", message, hint=f"convert one of them: .to({str(common)!r})"))


_PAIRING = Pairing("tensordot")


def contracted(a: Core, b: Core, dims: Any) -> tuple[Array, Names]:
    """Return the contraction of the listed dims of two tensors, and its names."""
    axes, names = contracted_axes(a, b, dims)
    if a.dtype == b.dtype and is_narrow(a.dtype):
        data = np.tensordot(widened(a._data), widened(b._data), axes).astype(a.dtype.type)
    else:
        data = np.tensordot(a._data, b._data, axes)
    return np.asarray(data), names


def contracted_axes(a: Core, b: Core, dims: Any) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], Names]:
    """Return the axes of the listed dims of two tensors, and the names of a contraction: those of the others.

    NE372 if paired sizes differ, NE387 if the lists differ in length, NE473 if a name would occur twice.
    """
    left, right = contracted_positions(a._dims, b._dims, dims)
    for at, other in zip(left, right, strict=True):
        if a.shape[at] != b.shape[other]:
            hint = "the dims of both lists pair in their order, and contracted sizes are equal"
            raise contracted_fault(a._dims, b._dims, (at, other), _PAIRING, hint)
    kept = [dim for at, dim in enumerate(a._dims) if at not in left]
    kept += [dim for at, dim in enumerate(b._dims) if at not in right]
    names = names_of(tuple(kept))
    twice = duplicate(names)
    if twice:
        raise doubled_fault(twice[0], a._dims, b._dims, _PAIRING)
    return (left, right), names


def contracted_positions(a: Dims, b: Dims, dims: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the positions that a `dims` argument of tensordot contracts, in both tensors (NE387)."""
    if type(dims) is int:
        if not 0 <= dims <= min(len(a), len(b)):
            most = min(len(a), len(b))
            message = f"tensordot: {counted(dims, 'dim')} cannot be contracted: the tensors have {len(a)}"
            hint = f"at most {most}, or two lists of dims"
            raise paired_fault("NE387", f"{message} and {len(b)}", (a, b), _PAIRING, ((), ()), hint)
        return tuple(range(len(a) - dims, len(a))), tuple(range(dims))
    try:
        first, second = dims
    except (TypeError, ValueError) as refused:
        message = f"tensordot: dims must be a number or two lists, not {shown(dims)}"
        raise error(Diagnostic("NE651", message, hint="tensordot(a, b, (['C'], ['C']))")) from refused
    ours, theirs = dims_in(first), dims_in(second)
    left = positions(a, ShownCall("tensordot", ours, (a, b), "(a, b, ([", f"], {shown(list(theirs))}))"))
    right = positions(b, ShownCall("tensordot", theirs, (a, b), f"(a, b, ({shown(list(ours))}, [", "]))"))
    if len(left) != len(right):
        message = f"tensordot: {counted(len(left), 'dim')} of the left tensor, {len(right)} of the right one"
        hint = "give as many dims of each tensor"
        raise paired_fault("NE387", message, (a, b), _PAIRING, (left, right), hint)
    return left, right
