"""Arithmetic and rounding with options, and the signs + - * / // % ** & | ^ << >> ~ == != < <= > >=.

`==` compares element by element, as in NumPy; `equal` compares the names, sizes and values of two tensors.
Values and dtypes are NumPy's.

>>> x = ne.tensor([[1, 2], [3, 4]], names="N C")
>>> x + ne.tensor([10, 20], names="C")
tensor([[11, 22],
        [13, 24]], names=('N', 'C'), shape=(2, 2))
>>> x > ne.tensor([2, 2], names="C")
tensor([[False, False],
        [ True,  True]], names=('N', 'C'), shape=(2, 2))
"""

from __future__ import annotations

from typing import Any, Literal, Protocol, Self, TypeVar

import numpy as np

from nameexpr.backends.numpy.arrays import NARROW, is_narrow, widened
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.rules.calls import shown
from nameexpr.tensors.arguments import checked_int, checked_number
from nameexpr.tensors.core import Array, Core, Other
from nameexpr.tensors.faults import explained, respelt, wrong_kind
from nameexpr.tensors.operators import NUMBERS, REFUSED, Operators, carrying, data_and_names
from nameexpr.tensors.ops import check_constant, in_place, op
from nameexpr.tensors.pointwise import PointwiseMethods

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class _Operand(Protocol[T_co]):
    def __call__(self, other: Other, /) -> T_co: ...


class _Sign(Protocol):
    def __get__(self, tensor: T, kind: Any) -> _Operand[T]: ...


def _signs(verb: str) -> tuple[_Sign, _Sign, _Sign]:
    """Return the functions of a sign with the tensor to its left, to its right, and in place."""

    def left(self: Operators, other: Any) -> Any:
        try:
            return self._operate(verb, self, other)
        except NameExprError as wrong:
            wrong._forget_frames()
            raise

    def right(self: Operators, other: Any) -> Any:
        try:
            return self._operate(verb, other, self)
        except NameExprError as wrong:
            wrong._forget_frames()
            raise

    def in_place(self: Operators, other: Any) -> Any:
        try:
            return self._operate(verb, self, other, self)
        except NameExprError as wrong:
            wrong._forget_frames()
            raise

    return left, right, in_place


def _comparison(verb: str) -> _Sign:
    def compare(self: Operators, other: Any) -> Any:
        try:
            return self._compare(verb, other)
        except NameExprError as wrong:
            wrong._forget_frames()
            raise

    return compare


