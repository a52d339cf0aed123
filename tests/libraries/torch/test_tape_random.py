"""Random programs on recorded tensors, compared with PyTorch's gradients of the same programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import nameexpr as ne

Step = Callable[[Any, Any], Any]
ALONG: dict[bool, Any] = {True: "C", False: 1}


def joined(x: Any, y: Any) -> Any:
    return ne.cat([x[:1], y[1:]], "N") if is_ours(x) else torch.cat([x[:1], y[1:]], 0)


def stacked(x: Any, y: Any) -> Any:
    rows = list(x)
    return (ne.stack(rows) if is_ours(x) else torch.stack(rows)) * y


def chosen(x: Any, y: Any) -> Any:
    return (ne if is_ours(x) else torch).where(x > y, x, y * 2)


def with_item(x: Any, y: Any) -> Any:
    copy = x.clone()
    copy[0] = y[1]
    return copy


def in_place(x: Any, y: Any) -> Any:
    copy = x * 1
    copy *= y
    copy.sin_()
    return copy


def text(x: Any, y: Any) -> Any:
    return ne.evaluate("z[N C] = sin(x[N C]) * y[N C]", x=x, y=y) if is_ours(x) else x.sin() * y


def product(x: Any, y: Any) -> Any:
    return ne.einsum("N C, C K -> N K", x, y.rename("C", "K")) if is_ours(x) else x @ y


def is_ours(x: Any) -> bool:
    return isinstance(x, ne.NamedTensor)


STEPS: tuple[Step, ...] = (
    *(joined, stacked, chosen, with_item, in_place, text, product),
    lambda x, y: x + y,
    lambda x, y: x * y,
    lambda x, y: x.tanh(),
    lambda x, y: x - 0.5 * y,
    lambda x, y: x.matmul(y.rename("K", "C") if is_ours(y) else y),
    lambda x, y: x.sum(ALONG[is_ours(x)], keepdim=True) + y,
    lambda x, y: (x.T.rename("N", "C") if is_ours(x) else x.T) * y,
    lambda x, y: x.softmax(ALONG[is_ours(x)]),
    lambda x, y: x.mean() * y,
    lambda x, y: x.masked_fill(y > 0, 0.3),
)


def result_of(leaves: list[Any], seed: int) -> Any:
    """Return the last value of a random program on matrices."""
    rng, values = np.random.default_rng(seed), list(leaves)
    for _ in range(rng.integers(3, 14)):
        first, second = rng.integers(len(values), size=2)
        value = STEPS[rng.integers(len(STEPS))](values[first], values[second])
        values.append(value.rename("N", "C") if is_ours(value) else value)
    return values[-1]


@pytest.mark.parametrize("seed", range(60))
def test_a_random_program_has_the_gradients_of_pytorch(seed: int) -> None:
    rng = np.random.default_rng(seed + 1000)
    arrays = [rng.normal(size=(3, 3)) for _ in range(3)]
    ours = [ne.tensor(each, names="N C", requires_grad=True) for each in arrays]
    theirs = [torch.tensor(each, requires_grad=True) for each in arrays]
    gradient = rng.normal(size=(3, 3))
    result_of(ours, seed).backward(gradient)
    result_of(theirs, seed).backward(torch.tensor(gradient))
    for mine, other in zip(ours, theirs, strict=True):
        assert (mine.grad is None) == (other.grad is None)
        if other.grad is not None:
            np.testing.assert_allclose(mine.grad.data, other.grad.numpy(), rtol=1e-9, atol=1e-9)
