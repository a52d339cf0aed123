"""What NamedTensors of PyTorch compute with: PyTorch's functions, under names that all libraries share.

`nameexpr.tensors.libraries` calls them, after the rules for names have found positions. They keep the device
and the graph of their operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from nameexpr.backends.torch.draws import DRAWS, FACTORIES, OPTIONS, range_of
from nameexpr.backends.torch.elements import (
    corners,
    described,
    has_values,
    hidden_axis,
    is_known,
    item,
    numpy_view,
    to_numpy,
    tolist,
)
from nameexpr.backends.torch.kinds import category, dtype_of, kind_of, name_of
from nameexpr.backends.torch.ordering import ALONG, OF_ALL, PLACES, sort, topk
from nameexpr.backends.torch.pointwise import BINARY, IN_PLACE, UNARY
from nameexpr.backends.torch.reductions import QUANTILES, REDUCTIONS, quantile
from nameexpr.errors import Diagnostic, error

__all__ = [
    "ALONG",
    "BINARY",
    "DRAWS",
    "FACTORIES",
    "IN_PLACE",
    "OF_ALL",
    "OPTIONS",
    "PLACES",
    "QUANTILES",
    "REDUCTIONS",
    "UNARY",
    "category",
    "corners",
    "described",
    "dtype_of",
    "has_values",
    "hidden_axis",
    "is_known",
    "item",
    "kind_of",
    "name_of",
    "numpy_view",
    "quantile",
    "range_of",
    "sort",
    "to_numpy",
    "tolist",
    "topk",
]

Array = Tensor
LIBRARY = "torch"
NAME = "PyTorch"
CAN_WRITE = True
"""Whether arrays are written to in place."""
JOINS_NUMPY = False
"""Whether arrays of NumPy are combined with those of the library."""
REFUSED = (RuntimeError, TypeError, ValueError, IndexError, OverflowError, MemoryError, AssertionError)
"""The exceptions of PyTorch when it cannot apply a function."""
SCANS = {"cumsum": torch.cumsum, "cumprod": torch.cumprod}
NORMALISED = {"softmax": torch.softmax, "log_softmax": torch.log_softmax}


def new_array(data: Any, dtype: torch.dtype | None, device: Any) -> Tensor:
    """Return a tensor itself if it has the dtype; numbers, lists and arrays of NumPy are copied."""
    device = None if device is None else torch.device(str(device))
    if isinstance(data, Tensor):
        return data.to(dtype=dtype, device=device)
    return torch.tensor(data, dtype=dtype, device=device)


def strided(x: Tensor) -> tuple[Tensor, tuple[str | None, ...] | None]:
    """Return a tensor, and the names that it has in PyTorch up to 2.12 (NE511 for other layouts)."""
    if x.is_quantized:
        message = "a quantized tensor has no arithmetic of its own"
        raise error(Diagnostic("NE511", message, hint="x.dequantize()"))
    if x.layout is not torch.strided or x.is_nested:
        what = "a nested tensor" if x.is_nested else f"a tensor of layout {x.layout}"
        message = f"{what} does not store all its elements in a regular grid"
        raise error(Diagnostic("NE511", message, hint="x.to_dense(), or x.to_padded_tensor(0.0)"))
    names = getattr(x, "names", None)
    return (x.rename(None), names) if names and any(names) else (x, None)  # type: ignore[attr-defined]


def as_array(value: Any, like: Tensor) -> Tensor:
    """Return a number, or nested lists of numbers, as a tensor on the device of another."""
    return torch.as_tensor(value, device=like.device)


def levels(q: Any, like: Tensor) -> Tensor:
    """Return the levels of quantiles as a tensor of the dtype of another, if that is of floats."""
    dtype = like.dtype if like.is_floating_point() else None
    return torch.as_tensor(q, dtype=dtype, device=like.device)


def scalar(value: Any, like: Tensor) -> Tensor:
    """Return a number as a 0-d tensor of the dtype and device of another."""
    return torch.as_tensor(value, dtype=like.dtype, device=like.device)


def device_of(x: Tensor) -> str:
    """Return the name of the device of a tensor."""
    return str(x.device)


def size(x: Tensor) -> int:
    """Return the number of elements."""
    return x.numel()


def is_held(value: Any, dtype: torch.dtype) -> bool:
    """Return whether a Python number is surely within the range of a dtype, and of its kind."""
    if dtype.is_floating_point:
        return type(value) is not complex and (abs(value) <= _SMALLEST_FLOAT or value - value != 0)
    return type(value) is int and dtype.is_signed and abs(value) <= _SMALLEST_INT


_SMALLEST_FLOAT = torch.finfo(torch.float16).max
_SMALLEST_INT = torch.iinfo(torch.int8).max
"""The largest numbers that all floating dtypes, and all signed ones, hold."""


def checks_bounds(x: Tensor) -> bool:
    """Return whether PyTorch raises an error for indices that do not exist, or are negative."""
    return x.is_cpu


def clamp(x: Tensor, low: float | None, high: float | None) -> Tensor:
    """Return the elements limited to the bounds."""
    return torch.clamp(x, low, high)


def cast(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the elements in another dtype."""
    return x.to(dtype)


