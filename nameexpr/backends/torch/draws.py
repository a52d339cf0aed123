"""Random numbers from PyTorch's generators, and its factories, by the operator's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from nameexpr.backends.torch.kinds import kind_of


def _bernoulli(x: Tensor, chances: Tensor, generator: Any) -> Tensor:
    """Return 1 with these probabilities, else 0, in the shape and dtype of x."""
    if not chances.is_floating_point():
        chances = chances.to(torch.get_default_dtype())
    return torch.bernoulli(chances.expand(x.shape), generator=generator).to(x.dtype)


def _writing(name: str) -> Callable[..., Tensor]:
    function = getattr(Tensor, name)

    def draw(x: Tensor, *parameters: Any) -> Tensor:
        *others, generator = parameters
        return function(x, *others, generator=generator)  # type: ignore[no-any-return]

    return draw


DRAWS: Mapping[str, Callable[..., Tensor]] = {
    "bernoulli": _bernoulli,
    **{
        name: _writing(name)
        for name in ("normal_", "log_normal_", "uniform_", "exponential_", "cauchy_", "random_")
    },
}
"""`draw(x, *parameters, generator)`; bernoulli returns a new tensor, the others write over x."""


def _like(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def draw(x: Tensor, **options: Any) -> Tensor:
        layout = {"memory_format": options.pop("memory_format")} if "memory_format" in options else {}
        made = function(x.shape, **{"dtype": x.dtype, "device": x.device, **options})
        return made.contiguous(**layout)

    return draw


def _full(shape: Any, value: Any, **options: Any) -> Tensor:
    return torch.full(shape, _held(value, options.get("dtype")), **options)


def _full_like(x: Tensor, value: Any, **options: Any) -> Tensor:
    return torch.full_like(x, _held(value, options.get("dtype", x.dtype)), **options)


def _held(value: Any, dtype: Any) -> Any:
    """Return a number; a ValueError or a RuntimeError if the dtype cannot hold it."""
    return value if dtype is None else torch.as_tensor(value, dtype=dtype).item()


FACTORIES: Mapping[str, Callable[..., Tensor]] = {
    **{
        name: getattr(torch, name)
        for name in (
            "zeros",
            "ones",
            "empty",
            "rand",
            "randn",
            "zeros_like",
            "ones_like",
            "empty_like",
            "arange",
        )
    },
    "full": _full,
    "full_like": _full_like,
    "normal": torch.normal,
    "rand_like": _like(torch.rand),
    "randn_like": _like(torch.randn),
}
OPTIONS = frozenset(
    ["dtype", "device", "requires_grad", "pin_memory", "layout", "memory_format", "generator"]
)
"""The keywords of PyTorch's factories."""


def range_of(dtype: torch.dtype) -> tuple[int, int, int] | None:
    """Return the range, excluding its end, in which a dtype holds every integer, and the highest end that a
    draw may have; None if it holds no integers.
    """
    kind = kind_of(dtype)
    if kind == "b":
        return 0, 2, 2
    if kind == "f":
        end = int(2 / torch.finfo(dtype).eps)
        return -end if dtype != torch.float64 else -(2**63), end, max(end, 2**63)
    if kind == "c":
        return None
    end = int(torch.iinfo(dtype).max) + (dtype != torch.int64)
    return int(torch.iinfo(dtype).min), end, end