class ArithmeticMethods(PointwiseMethods):
    """add, sub, div, pow, round, clamp, relu, equal, and the signs."""

    __slots__ = ()

    @op("unifies")
    def add(self, other: Other, *, alpha: complex = 1, out: Core | None = None) -> Self:
        """Return `x + alpha * other`; of bools, whether either is true.

        >>> ne.tensor([1, 2]).add(ne.tensor([10, 20]), alpha=2)
        tensor([21, 42], shape=(2,))
        """
        return self._add_scaled("add", other, alpha, out)

    add_ = in_place(add)

    @op("unifies")
    def sub(self, other: Other, *, alpha: complex = 1, out: Core | None = None) -> Self:
        """Return `x - alpha * other`; bools cannot be subtracted.

        >>> ne.tensor([1, 2]).sub(1)
        tensor([0, 1], shape=(2,))
        """
        return self._add_scaled("sub", other, alpha, out)

    sub_ = in_place(sub)

    def _add_scaled(self, verb: str, other: Any, alpha: complex, out: Core | None) -> Self:
        """Return `x + alpha * other` or their difference; narrow floats are computed in float32."""
        if isinstance(alpha, int) and alpha == 1:
            return self._unify(verb, self, other, out)
        operand, names = data_and_names(other, verb)
        alpha = checked_number(alpha, verb, "alpha")
        dtype = self._data.dtype
        if isinstance(alpha, float) and dtype.kind in "iub" and np.result_type(operand).kind in "iub":
            message = f"{verb}: alpha={alpha} of integers is not an integer"
            raise error(Diagnostic("NE578", message, hint="convert them to floats first: x.float()"))
        if type(operand) in NUMBERS:
            return self._unify(verb, self, alpha * operand, out)
        is_wide = dtype.itemsize == NARROW and is_narrow(dtype) and operand.dtype == dtype
        scaled = np.asarray(np.multiply(widened(operand) if is_wide else operand, alpha))
        result = self._unify(verb, self, self._wrap(scaled, names), out)
        if out is None and is_wide and result._data.dtype == np.float32:
            return self._wrap(result._data.astype(dtype.type), result._names)
        return result

    @op("unifies")
    def div(
        self, other: Other, *, rounding_mode: Literal["trunc", "floor"] | None = None, out: Core | None = None
    ) -> Self:
        """Return `x / other`, for integers also in floats; or the quotient rounded towards 0 or down.

        Raises
        ------
        OptionError
            NE672 if `rounding_mode` is neither None, "trunc" nor "floor".

        Examples
        --------
        >>> ne.tensor([-3, 1]).div(2)
        tensor([-1.5,  0.5], shape=(2,))
        >>> ne.tensor([-3, 1]).div(2, rounding_mode="floor")
        tensor([-2,  0], shape=(2,))
        """
        if rounding_mode is None:
            return self._unify("div", self, other, out)
        if rounding_mode not in ("trunc", "floor"):
            message = f"div: rounding_mode must be 'trunc', 'floor' or None, not {shown(rounding_mode)}"
            raise error(Diagnostic("NE672", message))
        return self._unify("floor_divide" if rounding_mode == "floor" else "truncated_div", self, other, out)

    div_ = in_place(div)

    @op("unifies")
    def pow(self, exponent: Other, *, out: Core | None = None) -> Self:
        """Return each element to the power of the exponent, which must not be negative for integers.

        >>> ne.tensor([2, 3]).pow(2)
        tensor([4, 9], shape=(2,))
        """
        return self._unify("pow", self, exponent, out)

    pow_ = in_place(pow)

    @op("keeps", extra=True)
    def relu(self, *, out: Core | None = None) -> Self:
        """Return each element, or 0 where it is negative.

        >>> ne.tensor([-1.5, 2.0]).relu()
        tensor([0., 2.], shape=(2,))
        """
        self._check_ordered("relu" if out is not self else "relu_")
        return self._keep("relu", out)

    relu_ = in_place(relu, extra=True)

    @op("keeps")
    def round(self, decimals: int = 0, *, out: Core | None = None) -> Self:
        """Return each element rounded to a number of decimals, halves to the even neighbour.

        Integers are unchanged; negative `decimals` round to tens, hundreds and so on.

        >>> ne.tensor([0.5, 1.5, 2.25]).round()
        tensor([0., 2., 2.], shape=(3,))
        >>> ne.tensor([2.27]).round(1)
        tensor([2.3], shape=(1,))
        """
        places = checked_int(decimals, "round", "decimals")
        if places == 0:
            return self._keep("round", out)
        return self._put(self._rounded(places), self._names, "round", out)

    def _rounded(self, places: int) -> Array:
        """Return the elements rounded to a number of decimals, bools unchanged."""
        if self._data.dtype.kind == "b":
            return self._data.copy()
        try:
            return np.asarray(np.round(self._data, places))
        except OverflowError as fault:
            raise wrong_kind("round", "decimals", "a number of digits", places) from fault
        except REFUSED as fault:
            raise explained("round", (self,), fault) from fault

    round_ = in_place(round)

    @op("keeps")
    @carrying
    def clamp(self, min: Other | None = None, max: Other | None = None, *, out: Core | None = None) -> Self:
        """Return each element limited to the bounds; `max` where min is above max.

        Bounds are numbers or tensors, which pair with this one from the right.

        Raises
        ------
        OptionError
            NE671 if there is neither bound.

        Examples
        --------
        >>> ne.tensor([-2.0, 0.5, 2.0], names="N").clamp(-1, 1)
        tensor([-1. ,  0.5,  1. ], names=('N',), shape=(3,))
        """
        if min is None and max is None:
            message = "clamp needs a bound: min, max or both"
            raise error(Diagnostic("NE671", message, hint="clamp(min=0) has no upper bound"))
        verb = "clamp" if out is not self else "clamp_"
        low = self if min is None else self._clamped("maximum", min, verb)
        high = low if max is None else low._clamped("minimum", max, verb)
        return high if out is None else self._put(high._data, high._names, "clamp", out)

    clamp_ = in_place(clamp)
    clip = clamp

    def _clamped(self, kernel: str, bound: Any, verb: str) -> Self:
        check_constant(bound)
        try:
            return self._ranked(kernel, bound)
        except NameExprError as fault:
            raise respelt(fault, kernel, verb) from fault.__cause__

    @op("answers", extra=True)
    def equal(self, other: object) -> bool:
        """Return whether both tensors have the same names, sizes and values; nan equals nothing.

        >>> ne.tensor([1, 2], names="N").equal(ne.tensor([1, 2], names="C"))
        False
        """
        if not isinstance(other, Core):
            return False
        return self._names == other._names and self._has_elements_of(other)

    def _has_elements_of(self, other: Core) -> bool:
        return np.array_equal(self._data, other._data)

    __add__, __radd__, __iadd__ = _signs("add")
    __sub__, __rsub__, __isub__ = _signs("sub")
    __mul__, __rmul__, __imul__ = _signs("mul")
    __truediv__, __rtruediv__, __itruediv__ = _signs("div")
    __floordiv__, __rfloordiv__, __ifloordiv__ = _signs("floor_divide")
    __mod__, __rmod__, __imod__ = _signs("remainder")
    __pow__, __rpow__, __ipow__ = _signs("pow")
    __and__, __rand__, __iand__ = _signs("bitwise_and")
    __or__, __ror__, __ior__ = _signs("bitwise_or")
    __xor__, __rxor__, __ixor__ = _signs("bitwise_xor")
    __lshift__, __rlshift__, __ilshift__ = _signs("bitwise_left_shift")
    __rshift__, __rrshift__, __irshift__ = _signs("bitwise_right_shift")

    def __neg__(self) -> Self:
        return self._keep("neg")

    def __pos__(self) -> Self:
        return self._keep("positive")

    def __abs__(self) -> Self:
        return self._keep("abs")

    def __invert__(self) -> Self:
        return self._keep("bitwise_not")

    def __round__(self, decimals: int = 0) -> Self:
        return self.round(decimals)

    def __eq__(self, other: object) -> Self:  # type: ignore[override]
        return self._operate("eq", self, other)

    def __ne__(self, other: object) -> Self:  # type: ignore[override]
        return self._operate("ne", self, other)

    __lt__, __le__, __gt__, __ge__ = map(_comparison, ("lt", "le", "gt", "ge"))

    __hash__ = object.__hash__
