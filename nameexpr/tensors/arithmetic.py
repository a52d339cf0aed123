"""Arithmetic on two operands: dims pair from the right, names unify, values and dtypes are NumPy's.

The other operand is a NamedTensor, an array (whose dims count as unnamed), or a number.

>>> import nameexpr as ne
>>> x = ne.tensor([[1, 2], [3, 4]], names="N C")
>>> x + ne.tensor([10, 20], names="C")
tensor([[11, 22],
        [13, 24]], names=('N', 'C'), shape=(2, 2))
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from nameexpr.backends.numpy.floats import NARROW, is_narrow, widened
from nameexpr.errors import Diagnostic, error
from nameexpr.rules.calls import shown
from nameexpr.tensors.core import Core
from nameexpr.tensors.ops import in_place, op
from nameexpr.tensors.pieces import checked_number
from nameexpr.tensors.rules import NUMBERS, Rules, data_and_names


class Arithmetic(Rules):
    """add, sub, mul, div, pow and their kin, and the operators + - * / // % **."""

    __slots__ = ()

    @op("unifies")
    def add(self, other: Any, *, alpha: complex = 1, out: Core | None = None) -> Self:
        """Return `x + alpha * other`; of bools, whether either is true.

        >>> ne.tensor([1, 2]).add(ne.tensor([10, 20]), alpha=2)
        tensor([21, 42], shape=(2,))
        """
        return self._add_scaled("add", other, alpha, out)

    add_ = in_place(add)

    @op("unifies")
    def sub(self, other: Any, *, alpha: complex = 1, out: Core | None = None) -> Self:
        """Return `x - alpha * other`; bools cannot be subtracted.

        >>> ne.tensor([1, 2]).sub(1)
        tensor([0, 1], shape=(2,))
        """
        return self._add_scaled("sub", other, alpha, out)

    sub_ = in_place(sub)

    @op("unifies")
    def mul(self, other: Any, *, out: Core | None = None) -> Self:
        """Return `x * other`; of bools, whether both are true.

        >>> ne.tensor([1, 2]).mul(2.5)
        tensor([2.5, 5. ], shape=(2,))
        """
        return self._unify("mul", self, other, out)

    mul_ = in_place(mul)

    @op("unifies")
    def div(
        self,
        other: Any,
        *,
        rounding_mode: Literal["trunc", "floor"] | None = None,
        out: Core | None = None,
    ) -> Self:
        """Return `x / other`, of integers too in floats; or the quotient rounded to 0 or down.

        Raises
        ------
        OptionError
            NE672, if `rounding_mode` is neither None, "trunc" nor "floor".

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
            message = f"div: rounding_mode is 'trunc', 'floor' or None, not {shown(rounding_mode)}"
            raise error(Diagnostic("NE672", message))
        return self._unify("floor_divide" if rounding_mode == "floor" else "truncated_div", self, other, out)

    div_ = in_place(div)

    @op("unifies")
    def pow(self, exponent: Any, *, out: Core | None = None) -> Self:
        """Return each element to the power of the exponent; integers take no negative ones.

        >>> ne.tensor([2, 3]).pow(2)
        tensor([4, 9], shape=(2,))
        """
        return self._unify("pow", self, exponent, out)

    pow_ = in_place(pow)

    @op("unifies")
    def atan2(self, other: Any, *, out: Core | None = None) -> Self:
        """Return the angle, in radians, of the point with y = x and x = other.

        >>> ne.tensor([1.0, 0.0]).atan2(ne.tensor([0.0, -1.0]))
        tensor([1.57079633, 3.14159265], shape=(2,))
        """
        return self._unify("atan2", self, other, out)

    atan2_ = in_place(atan2)

    def _add_scaled(self, verb: str, other: Any, alpha: complex, out: Core | None) -> Self:
        """Return `x + alpha * other` or their difference, of narrow floats in float32 up to its end."""
        if isinstance(alpha, int) and alpha == 1:
            return self._unify(verb, self, other, out)
        operand, names = data_and_names(other, verb)
        alpha = self._checked_alpha(alpha, operand, verb)
        if type(operand) in NUMBERS:
            return self._unify(verb, self, alpha * operand, out)
        dtype = self._data.dtype
        is_wide = dtype.itemsize == NARROW and is_narrow(dtype) and operand.dtype == dtype
        scaled = np.asarray(np.multiply(widened(operand) if is_wide else operand, alpha))
        result = self._unify(verb, self, self._wrap(scaled, names), out)
        if out is None and is_wide and result._data.dtype == np.float32:
            return self._wrap(result._data.astype(dtype.type), result._names)
        return result

    def _checked_alpha(self, alpha: complex, operand: Any, verb: str) -> complex:
        """Return alpha (NE578 if a float would make floats of integers)."""
        alpha = checked_number(alpha, verb, "alpha")
        if (
            isinstance(alpha, float)
            and self._data.dtype.kind in "iub"
            and np.result_type(operand).kind in "iub"
        ):
            message = f"{verb}: alpha={alpha} of integers is no integer"
            raise error(Diagnostic("NE578", message, hint="make floats of them first: x.float()"))
        return alpha

    @op("unifies", extra=True)
    def floor_divide(self, other: Any, *, out: Core | None = None) -> Self:
        """Return `x // other`, rounded down.

        >>> ne.tensor([-3, 3]).floor_divide(2)
        tensor([-2,  1], shape=(2,))
        """
        return self._unify("floor_divide", self, other, out)

    floor_divide_ = in_place(floor_divide, extra=True)

    @op("unifies", extra=True)
    def remainder(self, other: Any, *, out: Core | None = None) -> Self:
        """Return `x % other`, with the sign of `other`.

        >>> ne.tensor([-3, 3]).remainder(2)
        tensor([1, 1], shape=(2,))
        """
        return self._unify("remainder", self, other, out)

    remainder_ = in_place(remainder, extra=True)

    @op("unifies", extra=True)
    def hypot(self, other: Any, *, out: Core | None = None) -> Self:
        """Return the square root of the sum of both squares.

        >>> ne.tensor([3.0]).hypot(ne.tensor([4.0]))
        tensor([5.], shape=(1,))
        """
        return self._unify("hypot", self, other, out)

    @op("unifies", extra=True)
    def maximum(self, other: Any, *, out: Core | None = None) -> Self:
        """Return the larger element of each pair; nan where either is.

        >>> ne.tensor([1, 5]).maximum(3)
        tensor([3, 5], shape=(2,))
        """
        return self._ranked("maximum", other, out)

    @op("unifies", extra=True)
    def minimum(self, other: Any, *, out: Core | None = None) -> Self:
        """Return the smaller element of each pair; nan where either is.

        >>> ne.tensor([1, 5]).minimum(3)
        tensor([1, 3], shape=(2,))
        """
        return self._ranked("minimum", other, out)


class ArithmeticOperators(Arithmetic):
    """The signs + - * / // % **, with the tensor on either side, and their in-place forms."""

    __slots__ = ()

    def __add__(self, other: Any) -> Self:
        return self._operate("add", self, other)

    def __radd__(self, other: Any) -> Self:
        return self._operate("add", other, self)

    def __iadd__(self, other: Any) -> Self:
        return self._operate("add", self, other, self)

    def __sub__(self, other: Any) -> Self:
        return self._operate("sub", self, other)

    def __rsub__(self, other: Any) -> Self:
        return self._operate("sub", other, self)

    def __isub__(self, other: Any) -> Self:
        return self._operate("sub", self, other, self)

    def __mul__(self, other: Any) -> Self:
        return self._operate("mul", self, other)

    def __rmul__(self, other: Any) -> Self:
        return self._operate("mul", other, self)

    def __imul__(self, other: Any) -> Self:
        return self._operate("mul", self, other, self)

    def __truediv__(self, other: Any) -> Self:
        return self._operate("div", self, other)

    def __rtruediv__(self, other: Any) -> Self:
        return self._operate("div", other, self)

    def __itruediv__(self, other: Any) -> Self:
        return self._operate("div", self, other, self)

    def __floordiv__(self, other: Any) -> Self:
        return self._operate("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> Self:
        return self._operate("floor_divide", other, self)

    def __ifloordiv__(self, other: Any) -> Self:
        return self._operate("floor_divide", self, other, self)

    def __mod__(self, other: Any) -> Self:
        return self._operate("remainder", self, other)

    def __rmod__(self, other: Any) -> Self:
        return self._operate("remainder", other, self)

    def __imod__(self, other: Any) -> Self:
        return self._operate("remainder", self, other, self)

    def __pow__(self, other: Any) -> Self:
        return self._operate("pow", self, other)

    def __rpow__(self, other: Any) -> Self:
        return self._operate("pow", other, self)

    def __ipow__(self, other: Any) -> Self:
        return self._operate("pow", self, other, self)
