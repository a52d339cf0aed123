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
    "take_along_axis": (2, -1),
    "unstack": (1, 0),
    "concatenate": (1, 0),
}
"""Functions that move or select elements along the dims of `axis=` alone: its place, and its default."""

_ALONG_ONE = {"flipud": 0, "fliplr": 1, "vstack": 0, "hstack": 1, "dstack": 2}
"""Functions that do so along a fixed dim, if a tensor has it."""

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
    if not args or (name not in _ALONG and name not in _ALONG_ONE):
        return []
    is_joining = name in ("concatenate", "vstack", "hstack", "dstack")
    parts = args[0] if is_joining else [args[0]]
    first = next((part for part in parts if isinstance(part, Core)), None)
    moved = () if first is None else _moved(name, first, args, kwargs)
    if first is None or not moved:
        return []
    gone = [first._names[at] for at in moved]
    return joined(parts, gone[0], name) if is_joining else without(first._coordinates, gone)


def _moved(name: str, tensor: Core, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the positions of the dims along which a function works; none if it adds them first."""
    if name in _ALONG_ONE:
        at = _ALONG_ONE[name]
        return (at,) if at < tensor.ndim else ()
    place, default = _ALONG[name]
    wanted = args[place] if len(args) > place else kwargs.get("axis", default)
    return tuple(range(tensor.ndim)) if wanted is None else axes(tensor._dims, wanted, f"np.{name}")
