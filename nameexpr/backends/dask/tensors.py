"""What NamedTensors of Dask compute with: lazy arrays, under names that all libraries share.

Nothing is computed before elements are requested. Arrays of Dask are never written to, and draw no numbers
here; how many elements a mask selects is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dask.array as da
import numpy as np
from dask.array.utils import meta_from_array

from nameexpr.backends.dask.along import (
    ALONG,
    OF_ALL,
    PLACES,
    QUANTILES,
    SCANS,
    quantile,
    sort,
    topk,
)
from nameexpr.backends.dask.places import at, fill_at, take, take_along
from nameexpr.backends.dask.pointwise import BINARY, UNARY, clamp, rounded, where
from nameexpr.backends.dask.reductions import NORMALISED, REDUCTIONS
from nameexpr.backends.numpy.arrays import is_bfloat16
from nameexpr.errors import Diagnostic, error

__all__ = [
    "ALONG",
    "BINARY",
    "NORMALISED",
    "OF_ALL",
    "PLACES",
    "QUANTILES",
    "REDUCTIONS",
    "SCANS",
    "UNARY",
    "at",
    "clamp",
    "fill_at",
    "quantile",
    "rounded",
    "sort",
    "take",
    "take_along",
    "topk",
    "where",
]

Array = da.Array
LIBRARY = "dask"
NAME = "Dask"
REFUSED = (
    *(RuntimeError, TypeError, ValueError, IndexError),
    *(OverflowError, MemoryError, NotImplementedError, ZeroDivisionError),
)
CAN_WRITE = False
JOINS_NUMPY = True
DEVICE = ()
_ORDER = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
FACTORIES = {name: getattr(da, name) for name in ("zeros_like", "ones_like", "empty_like", "full_like")}
OPTIONS = frozenset({"dtype"})


def kind_of(dtype: Any) -> str:
    """Return the kind of a dtype in NumPy's letters: b, i, u, f or c."""
    return "f" if is_bfloat16(dtype) else dtype.kind  # type: ignore[no-any-return]


def category(dtype: Any) -> int:
    """Return 0 for bools, 1 for integers, 2 for floats, 3 for complex numbers."""
    return _ORDER.get(kind_of(dtype), 4)


def name_of(dtype: Any) -> str:
    """Return the name of a dtype."""
    return dtype.name  # type: ignore[no-any-return]


def dtype_of(wanted: Any) -> Any:
    """Return a dtype by any spelling; None if it is not one."""
    try:
        return np.dtype(wanted)
    except (TypeError, ValueError):
        return _bfloat16() if isinstance(wanted, str) and wanted == "bfloat16" else None


def _bfloat16() -> Any:
    try:
        import ml_dtypes
    except ImportError:
        return None
    return np.dtype(ml_dtypes.bfloat16)


def new_array(data: Any, dtype: Any, device: Any) -> Any:
    """Return an array of NumPy's chunks itself if it has the dtype (NE503, NE510)."""
    _check_device(device)
    x = data if isinstance(data, Array) else da.from_array(np.asarray(data))
    unknown = [axis for axis, size in enumerate(x.shape) if np.isnan(size)]
    if unknown:
        message = f"the data has chunks of unknown size along dim {unknown[0]}"
        raise error(Diagnostic("NE510", message, hint="x.compute_chunk_sizes() computes the sizes"))
    kind = type(meta_from_array(x))
    if kind is not np.ndarray:
        message = f"the chunks of the data are of class {kind.__module__.partition('.')[0]}.{kind.__name__}"
        raise error(Diagnostic("NE503", message, hint="make them NumPy arrays: x.map_blocks(...)"))
    return x if dtype is None or x.dtype == dtype else x.astype(dtype)


def _check_device(device: Any) -> None:
    if device is not None and str(device) != "cpu":
        raise error(Diagnostic("NE678", f"arrays of Dask are computed on the CPU, not on {device}"))


def strided(x: Any) -> tuple[Any, None]:
    """Return an array; those of Dask have no names."""
    return x, None


def as_array(value: Any, like: Any) -> Any:
    """Return a number, nested lists of numbers or an array of NumPy as an array."""
    array = np.asarray(value)
    if array.dtype.kind not in "biufcV":
        raise TypeError(f"{array.dtype} is not a dtype of numbers")
    return da.from_array(array, chunks=-1) if array.size else da.zeros(array.shape, dtype=array.dtype)


def levels(q: Any, like: Any) -> Any:
    """Return the levels of quantiles as an array."""
    return as_array(np.asarray(q, like.dtype if like.dtype.kind == "f" else None), like)


def scalar(value: Any, like: Any) -> Any:
    """Return a number as an array without dims, of the dtype of another."""
    return np.asarray(value, like.dtype)


