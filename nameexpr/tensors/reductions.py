"""Reductions: the reduced dims are removed, or kept with size 1 if `keepdim`.

`dim` is a name, a position, a list that mixes both, or "N C"; left out, None or empty it means all dims.

>>> x = ne.tensor([[1.0, 2.0], [3.0, 5.0]], names="N C")
>>> x.sum("C")
tensor([3., 8.], names=('N',), shape=(2,))
>>> x.mean(["N", 1], keepdim=True)
tensor([[2.75]], names=('N', 'C'), shape=(1, 1))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self, Unpack

import numpy as np

from nameexpr.errors import Diagnostic, error
from nameexpr.rules.calls import ShownCall, called, fault, shown
from nameexpr.tensors.arguments import checked_number, checked_real
from nameexpr.tensors.core import Core, SomeDims
from nameexpr.tensors.faults import wrong_kind
from nameexpr.tensors.operators import NEEDED, Operators
from nameexpr.tensors.ops import op

if TYPE_CHECKING:
    from nameexpr.tensors.core import Dtype
    from nameexpr.tensors.keywords import AxisAndKeepdims, AxisKeepdimsAndDdof

ALL: Final[Any] = ()
"""The dim argument of a reduction over all dims, in methods for which None is an error."""


class Reductions(Operators):
    """sum, prod, mean, std, var, logsumexp, norm, all, any, amax, amin, count_nonzero."""

    __slots__ = ()

    @op("removes")
    def sum(
        self,
        dim: SomeDims = None,
        keepdim: bool = False,
        *,
        dtype: Dtype = None,
        out: Core | None = None,
        **others: Unpack[AxisAndKeepdims],
    ) -> Self:
        """Return the sum over dims; of integers and bools in int64.

        >>> ne.tensor([[True, True], [True, False]], names="N C").sum("C")
        tensor([2, 1], names=('N',), shape=(2,))
        """
        if dtype is None:
            return self._reduce("sum", dim, keepdim, out)
        return self._reduce("sum", dim, keepdim, out, dtype=self._as_dtype(dtype))

    @op("removes")
    def prod(
        self,
        dim: SomeDims = ALL,
        keepdim: bool = False,
        *,
        dtype: Dtype = None,
        out: Core | None = None,
        **others: Unpack[AxisAndKeepdims],
    ) -> Self:
        """Return the product over dims; of integers and bools in int64.

        >>> ne.tensor([[1, 2], [3, 4]], names="N C").prod("N")
        tensor([3, 8], names=('C',), shape=(2,))
        """
        dim = self._position(None, "prod") if dim is None else dim
        if dtype is None:
            return self._reduce("prod", dim, keepdim, out)
        return self._reduce("prod", dim, keepdim, out, dtype=self._as_dtype(dtype))

    @op("removes")
    def mean(
        self,
        dim: SomeDims = None,
        keepdim: bool = False,
        *,
        dtype: Dtype = None,
        out: Core | None = None,
        **others: Unpack[AxisAndKeepdims],
    ) -> Self:
        """Return the mean over dims: of integers and bools in the default float dtype; nan for no elements.

        >>> ne.tensor([1, 2], names="N").mean()
        tensor(1.5)
        """
        if dtype is None:
            return self._reduce("mean", dim, keepdim, out)
        return self._reduce("mean", dim, keepdim, out, dtype=self._as_dtype(dtype))

    @op("removes")
    def std(
        self,
        dim: SomeDims = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
        out: Core | None = None,
        **others: Unpack[AxisKeepdimsAndDdof],
    ) -> Self:
        """Return the standard deviation over dims: divided by `n - correction`, which is 1 by default.

        `unbiased` True and False are corrections 1 and 0; `std(False)` is over all dims.

        >>> ne.tensor([[1.0, 3.0]], names="N C").std("C", correction=0)
        tensor([1.], names=('N',), shape=(1,))
        """
        return self._spread("std", dim, unbiased, keepdim, correction, out)

    @op("removes")
    def var(
        self,
        dim: SomeDims = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
        out: Core | None = None,
        **others: Unpack[AxisKeepdimsAndDdof],
    ) -> Self:
        """Return the variance over dims: divided by `n - correction`, which is 1 by default.

        >>> ne.tensor([[1.0, 3.0]], names="N C").var("C")
        tensor([2.], names=('N',), shape=(1,))
        """
        return self._spread("var", dim, unbiased, keepdim, correction, out)

    def _spread(
        self, verb: str, dim: Any, unbiased: Any, keepdim: bool, correction: Any, out: Core | None = None
    ) -> Self:
        """Return `std` or `var`: a bool in place of the dim is `unbiased` over all dims."""
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if unbiased is not None and correction is not None:
            both = f"unbiased={shown(unbiased)} and correction={shown(correction)}"
            hint = "give correction alone: 1 is unbiased"
            raise error(Diagnostic("NE673", f"{verb}: {both} are the same option", hint=hint))
        if not isinstance(unbiased, int | np.bool_ | None):
            raise wrong_kind(verb, "unbiased", "True or False", unbiased)
        if correction is None:
            correction = 1 if unbiased is None else int(unbiased)
        return self._reduce(verb, dim, keepdim, out, correction=checked_real(correction, verb, "correction"))

    @op("removes")
    def logsumexp(
        self,
        dim: SomeDims = NEEDED,
        keepdim: bool = False,
        *,
        out: Core | None = None,
        **others: Unpack[AxisAndKeepdims],
    ) -> Self:
        """Return the logarithm of the sum of exponentials over dims, without overflow.

        >>> ne.tensor([[1000.0, 1000.0]], names="N C").logsumexp("C")
        tensor([1000.69314718], names=('N',), shape=(1,))
        """
        dim = self._position(dim, "logsumexp") if dim is None or dim is NEEDED else dim
        return self._reduce("logsumexp", dim, keepdim, out)

    @op("removes")
    def all(
        self,
        dim: SomeDims = None,
        keepdim: bool = False,
        *,
        out: Core | None = None,
        **others: Unpack[AxisAndKeepdims],
    ) -> Self:
        """Return whether all elements along dims are true, that is, not 0.

        >>> ne.tensor([[1, 0], [2, 3]], names="N C").all("C")
        tensor([False,  True], names=('N',), shape=(2,))
        """
        return self._reduce("all", dim, keepdim, out)

    @op("removes")
    def any(
        self,
        dim: SomeDims = None,
        keepdim: bool = False,
        *,
        out: Core | None = None,
        **others: Unpack[AxisAndKeepdims],
    ) -> Self:
        """Return whether any element along dims is true, that is, not 0.

        >>> ne.tensor([[1, 0], [0, 0]], names="N C").any("C")
        tensor([ True, False], names=('N',), shape=(2,))
        """
        return self._reduce("any", dim, keepdim, out)

    def _check_not_empty(self, verb: str, dim: Any) -> None:
        """Raise NE390 if there are no elements along dims to choose from."""
        if 0 not in self._data.shape:
            return
        for at in self._axes(dim, verb):
            if not self._data.shape[at]:
                message = f"{verb}: {called(self._dims, at)} has size 0, there are no elements to choose from"
                given = () if dim is ALL or dim is None else (dim,)
                raise fault("NE390", message, ShownCall(verb, given, (self._dims,)))

    def _check_choice(self, verb: str, dim: Any) -> None:
        """Raise NE571 for complex numbers, which have no order, and NE390 if there are none."""
        self._check_ordered(verb)
        self._check_not_empty(verb, dim)

    @op("removes", extra=True)
    def amax(
        self,
        dim: SomeDims = None,
        keepdim: bool = False,
        *,
        out: Core | None = None,
        **others: Unpack[AxisAndKeepdims],
    ) -> Self:
        """Return the largest element along dims; nan if there is one.

        >>> ne.tensor([[1, 7], [2, 3]], names="N C").amax("N")
        tensor([2, 7], names=('C',), shape=(2,))
        """
        self._check_choice("amax", dim)
        return self._reduce("amax", dim, keepdim, out)

    @op("removes", extra=True)
    def amin(
        self,
        dim: SomeDims = None,
        keepdim: bool = False,
        *,
        out: Core | None = None,
        **others: Unpack[AxisAndKeepdims],
    ) -> Self:
        """Return the smallest element along dims; nan if there is one.

        >>> ne.tensor([[1, 7], [2, 3]], names="N C").amin("N")
        tensor([1, 3], names=('C',), shape=(2,))
        """
        self._check_choice("amin", dim)
        return self._reduce("amin", dim, keepdim, out)

    @op("removes", extra=True)
    def norm(
        self,
        p: float = 2,
        dim: SomeDims = None,
        keepdim: bool = False,
        *,
        out: Core | None = None,
        **others: Unpack[AxisAndKeepdims],
    ) -> Self:
        """Return the vector norm of order `p` over dims: 2, 1, 0, inf or any other number.

        >>> ne.tensor([[3.0, 4.0]], names="N C").norm(dim="C")
        tensor([5.], names=('N',), shape=(1,))
        """
        order = checked_number(p, "norm", "the order p")
        return self._reduce("norm", dim, keepdim, out, order=order)

    @op("removes", extra=True)
    def count_nonzero(
        self,
        dim: SomeDims = None,
        keepdim: bool = False,
        *,
        out: Core | None = None,
        **others: Unpack[AxisAndKeepdims],
    ) -> Self:
        """Return how many elements along dims are not 0.

        >>> ne.tensor([[1, 0], [2, 3]], names="N C").count_nonzero("C")
        tensor([1, 2], names=('N',), shape=(2,))
        """
        return self._reduce("count_nonzero", dim, keepdim, out)
