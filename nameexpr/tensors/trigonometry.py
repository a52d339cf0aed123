"""Pointwise functions of angles, in radians, and their hyperbolic and inverse kin.

Integers and bools become the default float dtype; outside a function's domain the value is nan or inf,
without a warning. The result has the names of the tensor.

>>> import nameexpr as ne
>>> ne.tensor([2.0], names="N").acos()
tensor([nan], names=('N',), shape=(1,))
"""

from __future__ import annotations

from typing import Self

from nameexpr.tensors.core import Core
from nameexpr.tensors.ops import in_place, op
from nameexpr.tensors.rules import Rules


class Trigonometry(Rules):
    """Sines, cosines, tangents, their inverses, degrees and radians."""

    __slots__ = ()

    @op("keeps")
    def sin(self, *, out: Core | None = None) -> Self:
        """Return the sine of each element.

        >>> ne.tensor([0.0, 1.0]).sin()
        tensor([0.        , 0.84147098], shape=(2,))
        """
        return self._keep("sin", out)

    sin_ = in_place(sin)

    @op("keeps")
    def cos(self, *, out: Core | None = None) -> Self:
        """Return the cosine of each element.

        >>> ne.tensor([0.0, 1.0]).cos()
        tensor([1.        , 0.54030231], shape=(2,))
        """
        return self._keep("cos", out)

    cos_ = in_place(cos)

    @op("keeps")
    def tan(self, *, out: Core | None = None) -> Self:
        """Return the tangent of each element.

        >>> ne.tensor([0.0, 1.0]).tan()
        tensor([0.        , 1.55740772], shape=(2,))
        """
        return self._keep("tan", out)

    tan_ = in_place(tan)

    @op("keeps")
    def asin(self, *, out: Core | None = None) -> Self:
        """Return the inverse sine of each element.

        >>> ne.tensor([0.0, 1.0]).asin()
        tensor([0.        , 1.57079633], shape=(2,))
        """
        return self._keep("asin", out)

    asin_ = in_place(asin)

    @op("keeps")
    def acos(self, *, out: Core | None = None) -> Self:
        """Return the inverse cosine of each element.

        >>> ne.tensor([0.0, 1.0]).acos()
        tensor([1.57079633, 0.        ], shape=(2,))
        """
        return self._keep("acos", out)

    acos_ = in_place(acos)

    @op("keeps")
    def atan(self, *, out: Core | None = None) -> Self:
        """Return the inverse tangent of each element.

        >>> ne.tensor([0.0, 1.0]).atan()
        tensor([0.        , 0.78539816], shape=(2,))
        """
        return self._keep("atan", out)

    atan_ = in_place(atan)

    @op("keeps")
    def sinh(self, *, out: Core | None = None) -> Self:
        """Return the hyperbolic sine of each element.

        >>> ne.tensor([0.0, 1.0]).sinh()
        tensor([0.        , 1.17520119], shape=(2,))
        """
        return self._keep("sinh", out)

    sinh_ = in_place(sinh)

    @op("keeps")
    def cosh(self, *, out: Core | None = None) -> Self:
        """Return the hyperbolic cosine of each element.

        >>> ne.tensor([0.0, 1.0]).cosh()
        tensor([1.        , 1.54308063], shape=(2,))
        """
        return self._keep("cosh", out)

    cosh_ = in_place(cosh)

    @op("keeps")
    def tanh(self, *, out: Core | None = None) -> Self:
        """Return the hyperbolic tangent of each element.

        >>> ne.tensor([0.0, 1.0]).tanh()
        tensor([0.        , 0.76159416], shape=(2,))
        """
        return self._keep("tanh", out)

    tanh_ = in_place(tanh)

    @op("keeps")
    def asinh(self, *, out: Core | None = None) -> Self:
        """Return the inverse hyperbolic sine of each element.

        >>> ne.tensor([0.0, 1.0]).asinh()
        tensor([0.        , 0.88137359], shape=(2,))
        """
        return self._keep("asinh", out)

    asinh_ = in_place(asinh)

    @op("keeps")
    def acosh(self, *, out: Core | None = None) -> Self:
        """Return the inverse hyperbolic cosine of each element.

        >>> ne.tensor([1.0, 2.0]).acosh()
        tensor([0.       , 1.3169579], shape=(2,))
        """
        return self._keep("acosh", out)

    acosh_ = in_place(acosh)

    @op("keeps")
    def atanh(self, *, out: Core | None = None) -> Self:
        """Return the inverse hyperbolic tangent of each element.

        >>> ne.tensor([0.0, 1.0]).atanh()
        tensor([ 0., inf], shape=(2,))
        """
        return self._keep("atanh", out)

    atanh_ = in_place(atanh)

    @op("keeps")
    def deg2rad(self, *, out: Core | None = None) -> Self:
        """Return each element, in degrees, as radians.

        >>> ne.tensor([0, 180]).deg2rad()
        tensor([0.        , 3.14159265], shape=(2,))
        """
        return self._keep("deg2rad", out)

    deg2rad_ = in_place(deg2rad)

    @op("keeps")
    def rad2deg(self, *, out: Core | None = None) -> Self:
        """Return each element, in radians, as degrees.

        >>> ne.tensor([0.0, 1.0]).rad2deg()
        tensor([ 0.        , 57.29577951], shape=(2,))
        """
        return self._keep("rad2deg", out)

    rad2deg_ = in_place(rad2deg)