def is_held(value: Any, dtype: Any) -> bool:
    """Return whether a number is surely one of the dtype: it is always converted."""
    return False


def is_known(x: Any) -> bool:
    """Return whether elements can be read without computing: those of Dask cannot."""
    return isinstance(x, np.ndarray)


has_values = is_known


def described(x: Any) -> list[str]:
    """Return what the repr shows after names and sizes."""
    return [f"dtype={x.dtype}", f"library='dask', chunksize={x.chunksize}"]


def corners(x: Any, edge: int) -> Any:
    """Return the array: its elements are not shown."""
    return x


def device_of(x: Any) -> str:
    """Return the device of an array."""
    return "cpu"


def to_numpy(x: Any) -> Any:
    """Return the elements, computed."""
    return np.asarray(x.compute())


def numpy_view(x: Any, is_forced: bool) -> Any:
    """Return the elements, computed."""
    return to_numpy(x)


def item(x: Any) -> Any:
    """Return the only element as a Python number, computed."""
    return to_numpy(x).item()


def tolist(x: Any) -> Any:
    """Return the elements as nested lists of Python numbers, computed."""
    return to_numpy(x).tolist()


def is_equal(a: Any, b: Any) -> bool:
    """Return whether two arrays have the same shape and elements, computed."""
    return a.shape == b.shape and bool(da.all(a == b).compute())


def checks_bounds(x: Any) -> bool:
    """Return whether Dask raises an error for indices that do not exist: not before it computes."""
    return False


def size(x: Any) -> int:
    """Return the number of elements."""
    return int(x.size)


def cast(x: Any, dtype: Any) -> Any:
    """Return the elements in another dtype."""
    return x.astype(dtype)


def converted(x: Any, dtype: Any, device: Any, copied: bool) -> Any:
    """Return the elements in another dtype: x itself if it has it."""
    _check_device(device)
    x = x if x.dtype == dtype else x.astype(dtype)
    return x.copy() if copied else x


def copy(x: Any) -> Any:
    """Return a copy."""
    return x.copy()


def permute(x: Any, order: Sequence[int]) -> Any:
    """Return an array with the axes in another order."""
    return da.transpose(x, tuple(order))


def select(x: Any, axis: int, index: int) -> Any:
    """Return the elements at one index of an axis."""
    return x[(slice(None),) * axis + (index,)]


def narrow(x: Any, axis: int, start: int, stop: int) -> Any:
    """Return the elements of a range of an axis."""
    return x[(slice(None),) * axis + (slice(start, stop),)]


def broadcast_to(x: Any, shape: Sequence[int]) -> Any:
    """Return an array of another shape, to which x broadcasts."""
    return da.broadcast_to(x, tuple(shape))


def flip(x: Any, axes: tuple[int, ...]) -> Any:
    """Return the elements with the order along some axes reversed."""
    return x[tuple([slice(None, None, -1 if axis in axes else 1) for axis in range(x.ndim)])]


def roll(x: Any, counts: tuple[int, ...], axes: tuple[int, ...] | None) -> Any:
    """Return the elements shifted along axes, or in row-major order."""
    if not x.size or not x.ndim:
        return x
    return da.roll(x, counts, axes) if axes is not None else da.roll(x, counts[0])


def diff(x: Any, times: int, axis: int) -> Any:
    """Return the differences of adjacent elements."""
    return da.diff(x, times, axis)


def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    """Return the elements with a value where the mask is true."""
    return where(mask, value, x)


def count_true(mask: Any) -> int:
    """Raise an error: how many elements a mask selects is not known (NE510)."""
    message = "how many elements a mask selects is not known before its values are computed"
    raise error(Diagnostic("NE510", message, hint="ne.where(mask, x, 0) keeps the sizes; or x.compute()"))


def masked_select(x: Any, mask: Any) -> Any:
    """Raise an error: see `count_true`."""
    return count_true(mask)


def matmul(a: Any, b: Any) -> Any:
    """Return the matrix product of arrays of the same dtype."""
    if a.dtype != b.dtype:
        raise TypeError("the dtypes differ")
    return da.matmul(a, b)


def tensordot(a: Any, b: Any, axes: tuple[tuple[int, ...], tuple[int, ...]]) -> Any:
    """Return the sum of products over pairs of axes, of arrays of the same dtype."""
    if a.dtype != b.dtype:
        raise TypeError("the dtypes differ")
    return da.tensordot(a, b, axes)


def joined(arrays: list[Any], axis: int, *, is_new: bool) -> Any:
    """Return arrays joined along an axis, or along a new one."""
    return da.stack(arrays, axis) if is_new else da.concatenate(arrays, axis)


def empty_index(x: Any) -> Any:
    """Return an array of no indices."""
    return np.zeros(0, np.int64)
