"""Reductions that ignore nan, and quantiles.

Without any other element, the sum is 0 and the mean nan. `nanmedian` is in `ordering`.

>>> x = ne.tensor([[1.0, float("nan")], [2.0, 4.0]], names="N C")
>>> x.nanmean("C")
tensor([1., 3.], names=('N',), shape=(2,))
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from nameexpr.backends.numpy import reductions
from nameexpr.dims import duplicate
from nameexpr.errors import Diagnostic, did_you_mean, error
from nameexpr.rules.calls import removed, shown
from nameexpr.rules.combining import doubled_fault
from nameexpr.rules.pairing import Pairing
from nameexpr.tensors.core import Core, Other, SomeDims
from nameexpr.tensors.faults import explained, wrong_kind
from nameexpr.tensors.operators import REFUSED, as_core
from nameexpr.tensors.ops import op
from nameexpr.tensors.ordering import Ordering

if TYPE_CHECKING:
    from nameexpr.tensors.core import Dtype
    from nameexpr.tensors.keywords import AxisAndKeepdims, AxisKeepdimsAndDdof

METHODS = (
    *("linear", "lower", "higher", "midpoint", "nearest"),
    *("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf"),
    *("hazen", "weibull", "median_unbiased", "normal_unbiased"),
)
"""NumPy's methods to find a quantile between two elements."""


class WithoutNan(Ordering):
    """nansum, nanmean, nanstd, nanvar, quantile, nanquantile."""

    __slots__ = ()

    @op("removes", extra=True)
    def nansum(
        self,
        dim: SomeDims = None,
        keepdim: bool = False,
        *,
        dtype: Dtype = None,
        out: Core | None = None,
        **others: Unpack[AxisAndKeepdims],
    ) -> Self:
        """Return the sum over dims of the elements that are not nan.

        >>> ne.tensor([1.0, float("nan"), 2.0], names="N").nansum()
        tensor(3.)
        """
        return self._reduce("nansum", dim, keepdim, out, dtype=self._as_dtype(dtype))

    @op("removes", extra=True)
    def nanmean(
        self,
        dim: SomeDims = None,
        keepdim: bool = False,
        *,
        dtype: Dtype = None,
        out: Core | None = None,
        **others: Unpack[AxisAndKeepdims],
    ) -> Self:
        """Return the mean over dims of the elements that are not nan; nan if there are none.

        >>> ne.tensor([1.0, float("nan"), 2.0], names="N").nanmean()
        tensor(1.5)
        """
        return self._reduce("nanmean", dim, keepdim, out, dtype=self._as_dtype(dtype))

    @op("removes", extra=True)
    def nanstd(
        self,
        dim: SomeDims = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
        out: Core | None = None,
        **others: Unpack[AxisKeepdimsAndDdof],
    ) -> Self:
        """Return the standard deviation over dims of the elements that are not nan, with `std`'s options.

        >>> ne.tensor([1.0, float("nan"), 3.0], names="N").nanstd(correction=0)
        tensor(1.)
        """
        return self._spread("nanstd", dim, unbiased, keepdim, correction, out)

    @op("removes", extra=True)
    def nanvar(
        self,
        dim: SomeDims = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
        out: Core | None = None,
        **others: Unpack[AxisKeepdimsAndDdof],
    ) -> Self:
        """Return the variance over dims of the elements that are not nan, with the options of `var`.

        >>> ne.tensor([1.0, float("nan"), 3.0], names="N").nanvar()
        tensor(2.)
        """
        return self._spread("nanvar", dim, unbiased, keepdim, correction, out)

    @op("removes", extra=True)
    def quantile(
        self,
        q: Other,
        dim: SomeDims = None,
        keepdim: bool = False,
        *,
        method: str = "linear",
        **others: Unpack[AxisAndKeepdims],
    ) -> Self:
        """Return the quantiles over dims; the dims of several `q` come first, with names if it is a tensor.

        Parameters
        ----------
        q
            A number from 0 to 1, or a list, array or tensor of them.
        method
            How to choose between two elements: NumPy's methods, "linear" by default.

        Raises
        ------
        OptionError
            NE677 if `q` is not from 0 to 1; NE672 for an unknown method.
        SizeError
            NE390 if there are no elements.
        DimNameError
            NE473 if the result would have the name of a dim of `q` twice.

        Examples
        --------
        >>> x = ne.tensor([[1.0, 2.0, 4.0]], names="N C")
        >>> x.quantile(0.75, "C")
        tensor([3.], names=('N',), shape=(1,))
        >>> x.quantile(ne.tensor([0.0, 1.0], names="q"), "C").names
        ('q', 'N')
        """
        return self._quantile("quantile", q, dim, keepdim, method)

    @op("removes", extra=True)
    def nanquantile(
        self,
        q: Other,
        dim: SomeDims = None,
        keepdim: bool = False,
        *,
        method: str = "linear",
        **others: Unpack[AxisAndKeepdims],
    ) -> Self:
        """Return the quantiles over dims of the elements that are not nan, with the options of `quantile`.

        >>> ne.tensor([1.0, float("nan"), 3.0], names="N").nanquantile(0.5)
        tensor(2.)
        """
        return self._quantile("nanquantile", q, dim, keepdim, method)

    def _quantile(self, verb: str, q: Any, dim: Any, keepdim: bool, method: Any) -> Self:
        wanted = self._levels(q, verb)
        self._check_method(verb, method)
        if not isinstance(keepdim, int | np.bool_):
            raise wrong_kind(verb, "keepdim", "True or False", keepdim)
        self._check_ordered(verb)
        self._check_not_empty(verb, dim)
        gone = self._axes(dim, verb)
        names = (*wanted._names, *removed(self._names, gone, keepdim=keepdim))
        twice = duplicate(names)
        if twice:
            raise doubled_fault(twice[0], wanted._dims, self._dims, Pairing(verb, "q", "tensor"))
        options = {"q": wanted._data, "method": method, "skips_nan": verb == "nanquantile"}
        return self._named(self._quantiles(verb, axis=gone, keepdims=keepdim, **options), names)

    def _check_method(self, verb: str, method: Any) -> None:
        """Raise NE672 for an unknown way to interpolate."""
        if method not in METHODS:
            hint = did_you_mean(str(method), METHODS) or f"it is one of {', '.join(METHODS[:5])}, ..."
            raise error(Diagnostic("NE672", f"{verb}: there is no method {shown(method)}", hint=hint))

    def _quantiles(self, verb: str, **options: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "All-NaN")  # nan, as from the other reductions
                return reductions.quantile(self._data, **options)
        except REFUSED as refused:
            raise explained(verb, (self,), refused) from refused

    def _levels(self, q: Any, verb: str) -> Core:
        """Return the requested quantiles as a tensor (NE677)."""
        levels = as_core(q, verb)
        numbers = levels._data
        if numbers.dtype.kind not in "iuf" or not ((numbers >= 0) & (numbers <= 1)).all():
            raise wrong_kind(verb, "q", "a number from 0 to 1, or a list of them", q)
        return levels
