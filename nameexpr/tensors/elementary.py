"""Pointwise functions: powers of e and their inverses, roots, and the special functions.

Integers and bools become the default float dtype; outside a function's domain the value is nan or inf,
without a warning. The result has the names of the tensor.

>>> import nameexpr as ne
>>> ne.tensor([1.0, 0.0], names="N").log()
tensor([  0., -inf], names=('N',), shape=(2,))
"""

from __future__ import annotations

from typing import Self

from nameexpr.tensors.core import Core
from nameexpr.tensors.faults import unordered
from nameexpr.tensors.ops import in_place, op
from nameexpr.tensors.rules import Rules


class Elementary(Rules):
    """Exponentials, logarithms, roots, special functions."""

    __slots__ = ()

    @op("keeps")
    def exp(self, *, out: Core | None = None) -> Self:
        """Return e to the power of each element.

        >>> ne.tensor([0.0, 1.0]).exp()
        tensor([1.        , 2.71828183], shape=(2,))
        """
        return self._keep("exp", out)

    exp_ = in_place(exp)

    @op("keeps", extra=True)
    def exp2(self, *, out: Core | None = None) -> Self:
        """Return 2 to the power of each element.

        >>> ne.tensor([0, 3]).exp2()
        tensor([1., 8.], shape=(2,))
        """
        return self._keep("exp2", out)

    exp2_ = in_place(exp2, extra=True)

    @op("keeps")
    def expm1(self, *, out: Core | None = None) -> Self:
        """Return `exp(x) - 1` of each element, exact where x is small.

        >>> ne.tensor([0.0, 1e-20]).expm1()
        tensor([0.e+00, 1.e-20], shape=(2,))
        """
        return self._keep("expm1", out)

    expm1_ = in_place(expm1)

    @op("keeps")
    def log(self, *, out: Core | None = None) -> Self:
        """Return the natural logarithm of each element.

        >>> ne.tensor([1.0, 0.0, -1.0]).log()
        tensor([  0., -inf,  nan], shape=(3,))
        """
        return self._keep("log", out)

    log_ = in_place(log)

    @op("keeps")
    def log10(self, *, out: Core | None = None) -> Self:
        """Return the logarithm to base 10 of each element.

        >>> ne.tensor([1, 1000]).log10()
        tensor([0., 3.], shape=(2,))
        """
        return self._keep("log10", out)

    log10_ = in_place(log10)

    @op("keeps")
    def log1p(self, *, out: Core | None = None) -> Self:
        """Return `log(1 + x)` of each element, exact where x is small.

        >>> ne.tensor([0.0, 1e-20]).log1p()
        tensor([0.e+00, 1.e-20], shape=(2,))
        """
        return self._keep("log1p", out)

    log1p_ = in_place(log1p)

    @op("keeps")
    def log2(self, *, out: Core | None = None) -> Self:
        """Return the logarithm to base 2 of each element.

        >>> ne.tensor([1, 8]).log2()
        tensor([0., 3.], shape=(2,))
        """
        return self._keep("log2", out)

    log2_ = in_place(log2)

    @op("keeps")
    def sqrt(self, *, out: Core | None = None) -> Self:
        """Return the square root of each element; nan for a negative one.

        >>> ne.tensor([4, 9]).sqrt()
        tensor([2., 3.], shape=(2,))
        """
        return self._keep("sqrt", out)

    sqrt_ = in_place(sqrt)

    @op("keeps")
    def rsqrt(self, *, out: Core | None = None) -> Self:
        """Return one over the square root of each element.

        >>> ne.tensor([4.0, 0.0]).rsqrt()
        tensor([0.5, inf], shape=(2,))
        """
        return self._keep("rsqrt", out)

    rsqrt_ = in_place(rsqrt)

    @op("keeps")
    def reciprocal(self, *, out: Core | None = None) -> Self:
        """Return one over each element; inf for 0.

        >>> ne.tensor([4, 0]).reciprocal()
        tensor([0.25,  inf], shape=(2,))
        """
        return self._keep("reciprocal", out)

    reciprocal_ = in_place(reciprocal)

    @op("keeps", extra=True)
    def square(self, *, out: Core | None = None) -> Self:
        """Return the square of each element; integers stay integers.

        >>> ne.tensor([2, -3]).square()
        tensor([4, 9], shape=(2,))
        """
        return self._keep("square", out)

    square_ = in_place(square, extra=True)

    @op("keeps")
    def sigmoid(self, *, out: Core | None = None) -> Self:
        """Return `1 / (1 + exp(-x))` of each element.

        >>> ne.tensor([0.0, 800.0]).sigmoid()
        tensor([0.5, 1. ], shape=(2,))
        """
        return self._keep("sigmoid", out)

    sigmoid_ = in_place(sigmoid)

    @op("keeps", extra=True)
    def relu(self, *, out: Core | None = None) -> Self:
        """Return each element, or 0 where it is negative.

        >>> ne.tensor([-1.5, 2.0]).relu()
        tensor([0., 2.], shape=(2,))
        """
        if self._data.dtype.kind == "c":
            raise unordered("relu" if out is not self else "relu_")
        return self._keep("relu", out)

    relu_ = in_place(relu, extra=True)

    @op("keeps")
    def erf(self, *, out: Core | None = None) -> Self:
        """Return the error function of each element.

        >>> ne.tensor([0.0, 1.0]).erf()
        tensor([0.        , 0.84270079], shape=(2,))
        """
        return self._keep("erf", out)

    erf_ = in_place(erf)

    @op("keeps")
    def erfc(self, *, out: Core | None = None) -> Self:
        """Return one minus the error function of each element, exact where that is small.

        >>> ne.tensor([0.0, 10.0]).erfc()
        tensor([1.00000000e+00, 2.08848758e-45], shape=(2,))
        """
        return self._keep("erfc", out)

    erfc_ = in_place(erfc)

    @op("keeps")
    def erfinv(self, *, out: Core | None = None) -> Self:
        """Return the inverse error function of each element; inf for 1, nan beyond.

        >>> ne.tensor([0.5, 1.0]).erfinv()
        tensor([0.47693628,        inf], shape=(2,))
        """
        return self._keep("erfinv", out)

    erfinv_ = in_place(erfinv)

    @op("keeps")
    def digamma(self, *, out: Core | None = None) -> Self:
        """Return the derivative of the logarithm of the gamma function at each element.

        >>> ne.tensor([1.0, 2.0]).digamma()
        tensor([-0.57721566,  0.42278434], shape=(2,))
        """
        return self._keep("digamma", out)

    digamma_ = in_place(digamma)
