"""Functions of formulas that are not a single call of PyTorch, for generated code.

Pointwise functions take tensors and numbers, at least one of them a tensor. None reads a value of a tensor,
so that they can be traced, and none writes to one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from nameexpr.backends.numpy.kernels import ReducerMisuse, check_reduced, reduced_by


def _floats(x: Tensor) -> Tensor:
    """Return floats as they are, and integers and bools in the default float dtype."""
    return x if x.is_floating_point() or x.is_complex() else x.to(torch.get_default_dtype())


def tensors(*values: Any) -> list[Tensor]:
    """Return values as tensors of their common dtype; numbers do not change the kind of tensors."""
    dtype = common_dtype(*values)
    like = next(value for value in values if isinstance(value, Tensor))
    return [
        value.to(dtype) if isinstance(value, Tensor) else like.new_full((), value, dtype=dtype)
        for value in values
    ]


def common_dtype(*values: Any) -> torch.dtype:
    """Return PyTorch's promotion of tensors and numbers, which depends on the numbers of dims."""
    found, *others = values
    dtype = torch.result_type(found, others[0] if others else found)
    for before, value in pairwise(others):
        rank = max(getattr(found, "ndim", 0), getattr(before, "ndim", 0))
        found = torch.empty((0,) * rank, dtype=dtype, device="meta")
        dtype = torch.result_type(found, value)
    return dtype


def _of_tensors(function: Callable[..., Any], *, in_floats: bool = False) -> Callable[..., Any]:
    """Return a function of tensors for tensors and numbers, which are converted to their common dtype."""

    def call(*values: Any) -> Any:
        given = tensors(*values)
        return function(*map(_floats, given)) if in_floats else function(*given)

    return call


hypot = _of_tensors(torch.hypot, in_floats=True)
arctan2 = _of_tensors(torch.arctan2)
copysign = _of_tensors(torch.copysign)
logaddexp = _of_tensors(torch.logaddexp, in_floats=True)
nextafter = _of_tensors(torch.nextafter, in_floats=True)
maximum = _of_tensors(torch.maximum)
minimum = _of_tensors(torch.minimum)
fmod = _of_tensors(torch.fmod)


