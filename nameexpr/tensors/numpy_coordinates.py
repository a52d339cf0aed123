"""Which coordinates the result of one of NumPy's functions has, if it has their dims.

Results of functions that are not listed here have none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nameexpr.backends.numpy.foreign import Coordinate
from nameexpr.rules.calls import axes
from nameexpr.tensors.coordinates import without
from nameexpr.tensors.core import Core
from nameexpr.tensors.surviving import joined, names_of, of_all, of_factors

_IN_PLACE = """
sum prod mean std var max min amax amin any all median nansum nanprod nanmean nanstd nanvar nanmax nanmin
nanmedian ptp count_nonzero argmax argmin nanargmax nanargmin quantile percentile nanquantile nanpercentile
average norm vector_norm where clip round around fix real imag angle conj real_if_close nan_to_num isclose
sinc i0 isreal iscomplex isneginf isposinf astype zeros_like ones_like empty_like full_like copy cumsum
cumprod nancumsum nancumprod cumulative_sum cumulative_prod unwrap gradient tril triu transpose swapaxes
moveaxis expand_dims squeeze matrix_transpose broadcast_to outer
"""
"""Functions that leave elements at their positions along the dims that they keep."""

_ALONG: dict[str, tuple[int, int | None]] = {
    **dict.fromkeys(("sort", "argsort"), (1, -1)),
    **dict.fromkeys(("partition", "argpartition", "diff"), (2, -1)),
    **dict.fromkeys(("split", "array_split"), (2, 0)),
    **dict.fromkeys(("roll", "repeat", "delete", "take"), (2, None)),
    "flip": (1, None),
    "unstack": (1, 0),
    "concatenate": (1, 0),
}
"""Functions that move or select elements along the dims of `axis=` alone: its place, and its default."""

_CONTRACTED = {"dot": -2, "matmul": -2, "inner": -1, "vdot": -1}
"""Which dim of the second operand meets the last one of the first, if it has two."""


def of_function(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[Coordinate]:
    """Return the coordinates that the result of a function has (NE580 if labels differ)."""
    name = func.__name__
    if name in _IN_PLACE.split():
        return of_all([*args, *[value for word, value in kwargs.items() if word != "out"]], name)
    if name in _CONTRACTED and len(args) > 1:
        left, right = args[:2]
        met = zip(names_of(left)[-1:], names_of(right)[_CONTRACTED[name] :], strict=False)
        return of_factors(left, right, list(met), name)
    if name == "stack" and args:
        return joined(args[0], None, name)
    if name not in _ALONG or not args:
        return []
    parts = args[0] if name == "concatenate" else [args[0]]
    first = next((part for part in parts if isinstance(part, Core)), None)
    if first is None:
        return []
    place, default = _ALONG[name]
    wanted = args[place] if len(args) > place else kwargs.get("axis", default)
    moved = range(first.ndim) if wanted is None else axes(first._dims, wanted, f"np.{name}")
    if name == "concatenate" and wanted is not None:
        return joined(parts, first._names[moved[0]], name)
    return without(first._coordinates, [first._names[at] for at in moved])
