"""PyTorch's pointwise functions, by the operator's name: `UNARY`, `BINARY`, and `IN_PLACE`.

A binary function takes tensors and at most one Python number, which is weak in promotion, as PyTorch has it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch

Kernel = Callable[..., Any]

_ONE = (
    "exp exp2 expm1 log log10 log1p log2 sqrt rsqrt reciprocal square sigmoid erf erfc erfinv digamma sin "
    "cos tan asin acos atan sinh cosh tanh asinh acosh atanh deg2rad rad2deg abs neg sign sgn ceil floor "
    "trunc frac bitwise_not logical_not isnan isinf isfinite relu round"
)

UNARY: Mapping[str, Kernel] = {
    **{name: getattr(torch, name) for name in _ONE.split()},
    "positive": torch.clone,
}


def _with_tensors(function: Kernel) -> Kernel:
    """Return a function for which a number becomes a tensor of the dtype that it has next to the other."""

    def call(a: Any, b: Any) -> Any:
        if not isinstance(a, torch.Tensor):
            a = torch.as_tensor(a, dtype=torch.result_type(a, b), device=b.device)
        elif not isinstance(b, torch.Tensor):
            b = torch.as_tensor(b, dtype=torch.result_type(a, b), device=a.device)
        return function(a, b)

    return call


def _bounded(of_tensors: Kernel, bound: str) -> Kernel:
    """Return `maximum` or `minimum`, which is `clamp` for a number: its gradient goes to the tensor."""

    def call(a: Any, b: Any) -> Any:
        if not isinstance(b, torch.Tensor):
            return torch.clamp(a, **{bound: b})
        return of_tensors(a, b) if isinstance(a, torch.Tensor) else torch.clamp(b, **{bound: a})

    return call


def _truncated_div(a: Any, b: Any) -> Any:
    return torch.div(a, b, rounding_mode="trunc")


BINARY: Mapping[str, Kernel] = {
    "add": operator.add,
    "atan2": _with_tensors(torch.atan2),
    "bitwise_and": operator.and_,
    "bitwise_left_shift": operator.lshift,
    "bitwise_or": operator.or_,
    "bitwise_right_shift": operator.rshift,
    "bitwise_xor": operator.xor,
    "div": operator.truediv,
    "eq": operator.eq,
    "floor_divide": operator.floordiv,
    "ge": operator.ge,
    "gt": operator.gt,
    "hypot": _with_tensors(torch.hypot),
    "le": operator.le,
    "logical_and": _with_tensors(torch.logical_and),
    "logical_or": _with_tensors(torch.logical_or),
    "logical_xor": _with_tensors(torch.logical_xor),
    "lt": operator.lt,
    "maximum": _bounded(torch.maximum, "min"),
    "minimum": _bounded(torch.minimum, "max"),
    "mul": operator.mul,
    "ne": operator.ne,
    "pow": operator.pow,
    "remainder": operator.mod,
    "sub": operator.sub,
    "truncated_div": _with_tensors(_truncated_div),
}

_BY_OTHER_NAMES = {
    "bitwise_left_shift": torch.Tensor.bitwise_left_shift_,
    "truncated_div": lambda a, b: a.div_(b, rounding_mode="trunc"),
}
IN_PLACE: Mapping[str, Kernel] = {
    **{
        name: getattr(torch.Tensor, f"{name}_")
        for name in (*UNARY, *BINARY)
        if hasattr(torch.Tensor, f"{name}_")
    },
    **_BY_OTHER_NAMES,
    "index_fill": lambda x, axis, places, value: x.index_fill_(axis, places.long(), value),
    "masked_fill": torch.Tensor.masked_fill_,
}
"""The functions that write over their first tensor, which count as changes in PyTorch's versions."""