def _logical(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a function of truth values for tensors and numbers."""

    def call(x: Any, y: Any) -> Tensor:
        like = x if isinstance(x, Tensor) else y
        given = [one if isinstance(one, Tensor) else like.new_full((), bool(one), dtype=torch.bool)
                 for one in (x, y)]  # fmt: skip
        return function(*given)

    return call


logical_and = _logical(torch.logical_and)
logical_or = _logical(torch.logical_or)
logical_xor = _logical(torch.logical_xor)


def where(condition: Any, x: Any, y: Any) -> Tensor:
    """Return x where a condition is true, that is not 0, and y elsewhere."""
    if not isinstance(condition, Tensor):
        chosen, other = (x, y) if condition else (y, x)
        like = x if isinstance(x, Tensor) else y
        return torch.where(like.new_full((), fill_value=True, dtype=torch.bool), chosen, other)
    return torch.where(condition if condition.dtype is torch.bool else condition != 0, x, y)


def clip(x: Any, low: Any, high: Any) -> Any:
    """Return x if it is between the bounds, else the nearer one; `high` if low is above high."""
    if isinstance(x, Tensor) and not isinstance(low, Tensor) and not isinstance(high, Tensor):
        return torch.clamp(x, low, high)
    x, low, high = tensors(x, low, high)
    return torch.minimum(torch.maximum(x, low), high)


def absolute(x: Tensor) -> Tensor:
    """Return the magnitude."""
    return x.clone() if x.dtype is torch.bool else torch.abs(x)


def conjugate(x: Tensor) -> Tensor:
    """Return the complex conjugate, as a tensor of its own."""
    return torch.conj_physical(x) if x.is_complex() else x.clone()


def positive(x: Tensor) -> Tensor:
    """Return a copy."""
    return torch.positive(x).clone()


def real(x: Tensor) -> Tensor:
    """Return the real part as a tensor of its own."""
    return torch.real(x).clone()


def imag(x: Tensor) -> Tensor:
    """Return the imaginary part as a tensor of its own."""
    return torch.imag(x).clone() if x.is_complex() else torch.zeros_like(x)


def to_int(x: Tensor) -> Tensor:
    """Return each element without its fraction, as an integer of 64 bits."""
    if x.is_complex():
        raise TypeError("not defined for complex numbers")
    return x.to(torch.int64, copy=True)


def silu(x: Tensor) -> Tensor:
    """Return x * sigmoid(x)."""
    return functional.silu(_floats(x))


def gelu(x: Tensor) -> Tensor:
    """Return x times the normal cumulative distribution function of x."""
    return functional.gelu(_floats(x))


def softplus(x: Tensor) -> Tensor:
    """Return log(1 + exp(x)), without overflow; it is x where 1 does not change exp(x) in float64."""
    return functional.softplus(_floats(x), threshold=40)


Axes = tuple[int, ...]


def _as_one(x: Tensor, axes: Sequence[int]) -> Tensor:
    """Return a tensor whose last axes are one axis."""
    return x if len(axes) == 1 else x.flatten(-len(axes))


def prod(x: Tensor, axes: Axes) -> Tensor:
    """Return the product over the last axes."""
    return torch.prod(_as_one(x, axes), -1)


def var(x: Tensor, axes: Axes) -> Tensor:
    """Return the mean squared distance from the mean over the last axes; nan for no elements."""
    if not _as_one(x, axes).shape[-1]:
        return torch.real(torch.full_like(x.sum(axes), torch.nan))
    return torch.var(x, axes, correction=0)


def std(x: Tensor, axes: Axes) -> Tensor:
    """Return the square root of the variance."""
    return torch.std(x, axes, correction=0) if _as_one(x, axes).shape[-1] else var(x, axes)


def median(x: Tensor, axes: Axes) -> Tensor:
    """Return the middle element along the last axes, or the mean of the middle two; nan if there is one."""
    x = _as_one(x, axes)
    count = x.shape[-1]
    if not count:
        return torch.full_like(x.sum(-1), torch.nan)
    ordered = torch.sort(x, -1).values  # nan is last
    middle = ordered[..., count // 2]
    if count % 2 == 0:
        middle = (ordered[..., count // 2 - 1] + middle) / 2
    last = ordered[..., -1]
    return torch.where(torch.isnan(last), last, middle)


def _place(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return argmax or argmin along the last axis, also of bools."""
    return lambda x, axes: function(x.to(torch.uint8) if x.dtype is torch.bool else x, axes[0])


argmax, argmin = _place(torch.argmax), _place(torch.argmin)


def apply(reduce: Callable[[Tensor, int], Any], x: Tensor) -> Tensor:
    """Return `reduce(x, axis)` for the last axis.

    Raises
    ------
    ReducerMisuse
        If it cannot be called like this, or does not return a tensor of `x`'s shape without its last axis.
    ReducerFault
        For any other exception that it raised.
    """
    result = reduced_by(reduce, x)
    if not isinstance(result, Tensor):
        raise ReducerMisuse(f"returned {type(result).__name__}, which is not a tensor", tuple(x.shape))
    check_reduced(result, x, "a tensor")
    return result


def _normalised(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return softmax or its logarithm along one axis, several, or none."""

    def normalise(x: Tensor, axes: int | Axes) -> Tensor:
        x = _floats(x)
        if isinstance(axes, int):
            return function(x, axes)
        if not axes:
            return function(x.unsqueeze(-1), -1).squeeze(-1)
        last = tuple(range(-len(axes), 0))
        moved = x.movedim(axes, last)
        return function(moved.flatten(-len(axes)), -1).reshape(moved.shape).movedim(last, axes)

    return normalise


softmax, log_softmax = _normalised(torch.softmax), _normalised(torch.log_softmax)


def sort(x: Tensor, axis: int) -> Tensor:
    """Return the elements in order along an axis, nan last."""
    return torch.sort(x, axis).values


def argsort(x: Tensor, axis: int) -> Tensor:
    """Return where the elements are in order along an axis: equal ones in the order they have, nan last."""
    return torch.argsort(x, dim=axis, stable=True)


def cummax(x: Tensor, axis: int) -> Tensor:
    """Return the largest element so far along an axis, nan from the first one on."""
    return torch.cummax(x, axis).values


def cummin(x: Tensor, axis: int) -> Tensor:
    """Return the smallest element so far along an axis, nan from the first one on."""
    return torch.cummin(x, axis).values


def integer_matmul(x: Tensor, y: Tensor) -> Tensor:
    """Return the product of matrices of integers of 64 bits, which PyTorch has for the CPU only."""
    if x.device.type in {"cpu", "meta"}:
        return torch.matmul(x, y)
    if x.ndim == 1:
        x = x[None]
        return integer_matmul(x, y)[0]
    if y.ndim == 1:
        return (x * y).sum(-1)
    return (x.unsqueeze(-1) * y.unsqueeze(-3)).sum(-2)
