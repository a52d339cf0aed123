"""Values picked by their rank along one axis, each with its index, by PyTorch: `(values, indices)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

Ranked = tuple[Tensor, Tensor]


def _along(function: Callable[..., Any]) -> Callable[..., Ranked]:
    def kernel(x: Tensor, axis: int, *options: Any) -> Ranked:
        values, indices = function(x, *options, axis)
        return values, indices

    return kernel


ALONG: Mapping[str, Callable[..., Ranked]] = {
    "cummax": _along(torch.cummax),
    "cummin": _along(torch.cummin),
    "kthvalue": _along(torch.kthvalue),
    "max": _along(torch.max),
    "median": _along(torch.median),
    "min": _along(torch.min),
    "mode": _along(torch.mode),
    "nanmedian": _along(torch.nanmedian),
}
"""The kernels of operators along a dim: `kernel(x, axis, ...)`."""
PLACES: Mapping[str, Callable[..., Tensor]] = {"argmax": torch.argmax, "argmin": torch.argmin}
"""Those that return indices alone."""
OF_ALL: Mapping[str, Callable[[Tensor], Tensor]] = {"median": torch.median, "nanmedian": torch.nanmedian}


def topk(x: Tensor, k: int, axis: int, largest: bool, ordered: bool) -> Ranked:
    """Return the k largest or smallest values along the axis, which is kept."""
    values, indices = torch.topk(x, k, axis, largest, ordered)
    return values, indices


def sort(x: Tensor, axis: int, descending: bool, stable: bool) -> Ranked:
    """Return the values in order along the axis, and their indices."""
    values, indices = torch.sort(x, stable=stable, dim=axis, descending=descending)
    return values, indices
