"""Arrays of other libraries give arrays of theirs. Checked as `user_code.py` is, never executed."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt
import torch

import nameexpr as ne


class Tensor:
    """As PyTorch has it."""

    requires_grad: bool

    def __array__(self) -> npt.NDArray[Any]:
        return np.ones(2)

    def detach(self) -> Tensor:
        return self


class Parameter(Tensor):
    """A subclass whose functions return the base."""


class Standard:
    """An array of the array API standard."""

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any: ...

    def __pos__(self) -> Standard:
        return self


class Chunked:
    """As Dask has it."""

    def rechunk(self, chunks: str = "auto", threshold: int | None = None) -> Chunked:
        return self


class Ready:
    """As JAX has it."""

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any: ...

    def __pos__(self) -> Ready:
        return self

    def block_until_ready(self) -> Ready:
        return self


def expressions(
    t: Tensor, p: Parameter, s: Standard, c: Chunked, x: npt.NDArray[np.float64], y: np.float32
) -> None:
    assert_type(ne.einsum("a, a -> a", t, t), Tensor)
    assert_type(ne.einsum("a, a -> a", t, p), Tensor)
    assert_type(ne.einsum("a -> a", p), Tensor)
    assert_type(ne.einsum("a, -> a", t, 2.0), Tensor)
    assert_type(ne.einsum("a, -> a", t, y), Tensor)
    assert_type(ne.einsum("a, a -> a", s, s), Standard)
    assert_type(ne.einsum("a, a -> a", c, x), Chunked)
    assert_type(ne.einsum("a, a -> a", x, x), npt.NDArray[Any])


def formulas(
    t: Tensor, p: Parameter, s: Standard, c: Chunked, x: npt.NDArray[np.float64], names: list[str]
) -> None:
    assert_type(ne.evaluate("y = x * z", x=t, z=p), Tensor)
    assert_type(ne.evaluate("y = x * z", x=t, z=2), Tensor)
    assert_type(ne.evaluate("y = x * z", x=s, z=s), Standard)
    assert_type(ne.evaluate("y = x * z", x=c, z=x), Chunked)
    assert_type(ne.evaluate("y = x * z", operands={"x": t, "z": t}), Tensor)
    assert_type(ne.evaluate("y = x * z", outputs=names, x=t, z=t), tuple[Tensor, ...])


def compiled(t: Tensor, p: Parameter, s: Standard) -> None:
    layer = ne.compile("a, a -> a")
    assert_type(layer(t, p), Tensor)
    assert_type(layer(s, s), Standard)
    assert_type(layer.bind({1: p})(t), Tensor)
    layer.plan(t, t)


def pytorch(x: torch.Tensor, w: torch.nn.Parameter) -> torch.Tensor:
    assert_type(ne.einsum("a, a -> a", x, w), torch.Tensor)
    assert_type(ne.evaluate("y = x * w", x=x, w=w), torch.Tensor)
    return ne.compile("a, a -> a")(x, w)
