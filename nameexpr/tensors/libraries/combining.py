"""Arithmetic with options, and matrix products, by the functions of a library."""

from __future__ import annotations

from typing import Any, Self

from nameexpr.dims import Names
from nameexpr.errors import Diagnostic, error
from nameexpr.rules.pairing import bias_names
from nameexpr.rules.remembered import matmul_names
from nameexpr.tensors.arguments import checked_number
from nameexpr.tensors.arithmetic import ArithmeticMethods
from nameexpr.tensors.contraction import MatrixProducts, contracted_axes
from nameexpr.tensors.core import Array, Core, Other
from nameexpr.tensors.libraries.operators import LibraryOperators
from nameexpr.tensors.operators import NUMBERS, is_operand
from nameexpr.tensors.ops import checked
from nameexpr.tensors.writing import spelt


class LibraryArithmetic(LibraryOperators, ArithmeticMethods):
    """The methods of `ArithmeticMethods` that touch elements."""

    __slots__ = ()

    @checked
    def clamp(self, min: Any = None, max: Any = None, *, out: Core | None = None) -> Self:
        """Return each element limited to the bounds; `max` where min is above max."""
        is_plain = type(min) in _BOUNDS and type(max) in _BOUNDS and min is not max and out is None
        if is_plain and self._kernels.kind_of(self._data.dtype) != "c":
            try:
                return self._named(self._kernels.clamp(self._data, min, max), self._names)
            except Exception as fault:
                raise self._refusal(fault, "clamp", (self,)) from fault
        return super().clamp(min, max, out=out)

    clip = clamp

    def _add_scaled(self, verb: str, other: Any, alpha: complex, out: Core | None) -> Self:
        if isinstance(alpha, int) and alpha == 1:
            return self._unify(verb, self, other, out)
        operand = self._operand(other, verb)
        alpha = checked_number(alpha, verb, "alpha")
        if isinstance(alpha, float) and self._is_whole(self) and self._is_whole(operand):
            message = f"{verb}: alpha={alpha} of integers is not an integer"
            raise error(Diagnostic("NE578", message, hint="convert them to floats first: x.float()"))
        if type(operand) in NUMBERS:
            return self._unify(verb, self, alpha * operand, out)
        scaled = operand._data * alpha
        if self._kernels.kind_of(self._data.dtype) == "b" == self._kernels.kind_of(operand._data.dtype):
            scaled = self._kernels.cast(scaled, operand._data.dtype)
        return self._unify(verb, self, self._wrap(scaled, operand._names), out)

    def _is_whole(self, operand: Any) -> bool:
        if isinstance(operand, Core):
            return self._kernels.kind_of(operand._data.dtype) in "iub"
        return isinstance(operand, int)

    def _rounded(self, places: int) -> Array:
        try:
            return self._kernels.rounded(self._data, places)  # type: ignore[no-any-return]
        except Exception as fault:
            raise self._refusal(fault, "round", (self,)) from fault

    def _has_elements_of(self, other: Core) -> bool:
        right = self._as_core(other, "equal")
        return self._kernels.is_equal(self._data, right._data)  # type: ignore[no-any-return]

    def _joined(self, parts: list[Any], at: int, names: Names, verb: str, out: Any) -> Any:
        """Return tensors joined along an axis; stacked, along a new one."""
        arrays = [part._data for part in parts]
        try:
            data = self._kernels.joined(arrays, at, is_new=verb == "stack")
        except Exception as fault:
            raise self._refusal(fault, verb, tuple(parts)) from fault
        return self._named(data, names) if out is None else self._write(out, data, names, verb)


_BOUNDS = frozenset({int, float, type(None)})


class LibraryProducts(LibraryOperators, MatrixProducts):
    """The methods of `MatrixProducts` that touch elements."""

    __slots__ = ()

    def _product(
        self, other: Any, verb: str, ranks: tuple[int, int] | None, out: Core | None, by: str = ""
    ) -> Self:
        right = other if type(other) is type(self) else self._as_core(other, verb)
        names = _names(self, right, by or verb, ranks)
        data = self._multiplied(self, right, verb)
        return self._named(data, names) if out is None else self._put(data, names, verb, out)

    def _multiplied(self, left: Core, right: Core, verb: str) -> Array:
        try:
            return self._kernels.matmul(left._data, right._data)  # type: ignore[no-any-return]
        except Exception as fault:
            self._check_same_dtype(left, right, verb)
            raise self._refusal(fault, verb, (left,)) from fault

    def _check_same_dtype(
        self,
        left: Core,
        right: Core,
        verb: str,
        words: tuple[str, str] = ("the left tensor is", "the right one"),
    ) -> None:
        if left.dtype != right.dtype:
            message = f"{verb}: {words[0]} {left.dtype}, and {words[1]} {right.dtype}"
            raise error(Diagnostic("NE572", message, hint=f"convert one of them: right.to({self.dtype})"))

    def __matmul__(self, other: Other) -> Self:
        if not is_operand(other):
            return NotImplemented
        return self._product(other, "matmul", None, None, by="@")

    def __rmatmul__(self, other: Other) -> Self:
        if not is_operand(other):
            return NotImplemented
        left: Self = self._as_core(other, "matmul")
        return left._product(self, "matmul", None, None, by="@")

    def _add_product(
        self, mat: Any, other: Any, ranks: Any, beta: complex, alpha: complex, verb: str, out: Core | None
    ) -> Self:
        left, right = self._as_core(mat, verb), self._as_core(other, verb)
        names = _names(left, right, verb, ranks)
        product = self._wrap(self._multiplied(left, right, verb), names)
        said = spelt(verb, is_out=out is not self)
        self._check_same_dtype(product, self, said, ("the product is", "the bias"))
        names = bias_names(product._dims, self._dims, verb, said)
        data = self._weighted(product._data, alpha, said, "alpha")
        if beta != 0:
            data = data + self._weighted(self._data, beta, said, "beta")
        return self._put(data, names, verb, out)

    def _weighted(self, data: Array, factor: complex, verb: str, option: str) -> Array:
        if isinstance(factor, int) and factor == 1:
            return data
        factor = checked_number(factor, verb, option)
        if isinstance(factor, float) and self._kernels.kind_of(data.dtype) in "iub":
            message = f"{verb}: {option}={factor} of integers is not an integer"
            raise error(Diagnostic("NE578", message, hint="convert the tensors to floats first: x.float()"))
        return data * factor

    def _contraction(self, left: Core, right: Core, dims: Any) -> tuple[Array, Names]:
        axes, names = contracted_axes(left, right, dims)
        try:
            return self._kernels.tensordot(left._data, right._data, axes), names
        except Exception as fault:
            self._check_same_dtype(left, right, "tensordot")
            raise self._refusal(fault, "tensordot", (left,)) from fault


def _names(left: Core, right: Core, verb: str, ranks: tuple[int, int] | None) -> Names:
    shapes = left._data.shape, right._data.shape
    return matmul_names(left._names, shapes[0], right._names, shapes[1], verb, ranks)
