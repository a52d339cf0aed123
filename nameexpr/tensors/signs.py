"""Pointwise functions about signs, wholes and bits; most leave integers integers.

The result has the names of the tensor.

>>> import nameexpr as ne
>>> abs(ne.tensor([[-1.5, 2.0]], names="N C"))
tensor([[1.5, 2. ]], names=('N', 'C'), shape=(1, 2))
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.tensors.core import Core
from nameexpr.tensors.faults import explained, respelt, wrong_kind
from nameexpr.tensors.ops import in_place, op
from nameexpr.tensors.pieces import checked_int
from nameexpr.tensors.rules import REFUSED, Rules


class Signs(Rules):
    """abs, neg, sign, rounding, complements, and which elements are numbers."""

    __slots__ = ()

    @op("keeps")
    def abs(self, *, out: Core | None = None) -> Self:
        """Return the absolute value of each element.

        >>> ne.tensor([-1, 2]).abs()
        tensor([1, 2], shape=(2,))
        """
        return self._keep("abs", out)

    abs_ = in_place(abs)

    @op("keeps")
    def neg(self, *, out: Core | None = None) -> Self:
        """Return each element with the other sign; bools have none.

        >>> ne.tensor([-1, 2]).neg()
        tensor([ 1, -2], shape=(2,))
        """
        return self._keep("neg", out)

    neg_ = in_place(neg)

    @op("keeps", extra=True)
    def positive(self, *, out: Core | None = None) -> Self:
        """Return a copy of each element.

        >>> ne.tensor([-1, 2]).positive()
        tensor([-1,  2], shape=(2,))
        """
        return self._keep("positive", out)

    @op("keeps")
    def sign(self, *, out: Core | None = None) -> Self:
        """Return -1, 0 or 1 for each element; nan for nan.

        >>> ne.tensor([-1.5, 0.0, 2.0]).sign()
        tensor([-1.,  0.,  1.], shape=(3,))
        """
        return self._keep("sign", out)

    sign_ = in_place(sign)

    @op("keeps")
    def sgn(self, *, out: Core | None = None) -> Self:
        """Return the sign of each element; of a complex one, the number of size 1 in its direction.

        >>> ne.tensor([3 + 4j]).sgn()
        tensor([0.6+0.8j], shape=(1,))
        """
        return self._keep("sgn", out)

    sgn_ = in_place(sgn)

    @op("keeps")
    def ceil(self, *, out: Core | None = None) -> Self:
        """Return each element rounded up; integers as they are.

        >>> ne.tensor([-1.5, 1.2]).ceil()
        tensor([-1.,  2.], shape=(2,))
        """
        return self._keep("ceil", out)

    ceil_ = in_place(ceil)

    @op("keeps")
    def floor(self, *, out: Core | None = None) -> Self:
        """Return each element rounded down; integers as they are.

        >>> ne.tensor([-1.5, 1.2]).floor()
        tensor([-2.,  1.], shape=(2,))
        """
        return self._keep("floor", out)

    floor_ = in_place(floor)

    @op("keeps")
    def trunc(self, *, out: Core | None = None) -> Self:
        """Return each element without its fraction; integers as they are.

        >>> ne.tensor([-1.5, 1.2]).trunc()
        tensor([-1.,  1.], shape=(2,))
        """
        return self._keep("trunc", out)

    trunc_ = in_place(trunc)

    @op("keeps")
    def frac(self, *, out: Core | None = None) -> Self:
        """Return the fraction of each float, with its sign.

        >>> ne.tensor([-1.5, 1.25]).frac()
        tensor([-0.5 ,  0.25], shape=(2,))
        """
        return self._keep("frac", out)

    frac_ = in_place(frac)

    @op("keeps")
    def bitwise_not(self, *, out: Core | None = None) -> Self:
        """Return the integers with all bits inverted, or the bools turned around.

        >>> ne.tensor([0, 5]).bitwise_not()
        tensor([-1, -6], shape=(2,))
        """
        return self._keep("bitwise_not", out)

    bitwise_not_ = in_place(bitwise_not)

    @op("keeps")
    def logical_not(self, *, out: Core | None = None) -> Self:
        """Return whether each element is 0 or False.

        >>> ne.tensor([0.0, 5.0]).logical_not()
        tensor([ True, False], shape=(2,))
        """
        return self._keep("logical_not", out)

    logical_not_ = in_place(logical_not)

    @op("keeps", extra=True)
    def isnan(self, *, out: Core | None = None) -> Self:
        """Return whether each element is nan.

        >>> ne.tensor([float("nan"), 1.0]).isnan()
        tensor([ True, False], shape=(2,))
        """
        return self._keep("isnan", out)

    @op("keeps", extra=True)
    def isinf(self, *, out: Core | None = None) -> Self:
        """Return whether each element is infinite.

        >>> ne.tensor([float("inf"), 1.0]).isinf()
        tensor([ True, False], shape=(2,))
        """
        return self._keep("isinf", out)

    @op("keeps", extra=True)
    def isfinite(self, *, out: Core | None = None) -> Self:
        """Return whether each element is neither nan nor infinite.

        >>> ne.tensor([float("inf"), 1.0]).isfinite()
        tensor([False,  True], shape=(2,))
        """
        return self._keep("isfinite", out)

    @op("keeps")
    def round(self, decimals: int = 0, *, out: Core | None = None) -> Self:
        """Return each element rounded to so many decimals, halves to the even neighbour.

        Integers stay as they are; negative `decimals` round to tens, hundreds and so on.

        >>> ne.tensor([0.5, 1.5, 2.25]).round()
        tensor([0., 2., 2.], shape=(3,))
        >>> ne.tensor([2.27]).round(1)
        tensor([2.3], shape=(1,))
        """
        places = checked_int(decimals, "round", "decimals")
        if places == 0 or self._data.dtype.kind == "b":
            return self._keep("round", out)
        try:
            data = np.round(self._data, places)
        except REFUSED as fault:
            if isinstance(fault, OverflowError):
                raise wrong_kind("round", "decimals", "a number of digits", places) from fault
            raise explained("round", (self,), fault) from fault
        return self._put(data, self._names, "round", out)

    round_ = in_place(round)

    @op("keeps")
    def clamp(self, min: Any = None, max: Any = None, *, out: Core | None = None) -> Self:
        """Return each element, or the bound that it lies beyond; `max` where min is above max.

        Bounds are numbers or tensors, which pair with this one from the right.

        Raises
        ------
        OptionError
            NE671, if there is neither bound.

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

    def _clamped(self, kernel: str, bound: Any, verb: str) -> Self:
        try:
            return self._ranked(kernel, bound)
        except NameExprError as fault:
            raise respelt(fault, kernel, verb) from fault.__cause__

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