DEVICE = torch.device
"""The class of devices."""


def converted(x: Tensor, dtype: torch.dtype, device: Any, copied: bool) -> Tensor:
    """Return the elements in another dtype or on another device: x itself if it has both."""
    return x.to(x.device if device is None else torch.device(str(device)), dtype, copy=copied)


def copy(x: Tensor) -> Tensor:
    """Return a copy."""
    return x.clone()


def permute(x: Tensor, order: Sequence[int]) -> Tensor:
    """Return a view with the axes in another order."""
    return x.permute(tuple(order))


def select(x: Tensor, axis: int, index: int) -> Tensor:
    """Return the view at one index of an axis."""
    return x.select(axis, index)


def narrow(x: Tensor, axis: int, start: int, stop: int) -> Tensor:
    """Return the view of a range of an axis."""
    return x.narrow(axis, start, stop - start)


def broadcast_to(x: Tensor, shape: Sequence[int]) -> Tensor:
    """Return a view of another shape, to which x broadcasts."""
    return x.expand(shape)


def flip(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return the elements with the order along some axes reversed: a copy, as PyTorch makes it."""
    return torch.flip(x, axes)


def roll(x: Tensor, counts: tuple[int, ...], axes: tuple[int, ...] | None) -> Tensor:
    """Return the elements shifted along axes, or in row-major order."""
    return torch.roll(x, counts) if axes is None else torch.roll(x, counts, axes)


def diff(x: Tensor, times: int, axis: int) -> Tensor:
    """Return the differences of adjacent elements."""
    return torch.diff(x, times, axis)


def rounded(x: Tensor, decimals: int) -> Tensor:
    """Return floats rounded to a number of decimals."""
    return torch.round(x, decimals=decimals)


def where(condition: Tensor, a: Any, b: Any) -> Tensor:
    """Return the elements of a where the condition is true, and of b elsewhere."""
    return torch.where(condition, a, b)


def take(x: Tensor, places: Tensor, axis: int) -> Tensor:
    """Return the elements at positions along an axis, none of them negative."""
    return torch.index_select(x, axis, places)


def take_along(x: Tensor, places: Tensor, axis: int) -> Tensor:
    """Return the elements at positions along an axis, one for each element of `places`."""
    return torch.take_along_dim(x, places.long(), axis)


def fill_at(x: Tensor, places: Tensor, axis: int, value: Tensor) -> Tensor:
    """Return a copy with a value at positions along an axis."""
    return torch.index_fill(x, axis, places.long(), value)


def masked_fill(x: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    """Return a copy with a value where the mask is true."""
    return torch.masked_fill(x, mask, value)


def masked_select(x: Tensor, mask: Tensor) -> Tensor:
    """Return the elements where the mask is true, in row-major order."""
    return torch.masked_select(x, mask)


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """Return the matrix product."""
    return torch.matmul(a, b)


def tensordot(a: Tensor, b: Tensor, axes: tuple[tuple[int, ...], tuple[int, ...]]) -> Tensor:
    """Return the sum of products over pairs of axes."""
    return torch.tensordot(a, b, axes)  # type: ignore[no-any-return]


def joined(arrays: list[Tensor], axis: int, *, is_new: bool) -> Tensor:
    """Return tensors joined along an axis, or along a new one."""
    return torch.stack(arrays, axis) if is_new else torch.cat(arrays, axis)


def is_equal(a: Tensor, b: Tensor) -> bool:
    """Return whether two tensors have the same shape and elements."""
    return a.shape == b.shape and bool(torch.all(a == b))


def resized(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return a tensor of another shape that begins with the elements of x."""
    new, old = x.new_empty(shape), x.detach().reshape(-1)
    count = min(old.numel(), new.numel())
    new.view(-1)[:count] = old[:count]
    return new


def copy_into(target: Tensor, values: Any) -> None:
    """Write elements, which are broadcast and cast, over a tensor: PyTorch counts it as a change."""
    target.copy_(values)


def put(target: Tensor, places: Any, values: Any) -> None:
    """Write elements at an index of a tensor."""
    target[places] = values


def at(x: Tensor, places: tuple[Any, ...]) -> Tensor:
    """Return the elements at an index."""
    return x[places]


def empty_index(x: Tensor) -> Tensor:
    """Return an array of no indices, on the device of a tensor."""
    return torch.empty(0, dtype=torch.int64, device=x.device)


def count_true(mask: Tensor) -> int:
    """Return how many elements of a mask are true, which PyTorch has to know for the size of a result."""
    return int(mask.sum())
