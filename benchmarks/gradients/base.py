"""What a workload is: a formula, its operands, and the same by hand in the words of `Functions`."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

Arrays = Mapping[str, Any]
Drawn = Callable[[np.random.Generator], Arrays]
TOLERANCES = {"float32": 1e-6, "float64": 1e-13}
"""The largest error of a result, relative to its largest element."""


class Functions(NamedTuple):
    """The functions by which a peer computes a workload, under one name in all of them."""

    np: Any
    relu: Callable[..., Any]
    softmax: Callable[..., Any]
    log_softmax: Callable[..., Any]
    logsumexp: Callable[..., Any]
    softplus: Callable[..., Any]
    cross_entropy: Callable[..., Any]
    gradient: Callable[..., Any]
    """`gradient(f, x)`: the gradient of a scalar function, to differentiate again."""
    hessian: Callable[..., Any]
    per_sample: Callable[..., Any]
    """`per_sample(f, parameters, *batch)`: the gradients by the parameters, of each sample."""
    contract: Callable[..., Any]
    """`contract(symbols, operands, path)`"""


ByHand = Callable[[Functions, Arrays], Any]


class GradientWorkload(NamedTuple):
    """A formula, and what it is differentiated by; "" if it says so itself.

    `by_hand` returns the value, or all `outputs` if `wrt` is empty. `fused` is the same in PyTorch with a
    kernel for all of it.
    """

    group: str
    name: str
    text: str
    wrt: str
    drawn: Drawn
    by_hand: ByHand
    fused: ByHand | None = None
    outputs: tuple[str, ...] = ()

    def operands(self) -> Arrays:
        """Return the operands, the same in every run."""
        return self.drawn(np.random.default_rng(zlib.crc32(self.name.encode())))


def normal(dtype: str, **shapes: tuple[int, ...]) -> Drawn:
    """Return a function that draws normally distributed operands."""

    def draw(rng: np.random.Generator) -> Arrays:
        return {name: rng.standard_normal(shape).astype(dtype) for name, shape in shapes.items()}

    return draw
